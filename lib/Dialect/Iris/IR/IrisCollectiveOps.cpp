// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisCollectiveOps.cpp - Collectives --------------------------------===//

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Plan/Collectives.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult mlir::iris::parseOptionalReduction(OpAsmParser &parser,
                                               ReductionAttr &reduction) {
  StringRef keyword;
  // Element types are also keywords.
  if (failed(parser.parseOptionalKeyword(&keyword,
                                         {"sum", "prod", "min", "max", "avg"})))
    return success();
  reduction =
      ReductionAttr::get(parser.getContext(), *symbolizeReduction(keyword));
  return success();
}

void mlir::iris::printOptionalReduction(OpAsmPrinter &printer, Operation *,
                                        ReductionAttr reduction) {
  if (reduction)
    printer << stringifyReduction(reduction.getValue());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

// ODS has no way to include the table, so that it repeats names and numbers.
#define IRIS_COLLECTIVE(Name, ...)                                             \
  static_assert(static_cast<int>(CollectiveKind::Name) ==                      \
                static_cast<int>(plan::CollectiveKind::Name));
#include "iris/Plan/Collectives.def"

/// Element types that collectives support.
static bool isElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isSignless() &&
            llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth())) ||
           (integer.isUnsigned() &&
            llvm::is_contained({8u, 32u, 64u}, integer.getWidth()));
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type,
             Float8E5M2FNUZType>(type);
}

static constexpr StringLiteral kElements =
    "f16, bf16, f32, f64, i8, i16, i32, i64, ui8, ui32, ui64, f8E4M3FN, "
    "f8E5M2, f8E4M3FNUZ or f8E5M2FNUZ";

const plan::Collective &mlir::iris::getCollective(CollectiveKind kind) {
  return plan::getCollective(static_cast<plan::CollectiveKind>(kind));
}

LogicalResult CollectiveOp::verify() {
  StringRef kind = stringifyCollectiveKind(getKind());
  bool reduces = getCollective(getKind()).reduces();
  if (reduces && !getReduction())
    return emitOpError("has no reduction; expected sum, prod, min, max or avg "
                       "after ")
           << kind;
  if (!reduces && getReduction())
    return emitOpError("has the reduction ")
           << stringifyReduction(*getReduction()) << "; expected none for "
           << kind;
  if (!isElement(getElement()))
    return emitOpError("element type is ")
           << getElement() << "; expected " << kElements;
  if (getSize() && (*getSize() < 1 || *getSize() > kMaxGroup))
    return emitOpError("is for a group of ")
           << *getSize() << " ranks; expected 1 to " << kMaxGroup;
  return success();
}

LogicalResult mlir::iris::verifyGroup(Operation *op, DenseI32ArrayAttr group,
                                      int64_t most) {
  if (!group)
    return success();
  const int64_t size = group.size();
  if (size == 0 || size > most)
    return op->emitOpError("has a group of ")
           << size << " ranks; expected 1 to " << most;
  // Members of larger groups have fewer bits in the context.
  const int64_t ranks = size > kMaxAnyGroup ? kMaxGroup : kMaxRanks;
  llvm::SmallDenseSet<int32_t> seen;
  for (int32_t rank : group.asArrayRef()) {
    if (rank < 0 || rank >= ranks)
      return op->emitOpError("group names rank ")
             << rank << "; expected 0 to " << ranks - 1
             << (ranks < kMaxRanks ? " in a group of more than 8 ranks" : "");
    if (!seen.insert(rank).second)
      return op->emitOpError("group names rank ") << rank << " twice";
  }
  return success();
}

LogicalResult mlir::iris::verifyCollectiveCall(Operation *op) {
  auto call = cast<CollectiveCallOpInterface>(op);
  auto input = cast<MemRefType>(call.getInput().getType());
  auto output = cast<MemRefType>(call.getOutput().getType());
  for (MemRefType buffer : {input, output})
    if (!isSymmetric(buffer) || !buffer.getLayout().isIdentity())
      return op->emitOpError("buffer is ")
             << buffer << "; expected a row-major one in #iris.symmetric";
  if (input.getElementType() != output.getElementType())
    return op->emitOpError("input has elements of ")
           << input.getElementType() << ", output of "
           << output.getElementType() << "; expected the same";
  Type element = call.getElement().value_or(input.getElementType());
  if (call.getElement() && !input.getElementType().isInteger(8))
    return op->emitOpError("has elements of ")
           << element << " in buffers of " << input.getElementType()
           << "; expected buffers of i8";
  if (call.getElement() && element.getIntOrFloatBitWidth() != 8)
    return op->emitOpError("has elements of ")
           << element << " in buffers of i8; expected a type of 8 bits";
  if (!isElement(element))
    return op->emitOpError("element type is ")
           << element << "; expected " << kElements;
  return verifyGroup(op, call.getGroupAttr(), kMaxGroup);
}
