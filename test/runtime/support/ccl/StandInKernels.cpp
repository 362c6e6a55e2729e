// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives for tests, hand-written for the host: simple, slow, and executed
// by the first program only. All have the arguments of a generated kernel:
//
//   (!iris.ctx, memref<?xT> in, memref<?xT> out,
//    memref<?xi32, symmetric> workspace, index count, index root)
//
// Data movement copies bytes, reductions sum i32.
#include "iris-c/RuntimeABI.h"

#include <cstring>

namespace {
struct Args {
  IrisRtContext ctx;
  uint8_t *in;
  int64_t inSize;
  uint8_t *out;
  int64_t outSize;
  int32_t *workspace;
  int64_t workspaceSize;
  int64_t count;
  int64_t root;
};
static_assert(sizeof(Args) == 152, "args_bytes in FakeCompile.cpp");

/// Offset of staged inputs in the workspace, in elements.
constexpr int64_t stageAt = 1024;

class Kernel {
public:
  Kernel(const void *raw, const IrisRtHostProgram *program)
      : args(*static_cast<const Args *>(raw)), program(program),
        size(args.ctx.groupSize), me(args.ctx.groupIndex) {}

  /// A local address, translated to a rank of the group.
  template <typename T>
  T *at(T *pointer, int64_t member) {
    const int bits = IRISRT_GROUP_MEMBER_BITS(size);
    uint64_t rank =
        (args.ctx.groupMembers >> (bits * member)) & ((1u << bits) - 1);
    uint64_t address = reinterpret_cast<uint64_t>(pointer);
    if (args.ctx.heapStride != 0)
      return reinterpret_cast<T *>(
          address +
          (static_cast<int64_t>(rank) - args.ctx.rank) * args.ctx.heapStride);
    auto *table = reinterpret_cast<const uint64_t *>(args.ctx.heapTable);
    return reinterpret_cast<T *>(table[rank] + address - args.ctx.heapBase);
  }

  /// A barrier of the group. Word m of the workspace counts the calls of rank m
  /// of the group.
  bool barrier() {
    int32_t epoch = ++args.workspace[8];
    for (int64_t member = 0; member < size; ++member)
      __atomic_store_n(at(args.workspace + me, member), epoch,
                       __ATOMIC_RELEASE);
    auto *control = reinterpret_cast<IrisRtControl *>(args.ctx.control);
    uint64_t start = program->clock();
    for (int64_t member = 0; member < size; ++member)
      while (__atomic_load_n(args.workspace + member, __ATOMIC_ACQUIRE) -
                 epoch <
             0) {
        bool late = args.ctx.waitLimit != 0 &&
                    program->clock() - start > args.ctx.waitLimit;
        if (late)
          __atomic_store_n(&control->abortWord, IRISRT_ABORT_HANG,
                           __ATOMIC_RELEASE);
        if (__atomic_load_n(&control->abortWord, __ATOMIC_RELAXED) != 0)
          return false;
        program->yield();
      }
    return true;
  }

  int32_t *stage() { return args.workspace + stageAt; }

  const Args &args;
  const IrisRtHostProgram *program;
  const int64_t size, me;
};

void sum(Kernel &k, int32_t *from) {
  auto *out = reinterpret_cast<int32_t *>(k.args.out);
  for (int64_t i = 0; i < k.args.count; ++i) {
    uint32_t total = 0;
    for (int64_t member = 0; member < k.size; ++member)
      total += static_cast<uint32_t>(k.at(from, member)[i]);
    out[i] = static_cast<int32_t>(total);
  }
}
} // namespace

extern "C" {

void barrier(const void *raw, const IrisRtHostProgram *program) {
  if (program->id[0] == 0)
    Kernel(raw, program).barrier();
}

void all_gather(const void *raw, const IrisRtHostProgram *program) {
  if (program->id[0] != 0)
    return;
  Kernel k(raw, program);
  if (!k.barrier())
    return;
  for (int64_t member = 0; member < k.size; ++member)
    std::memmove(k.at(k.args.out, member) + k.me * k.args.count, k.args.in,
                 static_cast<size_t>(k.args.count));
  k.barrier();
}

void all_gather_staged(const void *raw, const IrisRtHostProgram *program) {
  if (program->id[0] != 0)
    return;
  Kernel k(raw, program);
  const auto bytes = static_cast<size_t>(k.args.count);
  std::memcpy(k.stage(), k.args.in, bytes);
  if (!k.barrier())
    return;
  for (int64_t member = 0; member < k.size; ++member)
    std::memcpy(k.args.out + member * k.args.count, k.at(k.stage(), member),
                bytes);
  k.barrier();
}

void broadcast(const void *raw, const IrisRtHostProgram *program) {
  if (program->id[0] != 0)
    return;
  Kernel k(raw, program);
  if (!k.barrier())
    return;
  for (int64_t member = 0; k.me == k.args.root && member < k.size; ++member)
    std::memmove(k.at(k.args.out, member), k.args.in,
                 static_cast<size_t>(k.args.count));
  k.barrier();
}

void all_reduce(const void *raw, const IrisRtHostProgram *program) {
  if (program->id[0] != 0)
    return;
  Kernel k(raw, program);
  if (!k.barrier())
    return;
  sum(k, reinterpret_cast<int32_t *>(k.args.in));
  k.barrier();
}

void all_reduce_staged(const void *raw, const IrisRtHostProgram *program) {
  if (program->id[0] != 0)
    return;
  Kernel k(raw, program);
  std::memcpy(k.stage(), k.args.in, static_cast<size_t>(k.args.count) * 4);
  if (!k.barrier())
    return;
  sum(k, k.stage());
  k.barrier();
}

} // extern "C"
