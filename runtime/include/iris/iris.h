/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C API of the Iris runtime.
 *
 *   IrisRtWorld *world;
 *   if (irisrtWorldCreate(NULL, &world) != IRISRT_OK) {
 *     fprintf(stderr, "%s\n", irisrtLastError());
 *     return 1;
 *   }
 *
 * Every function that can fail returns an IrisRtStatusCode; the text of the
 * last failure on the calling thread is in irisrtLastError().  "Collective"
 * means: every rank calls it, in the same order.  A world in which something
 * went wrong is failed: all later calls return that error, and destroying it
 * works.  Handles come from functions named Create, Open or Find; pointers that
 * a function takes are only borrowed.
 *
 * A world belongs to the process that created it.  In a forked child, functions
 * that take the world, or what was made with it, fail with
 * IRISRT_FAILED_PRECONDITION; irisrtWorldDestroy there leaves the parent's
 * world as it is.
 */
#ifndef IRIS_IRIS_H
#define IRIS_IRIS_H

#include "iris-c/RuntimeABI.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IRISRT_API __attribute__((visibility("default")))

/*===----------------------------------------------------------------------===*
 * Status
 *===----------------------------------------------------------------------===*/

/* Text of the last failure on this thread; "" if there was none.  Valid until
 * the next failing call of this thread. */
IRISRT_API const char *irisrtLastError(void);
/* "timeout", "out of memory", ... */
IRISRT_API const char *irisrtStatusName(IrisRtStatusCode code);

/*===----------------------------------------------------------------------===*
 * Worlds
 *===----------------------------------------------------------------------===*/

typedef struct IrisRtWorld IrisRtWorld;
typedef struct IrisRtPackage IrisRtPackage;
typedef struct IrisRtKernel IrisRtKernel;

typedef enum IrisRtDevice {
  IRISRT_DEVICE_HOST = 0,
  IRISRT_DEVICE_HIP = 1,
  IRISRT_DEVICE_CUDA = 2
} IrisRtDevice;

/* Zero everything but structBytes for the defaults. */
typedef struct IrisRtWorldOptions {
  uint64_t structBytes; /* sizeof(IrisRtWorldOptions) */
  IrisRtDevice device;
  /* 0: the launcher's local rank; otherwise the device's index plus one. */
  int32_t deviceIndexPlusOne;
  /* 0 with job NULL: rank, size and job come from the environment. */
  uint32_t rank;
  uint32_t numRanks;
  const char *job;
  uint64_t token;
  /* Tells worlds apart that exist at the same time; NULL: they are counted. */
  const char *name;
  uint64_t heapBytes;
  /* Seconds one wait of a kernel may take; 0: the default, negative: for ever.
   */
  double waitLimit;
  /* Seconds that joining and other collectives may take; 0: the defaults. */
  double joinLimit;
  double collectiveLimit;
  /* 1: execute no host image of a package in this process; 0: as
   * IRIS_REFUSE_HOST_CODE says. */
  uint32_t refuseHostCode;
  uint32_t reserved; /* 0 */
} IrisRtWorldOptions;

/* Collective.  `options` may be NULL. */
IRISRT_API IrisRtStatusCode irisrtWorldCreate(const IrisRtWorldOptions *options,
                                              IrisRtWorld **world);
/* Collective unless the world has failed.  The handle is gone in any case; the
 * status is the world's failure, if it had one. */
IRISRT_API IrisRtStatusCode irisrtWorldDestroy(IrisRtWorld *world);
IRISRT_API uint32_t irisrtWorldRank(const IrisRtWorld *world);
IRISRT_API uint32_t irisrtWorldNumRanks(const IrisRtWorld *world);
/* "host", "gfx942", "sm_90a", ...; valid while the world lives. */
IRISRT_API const char *irisrtWorldTarget(const IrisRtWorld *world);
/* The context that kernels get. */
IRISRT_API IrisRtStatusCode irisrtWorldContext(const IrisRtWorld *world,
                                               IrisRtContext *context);
/* The error that made the world fail, or IRISRT_OK. */
IRISRT_API IrisRtStatusCode irisrtWorldFailure(const IrisRtWorld *world);

/*===----------------------------------------------------------------------===*
 * Memory
 *===----------------------------------------------------------------------===*/

/* Zeroed memory on the symmetric heap, at the same place on every rank.  All
 * ranks make the same calls in the same order. */
IRISRT_API IrisRtStatusCode irisrtAlloc(IrisRtWorld *world, uint64_t bytes,
                                        uint64_t *address);
IRISRT_API IrisRtStatusCode irisrtFree(IrisRtWorld *world, uint64_t address);
/* 1 if the bytes lie in one allocation of this rank's heap. */
IRISRT_API int irisrtIsSymmetric(const IrisRtWorld *world, uint64_t address,
                                 uint64_t bytes);
/* Where this rank sees `address` of its own heap on rank `rank`. */
IRISRT_API IrisRtStatusCode irisrtTranslate(const IrisRtWorld *world,
                                            uint64_t address, uint32_t rank,
                                            uint64_t *peerAddress);
/* Stream-ordered; stream 0 is the world's own.  Host memory must stay until
 * the stream got there. */
IRISRT_API IrisRtStatusCode irisrtCopyToDevice(IrisRtWorld *world, uint64_t to,
                                               const void *from, uint64_t bytes,
                                               uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCopyToHost(IrisRtWorld *world, void *to,
                                             uint64_t from, uint64_t bytes,
                                             uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCopyOnDevice(IrisRtWorld *world, uint64_t to,
                                               uint64_t from, uint64_t bytes,
                                               uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtZero(IrisRtWorld *world, uint64_t address,
                                       uint64_t bytes, uint64_t stream);

/*===----------------------------------------------------------------------===*
 * Packages and kernels
 *===----------------------------------------------------------------------===*/

/* Opening only reads and checks.  irisrtLoad of a package for the host executes
 * its code in this process: load only what you would run as a program, or set
 * refuseHostCode. */
IRISRT_API IrisRtStatusCode irisrtPackageOpen(const char *path,
                                              IrisRtPackage **package);
/* The bytes are copied. */
IRISRT_API IrisRtStatusCode irisrtPackageFromBytes(const void *bytes,
                                                   uint64_t size,
                                                   IrisRtPackage **package);
IRISRT_API void irisrtPackageClose(IrisRtPackage *package);
/* Loads the package's image for this world's device. */
IRISRT_API IrisRtStatusCode irisrtLoad(IrisRtWorld *world,
                                       const IrisRtPackage *package);
/* A kernel of a loaded package, "module::name" or just "name"; it lives as long
 * as the world. */
IRISRT_API IrisRtStatusCode irisrtKernelFind(IrisRtWorld *world,
                                             const char *name,
                                             IrisRtKernel **kernel);
/* How many programs of the kernel can run at once on this device. */
IRISRT_API IrisRtStatusCode irisrtKernelMaxCoresident(
    IrisRtWorld *world, const IrisRtKernel *kernel, uint32_t *programs);
/* Stream-ordered.  The arguments are checked against the kernel's metadata. */
IRISRT_API IrisRtStatusCode irisrtLaunch(IrisRtWorld *world,
                                         const IrisRtKernel *kernel,
                                         const uint64_t programs[3],
                                         const IrisRtArg *args,
                                         uint32_t numArgs, uint64_t stream);

/* Arguments of a launch: the context, a row-major memref on the heap, a scalar
 * (`bits`: its value, zero extended). */
IRISRT_API IrisRtArg irisrtContextArg(void);
IRISRT_API IrisRtArg irisrtMemrefArg(IrisRtElement element, uint64_t address,
                                     uint32_t rank, const int64_t *sizes);
IRISRT_API IrisRtArg irisrtScalarArg(IrisRtElement element, uint64_t bits);

/*===----------------------------------------------------------------------===*
 * Order
 *===----------------------------------------------------------------------===*/

IRISRT_API IrisRtStatusCode irisrtStreamCreate(IrisRtWorld *world,
                                               uint64_t *stream);
IRISRT_API IrisRtStatusCode irisrtStreamDestroy(IrisRtWorld *world,
                                                uint64_t stream);
/* Waits for one stream of this rank. */
IRISRT_API IrisRtStatusCode irisrtSynchronize(IrisRtWorld *world,
                                              uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtEventCreate(IrisRtWorld *world,
                                              uint64_t *event);
IRISRT_API IrisRtStatusCode irisrtEventDestroy(IrisRtWorld *world,
                                               uint64_t event);
IRISRT_API IrisRtStatusCode irisrtEventRecord(IrisRtWorld *world,
                                              uint64_t event, uint64_t stream);
/* Later work of `stream` waits for the event's last record. */
IRISRT_API IrisRtStatusCode irisrtStreamWaitEvent(IrisRtWorld *world,
                                                  uint64_t stream,
                                                  uint64_t event);
IRISRT_API IrisRtStatusCode irisrtEventElapsedMs(IrisRtWorld *world,
                                                 uint64_t start, uint64_t end,
                                                 double *milliseconds);
IRISRT_API IrisRtStatusCode irisrtCaptureBegin(IrisRtWorld *world,
                                               uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCaptureEnd(IrisRtWorld *world,
                                             uint64_t stream, uint64_t *graph);
IRISRT_API IrisRtStatusCode irisrtGraphLaunch(IrisRtWorld *world,
                                              uint64_t graph, uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtGraphDestroy(IrisRtWorld *world,
                                               uint64_t graph);

/* All ranks' host threads have arrived.  Collective. */
IRISRT_API IrisRtStatusCode irisrtBarrier(IrisRtWorld *world);
/* All work of all ranks is done, nothing hung, and all ranks used the heap
 * alike.  Collective. */
IRISRT_API IrisRtStatusCode irisrtSync(IrisRtWorld *world);
/* irisrtSync, then an error on every rank if an iris.expect_eq failed on any.
 * Collective. */
IRISRT_API IrisRtStatusCode irisrtVerify(IrisRtWorld *world);
/* How many elements this rank's kernels compared, and how many differed. */
IRISRT_API void irisrtExpects(const IrisRtWorld *world, uint64_t *checked,
                              uint64_t *failed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* IRIS_IRIS_H */
