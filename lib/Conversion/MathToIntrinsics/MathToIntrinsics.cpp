// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MathToIntrinsics.cpp - Instructions instead of a math library ------===//

#include "iris/Conversion/MathToIntrinsics.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "iris-math-to-intrinsics"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISMATHTOINTRINSICSPASS
#include "iris/Conversion/MathToIntrinsics.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// The intrinsic that `op` is; empty if it is none.
static StringRef getIntrinsic(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::AbsFOp) { return "llvm.fabs"; })
      .Case([](math::CeilOp) { return "llvm.ceil"; })
      .Case([](math::CopySignOp) { return "llvm.copysign"; })
      .Case([](math::FloorOp) { return "llvm.floor"; })
      .Case([](math::FmaOp) { return "llvm.fma"; })
      .Case([](math::RoundOp) { return "llvm.round"; })
      .Case([](math::RoundEvenOp) { return "llvm.roundeven"; })
      .Case([](math::SqrtOp) { return "llvm.sqrt"; })
      .Case([](math::TruncOp) { return "llvm.trunc"; })
      .Default([](Operation *) { return ""; });
}

namespace {
struct MathToIntrinsicsPass
    : iris::impl::IrisMathToIntrinsicsPassBase<MathToIntrinsicsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      StringRef name = getIntrinsic(op);
      if (name.empty())
        return;
      OpBuilder b(op);
      auto call = LLVM::CallIntrinsicOp::create(
          b, op->getLoc(), op->getResult(0).getType(), b.getStringAttr(name),
          op->getOperands());
      op->replaceAllUsesWith(call->getResults());
      op->erase();
    });
  }
};
} // namespace
