// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Guards.h - Guards against defects of LLVM ----------------*- C++ -*-===//

#ifndef IRIS_GUARDS_GUARDS_H
#define IRIS_GUARDS_GUARDS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace mlir::iris {

/// What the compiler does to avoid a defect of MLIR, LLVM or ptxas.
enum class Guard : unsigned {
#define IRIS_GUARD(Guard, ...) Guard,
#include "iris/Guards/Guards.def"
};

/// A row of Guards.def.
struct GuardInfo {
  Guard guard;
  StringRef name;
  StringRef report;
  /// The first LLVM without the defect, as 10000 * major + 100 * minor + patch;
  /// 0: none is known.
  unsigned fixedIn;
  StringRef what;
};

ArrayRef<GuardInfo> getKnownGuards();

/// The row of a guard.
const GuardInfo &getGuardInfo(Guard guard);

/// A set of guards.
class GuardSet {
public:
  GuardSet() = default;

  /// The guards that an LLVM of `version` needs (see `GuardInfo::fixedIn`).
  static GuardSet neededBy(unsigned version);

  /// The guards that the LLVM of this compiler needs.
  static GuardSet needed();

  bool contains(Guard guard) const { return bits >> unsigned(guard) & 1; }
  void insert(Guard guard) { bits |= uint64_t(1) << unsigned(guard); }
  void remove(Guard guard) { bits &= ~(uint64_t(1) << unsigned(guard)); }

private:
  uint64_t bits = 0;
};

/// Prints the table of guards.
void printGuards(llvm::raw_ostream &os);

} // namespace mlir::iris

#endif // IRIS_GUARDS_GUARDS_H
