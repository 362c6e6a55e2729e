// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalingKernel.cpp - The kernels that apply factors -----------------===//
#include "ScalingKernel.h"

using namespace iris::ccl;
using namespace iris::nccl;

namespace {
/// How a type is held in buffers, and multiplied.
struct Arithmetic {
  const char *stored = "f32";
  /// Of the values; another type than `stored` if that is its bits.
  const char *element = "f32";
  const char *wide = "f32";
  IrisRtElement buffer = IRISRT_ELT_F32;
};
} // namespace

static Arithmetic arithmeticOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return {"f16", "f16", "f32", IRISRT_ELT_F16};
  case DType::bf16:
    return {"bf16", "bf16", "f32", IRISRT_ELT_BF16};
  case DType::f32:
    return {"f32", "f32", "f32", IRISRT_ELT_F32};
  case DType::f64:
    return {"f64", "f64", "f64", IRISRT_ELT_F64};
  case DType::i8:
  case DType::u8:
    return {"i8", "i8", "i8", IRISRT_ELT_I8};
  case DType::i16:
    return {"i16", "i16", "i16", IRISRT_ELT_I16};
  case DType::i32:
  case DType::u32:
    return {"i32", "i32", "i32", IRISRT_ELT_I32};
  case DType::i64:
  case DType::u64:
    return {"i64", "i64", "i64", IRISRT_ELT_I64};
  case DType::f8e4m3fn:
    return {"i8", "f8E4M3FN", "f32", IRISRT_ELT_I8};
  case DType::f8e5m2:
    return {"i8", "f8E5M2", "f32", IRISRT_ELT_I8};
  case DType::f8e4m3fnuz:
    return {"i8", "f8E4M3FNUZ", "f32", IRISRT_ELT_I8};
  case DType::f8e5m2fnuz:
    return {"i8", "f8E5M2FNUZ", "f32", IRISRT_ELT_I8};
  }
  return {};
}

/// Appends the conversion of `value`, of type prefix + stored + suffix, to the
/// wide type.
/// \return the name of the result
static std::string widen(std::string &text, const Arithmetic &a,
                         const std::string &value, const std::string &prefix,
                         const std::string &suffix) {
  std::string name = value;
  auto convert = [&](const char *op, const char *from, const char *to) {
    if (std::string(from) == to)
      return;
    text += "      " + name + "x = " + op + " " + name + " : " + prefix + from +
            suffix + " to " + prefix + to + suffix + "\n";
    name += "x";
  };
  convert("arith.bitcast", a.stored, a.element);
  convert("arith.extf", a.element, a.wide);
  return name;
}

/// The result is rounded once.
static std::string sourceOf(const Arithmetic &a, const std::string &name) {
  const std::string size = std::to_string(ScalingKernel::tile);
  const std::string buffer = std::string("memref<?x") + a.stored + ">";
  auto tiled = [&](const char *element) {
    return "tensor<" + size + "x" + element + ">";
  };
  const bool isFloat = a.wide[0] == 'f';
  std::string text = "gpu.module @" + name +
                     " {\n"
                     "  gpu.func @" +
                     name + "(%ctx: !iris.ctx, %in: " + buffer +
                     ", %out: " + buffer + ", %factor: " + buffer +
                     ") kernel attributes {iris.num_warps = 4 : i32} {\n"
                     "      %zero = arith.constant 0 : index\n"
                     "      %tile = arith.constant " +
                     size +
                     " : index\n"
                     "      %program = gpu.block_id x\n"
                     "      %programs = gpu.grid_dim x\n"
                     "      %size = memref.dim %in, %zero : " +
                     buffer +
                     "\n"
                     "      %scalar = memref.load %factor[%zero] : " +
                     buffer + "\n";
  const std::string factor = widen(text, a, "%scalar", "", "");
  text += "      %splat = tensor.splat " + factor + " : " + tiled(a.wide) +
          "\n"
          "      %first = arith.muli %program, %tile : index\n"
          "      %step = arith.muli %programs, %tile : index\n"
          "      scf.for %i = %first to %size step %step {\n"
          "      %loaded = tile.load %in[%i] : " +
          buffer + " -> " + tiled(a.stored) + "\n";
  const std::string value =
      widen(text, a, "%loaded", "tensor<" + size + "x", ">");
  text += std::string("      %scaled = arith.mul") + (isFloat ? "f" : "i") +
          " " + value + ", %splat : " + tiled(a.wide) + "\n";
  std::string result = "%scaled";
  if (std::string(a.element) != a.wide) {
    text += "      %narrow = arith.truncf %scaled : " + tiled(a.wide) + " to " +
            tiled(a.element) + "\n";
    result = "%narrow";
  }
  if (std::string(a.stored) != a.element) {
    text += "      %bits = arith.bitcast " + result + " : " + tiled(a.element) +
            " to " + tiled(a.stored) + "\n";
    result = "%bits";
  }
  return text + "      tile.store " + result +
         ", %out[%i] : " + tiled(a.stored) + ", " + buffer +
         "\n      }\n    gpu.return\n  }\n}\n";
}

ScalingKernel ScalingKernel::of(DType dtype) {
  const Arithmetic a = arithmeticOf(dtype);
  ScalingKernel kernel;
  kernel.name = std::string("nccl_scale_") + a.element;
  kernel.source = sourceOf(a, kernel.name);
  kernel.element = a.buffer;
  return kernel;
}
