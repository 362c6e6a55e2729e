// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Pipelines/Passes.h"

#include "iris/Analysis/PendingAccesses.h"
#include "iris/Chips/ChipInfo.h"
#include "iris/Pipelines/PostConditions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISVERIFYSTAGEPASS
#include "iris/Pipelines/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// The end of every message.
static constexpr StringLiteral blame = "; this is a bug of the compiler";

/// Checks that every access of `function` comes after the pending ones that it
/// conflicts with.
static LogicalResult verifyOrder(FunctionOpInterface function,
                                 const PostCondition &condition) {
  AccessConflicts conflicts(function);
  bool holds = true;
  PendingAccessWalk(function).run([&](Operation *op,
                                      ArrayRef<PendingAccess> accesses,
                                      ArrayRef<PendingAccess> pending) {
    auto conflict = conflicts.findConflict(accesses, pending);
    if (!conflict)
      return false;
    auto [before, now] = *conflict;
    InFlightDiagnostic diagnostic =
        op->emitError() << "after stage '" << condition.stage << "', '"
                        << op->getName() << "' " << describe(*now)
                        << " without a barrier after an access it conflicts "
                           "with; expected "
                        << condition.expected << " (" << condition.pass << ")"
                        << blame;
    diagnostic.attachNote(before->op->getLoc())
        << "'" << before->op->getName() << "' " << describe(*before)
        << (before->staleIn ? " in an earlier iteration" : "");
    holds = false;
    // One report for each access.
    return true;
  });
  return success(holds);
}

namespace {
struct VerifyStagePass : iris::impl::IrisVerifyStagePassBase<VerifyStagePass> {
  using IrisVerifyStagePassBase::IrisVerifyStagePassBase;

  void runOnOperation() override {
    std::optional<unsigned> kind = getTargetKind();
    if (!kind) {
      getOperation()->emitError(describeUnknownTarget(target));
      return signalPassFailure();
    }
    if (!isVerifiedStage(stage)) {
      getOperation()->emitError("unknown stage '")
          << StringRef(stage) << "' of iris-verify-stage; expected one that "
          << "iris-compile --list-stages prints";
      return signalPassFailure();
    }
    SmallVector<const PostCondition *> rows;
    for (const PostCondition &row : getPostConditions())
      if (row.stage == stage && (row.targets & *kind))
        rows.push_back(&row);
    bool holds = true;
    auto verifyAll = [&](Operation *root) {
      for (Region &region : root->getRegions())
        region.walk(
            [&](Operation *op) { holds &= succeeded(verify(op, rows)); });
    };
    // All stages but the first and the last one are about kernels.
    Operation *root = getOperation();
    if (stage == "expand" || stage == "main" || isa<gpu::GPUModuleOp>(root) ||
        root->getParentOfType<gpu::GPUModuleOp>())
      verifyAll(root);
    else
      root->walk([&](gpu::GPUModuleOp module) { verifyAll(module); });
    if (!holds)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  /// The bit of the target's kind; none if it is unknown.
  std::optional<unsigned> getTargetKind() const {
    if (target == "host")
      return OnHost;
    const ChipInfo *chip = findChip(target);
    if (!chip)
      return std::nullopt;
    return chip->isAMD() ? OnAMD : OnNVIDIA;
  }

  /// Reports the first row that `op` violates.
  static LogicalResult verify(Operation *op,
                              ArrayRef<const PostCondition *> rows) {
    for (const PostCondition *row : rows) {
      if (row->isViolatedBy && row->isViolatedBy(op))
        return op->emitError()
               << "after stage '" << row->stage << "', there is '"
               << op->getName() << "'; expected " << row->expected << " ("
               << row->pass << ")" << blame;
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (!row->isViolatedBy && function && !function.isExternal() &&
          failed(verifyOrder(function, *row)))
        return failure();
    }
    return success();
  }
};
} // namespace
