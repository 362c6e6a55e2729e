// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `@main` programs for tests of iris-run, hand-written in the form of compiled
// ones. IRIS_TEST_VARIANT selects the behavior; see the enum.
#include "iris-c/RuntimeABI.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace {
enum Variant {
  gathers = 0,        // all-gather, everything checked
  mismatches = 1,     // rank 1 expects another value
  hangs = 2,          // rank 0 waits for a signal that rank 1 never sends
  checksNothing = 3,  // runs, but has no check
  isKilled = 4,       // rank 1 is killed in the middle
  exits = 5,          // rank 1 exits in the middle
  fillsHeap = 6,      // allocates more than the heap has
  allocatesApart = 7, // rank 1 allocates another size
  unknownKernel = 8,
  wrongArguments = 9,
  neverEnds = 10,
  isStopped = 11, // rank 1 is stopped in the middle
};
constexpr Variant variant = static_cast<Variant>(IRIS_TEST_VARIANT);
constexpr int64_t count = 4096;

IrisRtArg memref(uint64_t address, int64_t size) {
  IrisRtArg arg{};
  arg.kind = IRISRT_ARG_MEMREF;
  arg.element = IRISRT_ELT_I32;
  arg.rank = 1;
  arg.symmetric = 1;
  arg.value = address;
  arg.sizes[0] = size;
  arg.strides[0] = 1;
  return arg;
}

IrisRtArg scalar(int32_t value) {
  IrisRtArg arg{};
  arg.kind = IRISRT_ARG_SCALAR;
  arg.element = IRISRT_ELT_I32;
  arg.value = static_cast<uint32_t>(value);
  return arg;
}

int32_t launch(const IrisRtHostApi *api, const char *kernel, uint64_t programs,
               uint64_t a, uint64_t b, int32_t x, int32_t y) {
  IrisRtArg args[5] = {{},
                       memref(a, count),
                       memref(b, count * api->numRanks),
                       scalar(x),
                       scalar(y)};
  uint64_t grid[3] = {programs, 1, 1};
  return api->launch(api->world, kernel, grid, args,
                     variant == wrongArguments ? 4 : 5);
}
} // namespace

#define TRY(expr)                                                              \
  if (int32_t code = (expr))                                                   \
  return code

extern "C" int32_t irisrtIR_main(const IrisRtHostApi *api) {
  if (api->magic != IRISRT_ABI_MAGIC)
    return 2;
  uint64_t a = 0, b = 0;
  bool odd = api->rank == 1;
  TRY(api->alloc(api->world,
                 count * 4 * (variant == allocatesApart && odd ? 2 : 1), &a));
  TRY(api->alloc(api->world, count * 4 * api->numRanks, &b));
  if (variant == fillsHeap)
    TRY(api->alloc(api->world, uint64_t(1) << 45, &a));
  if (variant == unknownKernel)
    return launch(api, "no_such_kernel", 1, a, b, 0, 0);

  TRY(launch(api, "fill", 3, a, b, 0, 0));
  TRY(launch(api, "kernels::all_gather", 3, a, b, 0, 0));
  if (variant == isKilled && odd)
    raise(SIGKILL);
  if (variant == isStopped && odd)
    raise(SIGSTOP);
  if (variant == exits && odd)
    _exit(3);
  TRY(api->sync(api->world));
  if (variant == hangs && api->rank == 0)
    TRY(launch(api, "wait_flag", 1, a, b, 1, 2000000000));
  while (variant == neverEnds)
    pause();
  if (variant != checksNothing)
    TRY(launch(api, "check_gathered", 2, a, b,
               variant == mismatches && odd ? 1 : 0, 0));
  TRY(api->sync(api->world));
  TRY(api->dealloc(api->world, b));
  return api->dealloc(api->world, a);
}
