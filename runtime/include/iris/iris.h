/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===- iris.h - C API of the runtime ----------------------------*- C++ -*-===*
 *
 *   IrisRtWorld *world;
 *   if (irisrtWorldCreate(NULL, &world) != IRISRT_OK) {
 *     fprintf(stderr, "%s\n", irisrtLastError());
 *     return 1;
 *   }
 *
 * Every function that can fail returns an IrisRtStatusCode; irisrtLastError()
 * returns the message of the last failure on the calling thread.  "Collective"
 * means that every rank calls the function, in the same order.  After an error
 * the world is failed: all later calls return that error, except that the world
 * can be destroyed.  Functions named Create, Open or Find return handles; a
 * function only borrows the pointers that it takes.
 *
 * A world belongs to the process that created it.  In a forked child, functions
 * that take the world or one of its handles fail with
 * IRISRT_FAILED_PRECONDITION; irisrtWorldDestroy does not change the parent's
 * world.
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

/* The message of the last failure on this thread; "" if there was none. Valid
 * until the next failing call on this thread. */
IRISRT_API const char *irisrtLastError(void);
/* "timeout", "out of memory", ... */
IRISRT_API const char *irisrtStatusName(IrisRtStatusCode code);

/*===----------------------------------------------------------------------===*
 * Worlds
 *===----------------------------------------------------------------------===*/

/* Handles of a world, of a package in memory, and of a loaded kernel. */
typedef struct IrisRtWorld IrisRtWorld;
typedef struct IrisRtPackage IrisRtPackage;
typedef struct IrisRtKernel IrisRtKernel;

/* A family of devices. */
typedef enum IrisRtDevice {
  IRISRT_DEVICE_HOST = 0,    /* CPU threads */
  IRISRT_DEVICE_HIP = 1,     /* AMD GPUs, through HIP */
  IRISRT_DEVICE_CUDA = 2,    /* NVIDIA GPUs, through the CUDA driver */
  IRISRT_DEVICE_EMULATED = 3 /* AMD GPUs that an emulator executes */
} IrisRtDevice;

/* Options of a world. Zero everything but structBytes for the defaults. */
typedef struct IrisRtWorldOptions {
  uint64_t structBytes; /* sizeof(IrisRtWorldOptions) */
  /* The kind of device on which the ranks run. */
  IrisRtDevice device;
  /* 0: the launcher's local rank; otherwise the device index plus one. */
  int32_t deviceIndexPlusOne;
  /* If numRanks is 0 and job is NULL, rank, size and job come from the
   * environment. */
  uint32_t rank;
  uint32_t numRanks;
  const char *job;
  uint64_t token;
  /* Distinguishes worlds that exist at the same time; NULL: numbered in the
   * order of creation. */
  const char *name;
  /* Bytes of one rank's heap; 0: IRIS_HEAP_SIZE, else the device's memory. */
  uint64_t heapBytes;
  /* The time limit of one wait in a kernel, in seconds; 0: default, negative:
   * unlimited. */
  double waitLimit;
  /* The time limits of joining and of other collectives, in seconds; 0:
   * default. */
  double joinLimit;
  double collectiveLimit;
  /* 1: never execute the host image of a package in this process; 0: only if
   * IRIS_REFUSE_HOST_CODE is set. */
  uint32_t refuseHostCode;
  uint32_t reserved; /* 0 */
  /* IRISRT_DEVICE_EMULATED: the AMD chip, such as "gfx942"; otherwise NULL. */
  const char *emulatedChip;
} IrisRtWorldOptions;

/* Joins the other ranks of the job. Collective.  `options` may be NULL. */
IRISRT_API IrisRtStatusCode irisrtWorldCreate(const IrisRtWorldOptions *options,
                                              IrisRtWorld **world);
/* Collective unless the world has failed. Invalidates the handle even if it
 * fails. Returns the world's failure, if any. */
IRISRT_API IrisRtStatusCode irisrtWorldDestroy(IrisRtWorld *world);
/* This rank, from 0, and the number of ranks. */
IRISRT_API uint32_t irisrtWorldRank(const IrisRtWorld *world);
IRISRT_API uint32_t irisrtWorldNumRanks(const IrisRtWorld *world);
/* "host", "gfx942", "sm_90a", ...; valid as long as the world. */
IRISRT_API const char *irisrtWorldTarget(const IrisRtWorld *world);
/* The device context that kernels receive. */
IRISRT_API IrisRtStatusCode irisrtWorldContext(const IrisRtWorld *world,
                                               IrisRtContext *context);
/* The error that made the world fail, or IRISRT_OK. */
IRISRT_API IrisRtStatusCode irisrtWorldFailure(const IrisRtWorld *world);

/*===----------------------------------------------------------------------===*
 * Memory
 *===----------------------------------------------------------------------===*/

/* Allocates zeroed memory on the symmetric heap, at the same offset on every
 * rank, or frees it. All ranks make the same calls in the same order. */
IRISRT_API IrisRtStatusCode irisrtAlloc(IrisRtWorld *world, uint64_t bytes,
                                        uint64_t *address);
IRISRT_API IrisRtStatusCode irisrtFree(IrisRtWorld *world, uint64_t address);
/* 1 if the bytes are within one allocation on this rank's heap. */
IRISRT_API int irisrtIsSymmetric(const IrisRtWorld *world, uint64_t address,
                                 uint64_t bytes);
/* The address on this rank of peer `rank`'s copy of `address`, which is on this
 * rank's heap. */
IRISRT_API IrisRtStatusCode irisrtTranslate(const IrisRtWorld *world,
                                            uint64_t address, uint32_t rank,
                                            uint64_t *peerAddress);
/* Stream-ordered; stream 0 is the default stream. Host memory must stay valid
 * until the copy is complete. */
IRISRT_API IrisRtStatusCode irisrtCopyToDevice(IrisRtWorld *world, uint64_t to,
                                               const void *from, uint64_t bytes,
                                               uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCopyToHost(IrisRtWorld *world, void *to,
                                             uint64_t from, uint64_t bytes,
                                             uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCopyOnDevice(IrisRtWorld *world, uint64_t to,
                                               uint64_t from, uint64_t bytes,
                                               uint64_t stream);
/* Sets `bytes` bytes to 0; stream-ordered. */
IRISRT_API IrisRtStatusCode irisrtZero(IrisRtWorld *world, uint64_t address,
                                       uint64_t bytes, uint64_t stream);

/*===----------------------------------------------------------------------===*
 * Packages and kernels
 *===----------------------------------------------------------------------===*/

/* Opening a package only reads and checks it. irisrtLoad of a host package
 * executes its code in this process: load only what you would run as a program,
 * or set refuseHostCode. */
IRISRT_API IrisRtStatusCode irisrtPackageOpen(const char *path,
                                              IrisRtPackage **package);
/* Opens a package in memory; copies the bytes. */
IRISRT_API IrisRtStatusCode irisrtPackageFromBytes(const void *bytes,
                                                   uint64_t size,
                                                   IrisRtPackage **package);
/* Invalidates the handle. What was loaded from the package stays loaded. */
IRISRT_API void irisrtPackageClose(IrisRtPackage *package);
/* Loads the package's image for this world's device. */
IRISRT_API IrisRtStatusCode irisrtLoad(IrisRtWorld *world,
                                       const IrisRtPackage *package);
/* Finds a kernel of a loaded package by "module::name" or just "name"; valid as
 * long as the world. */
IRISRT_API IrisRtStatusCode irisrtKernelFind(IrisRtWorld *world,
                                             const char *name,
                                             IrisRtKernel **kernel);
/* The maximum number of programs of the kernel that run concurrently. */
IRISRT_API IrisRtStatusCode irisrtKernelMaxCoresident(
    IrisRtWorld *world, const IrisRtKernel *kernel, uint32_t *programs);
/* Enqueues programs[0] x programs[1] x programs[2] programs of the kernel on
 * this rank. Stream-ordered. Checks the arguments against the kernel's
 * metadata. */
IRISRT_API IrisRtStatusCode irisrtLaunch(IrisRtWorld *world,
                                         const IrisRtKernel *kernel,
                                         const uint64_t programs[3],
                                         const IrisRtArg *args,
                                         uint32_t numArgs, uint64_t stream);

/* Launch arguments: the context, a row-major memref on the heap, or a scalar,
 * whose value is zero-extended in `bits`. */
IRISRT_API IrisRtArg irisrtContextArg(void);
IRISRT_API IrisRtArg irisrtMemrefArg(IrisRtElement element, uint64_t address,
                                     uint32_t rank, const int64_t *sizes);
IRISRT_API IrisRtArg irisrtScalarArg(IrisRtElement element, uint64_t bits);

/*===----------------------------------------------------------------------===*
 * Streams, events and synchronization
 *===----------------------------------------------------------------------===*/

/* Creates or destroys a stream; the default stream, 0, cannot be destroyed. */
IRISRT_API IrisRtStatusCode irisrtStreamCreate(IrisRtWorld *world,
                                               uint64_t *stream);
/* Takes a stream that the program created by CUDA's or HIP's API
 * (cudaStream_t, CUstream, hipStream_t); NULL is the device's default stream.
 * The stream must exist until irisrtStreamDestroy, which then only waits for
 * its work, or until the world ends. */
IRISRT_API IrisRtStatusCode irisrtStreamAdopt(IrisRtWorld *world, void *native,
                                              uint64_t *stream);
IRISRT_API IrisRtStatusCode irisrtStreamDestroy(IrisRtWorld *world,
                                                uint64_t stream);
/* Waits for one stream of this rank. */
IRISRT_API IrisRtStatusCode irisrtSynchronize(IrisRtWorld *world,
                                              uint64_t stream);
/* Creates or destroys an event. */
IRISRT_API IrisRtStatusCode irisrtEventCreate(IrisRtWorld *world,
                                              uint64_t *event);
IRISRT_API IrisRtStatusCode irisrtEventDestroy(IrisRtWorld *world,
                                               uint64_t event);
/* The event is complete when the stream's work so far is done. */
IRISRT_API IrisRtStatusCode irisrtEventRecord(IrisRtWorld *world,
                                              uint64_t event, uint64_t stream);
/* Makes later work of `stream` wait for the event's last record. */
IRISRT_API IrisRtStatusCode irisrtStreamWaitEvent(IrisRtWorld *world,
                                                  uint64_t stream,
                                                  uint64_t event);
/* Milliseconds between two completed events. */
IRISRT_API IrisRtStatusCode irisrtEventElapsedMs(IrisRtWorld *world,
                                                 uint64_t start, uint64_t end,
                                                 double *milliseconds);
/* Records later work of the stream in a graph instead of running it, until
 * irisrtCaptureEnd. Kernels that the work needs must be loaded before. */
IRISRT_API IrisRtStatusCode irisrtCaptureBegin(IrisRtWorld *world,
                                               uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCaptureEnd(IrisRtWorld *world,
                                             uint64_t stream, uint64_t *graph);
/* Enqueues the graph's work once more, or destroys the graph. */
IRISRT_API IrisRtStatusCode irisrtGraphLaunch(IrisRtWorld *world,
                                              uint64_t graph, uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtGraphDestroy(IrisRtWorld *world,
                                               uint64_t graph);

/* Waits until the host threads of all ranks have arrived. Collective. */
IRISRT_API IrisRtStatusCode irisrtBarrier(IrisRtWorld *world);
/* Waits until all work of all ranks is done, and checks that no kernel hung and
 * all ranks made the same heap calls. Collective. */
IRISRT_API IrisRtStatusCode irisrtSync(IrisRtWorld *world);
/* irisrtSync, then an error on every rank if an iris.expect_eq failed on any.
 * Collective. */
IRISRT_API IrisRtStatusCode irisrtVerify(IrisRtWorld *world);
/* The number of elements that this rank's kernels compared, and of mismatches.
 * */
IRISRT_API void irisrtExpects(const IrisRtWorld *world, uint64_t *checked,
                              uint64_t *failed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* IRIS_IRIS_H */
