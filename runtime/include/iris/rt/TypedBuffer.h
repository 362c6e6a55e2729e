// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TypedBuffer.h - Typed memory on the symmetric heap -------*- C++ -*-===//
//
//   auto in = world->allocate<float>(count);        // zeroed, on every rank
//   world->writeNow(*in, host.data(), in->bytes());
//   comm->allReduce(*in, *out, in->size(), DType::f32, ReduceOp::sum);
//   world->launch(kernel, {64, 1, 1}, {makeContextArg(), in->arg()});
//   world->deallocate(*in);
#ifndef IRIS_RT_TYPEDBUFFER_H
#define IRIS_RT_TYPEDBUFFER_H

#include "iris/rt/Kernel.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)
namespace iris::rt {

/// \return the element type of a memref whose elements are of type T. Integers
///   of a memref have no sign
template <typename T>
constexpr IrisRtElement elementOf() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "expected an integer, a bool, float or double; other element "
                "types have no C++ type: see makeMemrefArg");
  if constexpr (std::is_same_v<T, bool>)
    return IRISRT_ELT_I1;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? IRISRT_ELT_F32 : IRISRT_ELT_F64;
  else
    return sizeof(T) == 1   ? IRISRT_ELT_I8
           : sizeof(T) == 2 ? IRISRT_ELT_I16
           : sizeof(T) == 4 ? IRISRT_ELT_I32
                            : IRISRT_ELT_I64;
}

/// `size` elements of type T on the symmetric heap, at the same offset on every
/// rank. A value: copies and slices denote the same memory, which the caller
/// frees with World::deallocate. (A destructor would have to be collective.)
///
/// Converts to the address that World takes and to the pointer that collectives
/// take. Both denote device memory; only on the host target can the CPU
/// dereference the pointer.
template <typename T>
class TypedBuffer {
public:
  /// Empty.
  TypedBuffer() = default;
  /// Memory of a world's heap.
  /// \param address the address on this rank's heap
  /// \param offset the bytes from the start of the heap
  /// \param size the number of elements
  TypedBuffer(uint64_t address, uint64_t offset, size_t size)
      : address_(address), offset_(offset), size_(size) {}

  /// \return the address on this rank, as a number
  uint64_t address() const { return address_; }
  /// \return the address on this rank, as a pointer
  T *data() const { return reinterpret_cast<T *>(address_); }
  /// \return bytes from the start of the heap; equal on all ranks
  uint64_t offset() const { return offset_; }
  /// \return the number of elements
  size_t size() const { return size_; }
  /// \return the bytes of all elements
  uint64_t bytes() const { return size_ * sizeof(T); }

  /// The address in both forms, and whether there is memory.
  operator T *() const { return data(); }
  operator uint64_t() const { return address_; }
  explicit operator bool() const { return address_ != 0; }

  /// Takes a slice, which must be within the buffer.
  /// \param first the index of its first element
  /// \param count the number of its elements
  /// \return the slice, in the same memory
  TypedBuffer slice(size_t first, size_t count) const {
    return {address_ + first * sizeof(T), offset_ + first * sizeof(T), count};
  }

  /// \return the buffer as a launch argument: a memref of one dimension
  IrisRtArg arg() const {
    return makeMemrefArg(elementOf<T>(), address_,
                         {static_cast<int64_t>(size_)});
  }

private:
  uint64_t address_ = 0, offset_ = 0;
  size_t size_ = 0;
};

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_TYPEDBUFFER_H
