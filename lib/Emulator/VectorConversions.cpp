// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorConversions.cpp - Conversions of lanes -----------------------===//
#include "Decoder.h"
#include "FloatOps.h"

using namespace mlir::iris::emulator;

/// Toward zero: the largest finite f16 for larger numbers.
static uint32_t toHalfTowardZero(float value) {
  uint32_t nearest = toHalf(value);
  bool isTooLarge = std::fabs(fromHalf(nearest)) > std::fabs(value);
  return isTooLarge ? nearest - 1 : nearest;
}

static uint32_t pack(uint32_t low, uint32_t high) {
  return (low & 0xFFFF) | high << 16;
}

static void addFloatToFloat(InstructionTable &table) {
  table.add("v_cvt_f16_f32", lanes<F16(F32)>([](float a) { return a; }));
  table.add("v_cvt_f32_f16", lanes<F32(F16)>([](float a) { return a; }));
  table.add("v_cvt_f32_bf16", lanes<F32(BF16)>([](float a) { return a; }));
  table.add("v_cvt_f32_f64",
            lanes<F32(F64)>([](double a) { return float(a); }));
  table.add("v_cvt_f64_f32",
            lanes<F64(F32)>([](float a) { return double(a); }));
  for (auto name : {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"})
    table.add(name, lanes<U32(F32, F32)>([](float a, float b) {
                return pack(toHalfTowardZero(a), toHalfTowardZero(b));
              }));
  table.add("v_cvt_pk_bf16_f32", lanes<U32(F32, F32)>([](float a, float b) {
              return pack(toBrain(a), toBrain(b));
            }));
  table.add("v_cvt_pk_f16_f32", lanes<U32(F32, F32)>([](float a, float b) {
              return pack(toHalf(a), toHalf(b));
            }));
}

static void addIntegerConversions(InstructionTable &table) {
  table.add("v_cvt_f32_u32",
            lanes<F32(U32)>([](uint32_t a) { return float(a); }));
  table.add("v_cvt_f32_i32",
            lanes<F32(I32)>([](int32_t a) { return float(a); }));
  table.add("v_cvt_f64_u32",
            lanes<F64(U32)>([](uint32_t a) { return double(a); }));
  table.add("v_cvt_f64_i32",
            lanes<F64(I32)>([](int32_t a) { return double(a); }));
  table.add("v_cvt_u32_f32",
            lanes<U32(F32)>([](float a) { return saturate<uint32_t>(a); }));
  table.add("v_cvt_i32_f32",
            lanes<I32(F32)>([](float a) { return saturate<int32_t>(a); }));
  table.add("v_cvt_u32_f64",
            lanes<U32(F64)>([](double a) { return saturate<uint32_t>(a); }));
  table.add("v_cvt_i32_f64",
            lanes<I32(F64)>([](double a) { return saturate<int32_t>(a); }));
  for (auto name : {"v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"})
    table.add(name, lanes<I32(F32)>([](float a) {
                return saturate<int32_t>(std::floor(double(a) + 0.5));
              }));
  for (auto name : {"v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"})
    table.add(name, lanes<I32(F32)>([](float a) {
                return saturate<int32_t>(std::floor(double(a)));
              }));
  table.add("v_cvt_f16_u16",
            lanes<F16(U16)>([](int32_t a) { return float(a); }));
  table.add("v_cvt_f16_i16",
            lanes<F16(I16)>([](int32_t a) { return float(a); }));
  table.add("v_cvt_u16_f16", lanes<U16(F16)>([](float a) {
              return int32_t(saturate<uint16_t>(a));
            }));
  table.add("v_cvt_i16_f16", lanes<I16(F16)>([](float a) {
              return int32_t(saturate<int16_t>(a));
            }));
  table.add("v_cvt_pk_u16_f32", lanes<U32(F32, F32)>([](float a, float b) {
              return pack(saturate<uint16_t>(a), saturate<uint16_t>(b));
            }));
  table.add("v_cvt_pk_i16_f32", lanes<U32(F32, F32)>([](float a, float b) {
              return pack(uint16_t(saturate<int16_t>(a)),
                          uint16_t(saturate<int16_t>(b)));
            }));
  table.add("v_cvt_f32_ubyte0",
            lanes<F32(U32)>([](uint32_t a) { return float(a & 0xFF); }));
  table.add("v_cvt_f32_ubyte1",
            lanes<F32(U32)>([](uint32_t a) { return float(a >> 8 & 0xFF); }));
  table.add("v_cvt_f32_ubyte2",
            lanes<F32(U32)>([](uint32_t a) { return float(a >> 16 & 0xFF); }));
  table.add("v_cvt_f32_ubyte3",
            lanes<F32(U32)>([](uint32_t a) { return float(a >> 24); }));
}

void mlir::iris::emulator::addVectorConversions(InstructionTable &table) {
  addFloatToFloat(table);
  addIntegerConversions(table);
}
