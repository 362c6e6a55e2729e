/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The binary contract between the Iris compiler and the Iris runtime.
 *
 * This is the only header that both sides include.  It is plain C, holds only
 * POD types, and depends on nothing.  Everything a compiled kernel, a compiled
 * host program (`@main`) or a package assumes about the runtime is here:
 *
 *   1. the device context that every kernel receives by value,
 *   2. the control block that kernels report to (abort word, hang record,
 *      expect record),
 *   3. how arguments are laid out in memory (the same for all targets),
 *   4. how kernels and host programs are called on the host target,
 *   5. the names used in a package.
 *
 * Rules of change: a field is only ever appended or taken from a `reserved`
 * one; then the minor version goes up.  Anything else raises the major version.
 * A loader accepts the same major version and its own or any older minor one.
 *
 * Minor versions: 1 gave groups their members by value (nothing read
 * groupMembers before) and appended IrisRtHostApi.launchGroup; 2 gave kernels
 * hidden arguments (tensor maps) and says what IrisRtContext.trace means, which
 * was 0 before; 3 gave the metadata "overlaps", "barriers" and "debug", and the
 * control block a record for checks of debug runs.
 */
#ifndef IRIS_C_RUNTIMEABI_H
#define IRIS_C_RUNTIMEABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define IRISRT_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
extern "C" {
#else
#define IRISRT_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)
#endif

#define IRISRT_ABI_MAGIC 0x53495249u /* "IRIS" in memory, little endian */
#define IRISRT_ABI_VERSION_MAJOR 1
#define IRISRT_ABI_VERSION_MINOR 3

/* What every function of the contract returns. */
typedef enum IrisRtStatusCode {
  IRISRT_OK = 0,
  IRISRT_INVALID_ARGUMENT = 1,
  IRISRT_FAILED_PRECONDITION = 2,
  IRISRT_UNAVAILABLE = 3,
  IRISRT_OUT_OF_MEMORY = 4,
  IRISRT_TIMEOUT = 5,
  IRISRT_ABORTED = 6, /* another rank failed or went away */
  IRISRT_INTERNAL = 7
} IrisRtStatusCode;

/* An upper bound on ranks of one world (one node). */
#define IRISRT_MAX_RANKS 64
/* An upper bound on ranks of one group, whose members travel in one word. */
#define IRISRT_MAX_GROUP 8

/*===----------------------------------------------------------------------===*
 * 1. Device context
 *===----------------------------------------------------------------------===*/

/* How the heap's memory behaves towards accesses of other devices. */
typedef enum IrisRtMemoryKind {
  IRISRT_MEMORY_HOST = 0,         /* coherent CPU memory (host target) */
  IRISRT_MEMORY_COARSE = 1,       /* ordinary device memory */
  IRISRT_MEMORY_FINE_GRAINED = 2, /* coherent at system scope */
  IRISRT_MEMORY_UNCACHED = 3      /* never cached by the device's L2 */
} IrisRtMemoryKind;

/* What a kernel knows about its world.  An argument of type `!iris.ctx` is this
 * struct, by value: on GPUs its fields are consecutive kernel parameters, in
 * this order, so that the hot ones (the first four) can be preloaded into
 * registers and unused ones cost nothing.
 *
 * Address translation: byte `a` of the own heap lies, on rank r, at
 * `a + (r - rank) * heapStride`, or, where `heapStride` is 0, at
 * `heapTable[r] + (a - heapBase)`.  A kernel is compiled for one of the two.
 */
typedef struct IrisRtContext {
  uint32_t rank;      /* this rank, 0 <= rank < numRanks */
  uint32_t numRanks;  /* ranks in the world */
  uint64_t heapBase;  /* own heap's first byte, in this address space */
  int64_t heapStride; /* bytes from rank r's heap to rank r+1's; 0: use table */
  uint64_t heapTable; /* device address of numRanks uint64_t: every base */
  uint64_t heapBytes; /* bytes reserved for one rank's heap */
  uint64_t control;   /* device address of this rank's IrisRtControl */
  uint64_t waitLimit; /* time limit of one wait, in clock ticks of the target
                       * (see IRISRT_CLOCK_*); 0: for ever */
  uint64_t trace;     /* the trace buffer, see section 2; 0: off */
  uint64_t groupMembers; /* byte i: the world rank of the group's member i */
  uint32_t groupSize;    /* ranks in the group; 0: the world is too large to be
                          * one */
  uint32_t groupIndex;   /* this rank's place in the group */
  uint32_t memoryKind;   /* IrisRtMemoryKind of the heap */
  uint32_t launchId;     /* counts the launches of this rank; for messages */
} IrisRtContext;

IRISRT_STATIC_ASSERT(sizeof(IrisRtContext) == 88, "IrisRtContext layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, heapBase) == 8, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, control) == 40, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, groupMembers) == 64, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, launchId) == 84, "layout");

/* The clock a kernel measures its waits with:
 *   AMD     s_memrealtime / s_sendmsg_rtn realtime: 100 MHz
 *   NVIDIA  %globaltimer: nanoseconds
 *   host    irisrtIR clock callback (IrisRtHostProgram.clock): nanoseconds */
#define IRISRT_CLOCK_HZ_AMDGPU 100000000ull
#define IRISRT_CLOCK_HZ_NVPTX 1000000000ull
#define IRISRT_CLOCK_HZ_HOST 1000000000ull

/*===----------------------------------------------------------------------===*
 * 2. Control block: what kernels report
 *===----------------------------------------------------------------------===*/

/* Values of IrisRtControl.abortWord.  Any non-zero value makes every wait of
 * this rank fail at once. */
enum {
  IRISRT_ABORT_NONE = 0,
  IRISRT_ABORT_HANG = 1,   /* a wait of this rank ran out of time */
  IRISRT_ABORT_REMOTE = 2, /* another rank failed */
  IRISRT_ABORT_HOST = 3,   /* the host gave the world up */
  IRISRT_ABORT_CHECK = 4   /* a check of a debug run failed on this rank */
};

/* States of the records' `state` word.  A program claims a record with a
 * compare-and-swap EMPTY -> CLAIMED, fills it, then stores READY (release). */
enum {
  IRISRT_RECORD_EMPTY = 0,
  IRISRT_RECORD_CLAIMED = 1,
  IRISRT_RECORD_READY = 2
};

/* The first wait of this rank that ran out of time. */
typedef struct IrisRtHangRecord {
  uint32_t state;      /* IRISRT_RECORD_* */
  uint32_t site;       /* index into the kernel's `sites` in the metadata */
  uint32_t program[3]; /* block id of the waiting program */
  uint32_t comparison; /* IrisRtComparison */
  int64_t expected;    /* value the flag was compared with, sign extended */
  int64_t observed;    /* value last seen, sign extended */
  uint64_t address;    /* address of the flag in this rank's address space */
  int32_t owedBy;      /* rank that should have signalled; -1: not known */
  uint32_t launchId;   /* IrisRtContext.launchId of the launch */
  uint64_t kernelHash; /* IrisRtKernel hash: FNV-1a 64 of the kernel's name */
} IrisRtHangRecord;
IRISRT_STATIC_ASSERT(sizeof(IrisRtHangRecord) == 64, "IrisRtHangRecord layout");

/* Comparisons of `iris.wait`, in the order of the dialect's enum. */
typedef enum IrisRtComparison {
  IRISRT_CMP_EQ = 0,
  IRISRT_CMP_NE = 1,
  IRISRT_CMP_GE = 2,
  IRISRT_CMP_GT = 3,
  IRISRT_CMP_LE = 4,
  IRISRT_CMP_LT = 5
} IrisRtComparison;

/* The first mismatch found by `iris.expect_eq` on this rank.  Values are the
 * raw bits of the element, zero extended. */
typedef struct IrisRtExpectRecord {
  uint32_t state; /* IRISRT_RECORD_* */
  uint32_t site;  /* index into the kernel's `sites` in the metadata */
  uint32_t program[3];
  uint32_t launchId;
  uint64_t element; /* row-major index of the element in the tile; 0: scalar */
  uint64_t got;
  uint64_t want;
  uint64_t kernelHash;
} IrisRtExpectRecord;
IRISRT_STATIC_ASSERT(sizeof(IrisRtExpectRecord) == 56, "expect record layout");

/* The first check of this rank, in a kernel compiled for debugging, that did
 * not hold.  The site's "what" has "$value", "$bound" and "$last" (bound - 1)
 * in the place of the numbers.  Since 1.3. */
typedef struct IrisRtCheckRecord {
  uint32_t state;      /* IRISRT_RECORD_* */
  uint32_t site;       /* index into the kernel's `sites` in the metadata */
  uint32_t program[3]; /* block id of the program */
  uint32_t launchId;   /* IrisRtContext.launchId of the launch */
  int64_t value;       /* what was checked */
  int64_t bound;       /* what it was compared with */
  uint64_t kernelHash; /* as in IrisRtHangRecord */
} IrisRtCheckRecord;
IRISRT_STATIC_ASSERT(sizeof(IrisRtCheckRecord) == 48, "check record layout");

/* One per rank, in memory that host and device both see coherently, zero at
 * first.  Words that different parties write lie on different cache lines. */
typedef struct IrisRtControl {
  uint32_t abortWord; /* IRISRT_ABORT_*: polled by waits, set by both sides */
  uint32_t reserved0[31];
  IrisRtHangRecord hang;   /* offset 128 */
  IrisRtCheckRecord check; /* offset 192 */
  uint32_t reserved1[4];
  IrisRtExpectRecord expect; /* offset 256 */
  uint32_t reserved2[18];
  uint64_t expectChecked; /* offset 384: elements compared */
  uint64_t expectFailed;  /* offset 392: elements that differed */
  uint32_t reserved3[28];
} IrisRtControl;
IRISRT_STATIC_ASSERT(offsetof(IrisRtControl, hang) == 128, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtControl, check) == 192, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtControl, expect) == 256, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtControl, expectChecked) == 384, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtControl, expectFailed) == 392, "layout");
IRISRT_STATIC_ASSERT(sizeof(IrisRtControl) == 512, "IrisRtControl layout");

/* The trace buffer: rings of events, for program p (its linear index in the
 * grid) ring p mod rings. IrisRtContext.trace is its address, a multiple of
 * IRISRT_TRACE_ALIGNMENT, plus the logarithms of the number of rings and of the
 * events that a ring holds, so that a kernel loads nothing to find its place.
 * The rings' counters come first, then the events of ring 0, those of ring 1,
 * and so on. Event n of a ring lies at place n modulo its length: the latest
 * ones are kept. */
#define IRISRT_TRACE_ALIGNMENT 256
#define IRISRT_TRACE_RINGS_SHIFT 0
#define IRISRT_TRACE_EVENTS_SHIFT 4
#define IRISRT_TRACE_MAX_LOG2 15
/* What the warps do that load for a program, beside its threads: spans of their
 * own, which are no part of the threads' ones. */
#define IRISRT_TRACE_LOADS 2

typedef struct IrisRtTraceRing {
  uint64_t written; /* events that were ever written */
  uint64_t reserved[7];
} IrisRtTraceRing;
IRISRT_STATIC_ASSERT(sizeof(IrisRtTraceRing) == 64, "IrisRtTraceRing layout");

typedef struct IrisRtTraceEvent {
  uint64_t clock;      /* ticks of the target, see IRISRT_CLOCK_* */
  uint64_t bytes;      /* moved in the span that ends; 0: not told */
  uint64_t kernelHash; /* as in IrisRtHangRecord */
  uint32_t program;    /* linear index in the grid */
  uint32_t launchId;   /* IrisRtContext.launchId */
  uint32_t site;       /* index into the kernel's `sites`: "what" is the span */
  uint32_t phase;      /* 0: begin, 1: end; plus IRISRT_TRACE_LOADS or 0 */
} IrisRtTraceEvent;
IRISRT_STATIC_ASSERT(sizeof(IrisRtTraceEvent) == 40, "IrisRtTraceEvent layout");

/* The kernel, `void(!iris.ctx)`, of every module with traces that writes one
 * "clock" event: it shows how the device's clock runs to the host's. */
#define IRISRT_SYM_CLOCK "__iris_clock"

/*===----------------------------------------------------------------------===*
 * 3. Argument block
 *===----------------------------------------------------------------------===*
 *
 * Kernel arguments travel as one block of bytes, laid out the same way for
 * every target (HIP_LAUNCH_PARAM_BUFFER_POINTER,
 *CU_LAUNCH_PARAM_BUFFER_POINTER, or a pointer on the host).  Each item lies at
 * the next multiple of its size:
 *
 *   !iris.ctx             IrisRtContext (88 bytes, aligned to 8)
 *   memref, identity      8-byte pointer, then one int64 per dynamic size
 *   memref, strided<...>  the same, then one int64 per dynamic stride
 *                         (a dynamic offset is rejected by the compiler; a
 *                         static one is added by the kernel)
 *   index                 int64
 *   iN, fN                N/8 bytes (i1: one byte, 0 or 1)
 *
 * Hidden arguments named by the metadata follow the explicit ones; the runtime
 * makes them for each launch (since 1.2):
 *
 *   tensor_map_mask   int64; bit i: the kernel's tensor map number i was made
 *   tensor_map        IRISRT_TENSOR_MAP_BYTES bytes, aligned to
 *                     IRISRT_TENSOR_MAP_ALIGNMENT: how the copy engine sees the
 *                     memref `arg`, in CUDA's form (CUtensorMap). Three
 *                     dimensions: the memref's dimension `contiguous`, whose
 *                     stride is 1, the other one, and ranks. With `ranks` there
 *                     is a slice for each rank of the world, heapStride apart,
 *                     the first one rank 0's copy of the memref; without it one
 *                     slice, the memref itself. A copy moves `box[0]` x
 *`box[1]` x 1 elements, in rows swizzled over `swizzle` bytes; elements outside
 *read as 0. Not made, and zero, where an address or a stride does not suit the
 *engine.
 */
#define IRISRT_TENSOR_MAP_BYTES 128
#define IRISRT_TENSOR_MAP_ALIGNMENT 128
/* Most tensor maps of one kernel. */
#define IRISRT_MAX_TENSOR_MAPS 16

/* One argument of a launch, before packing: what `iris.launch` and the C API
 * hand to the runtime, which checks it against the kernel's metadata. */
typedef enum IrisRtArgKind {
  IRISRT_ARG_CONTEXT = 0, /* filled in by the runtime */
  IRISRT_ARG_MEMREF = 1,
  IRISRT_ARG_SCALAR = 2
} IrisRtArgKind;

typedef enum IrisRtElement {
  IRISRT_ELT_I1 = 0,
  IRISRT_ELT_I8 = 1,
  IRISRT_ELT_I16 = 2,
  IRISRT_ELT_I32 = 3,
  IRISRT_ELT_I64 = 4,
  IRISRT_ELT_F16 = 5,
  IRISRT_ELT_BF16 = 6,
  IRISRT_ELT_F32 = 7,
  IRISRT_ELT_F64 = 8,
  IRISRT_ELT_INDEX = 9
} IrisRtElement;

#define IRISRT_MAX_DIMS 6

typedef struct IrisRtArg {
  uint32_t kind; /* IrisRtArgKind */
  uint32_t
      element;   /* IrisRtElement: element type of a memref, or the scalar's */
  uint32_t rank; /* dimensions of a memref, <= IRISRT_MAX_DIMS */
  uint32_t symmetric; /* memref: 1 if its type says it lies on the heap */
  uint64_t value;     /* memref: address; scalar: its bits, zero extended */
  int64_t sizes[IRISRT_MAX_DIMS];   /* memref: elements per dimension */
  int64_t strides[IRISRT_MAX_DIMS]; /* memref: elements between neighbours */
} IrisRtArg;
IRISRT_STATIC_ASSERT(sizeof(IrisRtArg) == 120, "IrisRtArg layout");

/*===----------------------------------------------------------------------===*
 * 4. The host target
 *===----------------------------------------------------------------------===*/

/* One running program (workgroup) of a kernel on the host: one OS thread. */
typedef struct IrisRtHostProgram {
  uint32_t id[3];          /* block id */
  uint32_t count[3];       /* grid dimensions */
  void *arena;             /* `arena_bytes` of the metadata, 64-byte aligned */
  uint64_t (*clock)(void); /* monotonic nanoseconds */
  void (*yield)(void);     /* called by waits between polls */
} IrisRtHostProgram;
IRISRT_STATIC_ASSERT(sizeof(IrisRtHostProgram) == 48, "host program layout");

/* A kernel of a host image: exported under the name in the metadata's
 * `symbol`.  `args` is the packed argument block. */
typedef void (*IrisRtHostKernel)(const void *args,
                                 const IrisRtHostProgram *program);

/* The functions that a compiled `@main` calls.  Each returns 0 or the
 * IrisRtStatusCode that made it fail; `@main` then returns that value at once.
 */
typedef struct IrisRtHostApi {
  uint32_t magic; /* IRISRT_ABI_MAGIC */
  uint16_t major, minor;
  uint32_t rank, numRanks;
  void *world; /* first argument of every function below */
  /* Allocates `bytes` bytes of zeroed symmetric heap on every rank. */
  int32_t (*alloc)(void *world, uint64_t bytes, uint64_t *address);
  int32_t (*dealloc)(void *world, uint64_t address);
  /* Enqueues `programs[0] x [1] x [2]` programs of `kernel` (its full name,
   * "module::function" or just "function"). */
  int32_t (*launch)(void *world, const char *kernel, const uint64_t programs[3],
                    const IrisRtArg *args, uint32_t numArgs);
  /* Waits for the stream, then for all ranks. */
  int32_t (*sync)(void *world);
  /* `launch` on the `groupSize` ranks in `members` (world ranks, any order),
   * which are the kernel's group; does nothing on other ranks.  Since 1.1. */
  int32_t (*launchGroup)(void *world, const char *kernel,
                         const uint64_t programs[3], const IrisRtArg *args,
                         uint32_t numArgs, const uint32_t *members,
                         uint32_t groupSize);
} IrisRtHostApi;
IRISRT_STATIC_ASSERT(sizeof(IrisRtHostApi) == 64, "IrisRtHostApi layout");

typedef int32_t (*IrisRtMain)(const IrisRtHostApi *api);

/* Exported by the `main` image of a package: IrisRtMain. */
#define IRISRT_SYM_MAIN "irisrtIR_main"

/*===----------------------------------------------------------------------===*
 * 5. Packages
 *===----------------------------------------------------------------------===*
 *
 * A package is a concatenation of LLVM OffloadBinary entries (version 1), one
 * image each.  Strings of an entry:
 *
 *   triple        LLVM triple of the image
 *   arch          gfx942, ..., sm_90a, host, or main (the `@main` program)
 *   iris.abi      "major.minor" of this header
 *   iris.translation  "stride" or "table" (kernel images)
 *   iris.meta     metadata of the kernels, JSON (below; not in `main` images)
 *   iris.hash     16 hex digits: XXH3-64 over every other string, as
 *                 "key\0value\0" in byte order of the keys, then the image
 *
 * iris.meta:
 *   {"kernels": [{
 *      "name": "all_gather",         name in the gpu.module
 *      "module": "kernels",
 *      "symbol": "all_gather",       exported symbol
 *      "workgroup": [256, 1, 1],     threads; host: [1, 1, 1]
 *      "shared_bytes": 0,            LDS / static + dynamic shared memory
 *      "dynamic_shared_bytes": 0,    part of it that the launch must ask for
 *      "arena_bytes": 0,             host: IrisRtHostProgram.arena
 *      "coresident": false,          all programs must run at once
 *      "args_bytes": 136,            size of the packed block
 *      "args": [
 *        {"kind": "context", "offset": 0},
 *        {"kind": "memref", "offset": 88, "element": "f16",
 *         "symmetric": true, "sizes": [null, null],   null: dynamic
 *         "strides": null | [null, 1],                null: row major
 *         "divisibility": {"pointer": 16, "sizes": [1, 8], "strides": [8, 1]}
 *        },
 *        {"kind": "scalar", "offset": 120, "element": "i32",
 *         "divisibility": 1}],
 *      "hidden": [
 *        {"kind": "tensor_map_mask", "offset": 128},
 *        {"kind": "tensor_map", "offset": 256, "arg": 1, "contiguous": 1,
 *         "box": [64, 128], "swizzle": 128, "ranks": false}],
 *      "sites": [{"op": "iris.wait", "loc": "a.mlir:12:5", "what": "",
 *                 "element": "i32"}],
 *      "overlaps": {"disjoint": [[1, 2]], "same_or_disjoint": [[1, 3]]},
 *      "barriers": [{"arg": 2, "offset": 0, "group": false}],
 *      "debug": false,
 *      "config": {}
 *   }]}
 * "overlaps" names pairs of memref arguments whose memory must share no byte,
 * or that must be the same buffer if it does. "barriers" names the memrefs of
 * one dimension that hold the state of an iris.barrier, from element "offset"
 * on: 32 elements for each program of the launch and each rank of the world,
 * or of the group. Launches check both. "debug" says that the kernel checks
 * its accesses (all three since 1.3). "divisibility" and every key after it
 * may be missing. "config" is for people and tools, but for kernels whose
 * config has "collective": "group" is the size of the groups that may launch
 * them (0: any), "programs" (may be missing) the most programs of a launch,
 * which has one dimension.
 */
#define IRISRT_KEY_ABI "iris.abi"
#define IRISRT_KEY_TRANSLATION "iris.translation"
#define IRISRT_KEY_META "iris.meta"
#define IRISRT_KEY_HASH "iris.hash"
#define IRISRT_ARCH_HOST "host"
#define IRISRT_ARCH_MAIN "main"

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* IRIS_C_RUNTIMEABI_H */
