// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisSyncOps.cpp - Atomics, signals, waits, barriers, checks --------===//

#include "iris/Dialect/Iris/IR/Iris.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// RankedAccessOpInterface
//===----------------------------------------------------------------------===//

#define RANKED_ACCESS(OpT)                                                     \
  OpOperand &OpT::getBufferOperand() { return getBufferMutable(); }            \
  Value OpT::getAccessedRank() { return getRank(); }                           \
  void OpT::dropAccessedRank() { getRankMutable().clear(); }

RANKED_ACCESS(AtomicRMWOp)
RANKED_ACCESS(AtomicCASOp)
RANKED_ACCESS(SignalOp)
RANKED_ACCESS(WaitOp)
#undef RANKED_ACCESS

//===----------------------------------------------------------------------===//
// Offsets of atomics
//===----------------------------------------------------------------------===//

bool mlir::iris::areIndexTiles(ValueRange offsets) {
  return llvm::any_of(offsets.getTypes(), llvm::IsaPred<RankedTensorType>);
}

ParseResult
mlir::iris::parseElementTypes(OpAsmParser &parser, Type &buffer,
                              ArrayRef<OpAsmParser::UnresolvedOperand> offsets,
                              SmallVectorImpl<Type> &types) {
  if (parser.parseType(buffer))
    return failure();
  if (succeeded(parser.parseOptionalComma()))
    return parser.parseTypeList(types);
  types.assign(offsets.size(), parser.getBuilder().getIndexType());
  return success();
}

void mlir::iris::printElementTypes(OpAsmPrinter &printer, Operation *,
                                   Type buffer, ValueRange offsets,
                                   TypeRange types) {
  printer << buffer;
  if (areIndexTiles(offsets))
    printer << ", " << types;
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies the elements of a synchronizing access: a window of `value`'s
/// shape, or elements at tiles of coordinates.
static LogicalResult verifyElements(Operation *op, MemRefType buffer,
                                    ValueRange offsets, Type value) {
  if (!areIndexTiles(offsets))
    return tile::verifyWindow(op, buffer, offsets.size(), value);
  auto tile = dyn_cast<RankedTensorType>(value);
  if (!tile)
    return op->emitOpError("value is ")
           << value << "; expected a tile, as its offsets are tiles";
  return tile::verifyIndexed(op, buffer, offsets, tile);
}

/// Verifies a synchronizing access: its elements, a symmetric buffer if a rank
/// is specified, and a scope that includes the rank.
template <typename OpT>
static LogicalResult verifyRankedAccess(OpT op, Type value) {
  MemRefType buffer = op.getBuffer().getType();
  if (failed(verifyElements(op, buffer, op.getOffsets(), value)))
    return failure();
  if (op.getRank() && !isSymmetric(buffer)) {
    InFlightDiagnostic diag =
        op.emitOpError("names a rank, but the buffer ")
        << buffer
        << " is not on the symmetric heap; expected memory space "
           "#iris.symmetric";
    if (isPeer(buffer))
      diag.attachNote() << "a buffer in #iris.peer is already translated";
    return diag;
  }
  if (op.getScope() != Scope::Sys && (op.getRank() || isPeer(buffer)))
    return op.emitOpError("scope is ")
           << stringifyScope(op.getScope())
           << ", but the access may reach another rank; expected sys";
  return success();
}

LogicalResult AtomicRMWOp::verify() {
  Type element = getElementTypeOrSelf(getValue().getType());
  if (isa<FloatType>(element))
    switch (getKind()) {
    case RMWKind::And:
    case RMWKind::Or:
    case RMWKind::Xor:
    case RMWKind::UMin:
    case RMWKind::UMax:
      return emitOpError("kind ") << stringifyRMWKind(getKind())
                                  << " needs integers; got " << element;
    default:
      break;
    }
  return verifyRankedAccess(*this, getValue().getType());
}

LogicalResult AtomicCASOp::verify() {
  return verifyRankedAccess(*this, getValue().getType());
}

LogicalResult SignalOp::verify() {
  if (getSem() != MemSemantic::Release && getSem() != MemSemantic::Relaxed)
    return emitOpError("sem is ")
           << stringifyMemSemantic(getSem()) << "; expected release or relaxed";
  return verifyRankedAccess(*this, getValue().getType());
}

LogicalResult WaitOp::verify() {
  if (getSem() != MemSemantic::Acquire && getSem() != MemSemantic::Relaxed)
    return emitOpError("sem is ")
           << stringifyMemSemantic(getSem()) << "; expected acquire or relaxed";
  return verifyRankedAccess(*this, getValue().getType());
}

LogicalResult BarrierOp::verify() {
  if (!isSymmetric(getState().getType()))
    return emitOpError("state is ")
           << getState().getType()
           << "; expected a buffer in memory space #iris.symmetric";
  return success();
}

LogicalResult ExpectEqOp::verify() {
  Type element = getElementTypeOrSelf(getGot().getType());
  if (getTolAttr()) {
    if (!isa<FloatType>(element))
      return emitOpError("tol needs floats; got ") << element;
    double tol = getTolAttr().getValueAsDouble();
    if (!(tol >= 0.0))
      return emitOpError("tol is ") << tol << "; expected at least 0";
  }
  if (auto kernel = (*this)->getParentOfType<gpu::GPUFuncOp>())
    if (!llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<CtxType>))
      return emitOpError("reports to the context; expected a kernel argument "
                         "of type !iris.ctx");
  return success();
}

LogicalResult TraceOp::verify() {
  if (getSpan().empty())
    return emitOpError("has no span name; expected one");
  if (getBytes() && getPhase() != TracePhase::End)
    return emitOpError("has bytes at the beginning of a span; expected them at "
                       "its end");
  return success();
}
