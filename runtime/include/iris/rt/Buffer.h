// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.h - Initialized buffers on the symmetric heap -----*- C++ -*-===//
#ifndef IRIS_RT_BUFFER_H
#define IRIS_RT_BUFFER_H

#include "iris/rt/World.h"

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// Elements on the symmetric heap. The caller frees them with
/// World::deallocate; a destructor would have to be collective.
struct Buffer {
  /// The address on this rank's heap.
  uint64_t address = 0;
  /// The type of the elements.
  IrisRtElement element = IRISRT_ELT_F32;
  /// The extents, in elements, of a row-major buffer.
  std::vector<int64_t> sizes;

  /// The extents multiplied, and the bytes of so many elements.
  int64_t numElements() const;
  uint64_t bytes() const;
  /// The buffer as a launch argument.
  IrisRtArg arg() const { return makeMemrefArg(element, address, sizes); }
};

// All of these allocate, so all ranks call them in the same order. Each rank
// initializes its own buffer, without a barrier. Values are converted to the
// element type: integers wrap, floats are rounded to nearest even.

/// All zeros.
Expected<Buffer> zeros(World &world, IrisRtElement element,
                       const std::vector<int64_t> &sizes);
/// All elements equal `value`.
Expected<Buffer> full(World &world, IrisRtElement element,
                      const std::vector<int64_t> &sizes, double value);
/// Element i is start + i * step.
Expected<Buffer> iota(World &world, IrisRtElement element,
                      const std::vector<int64_t> &sizes, double start = 0,
                      double step = 1);
/// A hash of (seed, rank, index): floats in [-1, 1), integers of any value.
/// Equal on every kind of device, different on every rank.
Expected<Buffer> random(World &world, IrisRtElement element,
                        const std::vector<int64_t> &sizes, uint64_t seed = 0);

/// The bit pattern of `value` as an element.
uint64_t encodeElement(IrisRtElement element, double value);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_BUFFER_H
