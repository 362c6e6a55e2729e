// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AMDMatrixUnits.h - Matrix instructions by chip -----------*- C++ -*-===//
//
// Rows of the table of chips, which ChipInfo.cpp includes. For each element
// type the instructions with the largest k come first.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CHIPS_AMDMATRIXUNITS_H
#define IRIS_LIB_CHIPS_AMDMATRIXUNITS_H

#include "iris/Chips/MatrixInstruction.h"

namespace irischips {

//===----------------------------------------------------------------------===//
// Rows of the result
//===----------------------------------------------------------------------===//

inline constexpr RowBit mfmaRows[] = {{RowBit::Register, 0},
                                      {RowBit::Register, 1},
                                      {RowBit::Group, 0},
                                      {RowBit::Group, 1}};
inline constexpr RowBit gfx11Rows[] = {{RowBit::Group, 0},
                                       {RowBit::Register, 0},
                                       {RowBit::Register, 1},
                                       {RowBit::Register, 2}};
inline constexpr RowBit gfx12Rows[] = {{RowBit::Register, 0},
                                       {RowBit::Register, 1},
                                       {RowBit::Register, 2},
                                       {RowBit::Group, 0}};

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

// MFMA: three broadcasts. WMMA on integers: signed A, signed B, no clamping.
inline constexpr std::string_view kMfmaOperands = "abcwww";
inline constexpr std::string_view kWmmaOperands = "abc";
inline constexpr std::string_view kWmmaIntegerOperands = "1a1bc0";

inline constexpr MatrixInstructionInfo gfx90aInstructions[] = {
    {MatrixElement::F16, "mfma.f32.16x16x16f16", kMfmaOperands, 4,
     OperandElement::F16},
    {MatrixElement::BF16, "mfma.f32.16x16x16bf16.1k", kMfmaOperands, 4,
     OperandElement::I16},
    {MatrixElement::F32, "mfma.f32.16x16x4f32", kMfmaOperands, 1,
     OperandElement::F32},
    {MatrixElement::TF32, "mfma.f32.16x16x4f32", kMfmaOperands, 1,
     OperandElement::F32},
    {MatrixElement::I8, "mfma.i32.16x16x16i8", kMfmaOperands, 1,
     OperandElement::I32},
};

inline constexpr MatrixInstructionInfo gfx942Instructions[] = {
    {MatrixElement::F16, "mfma.f32.16x16x16f16", kMfmaOperands, 4,
     OperandElement::F16},
    {MatrixElement::BF16, "mfma.f32.16x16x16bf16.1k", kMfmaOperands, 4,
     OperandElement::I16},
    {MatrixElement::F32, "mfma.f32.16x16x4f32", kMfmaOperands, 1,
     OperandElement::F32},
    {MatrixElement::TF32, "mfma.f32.16x16x8.xf32", kMfmaOperands, 2,
     OperandElement::F32},
    {MatrixElement::I8, "mfma.i32.16x16x32.i8", kMfmaOperands, 1,
     OperandElement::I64},
    {MatrixElement::F8Fnuz, "mfma.f32.16x16x32.%", kMfmaOperands, 1,
     OperandElement::I64},
};

inline constexpr MatrixInstructionInfo gfx950Instructions[] = {
    {MatrixElement::F16, "mfma.f32.16x16x32.f16", kMfmaOperands, 8,
     OperandElement::F16},
    {MatrixElement::F16, "mfma.f32.16x16x16f16", kMfmaOperands, 4,
     OperandElement::F16},
    {MatrixElement::BF16, "mfma.f32.16x16x32.bf16", kMfmaOperands, 8,
     OperandElement::BF16},
    {MatrixElement::BF16, "mfma.f32.16x16x16bf16.1k", kMfmaOperands, 4,
     OperandElement::I16},
    {MatrixElement::F32, "mfma.f32.16x16x4f32", kMfmaOperands, 1,
     OperandElement::F32},
    {MatrixElement::TF32, "mfma.f32.16x16x4f32", kMfmaOperands, 1,
     OperandElement::F32},
    {MatrixElement::I8, "mfma.i32.16x16x64.i8", kMfmaOperands, 4,
     OperandElement::I32},
    {MatrixElement::I8, "mfma.i32.16x16x32.i8", kMfmaOperands, 1,
     OperandElement::I64},
    {MatrixElement::F8Ocp, "mfma.f32.16x16x32.%", kMfmaOperands, 1,
     OperandElement::I64},
};

inline constexpr MatrixInstructionInfo gfx1100Instructions[] = {
    {MatrixElement::F16, "wmma.f32.16x16x16.f16", kWmmaOperands, 16,
     OperandElement::F16},
    {MatrixElement::BF16, "wmma.f32.16x16x16.bf16", kWmmaOperands, 16,
     OperandElement::I16},
    {MatrixElement::I8, "wmma.i32.16x16x16.iu8", kWmmaIntegerOperands, 4,
     OperandElement::I32},
};

inline constexpr MatrixInstructionInfo gfx1201Instructions[] = {
    {MatrixElement::F16, "wmma.f32.16x16x16.f16", kWmmaOperands, 8,
     OperandElement::F16},
    {MatrixElement::BF16, "wmma.f32.16x16x16.bf16", kWmmaOperands, 8,
     OperandElement::I16},
    {MatrixElement::I8, "wmma.i32.16x16x16.iu8", kWmmaIntegerOperands, 2,
     OperandElement::I32},
    {MatrixElement::F8Ocp, "wmma.f32.16x16x16.%", kWmmaOperands, 2,
     OperandElement::I32},
};

// With modifiers: negation of A and B, modifier of C, reuse of A and of B. f8
// and integers have fewer.
inline constexpr std::string_view kWmmaModifierOperands = "0a0bhc00";
inline constexpr std::string_view kWmmaFloat8Operands = "abhc00";
inline constexpr std::string_view kWmmaIntegerReuseOperands = "1a1bc000";

inline constexpr MatrixInstructionInfo gfx1250Instructions[] = {
    {MatrixElement::F16, "wmma.f32.16x16x32.f16", kWmmaModifierOperands, 16,
     OperandElement::F16},
    {MatrixElement::BF16, "wmma.f32.16x16x32.bf16", kWmmaModifierOperands, 16,
     OperandElement::BF16},
    {MatrixElement::F32, "wmma.f32.16x16x4.f32", kWmmaModifierOperands, 2,
     OperandElement::F32},
    {MatrixElement::TF32, "wmma.f32.16x16x4.f32", kWmmaModifierOperands, 2,
     OperandElement::F32},
    {MatrixElement::I8, "wmma.i32.16x16x64.iu8", kWmmaIntegerReuseOperands, 8,
     OperandElement::I32},
    {MatrixElement::F8Ocp, "wmma.f32.16x16x64.%", kWmmaFloat8Operands, 8,
     OperandElement::I32},
};

} // namespace irischips

#endif // IRIS_LIB_CHIPS_AMDMATRIXUNITS_H
