// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes packages (RuntimeABI.h, section 5); the runtime reads them.
#ifndef IRIS_TARGET_PACKAGE_H
#define IRIS_TARGET_PACKAGE_H

#include "iris/Target/ModuleToObject.h"
#include "iris/Target/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::iris {

/// One image of a package and its metadata.
struct PackageEntry {
  llvm::StringRef triple;
  /// A target's name, or IRISRT_ARCH_MAIN.
  llvm::StringRef arch;
  TargetKind kind;
  /// "stride" or "table"; empty for the main program.
  std::string translation;
  /// JSON; empty for the main program.
  std::string meta;
  Image image;
};

/// The bytes of one entry of a package, with ABI version and hash. A package is
/// the concatenation of its entries.
llvm::SmallString<0> serializeEntry(const PackageEntry &entry);

} // namespace mlir::iris

#endif // IRIS_TARGET_PACKAGE_H
