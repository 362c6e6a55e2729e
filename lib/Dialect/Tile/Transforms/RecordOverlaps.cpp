// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records what a kernel relies on where it has several threads, for a target
// where it has one.
#include "iris/Dialect/Tile/Transforms/Passes.h"

#include "ThreadOrder.h"
#include "iris/Analysis/ArgumentOverlaps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/DebugLog.h"
#include <thread>

#define DEBUG_TYPE "tile-record-overlaps"

namespace mlir::tile {
#define GEN_PASS_DEF_TILERECORDOVERLAPSPASS
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

/// Adds what `function` relies on with waves of `warpSize` threads; nothing if
/// one of its pinned layouts is for other waves.
static void addOverlapsOf(FunctionOpInterface function, unsigned warpSize,
                          Overlaps &overlaps) {
  // Next to the function, because the analyses look at its surroundings.
  auto copy = cast<FunctionOpInterface>(function->clone());
  SymbolTable(function->getParentOp())
      .insert(copy, std::next(Block::iterator(function)));
  {
    // The lowering reports errors, of which only this thread's are ignored.
    std::thread::id self = std::this_thread::get_id();
    ScopedDiagnosticHandler ignore(function->getContext(), [&](Diagnostic &) {
      return success(std::this_thread::get_id() == self);
    });
    if (succeeded(assignLayouts(copy, warpSize))) {
      for (auto &[pair, needed] : insertBarriers(copy, /*remarks=*/false)) {
        LDBG() << function.getName() << " with warps of " << warpSize
               << " relies on arguments " << pair.first << " and "
               << pair.second;
        addOverlap(overlaps, pair, needed);
      }
    } else {
      LDBG() << function.getName() << " has a layout for other warps than of "
             << warpSize << " threads";
    }
  }
  copy->erase();
}

namespace {
struct TileRecordOverlapsPass
    : tile::impl::TileRecordOverlapsPassBase<TileRecordOverlapsPass> {
  using TileRecordOverlapsPassBase::TileRecordOverlapsPassBase;

  void runOnOperation() override {
    SmallVector<FunctionOpInterface> functions;
    getOperation()->walk([&](FunctionOpInterface function) {
      if (!function.isExternal() && !function->hasAttr(iris::kMayOverlapAttr))
        functions.push_back(function);
    });
    for (FunctionOpInterface function : functions) {
      Overlaps overlaps;
      // GPUs have no others.
      for (unsigned warpSize : {32, 64})
        addOverlapsOf(function, warpSize, overlaps);
      setOverlaps(function, std::move(overlaps));
    }
  }
};
} // namespace
