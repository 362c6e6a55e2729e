// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CombineKernel.cpp - Kernels that combine nodes' results ------------===//
#include "ccl/CombineKernel.h"

#include "ccl/KernelArithmetic.h"

#include <tuple>

using namespace iris::ccl;

namespace {
/// Writes the text of a kernel.
class Writer {
public:
  Writer(const KernelArithmetic &a, ReduceOp reduce) : a_(a), reduce_(reduce) {}

  std::string write(const std::string &name);

private:
  static std::string tiled(const std::string &element) {
    return "tensor<" + std::to_string(CombineKernel::tile) + "x" + element +
           ">";
  }
  void line(const std::string &text) { text_ += "      " + text + "\n"; }
  /// Appends "%name = op : from to to", unless the types are the same.
  /// \return the name of the result
  std::string convert(const std::string &op, const std::string &value,
                      const std::string &from, const std::string &to,
                      const std::string &name);
  /// Loads a tile at an index and converts it to the wide type.
  std::string load(const std::string &at, const std::string &name);
  std::string combineOp() const;
  std::string divide(const std::string &sum);
  std::string narrow(const std::string &value);

  const KernelArithmetic &a_;
  const ReduceOp reduce_;
  std::string text_;
};
} // namespace

std::string Writer::convert(const std::string &op, const std::string &value,
                            const std::string &from, const std::string &to,
                            const std::string &name) {
  if (from == to)
    return value;
  line(name + " = " + op + " " + value + " : " + tiled(from) + " to " +
       tiled(to));
  return name;
}

std::string Writer::load(const std::string &at, const std::string &name) {
  line(name + " = tile.load %in[" + at + "] : memref<?x" + a_.stored + "> -> " +
       tiled(a_.stored));
  const std::string element =
      convert("arith.bitcast", name, a_.stored, a_.element, name + "e");
  return convert("arith.extf", element, a_.element, a_.wide, name + "w");
}

/// That of the collectives' kernels.
std::string Writer::combineOp() const {
  const std::string sign = a_.isUnsigned ? "ui" : "si";
  switch (reduce_) {
  case ReduceOp::sum:
  case ReduceOp::avg:
    return a_.isFloat() ? "arith.addf" : "arith.addi";
  case ReduceOp::prod:
    return a_.isFloat() ? "arith.mulf" : "arith.muli";
  case ReduceOp::min:
    return a_.isFloat() ? "arith.minimumf" : "arith.min" + sign;
  case ReduceOp::max:
    return a_.isFloat() ? "arith.maximumf" : "arith.max" + sign;
  }
  return "";
}

/// A job has at most 64 ranks: every type can represent the divisor.
std::string Writer::divide(const std::string &sum) {
  if (reduce_ != ReduceOp::avg)
    return sum;
  if (a_.isFloat()) {
    line("%short = arith.index_cast %divisor : index to i32");
    line("%number = arith.sitofp %short : i32 to " + a_.wide);
  } else {
    line("%number = arith.index_cast %divisor : index to " + a_.wide);
  }
  line("%splat = tensor.splat %number : " + tiled(a_.wide));
  const char *op = a_.isFloat()    ? "arith.divf"
                   : a_.isUnsigned ? "arith.divui"
                                   : "arith.divsi";
  line(std::string("%average = ") + op + " " + sum +
       ", %splat : " + tiled(a_.wide));
  return "%average";
}

std::string Writer::narrow(const std::string &value) {
  const std::string rounded =
      convert("arith.truncf", value, a_.wide, a_.element, "%narrow");
  std::string bits =
      convert("arith.bitcast", rounded, a_.element, a_.stored, "%bits");
  // The rounding makes infinities finite, but the smallest or largest input is
  // not computed.
  if (a_.element != "f8E5M2" ||
      (reduce_ != ReduceOp::min && reduce_ != ReduceOp::max))
    return bits;
  for (const auto &[name, wide, byte] :
       {std::tuple("plus", "0x7F800000", "124"),
        std::tuple("minus", "0xFF800000", "-4")}) {
    const std::string prefix = std::string("%") + name;
    line(prefix + "Inf = arith.constant dense<" + wide + "> : " + tiled("f32"));
    line(prefix + "Bits = arith.constant dense<" + byte + "> : " + tiled("i8"));
    line(prefix + "Is = arith.cmpf oeq, " + value + ", " + prefix +
         "Inf : " + tiled("f32"));
    line(prefix + " = arith.select " + prefix + "Is, " + prefix + "Bits, " +
         bits + " : " + tiled("i1") + ", " + tiled("i8"));
    bits = prefix;
  }
  return bits;
}

std::string Writer::write(const std::string &name) {
  const std::string buffer = "memref<?x" + a_.stored + ">";
  const std::string wide = tiled(a_.wide);
  line("%zero = arith.constant 0 : index");
  line("%one = arith.constant 1 : index");
  line("%tile = arith.constant " + std::to_string(CombineKernel::tile) +
       " : index");
  line("%program = gpu.block_id x");
  line("%programs = gpu.grid_dim x");
  line("%size = memref.dim %out, %zero : " + buffer);
  line("%first = arith.muli %program, %tile : index");
  line("%step = arith.muli %programs, %tile : index");
  line("scf.for %i = %first to %size step %step {");
  const std::string start = load("%i", "%start");
  line("%all = scf.for %p = %one to %parts step %one iter_args(%so_far = " +
       start + ") -> (" + wide + ") {");
  line("%part = arith.muli %p, %size : index");
  line("%at = arith.addi %part, %i : index");
  const std::string next = load("%at", "%next");
  line("%both = " + combineOp() + " %so_far, " + next + " : " + wide);
  line("scf.yield %both : " + wide);
  line("}");
  const std::string result = narrow(divide("%all"));
  line("tile.store " + result + ", %out[%i] : " + tiled(a_.stored) + ", " +
       buffer);
  line("}");
  return "gpu.module @" + name + " {\n  gpu.func @" + name +
         "(%ctx: !iris.ctx, %in: " + buffer + ", %out: " + buffer +
         ", %parts: index, %divisor: index) kernel attributes "
         "{iris.num_warps = 4 : i32} {\n" +
         text_ + "    gpu.return\n  }\n}\n";
}

CombineKernel CombineKernel::of(DType dtype, ReduceOp reduce) {
  const KernelArithmetic a = KernelArithmetic::of(dtype);
  const bool isSigned = reduce == ReduceOp::min || reduce == ReduceOp::max ||
                        reduce == ReduceOp::avg;
  CombineKernel kernel;
  kernel.name = "ccl_combine_" + std::string(reduceOpName(reduce)) + "_" +
                (a.isUnsigned && isSigned ? "u" : "") + a.element;
  kernel.source = Writer(a, reduce).write(kernel.name);
  kernel.element = a.buffer;
  return kernel;
}
