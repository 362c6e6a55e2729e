// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GatherStores.cpp - Groups stores of computed values ----------------===//

#include "iris/Conversion/IrisToROCDL.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-rocdl-gather-stores"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISROCDLGATHERSTORESPASS
#include "iris/Conversion/IrisToROCDL.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// The hardware reads the registers of wider stores with a delay.
static constexpr int64_t kQuickBits = 64;

static bool isWide(LLVM::StoreOp store) {
  auto vector = dyn_cast<VectorType>(store.getValue().getType());
  return vector &&
         vector.getNumElements() * vector.getElementTypeBitWidth() > kQuickBits;
}

/// True if the stored value is computed in this block.
static bool isComputed(LLVM::StoreOp store) {
  Operation *op = store.getValue().getDefiningOp();
  while (op && isa<LLVM::BitcastOp, LLVM::ShuffleVectorOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && op->getBlock() == store->getBlock() &&
         !isa<LLVM::ConstantOp>(op) && isMemoryEffectFree(op);
}

namespace {
/// Consecutive wide stores with only pure ops between them.
class Run {
public:
  void add(LLVM::StoreOp store) { stores.push_back(store); }
  /// Ends the run: moves its stores to the last one.
  void finish() {
    if (stores.size() > 1 && llvm::all_of(stores, isComputed)) {
      LLVM::StoreOp last = stores.back();
      LDBG() << "gather " << stores.size() << " stores before " << last;
      for (LLVM::StoreOp store : ArrayRef(stores).drop_back())
        store->moveBefore(last);
      OpBuilder builder(stores.front());
      ROCDL::SchedBarrier::create(builder, last.getLoc(), /*mask=*/0);
    } else if (stores.size() > 1) {
      LDBG() << "keep " << stores.size() << " stores before " << stores.back()
             << ": a value is not computed in their block";
    }
    stores.clear();
  }

private:
  SmallVector<LLVM::StoreOp> stores;
};

struct GatherStoresPass
    : iris::impl::IrisROCDLGatherStoresPassBase<GatherStoresPass> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) {
      if (!isa<LLVM::LLVMFuncOp>(block->getParentOp()))
        return;
      Run run;
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        auto store = dyn_cast<LLVM::StoreOp>(op);
        if (store && isWide(store))
          run.add(store);
        else if (!isMemoryEffectFree(&op))
          run.finish();
      }
      run.finish();
    });
  }
};
} // namespace
