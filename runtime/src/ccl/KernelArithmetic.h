// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelArithmetic.h - Types in the text of kernels --------*- C++ -*-===//
#ifndef IRIS_RT_CCL_KERNELARITHMETIC_H
#define IRIS_RT_CCL_KERNELARITHMETIC_H

#include "iris-c/RuntimeABI.h"
#include "iris/ccl/Types.h"

#include <string>

namespace iris::ccl {

/// How a kernel that is written as text holds a type in buffers, and computes
/// with it.
struct KernelArithmetic {
  std::string stored = "f32";
  /// Of the values; another type than `stored` if that is its bits.
  std::string element = "f32";
  /// In which the kernel computes.
  std::string wide = "f32";
  IrisRtElement buffer = IRISRT_ELT_F32;
  bool isUnsigned = false;

  bool isFloat() const { return wide[0] == 'f'; }

  static KernelArithmetic of(DType dtype) {
    switch (dtype) {
    case DType::f16:
      return {"f16", "f16", "f32", IRISRT_ELT_F16, false};
    case DType::bf16:
      return {"bf16", "bf16", "f32", IRISRT_ELT_BF16, false};
    case DType::f32:
      return {"f32", "f32", "f32", IRISRT_ELT_F32, false};
    case DType::f64:
      return {"f64", "f64", "f64", IRISRT_ELT_F64, false};
    case DType::i8:
    case DType::u8:
      return {"i8", "i8", "i8", IRISRT_ELT_I8, dtype == DType::u8};
    case DType::i16:
      return {"i16", "i16", "i16", IRISRT_ELT_I16, false};
    case DType::i32:
    case DType::u32:
      return {"i32", "i32", "i32", IRISRT_ELT_I32, dtype == DType::u32};
    case DType::i64:
    case DType::u64:
      return {"i64", "i64", "i64", IRISRT_ELT_I64, dtype == DType::u64};
    case DType::f8e4m3fn:
      return {"i8", "f8E4M3FN", "f32", IRISRT_ELT_I8, false};
    case DType::f8e5m2:
      return {"i8", "f8E5M2", "f32", IRISRT_ELT_I8, false};
    case DType::f8e4m3fnuz:
      return {"i8", "f8E4M3FNUZ", "f32", IRISRT_ELT_I8, false};
    case DType::f8e5m2fnuz:
      return {"i8", "f8E5M2FNUZ", "f32", IRISRT_ELT_I8, false};
    }
    return {};
  }
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_KERNELARITHMETIC_H
