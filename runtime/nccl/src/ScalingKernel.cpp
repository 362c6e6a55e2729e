// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalingKernel.cpp - The kernels that apply factors -----------------===//
#include "ScalingKernel.h"

#include "ccl/KernelArithmetic.h"

using namespace iris::ccl;
using namespace iris::nccl;

/// Appends the conversion of `value`, of type prefix + stored + suffix, to the
/// wide type.
/// \return the name of the result
static std::string widen(std::string &text, const KernelArithmetic &a,
                         const std::string &value, const std::string &prefix,
                         const std::string &suffix) {
  std::string name = value;
  auto convert = [&](const char *op, const std::string &from,
                     const std::string &to) {
    if (from == to)
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
static std::string sourceOf(const KernelArithmetic &a,
                            const std::string &name) {
  const std::string size = std::to_string(ScalingKernel::tile);
  const std::string buffer = "memref<?x" + a.stored + ">";
  auto tiled = [&](const std::string &element) {
    return "tensor<" + size + "x" + element + ">";
  };
  const bool isFloat = a.isFloat();
  std::string text = "gpu.module @" + name +
                     " {\n"
                     "  gpu.func @" +
                     name + "(%ctx: !iris.ctx, %in: " + buffer +
                     ", %out: " + buffer + ", %factor: " + buffer +
                     ", %value: " + a.stored +
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
                     "      %extent = memref.dim %factor, %zero : " +
                     buffer +
                     "\n"
                     "      %reads = arith.cmpi ne, %extent, %zero : index\n"
                     "      %scalar = scf.if %reads -> (" +
                     a.stored +
                     ") {\n"
                     "        %read = memref.load %factor[%zero] : " +
                     buffer +
                     "\n"
                     "        scf.yield %read : " +
                     a.stored +
                     "\n"
                     "      } else {\n"
                     "        scf.yield %value : " +
                     a.stored +
                     "\n"
                     "      }\n";
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
  if (a.element != a.wide) {
    text += "      %narrow = arith.truncf %scaled : " + tiled(a.wide) + " to " +
            tiled(a.element) + "\n";
    result = "%narrow";
  }
  if (a.stored != a.element) {
    text += "      %bits = arith.bitcast " + result + " : " + tiled(a.element) +
            " to " + tiled(a.stored) + "\n";
    result = "%bits";
  }
  return text + "      tile.store " + result +
         ", %out[%i] : " + tiled(a.stored) + ", " + buffer +
         "\n      }\n    gpu.return\n  }\n}\n";
}

ScalingKernel ScalingKernel::of(DType dtype) {
  const KernelArithmetic a = KernelArithmetic::of(dtype);
  ScalingKernel kernel;
  kernel.name = "nccl_scale_" + a.element;
  kernel.source = sourceOf(a, kernel.name);
  kernel.element = a.buffer;
  return kernel;
}
