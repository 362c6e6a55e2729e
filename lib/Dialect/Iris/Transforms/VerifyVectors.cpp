// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyVectors.cpp - The vectors all targets have -------------------===//
//
// Vectors are mostly what tiles become. Of those that a program brings along,
// some would fail in a lowering or in a back end, and not for every target.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#define DEBUG_TYPE "iris-verify-vectors"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISVERIFYVECTORSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Functions become calls of intrinsics, which have one dimension at most; the
/// host computes bf16 as f32, which vectors of it are not widened to; and no
/// target has vectors whose length the hardware chooses.
static bool isSupported(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || (vector.getRank() <= 1 && !vector.isScalable() &&
                     !vector.getElementType().isBF16());
}

static LogicalResult verify(Operation *op, StringRef what, TypeRange types) {
  for (Type type : types)
    if (!isSupported(type))
      return op->emitOpError("has ")
             << what << " of type " << type
             << "; expected a tile (tensor), or a vector of one dimension and "
                "fixed length that is not of bf16";
  return success();
}

static LogicalResult verify(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(verify(op, "an argument", block.getArgumentTypes())))
        return failure();
  return verify(op, "a result", op->getResultTypes());
}

namespace {
struct VerifyVectorsPass
    : iris::impl::IrisVerifyVectorsPassBase<VerifyVectorsPass> {
  void runOnOperation() override {
    bool valid = true;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // What is in the LLVM dialect already was written for one target.
      if (isa<LLVM::LLVMFuncOp>(op))
        return WalkResult::skip();
      valid &= succeeded(verify(op));
      return WalkResult::advance();
    });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
