// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../TestPasses.h"

#include "iris/Analysis/TileLayout.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Remarks on each tile that an op makes what its layout means: which thread
/// has what, and how many consecutive elements.
struct PrintTileLayouts : PassWrapper<PrintTileLayouts, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintTileLayouts)

  StringRef getArgument() const override { return "test-print-tile-layouts"; }
  StringRef getDescription() const override {
    return "Print the linear layout of each tile";
  }

  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      for (Value result : op->getResults())
        if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
          print(op, tile);
    });
  }

private:
  static void print(Operation *op, RankedTensorType tile) {
    std::optional<LinearLayout> layout = getLinearLayout(tile);
    if (!layout) {
      op->emitRemark("tile without a layout");
      return;
    }
    InFlightDiagnostic remark =
        op->emitRemark() << layout->getNumRegisters() << " registers, "
                         << layout->getNumLanes() << " lanes, "
                         << layout->getNumWarps() << " waves; "
                         << layout->getContiguity(tile.getRank() - 1)
                         << " consecutive elements of a row, "
                         << getRowMajorBytes(tile)
                         << " consecutive bytes of the tile; "
                         << (layout->hasUniqueOwners() ? "one owner"
                                                       : "several owners")
                         << " of each element";
    remark.attachNote(op->getLoc()) << StringRef(layout->toString()).rtrim();
  }
};
} // namespace

void mlir::iris::test::registerTestTileLayoutPass() {
  PassRegistration<PrintTileLayouts>();
}
