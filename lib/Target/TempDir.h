// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_LIB_TARGET_TEMPDIR_H
#define IRIS_LIB_TARGET_TEMPDIR_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::iris {

/// A temporary directory with mode 0700, for tools that require paths. The
/// directory and its files are removed with this object, or by
/// removeTemporaryDirectories. Directories left by killed processes are removed
/// when a later process creates its first directory, if they are older than an
/// hour.
class TempDir {
public:
  TempDir() = default;
  TempDir(const TempDir &) = delete;
  TempDir &operator=(const TempDir &) = delete;
  ~TempDir();

  /// Creates the directory; reports failure at `loc`.
  LogicalResult create(Location loc);

  /// The path of the file `name`, which is removed with the directory.
  std::string file(StringRef name);

private:
  std::string path;
  SmallVector<std::string, 4> files;
};

/// Writes or reads a whole file; reports failure at `loc`.
LogicalResult writeFile(Location loc, StringRef path, ArrayRef<char> bytes);
FailureOr<SmallVector<char, 0>> readFile(Location loc, StringRef path);

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_TEMPDIR_H
