// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass convert-tile-to-threads.
//
// Facts (access plans, scratch memory, thread numbers) are collected first, on
// the tile program; then a dialect conversion replaces each tile by the vector
// of the thread's registers.
#include "iris/Conversion/TileToThreads.h"

#include "Patterns.h"
#include "iris/Analysis/TileLayout.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-tile-to-threads"

namespace mlir::iris {
#define GEN_PASS_DEF_CONVERTTILETOTHREADSPASS
#include "iris/Conversion/TileToThreads.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

static bool touchesTiles(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

/// Checks that no word of a packet spans two threads.
static LogicalResult verifyPacketLayout(Operation *op, RankedTensorType tile) {
  int64_t bytes = getRowMajorBytes(tile);
  if (bytes >= kMinPacketBytes)
    return success();
  return op->emitOpError("layout of ")
         << tile << " gives a thread " << bytes
         << " contiguous bytes; expected at least " << kMinPacketBytes;
}

/// Checks that `op` can be lowered, before the IR changes.
static LogicalResult verifyOp(Operation *op, const KernelInfo &kernel) {
  if (!touchesTiles(op))
    return success();
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())}) {
    for (Type type : types) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile)
        continue;
      if (!tile.getEncoding())
        return op->emitError("tile of type ")
               << tile
               << " has no layout; expected tile-assign-layouts to run before";
      if (failed(verifyLayoutFits(tile, kernel.numWarps, kernel.warpSize,
                                  [&] { return op->emitError(); })))
        return failure();
    }
  }
  for (Type type : op->getOperandTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (buffer && !buffer.isStrided())
      return op->emitOpError("buffer of type ")
             << buffer << " has no strides; expected an identity or strided "
             << "layout";
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      return op->emitError("constant tile has differing elements; expected a "
                           "splat");
  }
  if (isa<ExpectEqOp>(op) && !kernel.ctx)
    return op->emitOpError("is in a function without an argument of type "
                           "!iris.ctx");
  if (auto store = dyn_cast<PacketStoreOp>(op);
      store && failed(verifyPacketLayout(op, store.getValue().getType())))
    return failure();
  if (auto load = dyn_cast<PacketLoadOp>(op);
      load && failed(verifyPacketLayout(op, load.getType())))
    return failure();
  bool supported =
      op->hasTrait<OpTrait::Elementwise>() ||
      isa<tile::TileDialect, scf::SCFDialect>(op->getDialect()) ||
      isa<arith::ConstantOp, tensor::SplatOp, AtomicRMWOp, AtomicCASOp,
          ExpectEqOp, PacketStoreOp, PacketLoadOp, UnrealizedConversionCastOp>(
          op);
  if (!supported)
    return op->emitOpError("on tiles is not supported in GPU kernels");
  return success();
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// Collects the facts of one kernel and verifies its ops.
static LogicalResult analyzeKernel(FunctionOpInterface function,
                                   unsigned warpSize, uint64_t maxScratchBytes,
                                   bool unalignedVectors,
                                   ConversionFacts &facts) {
  KernelInfo kernel = getKernelInfo(function, warpSize);
  bool hasTiles = false;
  uint64_t scratchBytes = 0;
  // The kernel's declared buffers reduce the memory available for scratch.
  uint64_t declared = getWorkgroupAttributionBytes(function);
  maxScratchBytes -= std::min(declared, maxScratchBytes);
  WalkResult walk = function->walk([&](Operation *op) {
    if (failed(verifyOp(op, kernel)))
      return WalkResult::interrupt();
    hasTiles |= touchesTiles(op);
    uint64_t bytes =
        touchesTiles(op) ? getScratchBytes(op, kernel.numWarps) : 0;
    if (bytes > maxScratchBytes) {
      op->emitOpError("needs ")
          << bytes << " bytes of workgroup memory to exchange elements; "
          << "expected at most " << maxScratchBytes;
      return WalkResult::interrupt();
    }
    scratchBytes = std::max(scratchBytes, bytes);
    if (bytes > 0)
      LDBG() << *op << ": " << bytes << " bytes of workgroup memory";
    if (auto gather = dyn_cast<tile::GatherOp>(op))
      remarkIndexedAccess(op, getElementTypeOrSelf(gather.getResult()));
    if (auto scatter = dyn_cast<tile::ScatterOp>(op))
      remarkIndexedAccess(op, getElementTypeOrSelf(scatter.getValue()));
    if (auto load = dyn_cast<tile::LoadOp>(op))
      facts.plans[op] =
          planAccess(load.getSource(), load.getOffsets(),
                     load.getResult().getType(), unalignedVectors);
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      facts.plans[op] =
          planAccess(store.getDestination(), store.getOffsets(),
                     store.getValue().getType(), unalignedVectors);
    else
      return WalkResult::advance();
    remarkAccess(op, facts.plans[op]);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (!hasTiles)
    return success();

  emitThreadNumbers(function, kernel);
  if (scratchBytes)
    kernel.scratch = getScratch(function, scratchBytes);
  facts.kernels[function] = kernel;
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertTileToThreadsPass
    : iris::impl::ConvertTileToThreadsPassBase<ConvertTileToThreadsPass> {
  using ConvertTileToThreadsPassBase::ConvertTileToThreadsPassBase;

  void runOnOperation() override {
    ConversionFacts facts;
    WalkResult walk = getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return WalkResult::advance();
      return failed(analyzeKernel(function, warpSize, maxScratchBytes,
                                  unalignedVectors, facts))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    if (facts.kernels.empty())
      return;

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](RankedTensorType type) -> std::optional<Type> {
      return getThreadType(type);
    });

    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) { return !touchesTiles(op); });
    RewritePatternSet patterns(&getContext());
    populateElementPatterns(converter, facts, patterns);
    populateIndexedPatterns(converter, facts, patterns);
    populatePacketPatterns(converter, facts, patterns);
    populateReducePatterns(converter, facts, patterns);
    populateShapePatterns(converter, facts, patterns);
    populateWindowPatterns(converter, facts, patterns);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
