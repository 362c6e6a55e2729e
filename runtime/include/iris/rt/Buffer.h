// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers on the symmetric heap with something in them.
#ifndef IRIS_RT_BUFFER_H
#define IRIS_RT_BUFFER_H

#include "iris/rt/World.h"

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// Elements on the symmetric heap, freed by whoever made them
/// (World::deallocate): a destructor would have to be collective.
struct Buffer {
  uint64_t address = 0;
  IrisRtElement element = IRISRT_ELT_F32;
  std::vector<int64_t> sizes;

  int64_t numElements() const;
  uint64_t bytes() const;
  /// The argument of a launch.
  IrisRtArg arg() const { return makeMemrefArg(element, address, sizes); }
};

// All of these allocate, so all ranks call them in the same order.  Each rank
// fills its own copy; a barrier is up to the caller.  Values are converted to
// the element type: integers wrap, floats are rounded to nearest even.

/// Zeros.
Expected<Buffer> zeros(World &world, IrisRtElement element,
                       const std::vector<int64_t> &sizes);
/// `value` everywhere.
Expected<Buffer> full(World &world, IrisRtElement element,
                      const std::vector<int64_t> &sizes, double value);
/// Element i is start + i * step.
Expected<Buffer> iota(World &world, IrisRtElement element,
                      const std::vector<int64_t> &sizes, double start = 0,
                      double step = 1);
/// A hash of (seed, rank, index): floats in [-1, 1), integers of all values.
/// The same on every device, and another one on every rank.
Expected<Buffer> random(World &world, IrisRtElement element,
                        const std::vector<int64_t> &sizes, uint64_t seed = 0);

/// The bits of `value` as an element.
uint64_t encodeElement(IrisRtElement element, double value);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_BUFFER_H
