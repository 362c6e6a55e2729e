/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Collective operations among ranks of a world, and matmuls of matrices fused
 * with them, in C; see iris/ccl/Communicator.h and iris/ccl/Matmul.h for what
 * they promise.
 *
 *   IrisCclComm *comm;
 *   irisrtWorldCreate(NULL, &world);
 *   iriscclCommCreate(world, NULL, &comm);
 *   iriscclAllReduce(comm, in, out, count, IRISCCL_BF16, IRISCCL_SUM, 0, NULL);
 *   irisrtSync(world);
 *   iriscclCommDestroy(comm);
 *
 * Functions return an IrisRtStatusCode; the text of the last failure on the
 * calling thread is in irisrtLastError().  Operations are stream-ordered
 * (stream 0 is the world's own) and take device memory.  All members call the
 * same operations in the same order.  `config` may be NULL.
 */
#ifndef IRIS_CCL_H
#define IRIS_CCL_H

#include "iris/iris.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*
 * Words
 *===----------------------------------------------------------------------===*/

typedef enum IrisCclOp {
  IRISCCL_ALL_GATHER = 0,
  IRISCCL_ALL_REDUCE = 1,
  IRISCCL_REDUCE_SCATTER = 2,
  IRISCCL_ALL_TO_ALL = 3,
  IRISCCL_BROADCAST = 4,
  IRISCCL_REDUCE = 5,
  IRISCCL_GATHER = 6,
  IRISCCL_SCATTER = 7,
  IRISCCL_SEND = 8,
  IRISCCL_RECV = 9,
  IRISCCL_BARRIER = 10,
  IRISCCL_ALL_TO_ALL_V = 11,
  IRISCCL_ALL_GATHER_V = 12
} IrisCclOp;

typedef enum IrisCclType {
  IRISCCL_F16 = 0,
  IRISCCL_BF16 = 1,
  IRISCCL_F32 = 2,
  IRISCCL_F64 = 3,
  IRISCCL_I8 = 4,
  IRISCCL_I16 = 5,
  IRISCCL_I32 = 6,
  IRISCCL_I64 = 7,
  IRISCCL_U8 = 8,
  IRISCCL_F8E4M3FN = 9,
  IRISCCL_F8E5M2 = 10,
  IRISCCL_F8E4M3FNUZ = 11,
  IRISCCL_F8E5M2FNUZ = 12
} IrisCclType;

typedef enum IrisCclReduction {
  IRISCCL_SUM = 0,
  IRISCCL_PROD = 1,
  IRISCCL_MIN = 2,
  IRISCCL_MAX = 3,
  IRISCCL_AVG = 4 /* the sum, divided once; integers truncate towards zero */
} IrisCclReduction;

/* Where the buffers lie of calls that iriscclPrepare is for. */
typedef enum IrisCclPlacement {
  IRISCCL_ON_HEAP = 0, /* on the symmetric heap */
  IRISCCL_ANYWHERE = 1 /* anywhere, also on the heap */
} IrisCclPlacement;

/* How an operation is done; what is 0 is chosen.  The same on all members. */
typedef struct IrisCclConfig {
  uint64_t structBytes; /* sizeof(IrisCclConfig) */
  const char *variant;  /* "one_shot", ...; NULL: chosen */
  int64_t tile;         /* elements that a program moves at once */
  int64_t warps;        /* of a program */
  int64_t programs;     /* most programs of a launch */
  int64_t xcds;         /* chiplets that programs are dealt out to */
  int32_t staged;       /* 1: buffers may lie anywhere, and be the same */
} IrisCclConfig;

/*===----------------------------------------------------------------------===*
 * Communicators
 *===----------------------------------------------------------------------===*/

typedef struct IrisCclComm IrisCclComm;

/* Zero everything but structBytes for the defaults. */
typedef struct IrisCclCommOptions {
  uint64_t structBytes; /* sizeof(IrisCclCommOptions) */
  /* World ranks of the members, at most 8; NULL: all of the world. */
  const uint32_t *ranks;
  uint32_t numRanks;
  /* 1: members compare every call; 0: IRIS_CHECK_COLLECTIVES says. */
  uint32_t checkCalls;
  /* Bytes of heap that the kernels share; 0: 56 MiB. */
  uint64_t workspaceBytes;
  /* The folder of compiled kernels, and the compiler; NULL: as the environment
   * says. */
  const char *cacheDirectory;
  const char *compiler;
} IrisCclCommOptions;

/* Collective over the world.  `options` may be NULL.  The world must outlive
 * the communicator. */
IRISRT_API IrisRtStatusCode iriscclCommCreate(IrisRtWorld *world,
                                              const IrisCclCommOptions *options,
                                              IrisCclComm **comm);
/* Collective over the world.  The handle is gone in any case. */
IRISRT_API IrisRtStatusCode iriscclCommDestroy(IrisCclComm *comm);
/* The number of members; 0 for NULL. */
IRISRT_API uint32_t iriscclCommSize(const IrisCclComm *comm);
/* The place of this rank among the members; -1 when it is none. */
IRISRT_API int32_t iriscclCommIndex(const IrisCclComm *comm);
/* Takes kernels from a package that was compiled ahead. */
IRISRT_API IrisRtStatusCode iriscclCommAddPackage(IrisCclComm *comm,
                                                  const IrisRtPackage *package);
/* Makes a package's kernels known to all communicators and matmuls of this
 * process that name neither folder nor compiler and are made afterwards: where
 * there is no compiler, all that they can have. */
IRISRT_API IrisRtStatusCode iriscclAddPackage(const IrisRtPackage *package);
/* Loads what calls of `op` with this config and buffers there will take: before
 * a capture, in which nothing can be loaded.  Collective over the members. */
IRISRT_API IrisRtStatusCode iriscclPrepare(IrisCclComm *comm, IrisCclOp op,
                                           IrisCclType type,
                                           IrisCclReduction reduction,
                                           const IrisCclConfig *config,
                                           IrisCclPlacement placement);

/*===----------------------------------------------------------------------===*
 * Operations
 *===----------------------------------------------------------------------===*/

IRISRT_API IrisRtStatusCode iriscclAllGather(IrisCclComm *comm, const void *in,
                                             void *out, size_t count,
                                             IrisCclType type, uint64_t stream,
                                             const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclAllReduce(IrisCclComm *comm, const void *in,
                                             void *out, size_t count,
                                             IrisCclType type,
                                             IrisCclReduction reduction,
                                             uint64_t stream,
                                             const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclReduceScatter(IrisCclComm *comm,
                                                 const void *in, void *out,
                                                 size_t count, IrisCclType type,
                                                 IrisCclReduction reduction,
                                                 uint64_t stream,
                                                 const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclAllToAll(IrisCclComm *comm, const void *in,
                                            void *out, size_t count,
                                            IrisCclType type, uint64_t stream,
                                            const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclBroadcast(IrisCclComm *comm, const void *in,
                                             void *out, size_t count,
                                             IrisCclType type, uint32_t root,
                                             uint64_t stream,
                                             const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclReduce(IrisCclComm *comm, const void *in,
                                          void *out, size_t count,
                                          IrisCclType type,
                                          IrisCclReduction reduction,
                                          uint32_t root, uint64_t stream,
                                          const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclGather(IrisCclComm *comm, const void *in,
                                          void *out, size_t count,
                                          IrisCclType type, uint32_t root,
                                          uint64_t stream,
                                          const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclScatter(IrisCclComm *comm, const void *in,
                                           void *out, size_t count,
                                           IrisCclType type, uint32_t root,
                                           uint64_t stream,
                                           const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclSend(IrisCclComm *comm, const void *in,
                                        size_t count, IrisCclType type,
                                        uint32_t peer, uint64_t stream,
                                        const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclRecv(IrisCclComm *comm, void *out,
                                        size_t count, IrisCclType type,
                                        uint32_t peer, uint64_t stream,
                                        const IrisCclConfig *config);
/* `counts` and `offsets` are device memory, an entry for every member, in rows
 * of `rowElements` elements; `inSize` and `outSize` are the elements of the
 * buffers, the same on all members. */
IRISRT_API IrisRtStatusCode iriscclAllToAllV(
    IrisCclComm *comm, const void *in, size_t inSize, const int64_t *inCounts,
    const int64_t *inOffsets, void *out, size_t outSize,
    const int64_t *outCounts, const int64_t *outOffsets, size_t rowElements,
    IrisCclType type, uint64_t stream, const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclAllGatherV(
    IrisCclComm *comm, const void *in, size_t inSize, void *out, size_t outSize,
    const int64_t *counts, const int64_t *offsets, size_t rowElements,
    IrisCclType type, uint64_t stream, const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclBarrier(IrisCclComm *comm, uint64_t stream);

/*===----------------------------------------------------------------------===*
 * Matmuls
 *===----------------------------------------------------------------------===*/

typedef enum IrisCclMatmulKind {
  IRISCCL_MATMUL = 0,
  IRISCCL_ALL_GATHER_MATMUL = 1,
  IRISCCL_MATMUL_ALL_GATHER = 2,
  IRISCCL_MATMUL_REDUCE_SCATTER = 3,
  IRISCCL_MATMUL_ALL_REDUCE = 4
} IrisCclMatmulKind;

/* One number for each row of the result, or for each column. */
typedef enum IrisCclBias {
  IRISCCL_NO_BIAS = 0,
  IRISCCL_ROW_BIAS = 1,
  IRISCCL_COLUMN_BIAS = 2
} IrisCclBias;

typedef enum IrisCclActivation {
  IRISCCL_NO_ACTIVATION = 0,
  IRISCCL_RELU = 1,
  IRISCCL_GELU = 2
} IrisCclActivation;

/* Zero everything but structBytes, kind, m, n, k, element and result for the
 * defaults.  The same on all ranks.  Sizes are those of one rank. */
typedef struct IrisCclMatmulProblem {
  uint64_t structBytes; /* sizeof(IrisCclMatmulProblem) */
  IrisCclMatmulKind kind;
  uint64_t m, n, k;
  IrisCclType element, result;
  int32_t aIsColumnMajor, bIsColumnMajor;
  IrisCclBias bias;
  int32_t hasScale;
  IrisCclActivation activation;
  /* How it is done; NULL or 0: chosen, but for shard and share, which say what
   * is computed and have defaults. */
  const char *variant; /* also "unfused": a matmul and a collective; and
                          "copy_engine": copies beside a matmul */
  const char *shard;
  const char *stagedLayout;
  const char *partialType;
  int64_t tileM, tileN, tileK, groupM, xcds, warps, programs;
  int64_t kPerFlag, numFetchPrograms, numFetchStages, firstStageFetchPrograms;
  int64_t tilesPerCommProgram, splitK;
  /* The folder of compiled kernels, and the compiler; NULL: as the environment
   * says. */
  const char *cacheDirectory;
  const char *compiler;
} IrisCclMatmulProblem;

typedef struct IrisCclMatmul IrisCclMatmul;

/* Collective over the world, which must outlive the matmul. */
IRISRT_API IrisRtStatusCode
iriscclMatmulCreate(IrisRtWorld *world, const IrisCclMatmulProblem *problem,
                    IrisCclMatmul **matmul);
/* Collective over the world.  The handle is gone in any case. */
IRISRT_API IrisRtStatusCode iriscclMatmulDestroy(IrisCclMatmul *matmul);
/* c = activation(scale * matmul + bias); matrices lie on the symmetric heap.
 * `bias` and `scale` are used as far as the problem has them. */
IRISRT_API IrisRtStatusCode iriscclMatmulRun(IrisCclMatmul *matmul,
                                             const void *a, const void *b,
                                             void *c, const void *bias,
                                             float scale, uint64_t stream);
/* Bytes of heap that it holds on every rank; 0 for NULL. */
IRISRT_API uint64_t iriscclMatmulSharedBytes(const IrisCclMatmul *matmul);

/* How a matmul is done; texts live as long as the matmul. */
typedef struct IrisCclMatmulConfig {
  uint64_t structBytes; /* sizeof(IrisCclMatmulConfig) */
  const char *variant;
  const char *shard;
  const char *stagedLayout; /* "": the kernel's own; 0 below as well */
  const char *partialType;
  int64_t tileM, tileN, tileK, groupM, xcds, warps, programs;
  int64_t kPerFlag, numFetchPrograms, numFetchStages, firstStageFetchPrograms;
  int64_t tilesPerCommProgram, splitK;
} IrisCclMatmulConfig;

/* The config with what was chosen filled in. */
IRISRT_API IrisRtStatusCode iriscclMatmulGetConfig(const IrisCclMatmul *matmul,
                                                   IrisCclMatmulConfig *config);
/* What was chosen and why, in a line; lives as long as the matmul.  "" for
 * NULL. */
IRISRT_API const char *iriscclMatmulExplain(const IrisCclMatmul *matmul);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* IRIS_CCL_H */
