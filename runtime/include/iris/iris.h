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
 * function only borrows the pointers that it takes.  What a function stores
 * through a pointer is valid only if it returns IRISRT_OK.
 *
 * A world belongs to the process that created it.  In a forked child, functions
 * that take the world or one of its handles fail with
 * IRISRT_FAILED_PRECONDITION; irisrtWorldDestroy does not change the parent's
 * world.
 *
 * \param world the world, from irisrtWorldCreate
 * \param package the package, from irisrtPackageOpen or irisrtPackageFromBytes
 * \param kernel the kernel, from irisrtKernelFind
 * \param stream the stream: 0 for the default stream, or from
 *   irisrtStreamCreate or irisrtStreamAdopt
 * \param event the event, from irisrtEventCreate
 * \param graph the graph, from irisrtCaptureEnd
 * \param bytes the number of bytes
 * \retval IRISRT_INVALID_ARGUMENT a pointer is NULL, or a handle, an address or
 *   a size is not one that the call accepts
 * \retval IRISRT_FAILED_PRECONDITION the call is not possible now: in a forked
 *   child, during a capture, or because ranks differ
 * \retval IRISRT_TIMEOUT a time limit expired, on this rank or a peer
 * \retval IRISRT_ABORTED another rank failed or ended
 * \retval IRISRT_DEVICE_ERROR the device failed: a call of its driver, or a
 *   kernel, by a fault or a trap
 * \retval IRISRT_INTERNAL the system failed
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

/* Describes the last failure on this thread.
 * \return the code's name and the message; "" if there was no failure. Valid
 *   until the next failing call on this thread. */
IRISRT_API const char *irisrtLastError(void);
/* Names a status code.
 * \param code the code
 * \return "timeout", "out of memory", ...; never NULL */
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

/* Joins the other ranks of the job and reserves the heap. Collective.
 * \param options the options; NULL for the defaults
 * \param world receives the world; NULL after an error
 * \retval IRISRT_INVALID_ARGUMENT structBytes is wrong, or an option is, or the
 *   ranks ask for heaps of different sizes
 * \retval IRISRT_UNAVAILABLE there is no such device, or its driver is missing
 * \retval IRISRT_TIMEOUT not all ranks joined within joinLimit */
IRISRT_API IrisRtStatusCode irisrtWorldCreate(const IrisRtWorldOptions *options,
                                              IrisRtWorld **world);
/* Leaves the world and frees its heap. Collective unless the world has failed.
 * Invalidates the handle even if it fails. Returns the world's failure, if any.
 * \param world the world; NULL is success */
IRISRT_API IrisRtStatusCode irisrtWorldDestroy(IrisRtWorld *world);
/* \return this rank, from 0 */
IRISRT_API uint32_t irisrtWorldRank(const IrisRtWorld *world);
/* \return the number of ranks, at least 1 */
IRISRT_API uint32_t irisrtWorldNumRanks(const IrisRtWorld *world);
/* \return the target of the device: "host", "gfx942", "sm_90a", ...; valid as
 *   long as the world */
IRISRT_API const char *irisrtWorldTarget(const IrisRtWorld *world);
/* Copies the device context that kernels receive.
 * \param context receives the context */
IRISRT_API IrisRtStatusCode irisrtWorldContext(const IrisRtWorld *world,
                                               IrisRtContext *context);
/* Returns the error that made the world fail, or IRISRT_OK. */
IRISRT_API IrisRtStatusCode irisrtWorldFailure(const IrisRtWorld *world);
/* Like irisrtWorldFailure, and also looks for errors that kernels have recorded
 * since the last synchronization. Does not wait for kernels. */
IRISRT_API IrisRtStatusCode irisrtWorldPoll(IrisRtWorld *world);

/*===----------------------------------------------------------------------===*
 * Memory
 *===----------------------------------------------------------------------===*/

/* Allocates zeroed memory on the symmetric heap, at the same offset on every
 * rank. All ranks make the same calls of irisrtAlloc and irisrtFree in the same
 * order; irisrtSync reports differences.
 * \param address receives the address on this rank, a multiple of 256
 * \retval IRISRT_OUT_OF_MEMORY the heap or the device's memory is full */
IRISRT_API IrisRtStatusCode irisrtAlloc(IrisRtWorld *world, uint64_t bytes,
                                        uint64_t *address);
/* Frees memory of the heap. It is given out again after the next irisrtSync.
 * \param address what irisrtAlloc returned
 * \retval IRISRT_INVALID_ARGUMENT there is no allocation at the address */
IRISRT_API IrisRtStatusCode irisrtFree(IrisRtWorld *world, uint64_t address);
/* Finds out whether bytes are within one allocation on this rank's heap.
 * \param address the address of the first byte
 * \return 1 if they are; 0 if not, or if `world` is NULL */
IRISRT_API int irisrtIsSymmetric(const IrisRtWorld *world, uint64_t address,
                                 uint64_t bytes);
/* Maps memory that the program allocated at an address of the heap, on all
 * ranks, so that kernels use it where it is. Collective; World::import says
 * which memory, and what the errors are. An error is the same on all ranks, and
 * the world goes on.
 * \param address the program's address of the memory
 * \param bytes the same on all ranks
 * \param imported receives the address on this rank's heap
 * \retval IRISRT_INVALID_ARGUMENT there is no such memory, it is another
 *   device's, on the heap, or imported already
 * \retval IRISRT_FAILED_PRECONDITION the ranks' sizes or calls differ
 * \retval IRISRT_UNAVAILABLE peers cannot map memory of this kind
 * \retval IRISRT_OUT_OF_MEMORY too few addresses are reserved for imports */
IRISRT_API IrisRtStatusCode irisrtImport(IrisRtWorld *world, uint64_t address,
                                         uint64_t bytes, uint64_t *imported);
/* Waits for this rank's work and ends an import, on every rank in the same
 * order.
 * \param imported what irisrtImport returned
 * \retval IRISRT_INVALID_ARGUMENT it is not, or was released */
IRISRT_API IrisRtStatusCode irisrtRelease(IrisRtWorld *world,
                                          uint64_t imported);
/* Computes the address on this rank of a peer's copy of memory on the heap.
 * \param address an address on this rank's heap
 * \param rank the peer, a rank of the world
 * \param peerAddress receives the address
 * \retval IRISRT_INVALID_ARGUMENT the address is not on the heap, or there is
 *   no such rank */
IRISRT_API IrisRtStatusCode irisrtTranslate(const IrisRtWorld *world,
                                            uint64_t address, uint32_t rank,
                                            uint64_t *peerAddress);
/* Copies to, from or between device memory. Stream-ordered: the call may return
 * before the copy is complete, and host memory must stay valid until then.
 * \param to where the bytes go
 * \param from where the bytes are */
IRISRT_API IrisRtStatusCode irisrtCopyToDevice(IrisRtWorld *world, uint64_t to,
                                               const void *from, uint64_t bytes,
                                               uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCopyToHost(IrisRtWorld *world, void *to,
                                             uint64_t from, uint64_t bytes,
                                             uint64_t stream);
IRISRT_API IrisRtStatusCode irisrtCopyOnDevice(IrisRtWorld *world, uint64_t to,
                                               uint64_t from, uint64_t bytes,
                                               uint64_t stream);
/* Sets device memory to 0. Stream-ordered.
 * \param address the address of the first byte */
IRISRT_API IrisRtStatusCode irisrtZero(IrisRtWorld *world, uint64_t address,
                                       uint64_t bytes, uint64_t stream);

/*===----------------------------------------------------------------------===*
 * Packages and kernels
 *===----------------------------------------------------------------------===*/

/* Reads and checks a package. Opening executes nothing; irisrtLoad of a host
 * package executes its code in this process: load only what you would run as a
 * program, or set refuseHostCode.
 * \param path the path of a regular file of at most 1 GiB
 * \param package receives the package; NULL after an error
 * \retval IRISRT_INVALID_ARGUMENT the file cannot be read, is no package, or is
 *   damaged
 * \retval IRISRT_FAILED_PRECONDITION it was compiled for another ABI version */
IRISRT_API IrisRtStatusCode irisrtPackageOpen(const char *path,
                                              IrisRtPackage **package);
/* Opens a package in memory. Copies the bytes.
 * \param bytes the contents of a package's file
 * \param size their number
 * \param package receives the package; NULL after an error
 * \retval IRISRT_INVALID_ARGUMENT the bytes are no package, or are damaged
 * \retval IRISRT_FAILED_PRECONDITION they were compiled for another ABI
 *   version */
IRISRT_API IrisRtStatusCode irisrtPackageFromBytes(const void *bytes,
                                                   uint64_t size,
                                                   IrisRtPackage **package);
/* Invalidates the handle. What was loaded from the package stays loaded.
 * \param package the package, or NULL */
IRISRT_API void irisrtPackageClose(IrisRtPackage *package);
/* Loads the package's image for this world's device.
 * \retval IRISRT_FAILED_PRECONDITION the package has no image for the device,
 *   or one of the host, which refuseHostCode forbids */
IRISRT_API IrisRtStatusCode irisrtLoad(IrisRtWorld *world,
                                       const IrisRtPackage *package);
/* Finds a kernel of a loaded package.
 * \param name "module::name", or just "name" if only one module has it
 * \param kernel receives the kernel, which is valid as long as the world
 * \retval IRISRT_INVALID_ARGUMENT no loaded package has the kernel; the message
 *   names those that there are */
IRISRT_API IrisRtStatusCode irisrtKernelFind(IrisRtWorld *world,
                                             const char *name,
                                             IrisRtKernel **kernel);
/* Finds out how many programs of the kernel run concurrently.
 * \param programs receives the maximum */
IRISRT_API IrisRtStatusCode irisrtKernelMaxCoresident(
    IrisRtWorld *world, const IrisRtKernel *kernel, uint32_t *programs);
/* Enqueues programs of the kernel on this rank. Stream-ordered. Checks the
 * arguments against the kernel's metadata.
 * \param programs the extents x, y and z of the grid, in programs, at least 1
 * \param args the arguments, from irisrtContextArg, irisrtMemrefArg and
 *   irisrtScalarArg
 * \param numArgs their number
 * \retval IRISRT_INVALID_ARGUMENT an argument differs from the metadata,
 *   symmetric memory is not on the heap, or programs that wait for each other
 *   are more than the device runs at once (irisrtKernelMaxCoresident) */
IRISRT_API IrisRtStatusCode irisrtLaunch(IrisRtWorld *world,
                                         const IrisRtKernel *kernel,
                                         const uint64_t programs[3],
                                         const IrisRtArg *args,
                                         uint32_t numArgs, uint64_t stream);

/* \return the launch argument of a kernel's !iris.ctx */
IRISRT_API IrisRtArg irisrtContextArg(void);
/* Makes the launch argument of a row-major memref.
 * \param element the type of its elements
 * \param address the address of its first element
 * \param rank the number of dimensions, at most IRISRT_MAX_DIMS
 * \param sizes the extents, in elements
 * \return the argument; irisrtLaunch refuses one with too many dimensions */
IRISRT_API IrisRtArg irisrtMemrefArg(IrisRtElement element, uint64_t address,
                                     uint32_t rank, const int64_t *sizes);
/* Makes the launch argument of a scalar.
 * \param element the type of the scalar
 * \param bits the bits of the value, zero-extended
 * \return the argument */
IRISRT_API IrisRtArg irisrtScalarArg(IrisRtElement element, uint64_t bits);

/*===----------------------------------------------------------------------===*
 * Streams, events and synchronization
 *===----------------------------------------------------------------------===*/

/* Creates a stream.
 * \param stream receives the stream */
IRISRT_API IrisRtStatusCode irisrtStreamCreate(IrisRtWorld *world,
                                               uint64_t *stream);
/* Takes a stream that the program created by CUDA's or HIP's API
 * (cudaStream_t, CUstream, hipStream_t), or by irisrtHostStreamCreate for a
 * world on the host. It must exist until irisrtStreamDestroy, which then only
 * waits for its work, until irisrtStreamForget, or until the world ends.
 * \param native the stream; NULL is the default stream of a GPU
 * \param stream receives the stream of the world; the same for the same stream
 * \retval IRISRT_UNAVAILABLE the device has no streams that can be adopted */
IRISRT_API IrisRtStatusCode irisrtStreamAdopt(IrisRtWorld *world, void *native,
                                              uint64_t *stream);
/* Ends the use of an adopted stream, which the program may already have
 * destroyed. irisrtSync and the end of the world no longer wait for its work.
 * \retval IRISRT_INVALID_ARGUMENT it is no adopted stream */
IRISRT_API IrisRtStatusCode irisrtStreamForget(IrisRtWorld *world,
                                               uint64_t stream);
/* Waits for the work of a stream and destroys it.
 * \retval IRISRT_INVALID_ARGUMENT it is the default stream, or no stream */
IRISRT_API IrisRtStatusCode irisrtStreamDestroy(IrisRtWorld *world,
                                                uint64_t stream);
/* Creates a stream of the host, for the worlds on the host that adopt it
 * (iris/rt/HostStream.h).
 * \param stream receives the stream */
IRISRT_API IrisRtStatusCode irisrtHostStreamCreate(void **stream);
/* Waits until the stream's work is done, at most 300 seconds.
 * \param stream the stream, from irisrtHostStreamCreate */
IRISRT_API IrisRtStatusCode irisrtHostStreamSynchronize(void *stream);
/* Waits until the stream's work is done, at most 300 seconds, and destroys the
 * stream.
 * \param stream the stream, from irisrtHostStreamCreate */
IRISRT_API IrisRtStatusCode irisrtHostStreamDestroy(void *stream);
/* Waits for the work of one stream of this rank, within the time limits of its
 * kernels. */
IRISRT_API IrisRtStatusCode irisrtSynchronize(IrisRtWorld *world,
                                              uint64_t stream);
/* Creates an event.
 * \param event receives the event */
IRISRT_API IrisRtStatusCode irisrtEventCreate(IrisRtWorld *world,
                                              uint64_t *event);
/* Destroys an event. */
IRISRT_API IrisRtStatusCode irisrtEventDestroy(IrisRtWorld *world,
                                               uint64_t event);
/* Records an event: it is complete when the stream's work so far is done. */
IRISRT_API IrisRtStatusCode irisrtEventRecord(IrisRtWorld *world,
                                              uint64_t event, uint64_t stream);
/* Makes later work of `stream` wait for the event's last record. */
IRISRT_API IrisRtStatusCode irisrtStreamWaitEvent(IrisRtWorld *world,
                                                  uint64_t stream,
                                                  uint64_t event);
/* Measures the time between two events.
 * \param start the earlier event, which is complete
 * \param end the later event, which is complete
 * \param milliseconds receives the time between them, in milliseconds
 * \retval IRISRT_FAILED_PRECONDITION an event is not complete */
IRISRT_API IrisRtStatusCode irisrtEventElapsedMs(IrisRtWorld *world,
                                                 uint64_t start, uint64_t end,
                                                 double *milliseconds);
/* Records later work of the stream in a graph instead of running it, until
 * irisrtCaptureEnd. Kernels that the work needs must be loaded before.
 * \retval IRISRT_UNAVAILABLE the driver does not support graphs */
IRISRT_API IrisRtStatusCode irisrtCaptureBegin(IrisRtWorld *world,
                                               uint64_t stream);
/* Ends a capture.
 * \param graph receives the graph
 * \retval IRISRT_FAILED_PRECONDITION nothing is captured, or the capture
 *   failed */
IRISRT_API IrisRtStatusCode irisrtCaptureEnd(IrisRtWorld *world,
                                             uint64_t stream, uint64_t *graph);
/* Enqueues the graph's work once more. Stream-ordered. */
IRISRT_API IrisRtStatusCode irisrtGraphLaunch(IrisRtWorld *world,
                                              uint64_t graph, uint64_t stream);
/* Destroys a graph. */
IRISRT_API IrisRtStatusCode irisrtGraphDestroy(IrisRtWorld *world,
                                               uint64_t graph);

/* Waits until the host threads of all ranks have arrived. Collective. */
IRISRT_API IrisRtStatusCode irisrtBarrier(IrisRtWorld *world);
/* Waits until all work of all ranks is done, and checks that no kernel hung and
 * all ranks made the same heap calls. Collective.
 * \retval IRISRT_FAILED_PRECONDITION the ranks' heap calls differ
 * \retval IRISRT_TIMEOUT a wait in a kernel took longer than waitLimit, or a
 *   rank did not come within collectiveLimit */
IRISRT_API IrisRtStatusCode irisrtSync(IrisRtWorld *world);
/* Calls irisrtSync, and fails on every rank if an iris.expect_eq failed on any.
 * Collective.
 * \retval IRISRT_FAILED_PRECONDITION a check failed; the message describes
 *   it */
IRISRT_API IrisRtStatusCode irisrtVerify(IrisRtWorld *world);
/* Counts the elements that this rank's kernels compared by iris.expect_eq; 0
 * without a world.
 * \param checked receives the number of compared elements, or is NULL
 * \param failed receives the number of mismatches, or is NULL */
IRISRT_API void irisrtExpects(const IrisRtWorld *world, uint64_t *checked,
                              uint64_t *failed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* IRIS_IRIS_H */
