/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The ABI between the Iris compiler and the Iris runtime.
 *
 * This is the only header that both sides include.  It is plain C, contains
 * only POD types, and has no dependencies.  It defines everything that a
 * compiled kernel, a compiled host program (`@main`) or a package assumes about
 * the runtime:
 *
 *   1. the device context that every kernel receives by value,
 *   2. the control block that kernels report to (abort word, hang record,
 *      expect record),
 *   3. how arguments are laid out in memory (the same for all targets),
 *   4. how kernels and host programs are called on the host target,
 *   5. the names used in a package.
 *
 * Versioning: appending a field, or using a `reserved` one, increments the
 * minor version.  Any other change increments the major version.  A loader
 * accepts the same major version with its own or any older minor version.
 *
 * Minor versions: 1 passes group members by value (groupMembers was unused
 * before) and appends IrisRtHostApi.launchGroup; 2 adds hidden kernel arguments
 * (tensor maps) and defines IrisRtContext.trace, which was 0 before; 3 adds
 * "overlaps", "barriers" and "debug" to the metadata, and a record for checks
 * in debug mode to the control block; 4 appends IrisRtHostApi.allocAt; 5 adds
 * "dependent_launch" to the metadata; 6 passes groups of more than 8 ranks.
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
#define IRISRT_ABI_VERSION_MINOR 6

/* The status that every function of the ABI returns. */
typedef enum IrisRtStatusCode {
  IRISRT_OK = 0,
  IRISRT_INVALID_ARGUMENT = 1,
  IRISRT_FAILED_PRECONDITION = 2,
  IRISRT_UNAVAILABLE = 3,
  IRISRT_OUT_OF_MEMORY = 4,
  IRISRT_TIMEOUT = 5,
  IRISRT_ABORTED = 6, /* another rank failed or exited */
  IRISRT_INTERNAL = 7,
  IRISRT_DEVICE_ERROR = 8 /* the device or its driver failed */
} IrisRtStatusCode;

/* Maximum number of ranks in a world (one node). */
#define IRISRT_MAX_RANKS 64
/* Maximum number of ranks in a group, whose members are passed in one word. */
#define IRISRT_MAX_GROUP 16
/* Maximum number of ranks in a group for generated kernels that serve groups of
 * any size, and for all kernels before 1.6. */
#define IRISRT_MAX_ANY_GROUP 8
/* Bits of a member in that word, in a group of `size` ranks. Ranks of groups of
 * more than IRISRT_MAX_ANY_GROUP are less than 16. */
#define IRISRT_GROUP_MEMBER_BITS(size) ((size) > IRISRT_MAX_ANY_GROUP ? 4 : 8)

/*===----------------------------------------------------------------------===*
 * 1. Device context
 *===----------------------------------------------------------------------===*/

/* Coherence of the heap's memory with accesses of other devices. */
typedef enum IrisRtMemoryKind {
  IRISRT_MEMORY_HOST = 0,         /* coherent CPU memory (host target) */
  IRISRT_MEMORY_COARSE = 1,       /* ordinary device memory */
  IRISRT_MEMORY_FINE_GRAINED = 2, /* coherent at system scope */
  IRISRT_MEMORY_UNCACHED = 3      /* never cached by the device's L2 */
} IrisRtMemoryKind;

/* The device context of a kernel.  An argument of type `!iris.ctx` is this
 * struct, by value: on GPUs its fields are consecutive kernel parameters, in
 * this order, so that the hot ones (the first four) can be preloaded into
 * registers and unused ones cost nothing.
 *
 * Address translation: the address `a` in this rank's heap corresponds on rank
 * r to `a + (r - rank) * heapStride`, or, if `heapStride` is 0, to
 * `heapTable[r] + (a - heapBase)`.  A kernel is compiled for one of the two.
 */
typedef struct IrisRtContext {
  uint32_t rank;      /* this rank, 0 <= rank < numRanks */
  uint32_t numRanks;  /* ranks in the world */
  uint64_t heapBase;  /* this rank's heap, in this address space */
  int64_t heapStride; /* bytes from rank r's heap to rank r+1's; 0: use table */
  uint64_t heapTable; /* device address of numRanks uint64_t: every base */
  uint64_t heapBytes; /* bytes reserved for one rank's heap */
  uint64_t control;   /* device address of this rank's IrisRtControl */
  uint64_t waitLimit; /* time limit of one wait, in clock ticks of the target
                       * (see IRISRT_CLOCK_*); 0: no limit */
  uint64_t trace;     /* the trace buffer, see section 2; 0: off */
  uint64_t groupMembers; /* the world ranks of the group's members, from bit 0
                          * on: IRISRT_GROUP_MEMBER_BITS(groupSize) for each */
  uint32_t groupSize;    /* ranks in the group; 0: the world is too large for a
                          * group */
  uint32_t groupIndex;   /* this rank's index in the group */
  uint32_t memoryKind;   /* IrisRtMemoryKind of the heap */
  uint32_t launchId;     /* counts the launches of this rank; for messages */
} IrisRtContext;

IRISRT_STATIC_ASSERT(sizeof(IrisRtContext) == 88, "IrisRtContext layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, heapBase) == 8, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, control) == 40, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, groupMembers) == 64, "layout");
IRISRT_STATIC_ASSERT(offsetof(IrisRtContext, launchId) == 84, "layout");

/* The clock that measures the waits of a kernel:
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
 * this rank fail. */
enum {
  IRISRT_ABORT_NONE = 0,
  IRISRT_ABORT_HANG = 1,   /* a wait of this rank timed out */
  IRISRT_ABORT_REMOTE = 2, /* another rank failed */
  IRISRT_ABORT_HOST = 3,   /* the host aborted the world */
  IRISRT_ABORT_CHECK = 4   /* a check in debug mode failed on this rank */
};

/* States of the records' `state` word.  A program claims a record with a
 * compare-and-swap EMPTY -> CLAIMED, fills it, then stores READY (release). */
enum {
  IRISRT_RECORD_EMPTY = 0,
  IRISRT_RECORD_CLAIMED = 1,
  IRISRT_RECORD_READY = 2
};

/* The first wait of this rank that timed out. */
typedef struct IrisRtHangRecord {
  uint32_t state;      /* IRISRT_RECORD_* */
  uint32_t site;       /* index into the kernel's `sites` in the metadata */
  uint32_t program[3]; /* block id of the waiting program */
  uint32_t comparison; /* IrisRtComparison */
  int64_t expected;    /* expected value of the flag, sign extended */
  int64_t observed;    /* value last seen, sign extended */
  uint64_t address;    /* address of the flag in this rank's address space */
  int32_t owedBy;      /* rank that should have signaled; -1: unknown */
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

/* The first failed check of this rank, in a kernel compiled in debug mode.  The
 * site's "what" has "$value", "$bound" and "$last" (bound - 1) as placeholders
 * of the numbers.  Since 1.3. */
typedef struct IrisRtCheckRecord {
  uint32_t state;      /* IRISRT_RECORD_* */
  uint32_t site;       /* index into the kernel's `sites` in the metadata */
  uint32_t program[3]; /* block id of the program */
  uint32_t launchId;   /* IrisRtContext.launchId of the launch */
  int64_t value;       /* the checked value */
  int64_t bound;       /* the bound of the check */
  uint64_t kernelHash; /* as in IrisRtHangRecord */
} IrisRtCheckRecord;
IRISRT_STATIC_ASSERT(sizeof(IrisRtCheckRecord) == 48, "check record layout");

/* One per rank, in memory that is coherent between host and device, initially
 * zero.  Words with different writers are on different cache lines. */
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

/* The trace buffer: rings of events; program p (its linear index in the grid)
 * uses ring p mod rings. IrisRtContext.trace is its address, a multiple of
 * IRISRT_TRACE_ALIGNMENT, plus the logarithms of the number of rings and of the
 * events per ring, so that a kernel needs no load to find its ring. The rings'
 * counters come first, then the events of ring 0, those of ring 1, and so on.
 * Event n of a ring has index n modulo the ring's length: the latest events are
 * kept. */
#define IRISRT_TRACE_ALIGNMENT 256
#define IRISRT_TRACE_RINGS_SHIFT 0
#define IRISRT_TRACE_EVENTS_SHIFT 4
#define IRISRT_TRACE_MAX_LOG2 15
/* Marks events of producer warps, whose spans are separate from those of the
 * program's other threads. */
#define IRISRT_TRACE_LOADS 2

typedef struct IrisRtTraceRing {
  uint64_t written; /* number of events written so far */
  uint64_t reserved[7];
} IrisRtTraceRing;
IRISRT_STATIC_ASSERT(sizeof(IrisRtTraceRing) == 64, "IrisRtTraceRing layout");

typedef struct IrisRtTraceEvent {
  uint64_t clock;      /* ticks of the target, see IRISRT_CLOCK_* */
  uint64_t bytes;      /* moved in the span that ends; 0: unknown */
  uint64_t kernelHash; /* as in IrisRtHangRecord */
  uint32_t program;    /* linear index in the grid */
  uint32_t launchId;   /* IrisRtContext.launchId */
  uint32_t site;       /* index into the kernel's `sites`: "what" is the span */
  uint32_t phase;      /* 0: begin, 1: end; plus IRISRT_TRACE_LOADS or 0 */
} IrisRtTraceEvent;
IRISRT_STATIC_ASSERT(sizeof(IrisRtTraceEvent) == 40, "IrisRtTraceEvent layout");

/* The kernel, `void(!iris.ctx)`, of every module with traces that writes one
 * "clock" event, which relates the device's clock to the host's. */
#define IRISRT_SYM_CLOCK "__iris_clock"

/*===----------------------------------------------------------------------===*
 * 3. Argument block
 *===----------------------------------------------------------------------===*
 *
 * Kernel arguments are passed as one block of bytes, with the same layout for
 * every target: HIP_LAUNCH_PARAM_BUFFER_POINTER on AMD,
 * CU_LAUNCH_PARAM_BUFFER_POINTER on NVIDIA, a pointer on the host.  Each item
 * is aligned to its size:
 *
 *   !iris.ctx             IrisRtContext (88 bytes, aligned to 8)
 *   memref, identity      8-byte pointer, then one int64 per dynamic size
 *   memref, strided<...>  the same, then one int64 per dynamic stride
 *                         (a dynamic offset is rejected by the compiler; a
 *                         static one is added by the kernel)
 *   index                 int64
 *   iN, fN                N/8 bytes (i1: one byte, 0 or 1)
 *
 * Hidden arguments listed in the metadata follow the explicit ones; the runtime
 * creates them for each launch (since 1.2):
 *
 *   tensor_map_mask   int64; bit i: the kernel's tensor map number i is valid
 *   tensor_map        IRISRT_TENSOR_MAP_BYTES bytes, aligned to
 *                     IRISRT_TENSOR_MAP_ALIGNMENT: the TMA descriptor of the
 *                     memref `arg` (a CUtensorMap). It has three dimensions:
 *                     the memref's dimension `contiguous`, whose stride is 1,
 *                     the other one, and ranks. With `ranks` the third one has
 *                     an element for each rank of the world, with stride
 *                     heapStride, starting with rank 0's copy of the memref;
 *                     without it, its only element is the memref itself. A
 *                     copy moves `box[0]` x `box[1]` x 1 elements, in rows with
 *                     a swizzle over `swizzle` bytes; elements outside read as
 *                     0. Invalid, and zero, if TMA does not support the
 *                     memref's address or strides.
 */
#define IRISRT_TENSOR_MAP_BYTES 128
#define IRISRT_TENSOR_MAP_ALIGNMENT 128
/* Maximum number of tensor maps of a kernel. */
#define IRISRT_MAX_TENSOR_MAPS 16

/* One argument of a launch, before packing.  `iris.launch` and the C API pass
 * it to the runtime, which checks it against the kernel's metadata. */
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
  uint32_t symmetric; /* memref: 1 if its type says it is in the heap */
  uint64_t value;     /* memref: address; scalar: its bits, zero extended */
  int64_t sizes[IRISRT_MAX_DIMS];   /* memref: elements per dimension */
  int64_t strides[IRISRT_MAX_DIMS]; /* memref: strides in elements */
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
 * IrisRtStatusCode of the failure, which `@main` then returns immediately.
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
  /* `alloc` of the iris.alloc at `site`, "file:line:col"; `isWorkspace` is 1
   * for memory that the compiler adds to the program's, else 0.  Since 1.4. */
  int32_t (*allocAt)(void *world, uint64_t bytes, uint64_t *address,
                     const char *site, uint32_t isWorkspace);
} IrisRtHostApi;
IRISRT_STATIC_ASSERT(sizeof(IrisRtHostApi) == 72, "IrisRtHostApi layout");

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
 *      "symbol": "all_gather",       exported symbol; host: "iris.all_gather"
 *      "workgroup": [256, 1, 1],     threads; host: [1, 1, 1]
 *      "shared_bytes": 0,            LDS / static + dynamic shared memory
 *      "dynamic_shared_bytes": 0,    part of it that the launch requests
 *      "arena_bytes": 0,             host: IrisRtHostProgram.arena
 *      "coresident": false,          all programs must be co-resident
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
 *      "dependent_launch": false,
 *      "debug": false,
 *      "config": {}
 *   }]}
 * "overlaps" lists pairs of memref arguments whose memory must be disjoint, or
 * either disjoint or the same buffer. "barriers" lists the one-dimensional
 * memrefs that hold the state of an iris.barrier, from element "offset" on: 32
 * elements for each program of the launch and each rank of the world, or of the
 * group. Launches check both. "debug" says whether the kernel checks its
 * accesses (all three since 1.3). "dependent_launch" (since 1.5) says that the
 * kernel waits for the kernel in front of it in its stream itself, so that it
 * may be launched before that has ended. "divisibility" and every key after it
 * may be missing. "config" is informative, except for kernels whose config has
 * "collective": "group" is the size of the groups that may launch them (0:
 * any up to IRISRT_MAX_ANY_GROUP), and "programs" (may be missing) the maximum
 * number of programs in a launch, which has one dimension.
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
