/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===- ccl.h - C API of the collectives -------------------------*- C++ -*-===*
 *
 * Collective operations among ranks of a world, and matmuls fused with them.
 * iris/ccl/Communicator.h and iris/ccl/Matmul.h document the semantics.
 *
 *   IrisCclComm *comm;
 *   irisrtWorldCreate(NULL, &world);
 *   iriscclCommCreate(world, NULL, &comm);
 *   iriscclAllReduce(comm, in, out, count, IRISCCL_BF16, IRISCCL_SUM, 0, NULL);
 *   irisrtSync(world);
 *   iriscclCommDestroy(comm);
 *
 * Functions return an IrisRtStatusCode; irisrtLastError() returns the message
 * of the last failure on the calling thread.  Operations take device memory
 * and are stream-ordered; stream 0 is the world's default stream.  All ranks of
 * a communicator call the same operations in the same order.
 *
 * \param world the world, which must outlive what is created with it
 * \param comm the communicator, from iriscclCommCreate
 * \param in the input, in device memory, aligned to its elements
 * \param out the output, in device memory, aligned to its elements
 * \param count the number of elements that one rank contributes or receives
 * \param type the type of the elements
 * \param reduction how the elements are combined
 * \param root the index in the group of the rank that has or gets the data
 * \param peer the index in the group of the other rank
 * \param stream the stream on which the kernel is enqueued; 0: the default
 *   stream
 * \param config the config, the same on all ranks; NULL: selected
 * \param package the package, from irisrtPackageOpen
 * \param matmul the matmul, from iriscclMatmulCreate
 * \retval IRISRT_INVALID_ARGUMENT an argument is invalid: a NULL handle or
 *   buffer, a buffer that is not aligned or overlaps the other one, an index
 *   beyond the group, a config that no kernel supports
 * \retval IRISRT_FAILED_PRECONDITION this rank is not part of the group, a
 *   kernel is missing during a capture, or the ranks' calls differ
 * \retval IRISRT_UNAVAILABLE the kernel is in no package, and there is no
 *   compiler
 * \retval IRISRT_TIMEOUT a time limit expired, on this rank or a peer
 * \retval IRISRT_ABORTED another rank failed or ended
 * \retval IRISRT_DEVICE_ERROR the device of this rank failed
 */
#ifndef IRIS_CCL_H
#define IRIS_CCL_H

#include "iris/iris.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*
 * Enumerations and configs
 *===----------------------------------------------------------------------===*/

/* A collective operation. */
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

/* An element type. The fp8 types are those of OCP (FN) and of AMD's gfx94x
 * (FNUZ). */
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
  IRISCCL_F8E5M2FNUZ = 12,
  IRISCCL_U32 = 13,
  IRISCCL_U64 = 14
} IrisCclType;

/* How elements are combined. */
typedef enum IrisCclReduction {
  IRISCCL_SUM = 0,
  IRISCCL_PROD = 1,
  IRISCCL_MIN = 2,
  IRISCCL_MAX = 3,
  IRISCCL_AVG = 4 /* the sum, divided once; integers truncate towards zero */
} IrisCclReduction;

/* The placement of the buffers in the calls that iriscclPrepare loads kernels
 * for. */
typedef enum IrisCclPlacement {
  IRISCCL_ON_HEAP = 0, /* both on the symmetric heap */
  IRISCCL_ANYWHERE = 1 /* any device memory */
} IrisCclPlacement;

/* The config of an operation, equal on all ranks. Fields that are 0 are
 * selected. */
typedef struct IrisCclConfig {
  uint64_t structBytes; /* sizeof(IrisCclConfig) */
  const char *variant;  /* "one_shot", ...; NULL: selected */
  int64_t tile;         /* elements per program and step */
  int64_t warps;        /* warps per program */
  int64_t programs;     /* maximum number of programs of a launch */
  int64_t xcds;         /* chiplets (XCDs) for the program remap */
  int32_t staged;       /* 1: any device memory, in place or not */
} IrisCclConfig;

/*===----------------------------------------------------------------------===*
 * Communicators
 *===----------------------------------------------------------------------===*/

/* The handle of a communicator. */
typedef struct IrisCclComm IrisCclComm;

/* Options of a communicator. Zero everything but structBytes for the
 * defaults. */
typedef struct IrisCclCommOptions {
  uint64_t structBytes; /* sizeof(IrisCclCommOptions) */
  /* World ranks of the group, at most 16, and if more than 8 less than 16;
   * NULL: all ranks of the world. */
  const uint32_t *ranks;
  uint32_t numRanks;
  /* 1: compare every call across ranks; 0: only if IRIS_CHECK_COLLECTIVES is
   * set. */
  uint32_t checkCalls;
  /* Bytes of the workspace on the heap, shared by the kernels; 0: 56 MiB. */
  uint64_t workspaceBytes;
  /* The directory of compiled kernels and the path of iris-compile; NULL: taken
   * from the environment. */
  const char *cacheDirectory;
  const char *compiler;
} IrisCclCommOptions;

/* Creates a communicator. Collective over the world.
 * \param options the options; NULL for the defaults
 * \param comm receives the communicator; NULL after an error
 * \retval IRISRT_OUT_OF_MEMORY the heap has no room for the workspace */
IRISRT_API IrisRtStatusCode iriscclCommCreate(IrisRtWorld *world,
                                              const IrisCclCommOptions *options,
                                              IrisCclComm **comm);
/* Destroys a communicator and frees its workspace. Collective over the world.
 * Invalidates the handle even if it fails.
 * \param comm the communicator; NULL is success */
IRISRT_API IrisRtStatusCode iriscclCommDestroy(IrisCclComm *comm);
/* \return the number of ranks of the group; 0 for NULL */
IRISRT_API uint32_t iriscclCommSize(const IrisCclComm *comm);
/* \return the index of this rank in the group; -1 if it is not part of the
 *   group, or for NULL */
IRISRT_API int32_t iriscclCommIndex(const IrisCclComm *comm);
/* Adds the kernels of a package that was compiled ahead of time. */
IRISRT_API IrisRtStatusCode iriscclCommAddPackage(IrisCclComm *comm,
                                                  const IrisRtPackage *package);
/* Adds a package's kernels for all communicators and matmuls that this process
 * creates later and that specify neither cacheDirectory nor compiler. Needed on
 * machines without a compiler. */
IRISRT_API IrisRtStatusCode iriscclAddPackage(const IrisRtPackage *package);
/* Loads the kernels for calls of `op` with this config and placement. Required
 * before a capture, during which no kernel can be loaded. Collective over the
 * ranks of the communicator.
 * \param op the operation
 * \param placement where the buffers of the calls are */
IRISRT_API IrisRtStatusCode iriscclPrepare(IrisCclComm *comm, IrisCclOp op,
                                           IrisCclType type,
                                           IrisCclReduction reduction,
                                           const IrisCclConfig *config,
                                           IrisCclPlacement placement);

/*===----------------------------------------------------------------------===*
 * Operations
 *===----------------------------------------------------------------------===*/

/* Every rank gets the inputs of all ranks: `count` elements each. As
 * Communicator::allGather. */
IRISRT_API IrisRtStatusCode iriscclAllGather(IrisCclComm *comm, const void *in,
                                             void *out, size_t count,
                                             IrisCclType type, uint64_t stream,
                                             const IrisCclConfig *config);
/* Every rank gets the reduction of all inputs of `count` elements. As
 * Communicator::allReduce. */
IRISRT_API IrisRtStatusCode iriscclAllReduce(IrisCclComm *comm, const void *in,
                                             void *out, size_t count,
                                             IrisCclType type,
                                             IrisCclReduction reduction,
                                             uint64_t stream,
                                             const IrisCclConfig *config);
/* Every rank gets its chunk, `count` elements, of the reduction of all inputs.
 * As Communicator::reduceScatter. */
IRISRT_API IrisRtStatusCode iriscclReduceScatter(IrisCclComm *comm,
                                                 const void *in, void *out,
                                                 size_t count, IrisCclType type,
                                                 IrisCclReduction reduction,
                                                 uint64_t stream,
                                                 const IrisCclConfig *config);
/* Sends chunk i of the input, `count` elements, to the rank with index i. As
 * Communicator::allToAll. */
IRISRT_API IrisRtStatusCode iriscclAllToAll(IrisCclComm *comm, const void *in,
                                            void *out, size_t count,
                                            IrisCclType type, uint64_t stream,
                                            const IrisCclConfig *config);
/* Every rank gets the `count` elements of the rank with index `root`. As
 * Communicator::broadcast. */
IRISRT_API IrisRtStatusCode iriscclBroadcast(IrisCclComm *comm, const void *in,
                                             void *out, size_t count,
                                             IrisCclType type, uint32_t root,
                                             uint64_t stream,
                                             const IrisCclConfig *config);
/* The rank with index `root` gets the reduction of all inputs of `count`
 * elements. As Communicator::reduce. */
IRISRT_API IrisRtStatusCode iriscclReduce(IrisCclComm *comm, const void *in,
                                          void *out, size_t count,
                                          IrisCclType type,
                                          IrisCclReduction reduction,
                                          uint32_t root, uint64_t stream,
                                          const IrisCclConfig *config);
/* The rank with index `root` gets the inputs of all ranks, `count` elements
 * each. As Communicator::gather. */
IRISRT_API IrisRtStatusCode iriscclGather(IrisCclComm *comm, const void *in,
                                          void *out, size_t count,
                                          IrisCclType type, uint32_t root,
                                          uint64_t stream,
                                          const IrisCclConfig *config);
/* The rank with index i gets chunk i, `count` elements, of the input of the
 * rank with index `root`. As Communicator::scatter. */
IRISRT_API IrisRtStatusCode iriscclScatter(IrisCclComm *comm, const void *in,
                                           void *out, size_t count,
                                           IrisCclType type, uint32_t root,
                                           uint64_t stream,
                                           const IrisCclConfig *config);
/* Sends `count` elements to the rank with index `peer`, which calls
 * iriscclRecv. */
IRISRT_API IrisRtStatusCode iriscclSend(IrisCclComm *comm, const void *in,
                                        size_t count, IrisCclType type,
                                        uint32_t peer, uint64_t stream,
                                        const IrisCclConfig *config);
/* Gets the `count` elements that the rank with index `peer` sends. */
IRISRT_API IrisRtStatusCode iriscclRecv(IrisCclComm *comm, void *out,
                                        size_t count, IrisCclType type,
                                        uint32_t peer, uint64_t stream,
                                        const IrisCclConfig *config);
/* Chunks of any length, as MPI_Alltoallv and MPI_Allgatherv. Counts and offsets
 * are device memory, an entry for every member, in rows of `rowElements`
 * elements.
 * \param inSize the elements of the input, the same on all members
 * \param inCounts the rows of the input's chunks
 * \param inOffsets the first rows of the input's chunks
 * \param outSize the elements of the output, the same on all members
 * \param outCounts the rows of the output's chunks
 * \param outOffsets the first rows of the output's chunks
 * \param counts the rows of the output's chunks, the same on all members
 * \param offsets the first rows of the output's chunks
 * \param rowElements the elements of a row */
IRISRT_API IrisRtStatusCode iriscclAllToAllV(
    IrisCclComm *comm, const void *in, size_t inSize, const int64_t *inCounts,
    const int64_t *inOffsets, void *out, size_t outSize,
    const int64_t *outCounts, const int64_t *outOffsets, size_t rowElements,
    IrisCclType type, uint64_t stream, const IrisCclConfig *config);
IRISRT_API IrisRtStatusCode iriscclAllGatherV(
    IrisCclComm *comm, const void *in, size_t inSize, void *out, size_t outSize,
    const int64_t *counts, const int64_t *offsets, size_t rowElements,
    IrisCclType type, uint64_t stream, const IrisCclConfig *config);
/* Work of any rank before the barrier is complete and visible to all ranks when
 * work after it runs. As Communicator::barrier. */
IRISRT_API IrisRtStatusCode iriscclBarrier(IrisCclComm *comm, uint64_t stream);

/*===----------------------------------------------------------------------===*
 * Matmuls
 *===----------------------------------------------------------------------===*/

/* The operation of a matmul; MatmulKind of iris/ccl/Matmul.h has the shapes. */
typedef enum IrisCclMatmulKind {
  IRISCCL_MATMUL = 0,
  IRISCCL_ALL_GATHER_MATMUL = 1,
  IRISCCL_MATMUL_ALL_GATHER = 2,
  IRISCCL_MATMUL_REDUCE_SCATTER = 3,
  IRISCCL_MATMUL_ALL_REDUCE = 4
} IrisCclMatmulKind;

/* Bias: one element for each row or each column of the result. */
typedef enum IrisCclBias {
  IRISCCL_NO_BIAS = 0,
  IRISCCL_ROW_BIAS = 1,
  IRISCCL_COLUMN_BIAS = 2
} IrisCclBias;

/* The function of each element of the result, after the bias. */
typedef enum IrisCclActivation {
  IRISCCL_NO_ACTIVATION = 0,
  IRISCCL_RELU = 1,
  IRISCCL_GELU = 2
} IrisCclActivation;

/* How much is measured on the device to select the config: TuneLevel of
 * iris/rt/Env.h. */
typedef enum IrisCclTuning {
  IRISCCL_TUNE_DEFAULT = 0, /* IRIS_TUNE, else quick on CUDA, off elsewhere */
  IRISCCL_TUNE_OFF = 1,
  IRISCCL_TUNE_QUICK = 2,
  IRISCCL_TUNE_FULL = 3
} IrisCclTuning;

/* Zero everything but structBytes, kind, m, n, k, element and result for the
 * defaults. Equal on all ranks. m, n and k are the sizes of one rank. */
typedef struct IrisCclMatmulProblem {
  uint64_t structBytes; /* sizeof(IrisCclMatmulProblem) */
  /* The operation. */
  IrisCclMatmulKind kind;
  /* Elements; at least 1. */
  uint64_t m, n, k;
  /* The type of a and b, and the type of c. */
  IrisCclType element, result;
  /* 1: the columns of the matrix are contiguous. */
  int32_t aIsColumnMajor, bIsColumnMajor;
  /* Whether a call passes a bias (IrisCclBias). */
  IrisCclBias bias;
  /* 1: a call passes a factor of the result. */
  int32_t hasScale;
  /* The function of the result's elements. */
  IrisCclActivation activation;
  /* The config. Fields that are NULL or 0 are selected, except shard and
   * partialType, which change the result and have defaults. */
  const char *variant; /* "unfused": a matmul, then a collective;
                          "copy_engine": DMA copies during the matmul */
  /* As MatmulConfig of iris/ccl/Matmul.h. */
  const char *shard;
  const char *stagedLayout;
  const char *partialType;
  /* As MatmulConfig of iris/ccl/Matmul.h. */
  int64_t tileM, tileN, tileK, groupM, xcds, warps, programs;
  int64_t kPerFlag, numFetchPrograms, numFetchStages, firstStageFetchPrograms;
  int64_t tilesPerCommProgram, splitK;
  /* The directory of compiled kernels and the path of iris-compile; NULL: taken
   * from the environment. */
  const char *cacheDirectory;
  const char *compiler;
  /* How open fields of the config are selected, and the maximum time of the
   * measurement in milliseconds without compilation; 0: that of the level. */
  IrisCclTuning tuning;
  double tuningLimitMs;
  /* As MatmulConfig of iris/ccl/Matmul.h. */
  const char *library;
} IrisCclMatmulProblem;

/* The handle of a matmul. */
typedef struct IrisCclMatmul IrisCclMatmul;

/* Compiles or finds the kernels of a matmul, and allocates its workspace.
 * Collective over the world.
 * \param problem the operation, its sizes and types, and its config
 * \param matmul receives the matmul; NULL after an error
 * \retval IRISRT_OUT_OF_MEMORY the heap has no room for the workspace */
IRISRT_API IrisRtStatusCode
iriscclMatmulCreate(IrisRtWorld *world, const IrisCclMatmulProblem *problem,
                    IrisCclMatmul **matmul);
/* Destroys a matmul and frees its workspace. Collective over the world.
 * Invalidates the handle even if it fails.
 * \param matmul the matmul; NULL is success */
IRISRT_API IrisRtStatusCode iriscclMatmulDestroy(IrisCclMatmul *matmul);
/* c = activation(scale * a * b + bias). All matrices are on the symmetric heap.
 * \param a the left operand; IrisCclMatmulKind has the shapes
 * \param b the right operand
 * \param c the result
 * \param bias the bias, of the result's type; ignored if the problem has none
 * \param scale the factor of the result; ignored if the problem has none */
IRISRT_API IrisRtStatusCode iriscclMatmulRun(IrisCclMatmul *matmul,
                                             const void *a, const void *b,
                                             void *c, const void *bias,
                                             float scale, uint64_t stream);
/* \return the bytes of heap that the matmul holds on every rank, without the
 *   matrices; 0 for NULL */
IRISRT_API uint64_t iriscclMatmulSharedBytes(const IrisCclMatmul *matmul);

/* The config of a matmul. The strings live as long as the matmul. */
typedef struct IrisCclMatmulConfig {
  uint64_t structBytes; /* sizeof(IrisCclMatmulConfig) */
  /* As in the problem, and completed. */
  const char *variant;
  const char *shard;
  const char *stagedLayout; /* "" or, below, 0: the kernel's default */
  const char *partialType;
  /* As MatmulConfig of iris/ccl/Matmul.h. */
  int64_t tileM, tileN, tileK, groupM, xcds, warps, programs;
  int64_t kPerFlag, numFetchPrograms, numFetchStages, firstStageFetchPrograms;
  int64_t tilesPerCommProgram, splitK;
  const char *library; /* "": Iris' own kernel */
} IrisCclMatmulConfig;

/* Copies the complete config, including selected fields.
 * \param config receives the config; its structBytes must be set */
IRISRT_API IrisRtStatusCode iriscclMatmulGetConfig(const IrisCclMatmul *matmul,
                                                   IrisCclMatmulConfig *config);
/* \return where the config comes from ("measured", "table" or "model"), the
 *   config and the reason, in one line, valid as long as the matmul; "" for
 *   NULL */
IRISRT_API const char *iriscclMatmulExplain(const IrisCclMatmul *matmul);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* IRIS_CCL_H */
