// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host kernels for tests, hand-written in the form of compiled ones: they
// follow iris-c/RuntimeABI.h and nothing else. All have the same arguments:
//
//   (!iris.ctx, memref<?xi32, symmetric> a, memref<?xi32, symmetric> b,
//    i32 x, i32 y)
#include "iris-c/RuntimeABI.h"

#include <cstddef>

namespace {
struct Args {
  IrisRtContext ctx;
  int32_t *a;
  int64_t aSize;
  int32_t *b;
  int64_t bSize;
  int32_t x;
  int32_t y;
};
static_assert(sizeof(Args) == 128, "args_bytes in TestKernels.h");

/// FNV-1a of a kernel's name.
constexpr uint64_t hashName(const char *text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (; *text; ++text)
    hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3ull;
  return hash;
}

IrisRtControl *control(const Args &args) {
  return reinterpret_cast<IrisRtControl *>(args.ctx.control);
}

/// The address of `p` on rank `rank`, with both translation methods.
int32_t *translate(const Args &args, int32_t *p, uint32_t rank) {
  uint64_t address = reinterpret_cast<uint64_t>(p);
  if (args.ctx.heapStride != 0)
    return reinterpret_cast<int32_t *>(
        address +
        (static_cast<int64_t>(rank) - args.ctx.rank) * args.ctx.heapStride);
  auto *table = reinterpret_cast<const uint64_t *>(args.ctx.heapTable);
  return reinterpret_cast<int32_t *>(table[rank] + address - args.ctx.heapBase);
}

int32_t valueOf(uint32_t rank, int64_t index) {
  uint32_t hash = (rank + 1) * 0x9e3779b9u ^ static_cast<uint32_t>(index);
  hash = (hash ^ (hash >> 15)) * 0x2c1b3c6du;
  return static_cast<int32_t>(hash ^ (hash >> 12));
}

bool aborted(const Args &args) {
  return __atomic_load_n(&control(args)->abortWord, __ATOMIC_RELAXED) != 0;
}

/// A bounded wait for `*flag >= want`; false if the program must return.
bool waitFor(const Args &args, const IrisRtHostProgram *program,
             const int32_t *flag, int32_t want, int32_t owedBy, uint32_t site,
             uint64_t kernelHash) {
  uint64_t start = program->clock();
  while (true) {
    int32_t seen = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
    if (seen - want >= 0)
      return true;
    if (aborted(args))
      return false;
    if (args.ctx.waitLimit != 0 &&
        program->clock() - start > args.ctx.waitLimit) {
      IrisRtHangRecord &record = control(args)->hang;
      uint32_t empty = IRISRT_RECORD_EMPTY;
      if (__atomic_compare_exchange_n(&record.state, &empty,
                                      IRISRT_RECORD_CLAIMED, false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        record.site = site;
        for (int i = 0; i < 3; ++i)
          record.program[i] = program->id[i];
        record.comparison = IRISRT_CMP_GE;
        record.expected = want;
        record.observed = seen;
        record.address = reinterpret_cast<uint64_t>(flag);
        record.owedBy = owedBy;
        record.launchId = args.ctx.launchId;
        record.kernelHash = kernelHash;
        __atomic_store_n(&record.state, IRISRT_RECORD_READY, __ATOMIC_RELEASE);
      }
      uint32_t none = 0;
      __atomic_compare_exchange_n(&control(args)->abortWord, &none,
                                  IRISRT_ABORT_HANG, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED);
      return false;
    }
    program->yield();
  }
}

void expectEqual(const Args &args, const IrisRtHostProgram *program,
                 uint64_t element, int32_t got, int32_t want, uint32_t site,
                 uint64_t kernelHash) {
  __atomic_fetch_add(&control(args)->expectChecked, 1, __ATOMIC_RELAXED);
  if (got == want)
    return;
  __atomic_fetch_add(&control(args)->expectFailed, 1, __ATOMIC_RELAXED);
  IrisRtExpectRecord &record = control(args)->expect;
  uint32_t empty = IRISRT_RECORD_EMPTY;
  if (!__atomic_compare_exchange_n(&record.state, &empty, IRISRT_RECORD_CLAIMED,
                                   false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
  record.site = site;
  for (int i = 0; i < 3; ++i)
    record.program[i] = program->id[i];
  record.launchId = args.ctx.launchId;
  record.element = element;
  record.got = static_cast<uint32_t>(got);
  record.want = static_cast<uint32_t>(want);
  record.kernelHash = kernelHash;
  __atomic_store_n(&record.state, IRISRT_RECORD_READY, __ATOMIC_RELEASE);
}

uint64_t linearId(const IrisRtHostProgram *program) {
  return program->id[0] +
         program->count[0] *
             (program->id[1] +
              static_cast<uint64_t>(program->count[1]) * program->id[2]);
}

uint64_t numPrograms(const IrisRtHostProgram *program) {
  return static_cast<uint64_t>(program->count[0]) * program->count[1] *
         program->count[2];
}
} // namespace

extern "C" {

/// a[i] = valueOf(rank, i)
void fill(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  for (int64_t i = linearId(program); i < args.aSize; i += numPrograms(program))
    args.a[i] = valueOf(args.ctx.rank, i);
}

/// Pushes a into row `rank` of b on every rank, in rotated order.
void all_gather(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  uint32_t n = args.ctx.numRanks;
  for (int64_t i = linearId(program); i < args.aSize; i += numPrograms(program))
    for (uint32_t k = 0; k < n; ++k) {
      uint32_t peer = (args.ctx.rank + k) % n;
      translate(args, args.b, peer)[args.ctx.rank * args.aSize + i] = args.a[i];
    }
}

/// Expects the result of all_gather in b; x is added to the expected value.
void check_gathered(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  for (int64_t i = linearId(program); i < args.bSize; i += numPrograms(program))
    expectEqual(args, program, i, args.b[i],
                valueOf(i / args.aSize, i % args.aSize) + args.x, 0,
                hashName("check_gathered"));
}

/// Expects every element of a to be x.
void check_equal(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  for (int64_t i = linearId(program); i < args.aSize; i += numPrograms(program))
    expectEqual(args, program, i, args.a[i], args.x, 0,
                hashName("check_equal"));
}

/// a[0] on rank x becomes y (release).
void signal_flag(const void *raw, const IrisRtHostProgram *) {
  const Args &args = *static_cast<const Args *>(raw);
  __atomic_store_n(translate(args, args.a, args.x), args.y, __ATOMIC_RELEASE);
}

/// Waits for a[0] >= y, which rank x must signal; then b[0] = 1.
void wait_flag(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  if (waitFor(args, program, args.a, args.y, args.x, 0, hashName("wait_flag")))
    args.b[0] = 1;
}

/// x barriers of all programs of the launch.
void program_barrier(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  int32_t count = static_cast<int32_t>(numPrograms(program));
  for (int32_t round = 1; round <= args.x; ++round) {
    __atomic_fetch_add(args.a, 1, __ATOMIC_ACQ_REL);
    if (!waitFor(args, program, args.a, round * count, -1, 0,
                 hashName("program_barrier")))
      return;
  }
}

/// A barrier of all ranks, y rounds: program p of every rank synchronizes with
/// its peer programs at a[p].
void rank_barrier(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  int64_t at = static_cast<int64_t>(linearId(program)) * 32;
  int32_t n = static_cast<int32_t>(args.ctx.numRanks);
  for (int32_t round = 1; round <= args.y; ++round) {
    for (int32_t peer = 0; peer < n; ++peer)
      __atomic_fetch_add(translate(args, args.a, peer) + at, 1,
                         __ATOMIC_ACQ_REL);
    if (!waitFor(args, program, args.a + at, round * n, -1, 0,
                 hashName("rank_barrier")))
      return;
  }
}

/// Writes x bytes into the arena and checks that no other program changes them.
void use_arena(const void *raw, const IrisRtHostProgram *program) {
  const Args &args = *static_cast<const Args *>(raw);
  auto *arena = static_cast<unsigned char *>(program->arena);
  unsigned char mark = static_cast<unsigned char>(linearId(program));
  for (int32_t i = 0; i < args.x; ++i)
    arena[i] = mark;
  program->yield();
  for (int32_t i = 0; i < args.x; ++i)
    expectEqual(args, program, i, arena[i], mark, 0, hashName("use_arena"));
  expectEqual(args, program, 0,
              static_cast<int32_t>(reinterpret_cast<uint64_t>(arena) % 64), 0,
              0, hashName("use_arena"));
}

/// For the conformance suite, with its own arguments: to[p] = value + p.
void store_ids(const void *raw, const IrisRtHostProgram *program) {
  struct StoreIdsArgs {
    uint32_t *to;
    uint32_t value;
  };
  const auto &args = *static_cast<const StoreIdsArgs *>(raw);
  args.to[program->id[0]] = args.value + program->id[0];
}

/// For the conformance suite, with its own arguments: waits for a[0], ignoring
/// aborts, and sets b[0].
void spin_until_set(const void *raw, const IrisRtHostProgram *program) {
  struct SpinArgs {
    const int32_t *a;
    int64_t aSize;
    int32_t *b;
    int64_t bSize;
  };
  const auto &args = *static_cast<const SpinArgs *>(raw);
  while (__atomic_load_n(args.a, __ATOMIC_ACQUIRE) == 0)
    program->yield();
  __atomic_store_n(args.b, 1, __ATOMIC_RELEASE);
}

} // extern "C"
