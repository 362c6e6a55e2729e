// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trace.cpp - The accesses of one program ----------------------------===//
#include "KernelWalker.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

bool Event::overlaps(const Event &other) const {
  for (auto [first, size, otherFirst, otherSize] :
       llvm::zip(offsets, shape, other.offsets, other.shape))
    if (first + size <= otherFirst || otherFirst + otherSize <= first)
      return false;
  return true;
}

std::optional<Bytes> Event::getBytes() const {
  if (offsets.size() != 1)
    return std::nullopt;
  int64_t from = offsets.front();
  if (!shape.empty())
    return Bytes{from, from + shape.front()};
  return Bytes{from, from + tile::getElementBytes(type)};
}

Trace mlir::iris::sync::traceKernel(
    gpu::GPUFuncOp kernel, const Position &position,
    ArrayRef<std::pair<Scalar, Buffer>> arguments, Budget &budget,
    SymbolTableCollection &symbols, Memory *memory) {
  Trace trace;
  trace.position = position;
  Values values(trace.position);
  for (auto [argument, known] : llvm::zip(kernel.getArguments(), arguments)) {
    if (known.first.isKnown())
      values.set(argument, known.first);
    if (known.second.root != Buffer::kUnknown)
      values.set(argument, known.second);
  }
  KernelWalker walker(values, budget, symbols, trace, memory);
  if (!kernel.getBody().hasOneBlock()) {
    trace.limit = kernel;
    trace.reason = "it has several blocks";
    return trace;
  }
  walker.run(kernel.getBody().front());
  trace.limit = walker.getLimit();
  trace.reason = walker.getReason();
  return trace;
}
