// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bf16AsBits.cpp - Removes bf16 values from x86 code -----------------===//
//
// On x86, LLVM 22.1.8 keeps a bf16 that is live across basic blocks as f32, and
// rounds it again at its uses by a call of __truncsfbf2, which is not linked
// and which changes signaling NaNs. An i16 is only moved.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/TileToLoops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#define DEBUG_TYPE "iris-bf16-as-bits"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISBF16ASBITSPASS
#include "iris/Conversion/TileToLoopsPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

static bool isBf16(Value value) { return value.getType().isBF16(); }

/// Ops that move bits without computing.
static bool movesBits(Operation *op) {
  return isa<LLVM::BitcastOp, LLVM::BrOp, LLVM::CondBrOp, LLVM::ConstantOp,
             LLVM::FreezeOp, LLVM::LoadOp, LLVM::PoisonOp, LLVM::SelectOp,
             LLVM::StoreOp, LLVM::SwitchOp, LLVM::UndefOp>(op);
}

namespace {
struct Bf16AsBitsPass : iris::impl::IrisBf16AsBitsPassBase<Bf16AsBitsPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      bool hasBf16 = llvm::any_of(op->getOperands(), isBf16) ||
                     llvm::any_of(op->getResults(), isBf16);
      if (hasBf16 && !movesBits(op))
        return op->emitOpError("computes in bf16; expected f32 or integers "
                               "after iris-legalize-host-floats");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([](Operation *op) { retype(op); });
  }

private:
  static void retype(Operation *op) {
    Type bits = IntegerType::get(op->getContext(), 16);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isBf16(argument))
            argument.setType(bits);
    for (Value result : op->getResults())
      if (isBf16(result))
        result.setType(bits);
    if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
      if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
        if (value.getType().isBF16())
          constant.setValueAttr(
              IntegerAttr::get(bits, value.getValue().bitcastToAPInt()));
    // A cast between the two types is now one from i16 to i16; its operand may
    // be retyped later.
    if (auto cast = dyn_cast<LLVM::BitcastOp>(op)) {
      Type from = cast.getArg().getType();
      if (cast.getType() == bits && (from == bits || from.isBF16())) {
        cast.getResult().replaceAllUsesWith(cast.getArg());
        cast.erase();
      }
    }
  }
};
} // namespace
