// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerExpect.cpp - Checks and records -------------------------------===//

#include "SyncLowering.h"

#include "iris-c/RuntimeABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Records of the control block
//===----------------------------------------------------------------------===//

void SyncLowering::emitRecord(Builder &b, Value record,
                              llvm::function_ref<void()> fill) {
  StringRef system = target.getSyncScope(Scope::Sys);
  constexpr auto relaxed = LLVM::AtomicOrdering::monotonic;
  Value empty = emitI32(b, IRISRT_RECORD_EMPTY);
  Value state = emitAtomicCAS(b, empty, emitI32(b, IRISRT_RECORD_CLAIMED),
                              record, relaxed, system);
  Value claimed =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, state, empty);
  emitIf(b, claimed, [&] {
    fill();
    bool carries = target.accessesCarryOrdering();
    if (!carries)
      target.emitReleaseFence(b, Scope::Sys);
    emitAtomicStore(b, emitI32(b, IRISRT_RECORD_READY), record,
                    carries ? LLVM::AtomicOrdering::release : relaxed, system);
  });
}

void SyncLowering::emitStoreField(Builder &b, Value record, int64_t offset,
                                  Value value) {
  Value address =
      LLVM::GEPOp::create(b, record.getType(), b.getI8Type(), record,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  LLVM::StoreOp::create(b, value, address);
}

void SyncLowering::emitOrigin(Builder &b, Value record, Value ctx, int64_t site,
                              OriginOffsets offsets) {
  emitStoreField(b, record, offsets.site, emitI32(b, site));
  for (auto dim : {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z}) {
    Value id = arith::IndexCastOp::create(b, b.getI32Type(),
                                          gpu::BlockIdOp::create(b, dim));
    emitStoreField(b, record, offsets.program + 4 * static_cast<int64_t>(dim),
                   id);
  }
  emitStoreField(b, record, offsets.launchId, emitField(b, "launchId", ctx));
  emitStoreField(b, record, offsets.kernelHash,
                 emitI64(b, static_cast<int64_t>(getKernelHash())));
}

void SyncLowering::emitSetAbort(Builder &b, Value control, int64_t reason) {
  // Only from "none": an earlier reason stays.
  emitAtomicCAS(b, emitI32(b, IRISRT_ABORT_NONE), emitI32(b, reason),
                emitGlobalPointer(b, control, 0),
                LLVM::AtomicOrdering::monotonic,
                target.getSyncScope(Scope::Sys));
}

void SyncLowering::emitRecordExpect(Builder &b, Value ctx, Value checked,
                                    Value failed, Value element, Value got,
                                    Value want, int64_t site) {
  Value control = emitField(b, "control", ctx);
  auto count = [&](Value amount, int64_t offset) {
    target.emitAtomicRMW(b, RMWKind::Add, amount,
                         emitGlobalPointer(b, control, offset),
                         LLVM::AtomicOrdering::monotonic, Scope::Sys,
                         /*needsResult=*/false);
  };
  count(checked, offsetof(IrisRtControl, expectChecked));
  Value anyFailed =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, failed, emitI64(b, 0));
  emitIf(b, anyFailed, [&] {
    count(failed, offsetof(IrisRtControl, expectFailed));
    Value record =
        emitGlobalPointer(b, control, offsetof(IrisRtControl, expect));
    emitRecord(b, record, [&] {
      emitOrigin<IrisRtExpectRecord>(b, record, ctx, site);
      emitStoreField(b, record, offsetof(IrisRtExpectRecord, element), element);
      emitStoreField(b, record, offsetof(IrisRtExpectRecord, got), got);
      emitStoreField(b, record, offsetof(IrisRtExpectRecord, want), want);
    });
  });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult SyncLowering::lower(RecordExpectOp op) {
  Builder b(op.getLoc(), op);
  emitRecordExpect(b, op.getCtx(), op.getChecked(), op.getFailed(),
                   op.getElement(), op.getGot(), op.getWant(),
                   addSite(op, op.getWhat(), op.getElementType()));
  op.erase();
  return success();
}

/// Every thread comes to the same verdict, as the values are the same in all.
LogicalResult SyncLowering::lower(CheckOp op) {
  Builder b(op.getLoc(), op);
  Value ctx = op.getCtx();
  Value value = arith::IndexCastOp::create(b, b.getI64Type(), op.getValue());
  Value bound = arith::IndexCastOp::create(b, b.getI64Type(), op.getBound());
  // Unsigned, so that a negative index is too large.
  Value fails = arith::CmpIOp::create(
      b,
      op.getAtLeast() ? arith::CmpIPredicate::slt : arith::CmpIPredicate::uge,
      value, bound);
  int64_t site = addSite(op, op.getWhat(), /*element=*/Type());
  Block *rest = splitBlockHere(b);
  Block *head = b.getInsertionBlock();
  Block *report = b.createBlock(rest);
  b.setInsertionPointToEnd(head);
  cf::CondBranchOp::create(b, fails, report, rest);
  b.setInsertionPointToStart(report);
  emitInLeader(b, target, [&] {
    Value control = emitField(b, "control", ctx);
    Value record =
        emitGlobalPointer(b, control, offsetof(IrisRtControl, check));
    emitRecord(b, record, [&] {
      emitOrigin<IrisRtCheckRecord>(b, record, ctx, site);
      emitStoreField(b, record, offsetof(IrisRtCheckRecord, value), value);
      emitStoreField(b, record, offsetof(IrisRtCheckRecord, bound), bound);
    });
    emitSetAbort(b, control, IRISRT_ABORT_CHECK);
  });
  cf::BranchOp::create(b, getExitBlock());
  op.erase();
  return success();
}

/// The bits of a scalar as an i64, zero extended.
static Value emitRawBits(ImplicitLocOpBuilder &b, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  Value bits = emitToBits(b, value);
  if (bits.getType().isInteger(64))
    return bits;
  return arith::ExtUIOp::create(b, b.getI64Type(), bits);
}

/// True where both are NaN, whatever their payloads.
static Value emitAreNaN(ImplicitLocOpBuilder &b, Value got, Value want) {
  auto isNaN = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  };
  return arith::AndIOp::create(b, isNaN(got), isNaN(want));
}

/// True where |got - want| <= tol, computed in f32 or, for f64, in f64.
static Value emitIsNear(ImplicitLocOpBuilder &b, Value got, Value want,
                        double tol) {
  FloatType type = cast<FloatType>(got.getType());
  if (type.getWidth() < 32) {
    type = b.getF32Type();
    got = arith::ExtFOp::create(b, type, got);
    want = arith::ExtFOp::create(b, type, want);
  }
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  };
  Value difference = arith::SubFOp::create(b, got, want);
  Value below = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, difference,
                                      constant(tol));
  Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, difference,
                                      constant(-tol));
  return arith::AndIOp::create(b, below, above);
}

LogicalResult SyncLowering::lower(ExpectEqOp op) {
  Type type = op.getGot().getType();
  if (isa<ShapedType>(type))
    return op.emitOpError("compares tiles; expected scalars");
  auto context = llvm::find_if(kernel.getArguments(), [](Value argument) {
    return isa<CtxType>(argument.getType());
  });
  if (context == kernel.getArguments().end())
    return op.emitOpError("needs an argument of type !iris.ctx in the kernel, "
                          "to report to");
  Builder b(op.getLoc(), op);
  Value ctx = *context;
  int64_t site = addSite(op, op.getWhat(), type);
  // The value is the same in every thread: one of them checks it.
  emitInLeader(b, target, [&] {
    Value got = emitRawBits(b, op.getGot());
    Value want = emitRawBits(b, op.getWant());
    Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, got, want);
    if (isa<FloatType>(type))
      equal = arith::OrIOp::create(b, equal,
                                   emitAreNaN(b, op.getGot(), op.getWant()));
    if (op.getTolAttr())
      equal =
          arith::OrIOp::create(b, equal,
                               emitIsNear(b, op.getGot(), op.getWant(),
                                          op.getTolAttr().getValueAsDouble()));
    Value failed =
        arith::SelectOp::create(b, equal, emitI64(b, 0), emitI64(b, 1));
    emitRecordExpect(b, ctx, emitI64(b, 1), failed, emitI64(b, 0), got, want,
                     site);
  });
  op.erase();
  return success();
}
