/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===- InterNode.h - Engines between nodes ----------------------*- C++ -*-===*
 *
 * The interface of libraries that move bytes between nodes. libiris_rt opens
 * such a library at run time and links none. The library exports one function,
 * irisrtInterNodeApi, which returns a table.
 *
 * The functions return IRISRT_OK or another status; they then write the reason
 * into `error`, at most `errorBytes` bytes with the final 0. One thread at a
 * time calls the functions of one engine. No function waits for a peer.
 */
#ifndef IRIS_C_INTERNODE_H
#define IRIS_C_INTERNODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IRISRT_INTERNODE_VERSION 1u
#define IRISRT_INTERNODE_SYMBOL "irisrtInterNodeApi"
/* A bound on the bytes of an address. */
#define IRISRT_INTERNODE_MAX_ADDRESS 65536u

/* One rank's engine. */
typedef struct IrisRtInterNodeEngine IrisRtInterNodeEngine;

typedef struct IrisRtInterNodeApi {
  /* IRISRT_INTERNODE_VERSION. */
  uint32_t version;
  uint32_t reserved;
  /* What messages call the engine: "UCX 1.13". */
  const char *name;

  /* Creates the engine of rank `rank` of a job. */
  int32_t (*open)(uint32_t rank, IrisRtInterNodeEngine **engine, char *error,
                  size_t errorBytes);
  /* The address by which peers reach the engine; it lives as long as that. */
  int32_t (*address)(IrisRtInterNodeEngine *engine, const void **address,
                     size_t *addressBytes, char *error, size_t errorBytes);
  /* Connects to a peer by its address. */
  int32_t (*connect)(IrisRtInterNodeEngine *engine, uint32_t peer,
                     const void *address, size_t addressBytes, char *error,
                     size_t errorBytes);
  /* Starts to send bytes to a peer, or to receive them from it. Messages match
   * by their tags, below 2^32. The bytes stay untouched until the request is
   * complete. */
  int32_t (*send)(IrisRtInterNodeEngine *engine, uint32_t peer, uint64_t tag,
                  const void *data, uint64_t bytes, uint64_t *request,
                  char *error, size_t errorBytes);
  int32_t (*recv)(IrisRtInterNodeEngine *engine, uint32_t peer, uint64_t tag,
                  void *data, uint64_t bytes, uint64_t *request, char *error,
                  size_t errorBytes);
  /* Makes progress with all requests. */
  void (*progress)(IrisRtInterNodeEngine *engine);
  /* Whether the request is complete; then it is forgotten, also if it failed. A
   * message of another size than expected is a failure. */
  int32_t (*test)(IrisRtInterNodeEngine *engine, uint64_t request,
                  int32_t *isComplete, char *error, size_t errorBytes);
  /* Ends the engine, with all requests: their memory is not used afterwards. */
  void (*close)(IrisRtInterNodeEngine *engine);
} IrisRtInterNodeApi;

typedef const IrisRtInterNodeApi *(*IrisRtInterNodeApiFunction)(void);

#ifdef __cplusplus
}
#endif

#endif /* IRIS_C_INTERNODE_H */
