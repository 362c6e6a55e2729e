// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropOverflowFlags.cpp - Promises that folds do not keep ------------===//
//
// Canonicalization merges two ops into one with the flags of both, although its
// constant may wrap around: x + 2e9 + 2e9 of i32 becomes x - 294967296 nsw. The
// folder of trunci does so in place, where no pattern comes first. So the flags
// go before the first canonicalization.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISDROPOVERFLOWFLAGSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;

namespace {
struct DropOverflowFlagsPass
    : iris::impl::IrisDropOverflowFlagsPassBase<DropOverflowFlagsPass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::ArithIntegerOverflowFlagsInterface op) {
      // shli is merged with nothing.
      if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::TruncIOp>(op))
        op->setAttr(op.getIntegerOverflowAttrName(),
                    arith::IntegerOverflowFlagsAttr::get(
                        op.getContext(), arith::IntegerOverflowFlags::none));
    });
  }
};
} // namespace
