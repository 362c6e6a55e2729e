// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MathToIntrinsics.cpp - Math ops as LLVM intrinsics -----------------===//

#include "iris/Conversion/MathToIntrinsics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "iris-math-to-intrinsics"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISMATHTOINTRINSICSPASS
#include "iris/Conversion/MathToIntrinsics.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// The intrinsic for `op`; empty if there is none.
static StringRef getIntrinsic(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](arith::MaxNumFOp) { return "llvm.maxnum"; })
      .Case([](arith::MinNumFOp) { return "llvm.minnum"; })
      .Case([](math::AbsFOp) { return "llvm.fabs"; })
      .Case([](math::AbsIOp) { return "llvm.abs"; })
      .Case([](math::CeilOp) { return "llvm.ceil"; })
      .Case([](math::CopySignOp) { return "llvm.copysign"; })
      .Case([](math::CountLeadingZerosOp) { return "llvm.ctlz"; })
      .Case([](math::CountTrailingZerosOp) { return "llvm.cttz"; })
      .Case([](math::CtPopOp) { return "llvm.ctpop"; })
      .Case([](math::FloorOp) { return "llvm.floor"; })
      .Case([](math::FmaOp) { return "llvm.fma"; })
      .Case([](math::RoundOp) { return "llvm.round"; })
      .Case([](math::RoundEvenOp) { return "llvm.roundeven"; })
      .Case([](math::SqrtOp) { return "llvm.sqrt"; })
      .Case([](math::TruncOp) { return "llvm.trunc"; })
      .Default([](Operation *) { return ""; });
}

/// The floating-point classes that `op` tests; nothing if it is not such a
/// test.
static std::optional<unsigned> getClasses(Operation *op) {
  constexpr unsigned normal = llvm::fcNormal, finite = llvm::fcFinite,
                     infinite = llvm::fcInf, nan = llvm::fcNan;
  return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
      .Case([&](math::IsFiniteOp) { return finite; })
      .Case([&](math::IsInfOp) { return infinite; })
      .Case([&](math::IsNaNOp) { return nan; })
      .Case([&](math::IsNormalOp) { return normal; })
      .Default([](Operation *) { return std::nullopt; });
}

/// These intrinsics take a flag that makes the result for the smallest integer,
/// or for zero, poison. `math` ops are never poison.
static bool takesPoisonFlag(Operation *op) {
  return isa<math::AbsIOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp>(op);
}

/// `type` with index replaced by i64, its width on every target.
static Type withoutIndex(Type type) {
  if (!getElementTypeOrSelf(type).isIndex())
    return type;
  Type i64 = IntegerType::get(type.getContext(), 64);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(i64);
  return i64;
}

static void replaceByIntrinsic(Operation *op, StringRef name) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Type lowered = withoutIndex(type);
  bool isIndex = lowered != type;
  SmallVector<Value> operands = llvm::to_vector(op->getOperands());
  if (isIndex)
    for (Value &operand : operands)
      operand = arith::IndexCastOp::create(b, loc, lowered, operand);
  if (takesPoisonFlag(op))
    operands.push_back(
        arith::ConstantIntOp::create(b, loc, b.getI1Type(), false));
  auto call = LLVM::CallIntrinsicOp::create(b, loc, lowered,
                                            b.getStringAttr(name), operands);
  Value result = call->getResult(0);
  if (isIndex)
    result = arith::IndexCastOp::create(b, loc, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct MathToIntrinsicsPass
    : iris::impl::IrisMathToIntrinsicsPassBase<MathToIntrinsicsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      StringRef name = getIntrinsic(op);
      if (!name.empty()) {
        replaceByIntrinsic(op, name);
      } else if (std::optional<unsigned> classes = getClasses(op)) {
        OpBuilder b(op);
        Value is =
            LLVM::IsFPClass::create(b, op->getLoc(), op->getResult(0).getType(),
                                    op->getOperand(0), *classes);
        op->getResult(0).replaceAllUsesWith(is);
        op->erase();
      }
    });
  }
};
} // namespace
