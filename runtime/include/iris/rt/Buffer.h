// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.h - Initialized buffers on the symmetric heap -----*- C++ -*-===//
//
// \param world the world on whose heap the buffer is
// \param element the type of the elements
// \param sizes the extents, in elements, of a row-major buffer
// \retval invalidArgument an extent is negative, or the element type is unknown
// \retval outOfMemory the heap or the device's memory is full
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

  /// \return the number of elements, the product of the extents
  int64_t numElements() const;
  /// \return the bytes of all elements
  uint64_t bytes() const;
  /// \return the buffer as a launch argument
  IrisRtArg arg() const { return makeMemrefArg(element, address, sizes); }
};

// All of these allocate, so all ranks call them in the same order. Each rank
// initializes its own buffer, without a barrier. Values are converted to the
// element type: integers wrap, floats are rounded to nearest even.

/// Makes a buffer of zeros.
/// \return the buffer on this rank
Expected<Buffer> zeros(World &world, IrisRtElement element,
                       const std::vector<int64_t> &sizes);
/// Makes a buffer whose elements are equal.
/// \param value the value of each element
/// \return the buffer on this rank
Expected<Buffer> full(World &world, IrisRtElement element,
                      const std::vector<int64_t> &sizes, double value);
/// Makes a buffer whose element i is start + i * step.
/// \param start the first element
/// \param step the difference of two neighbours
/// \return the buffer on this rank
Expected<Buffer> iota(World &world, IrisRtElement element,
                      const std::vector<int64_t> &sizes, double start = 0,
                      double step = 1);
/// Makes a buffer of hashes of (seed, rank, index): floats in [-1, 1), integers
/// of any value. Equal on every kind of device, different on every rank.
/// \param seed selects the values
/// \return the buffer on this rank
Expected<Buffer> random(World &world, IrisRtElement element,
                        const std::vector<int64_t> &sizes, uint64_t seed = 0);

/// Converts a number to the bits of an element.
/// \param value the number
/// \return the bit pattern of the element, zero-extended
uint64_t encodeElement(IrisRtElement element, double value);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_BUFFER_H
