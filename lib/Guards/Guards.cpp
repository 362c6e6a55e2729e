// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Guards.cpp - Guards against defects of LLVM ------------------------===//

#include "iris/Guards/Guards.h"

#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace mlir::iris;

static constexpr GuardInfo rows[] = {
#define IRIS_GUARD(Name, ...) {Guard::Name, __VA_ARGS__},
#include "iris/Guards/Guards.def"
};
static_assert(std::size(rows) <= 64, "GuardSet has one bit for each guard");

ArrayRef<GuardInfo> mlir::iris::getKnownGuards() { return rows; }

const GuardInfo &mlir::iris::getGuardInfo(Guard guard) {
  return rows[unsigned(guard)];
}

GuardSet GuardSet::neededBy(unsigned version) {
  GuardSet set;
  for (const GuardInfo &row : rows)
    if (!row.fixedIn || version < row.fixedIn)
      set.insert(row.guard);
  return set;
}

GuardSet GuardSet::needed() {
  return neededBy(10000 * LLVM_VERSION_MAJOR + 100 * LLVM_VERSION_MINOR +
                  LLVM_VERSION_PATCH);
}

static std::string formatVersion(unsigned version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

void mlir::iris::printGuards(llvm::raw_ostream &os) {
  GuardSet needed = GuardSet::needed();
  for (const GuardInfo &row : rows) {
    os << row.name << (needed.contains(row.guard) ? "" : " (off)")
       << "\n    defect:   " << row.what << "\n    reported: " << row.report
       << "\n    fixed in: "
       << (row.fixedIn ? formatVersion(row.fixedIn) : "no version known")
       << "\n";
  }
}
