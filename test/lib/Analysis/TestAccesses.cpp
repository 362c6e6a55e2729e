// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../TestPasses.h"

#include "iris/Analysis/PendingAccesses.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

namespace {
/// Remarks on each access that tile-insert-barriers would put a barrier before,
/// and on each access that it would not, although an earlier one is pending
/// and one of the two writes, why not. Existing barriers count.
struct PrintBarriers : PassWrapper<PrintBarriers, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintBarriers)

  StringRef getArgument() const override { return "test-print-barriers"; }
  StringRef getDescription() const override {
    return "Print where tile-insert-barriers puts barriers and why, and why "
           "not elsewhere";
  }

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      if (!function.isExternal())
        print(function);
    });
  }

private:
  static std::string toText(const PendingAccess &before) {
    std::string text = describe(before);
    if (before.staleIn)
      text += ", in an earlier iteration of '" +
              before.staleIn->getName().getStringRef().str() + "'";
    return text;
  }

  static void print(FunctionOpInterface function) {
    AccessConflicts conflicts(function);
    PendingAccessWalk walk(function);
    walk.run([&](Operation *op, ArrayRef<PendingAccess> accesses,
                 ArrayRef<PendingAccess> pending) {
      auto conflict = conflicts.findConflict(accesses, pending);
      if (!conflict)
        return false;
      auto [before, now] = *conflict;
      InFlightDiagnostic remark = op->emitRemark("barrier before '");
      remark << op->getName() << "', which " << describe(*now);
      remark.attachNote(before->op->getLoc())
          << "'" << before->op->getName() << "' " << toText(*before);
      return true;
    });
    // Once all barriers are known. The last visit of an op knows all that is
    // pending there.
    llvm::MapVector<Operation *,
                    SmallVector<std::pair<Operation *, std::string>>>
        reasons;
    walk.run([&](Operation *op, ArrayRef<PendingAccess> accesses,
                 ArrayRef<PendingAccess> pending) {
      auto &found = reasons[op];
      found.clear();
      for (const PendingAccess &now : accesses) {
        for (const PendingAccess &before : pending) {
          AccessOrder order = conflicts.explain(before, now);
          if (order != AccessOrder::NoWrite)
            found.emplace_back(before.op,
                               "'" + before.op->getName().getStringRef().str() +
                                   "' " + toText(before) + ": " +
                                   describe(order).str());
        }
      }
      return false;
    });
    for (auto &[op, found] : reasons) {
      if (found.empty())
        continue;
      InFlightDiagnostic remark = op->emitRemark("no barrier before '");
      remark << op->getName() << "'";
      for (auto &[before, text] : found)
        remark.attachNote(before->getLoc()) << text;
    }
  }
};

//===----------------------------------------------------------------------===//
// Program order
//===----------------------------------------------------------------------===//

/// Remarks on each op that accesses memory, or orders accesses, what it says of
/// itself.
struct PrintProgramOrder : PassWrapper<PrintProgramOrder, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintProgramOrder)

  StringRef getArgument() const override { return "test-print-program-order"; }
  StringRef getDescription() const override {
    return "Print the accesses of each op and what it orders";
  }

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      for (Region &region : function->getRegions())
        region.walk([](Operation *op) { print(op); });
    });
  }

private:
  static void print(Operation *op) {
    SmallVector<std::string> parts;
    for (const MemoryAccess &access : getMemoryAccesses(op))
      parts.push_back(describe(access));
    if (auto order = dyn_cast<ProgramOrderOpInterface>(op)) {
      if (StringRef text = toText(order.getOrderBefore()); !text.empty())
        parts.push_back(("comes after " + text + " earlier ones").str());
      if (StringRef text = toText(order.getOrderAfter()); !text.empty())
        parts.push_back(("comes before " + text + " later ones").str());
    }
    if (!parts.empty())
      op->emitRemark() << llvm::join(parts, "; ");
  }

  static StringRef toText(OrderedAccesses ordered) {
    switch (ordered) {
    case OrderedAccesses::None:
      return "";
    case OrderedAccesses::ButNeighbours:
      return "all but neighbouring";
    case OrderedAccesses::All:
      return "all";
    }
    llvm_unreachable("what an op orders");
  }
};

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

/// Remarks on each kernel the bytes of workgroup memory that it declares.
struct PrintWorkgroupMemory
    : PassWrapper<PrintWorkgroupMemory, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintWorkgroupMemory)

  StringRef getArgument() const override {
    return "test-print-workgroup-memory";
  }
  StringRef getDescription() const override {
    return "Print the bytes of workgroup memory that functions declare";
  }

  void runOnOperation() override {
    getOperation()->walk([](FunctionOpInterface function) {
      function->emitRemark("declares ")
          << getWorkgroupAttributionBytes(function)
          << " bytes of workgroup memory";
    });
  }
};
} // namespace

void mlir::iris::test::registerTestAccessPasses() {
  PassRegistration<PrintBarriers>();
  PassRegistration<PrintProgramOrder>();
  PassRegistration<PrintWorkgroupMemory>();
}
