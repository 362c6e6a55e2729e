// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckSync.cpp - Warn of errors in synchronization ------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/SyncCheck/SyncCheck.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "iris-check-sync"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISCHECKSYNCPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
struct CheckSyncPass : iris::impl::IrisCheckSyncPassBase<CheckSyncPass> {
  using IrisCheckSyncPassBase::IrisCheckSyncPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    // The checks fold ops.
    OwningOpRef<ModuleOp> clone = getOperation().clone();
    SyncReport report = checkSynchronization(*clone, maxOps);
    for (const SyncFinding &finding : report.findings) {
      InFlightDiagnostic warning =
          emitWarning(finding.op->getLoc(), finding.message);
      for (const auto &[op, note] : finding.notes)
        warning.attachNote(op->getLoc()) << note;
    }
    for (const SyncLimit &limit : report.limits)
      remark::analysis(limit.op->getLoc(),
                       remark::RemarkOpts::name("limit").category(DEBUG_TYPE))
          << "'" + limit.op->getName().getStringRef().str() +
                 "' op is not followed by the checks of synchronization: " +
                 limit.reason;
  }
};
} // namespace
