// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitHelpers.cpp - Control flow and atomics -------------------------===//

#include "iris/Conversion/EmitHelpers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Block *mlir::iris::splitBlockHere(ImplicitLocOpBuilder &b) {
  Block *block = b.getInsertionBlock();
  Block *rest = block->splitBlock(b.getInsertionPoint());
  b.setInsertionPointToEnd(block);
  return rest;
}

void mlir::iris::emitIf(ImplicitLocOpBuilder &b, Value condition,
                        llvm::function_ref<void()> body) {
  Block *rest = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Block *then = b.createBlock(rest);
  b.setInsertionPointToEnd(head);
  cf::CondBranchOp::create(b, condition, then, rest);
  b.setInsertionPointToStart(then);
  body();
  cf::BranchOp::create(b, rest);
  b.setInsertionPointToStart(rest);
}

void mlir::iris::emitInLeader(ImplicitLocOpBuilder &b, const TargetInfo &target,
                              llvm::function_ref<void()> body) {
  if (target.hasOneThread())
    return body();
  Value isLeader = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                         target.emitThreadId(b), emitI32(b, 0));
  emitIf(b, isLeader, body);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value mlir::iris::emitI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value mlir::iris::emitI64(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value mlir::iris::emitToBits(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  if (!isa<FloatType>(type))
    return value;
  return arith::BitcastOp::create(
      b, b.getIntegerType(type.getIntOrFloatBitWidth()), value);
}

Value mlir::iris::emitFromBits(ImplicitLocOpBuilder &b, Value bits, Type type) {
  if (!isa<FloatType>(type))
    return bits;
  return arith::BitcastOp::create(b, type, bits);
}

Value mlir::iris::emitNegation(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(integer, 0));
    return arith::SubIOp::create(b, zero, value);
  }
  // Flip the sign bit, so that no target needs arithmetic of the type.
  Value bits = emitToBits(b, value);
  APInt sign = APInt::getSignMask(type.getIntOrFloatBitWidth());
  Value mask =
      arith::ConstantOp::create(b, b.getIntegerAttr(bits.getType(), sign));
  return emitFromBits(b, arith::XOrIOp::create(b, bits, mask), type);
}

static Value emitFloatUpdate(ImplicitLocOpBuilder &b, RMWKind kind, Value old,
                             Value value) {
  switch (kind) {
  case RMWKind::Add:
    return arith::AddFOp::create(b, old, value);
  case RMWKind::Sub:
    return arith::SubFOp::create(b, old, value);
  case RMWKind::Min:
    return arith::MinimumFOp::create(b, old, value);
  case RMWKind::Max:
    return arith::MaximumFOp::create(b, old, value);
  case RMWKind::Xchg:
    return value;
  default:
    llvm_unreachable("rejected by the verifier");
  }
}

static Value emitIntegerUpdate(ImplicitLocOpBuilder &b, RMWKind kind, Value old,
                               Value value) {
  switch (kind) {
  case RMWKind::Add:
    return arith::AddIOp::create(b, old, value);
  case RMWKind::Sub:
    return arith::SubIOp::create(b, old, value);
  case RMWKind::Xchg:
    return value;
  case RMWKind::And:
    return arith::AndIOp::create(b, old, value);
  case RMWKind::Or:
    return arith::OrIOp::create(b, old, value);
  case RMWKind::Xor:
    return arith::XOrIOp::create(b, old, value);
  case RMWKind::Min:
    return arith::MinSIOp::create(b, old, value);
  case RMWKind::Max:
    return arith::MaxSIOp::create(b, old, value);
  case RMWKind::UMin:
    return arith::MinUIOp::create(b, old, value);
  case RMWKind::UMax:
    return arith::MaxUIOp::create(b, old, value);
  }
  llvm_unreachable("unknown kind");
}

Value mlir::iris::emitUpdate(ImplicitLocOpBuilder &b, RMWKind kind, Value old,
                             Value value) {
  Type type = value.getType();
  if (isa<IntegerType>(type))
    return emitIntegerUpdate(b, kind, old, value);
  if (kind == RMWKind::Xchg || type.getIntOrFloatBitWidth() >= 32)
    return emitFloatUpdate(b, kind, old, value);
  // f32 has more than twice the precision of f16 and bf16, so rounding the f32
  // result equals rounding the exact result.
  Value wideOld = arith::ExtFOp::create(b, b.getF32Type(), old);
  Value wideValue = arith::ExtFOp::create(b, b.getF32Type(), value);
  Value wide = emitFloatUpdate(b, kind, wideOld, wideValue);
  return arith::TruncFOp::create(b, type, wide);
}

//===----------------------------------------------------------------------===//
// Orderings
//===----------------------------------------------------------------------===//

LLVM::AtomicOrdering mlir::iris::toLLVM(MemSemantic sem) {
  switch (sem) {
  case MemSemantic::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case MemSemantic::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case MemSemantic::Release:
    return LLVM::AtomicOrdering::release;
  case MemSemantic::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("unknown ordering");
}

bool mlir::iris::isRelease(MemSemantic sem) {
  return sem == MemSemantic::Release || sem == MemSemantic::AcqRel;
}

bool mlir::iris::isAcquire(MemSemantic sem) {
  return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel;
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static unsigned byteWidth(Type type) {
  return type.getIntOrFloatBitWidth() / 8;
}

Value mlir::iris::emitAtomicLoad(ImplicitLocOpBuilder &b, Type type,
                                 Value address, LLVM::AtomicOrdering ordering,
                                 StringRef syncScope) {
  return LLVM::LoadOp::create(b, type, address, byteWidth(type),
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/false,
                              /*isInvariantGroup=*/false, ordering, syncScope);
}

void mlir::iris::emitAtomicStore(ImplicitLocOpBuilder &b, Value value,
                                 Value address, LLVM::AtomicOrdering ordering,
                                 StringRef syncScope) {
  LLVM::StoreOp::create(b, value, address, byteWidth(value.getType()),
                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                        /*isInvariantGroup=*/false, ordering, syncScope);
}

/// A failed exchange stores nothing, so it keeps only the acquire semantics.
static LLVM::AtomicOrdering failureOrdering(LLVM::AtomicOrdering ordering) {
  return ordering == LLVM::AtomicOrdering::acquire ||
                 ordering == LLVM::AtomicOrdering::acq_rel
             ? LLVM::AtomicOrdering::acquire
             : LLVM::AtomicOrdering::monotonic;
}

static LLVM::AtomicCmpXchgOp emitCmpXchg(ImplicitLocOpBuilder &b, Value compare,
                                         Value value, Value address,
                                         LLVM::AtomicOrdering ordering,
                                         StringRef syncScope) {
  return LLVM::AtomicCmpXchgOp::create(b, address, compare, value, ordering,
                                       failureOrdering(ordering), syncScope,
                                       byteWidth(value.getType()));
}

Value mlir::iris::emitAtomicCAS(ImplicitLocOpBuilder &b, Value compare,
                                Value value, Value address,
                                LLVM::AtomicOrdering ordering,
                                StringRef syncScope) {
  Value pair = emitCmpXchg(b, emitToBits(b, compare), emitToBits(b, value),
                           address, ordering, syncScope);
  return emitFromBits(
      b, LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{0}),
      value.getType());
}

Value mlir::iris::emitCASLoop(ImplicitLocOpBuilder &b, RMWKind kind,
                              Value value, Value address,
                              LLVM::AtomicOrdering ordering,
                              StringRef syncScope) {
  Type type = value.getType();
  Type bitsType = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value first = emitAtomicLoad(b, bitsType, address,
                               LLVM::AtomicOrdering::monotonic, syncScope);
  Block *rest = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Block *loop = b.createBlock(rest, {bitsType}, {b.getLoc()});
  b.setInsertionPointToEnd(head);
  cf::BranchOp::create(b, loop, first);

  b.setInsertionPointToStart(loop);
  Value oldBits = loop->getArgument(0);
  Value old = emitFromBits(b, oldBits, type);
  Value updated = emitToBits(b, emitUpdate(b, kind, old, value));
  Value pair = emitCmpXchg(b, oldBits, updated, address, ordering, syncScope);
  Value seen = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{0});
  Value done = LLVM::ExtractValueOp::create(b, pair, ArrayRef<int64_t>{1});
  cf::CondBranchOp::create(b, done, rest, ValueRange(), loop, seen);
  b.setInsertionPointToStart(rest);
  return old;
}

/// The LLVM operation of `kind`; `sub` is an addition of the negated value.
static LLVM::AtomicBinOp binOp(RMWKind kind, bool isFloat) {
  switch (kind) {
  case RMWKind::Add:
  case RMWKind::Sub:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case RMWKind::Xchg:
    return LLVM::AtomicBinOp::xchg;
  case RMWKind::And:
    return LLVM::AtomicBinOp::_and;
  case RMWKind::Or:
    return LLVM::AtomicBinOp::_or;
  case RMWKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case RMWKind::Min:
    return isFloat ? LLVM::AtomicBinOp::fminimum : LLVM::AtomicBinOp::min;
  case RMWKind::Max:
    return isFloat ? LLVM::AtomicBinOp::fmaximum : LLVM::AtomicBinOp::max;
  case RMWKind::UMin:
    return LLVM::AtomicBinOp::umin;
  case RMWKind::UMax:
    return LLVM::AtomicBinOp::umax;
  }
  llvm_unreachable("unknown kind");
}

Value mlir::iris::emitLLVMAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind,
                                    Value value, Value address,
                                    LLVM::AtomicOrdering ordering,
                                    StringRef syncScope) {
  Type type = value.getType();
  if (kind == RMWKind::Sub)
    value = emitNegation(b, value);
  if (kind == RMWKind::Xchg)
    value = emitToBits(b, value);
  Value old = LLVM::AtomicRMWOp::create(
      b, binOp(kind, isa<FloatType>(value.getType())), address, value, ordering,
      syncScope, byteWidth(type));
  return kind == RMWKind::Xchg ? emitFromBits(b, old, type) : old;
}
