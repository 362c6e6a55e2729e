// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixInstruction.h - Matrix instructions of AMD GPUs ----*- C++ -*-===//
//
// MFMA (waves of 64) and WMMA (waves of 32). All of them compute D += A * B
// for a 16 x k tile A, a k x 16 tile B and a 16 x 16 result. Lane l holds row
// l % 16 of A and column l % 16 of B; lanes with another l / 16, their *group*,
// hold other values of k, or the same ones. The lane gets elements of column
// l % 16 of D; `rowBits` says which rows.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CHIPS_MATRIXINSTRUCTION_H
#define IRIS_CHIPS_MATRIXINSTRUCTION_H

#include <cstddef>
#include <string_view>

namespace irischips {

/// A constant array that lives as long as the process.
template <typename T>
class Array {
public:
  constexpr Array() = default;
  template <size_t count>
  constexpr Array(const T (&elements)[count])
      : elements(elements), count(count) {}

  constexpr const T *data() const { return elements; }
  constexpr size_t size() const { return count; }
  constexpr const T *begin() const { return elements; }
  constexpr const T *end() const { return elements + count; }

private:
  const T *elements = nullptr;
  size_t count = 0;
};

/// Where a bit of the row of D comes from.
struct RowBit {
  enum Source { Register, Group } source;
  unsigned bit;
};

/// The element types that matrix instructions tell apart.
enum class MatrixElement { F16, BF16, F32, TF32, I8, F8Ocp, F8Fnuz, None };

/// The type of A and B in the registers of a lane.
enum class OperandElement { F16, BF16, F32, I16, I32, I64 };

/// One instruction of a chip.
struct MatrixInstructionInfo {
  MatrixElement element;
  /// LLVM's name behind `llvm.amdgcn.`; `%` stands for the types of A and B.
  std::string_view intrinsic;
  /// The intrinsic's operands in order: `a`, `b`, `c`, and immediates: `0` and
  /// `1` of i1, `h` for the i16 0, `w` for the i32 0.
  std::string_view operands;
  /// A and B of a lane: so many elements of this type.
  unsigned operandCount;
  OperandElement operandElement;
};

/// The matrix instructions of a chip.
struct MatrixUnit {
  /// For each element type the instructions with the largest k come first.
  Array<MatrixInstructionInfo> instructions;
  /// Groups of lanes that hold different values of k.
  unsigned groups;
  /// Elements of D in a lane.
  unsigned accumulators;
  Array<RowBit> rowBits;
};

} // namespace irischips

#endif // IRIS_CHIPS_MATRIXINSTRUCTION_H
