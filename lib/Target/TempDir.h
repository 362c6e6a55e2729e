// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_LIB_TARGET_TEMPDIR_H
#define IRIS_LIB_TARGET_TEMPDIR_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::iris {

/// A directory that only this user can enter (mode 0700), for the tools that
/// insist on paths. It goes away, with the files made in it, with this object,
/// or with removeTemporaryDirectories. What processes left that were killed,
/// the first directory of a later one removes, an hour after.
class TempDir {
public:
  TempDir() = default;
  TempDir(const TempDir &) = delete;
  TempDir &operator=(const TempDir &) = delete;
  ~TempDir();

  /// Makes the directory; failure is reported at `loc`.
  LogicalResult create(Location loc);

  /// The path of the file `name`, which is removed at the end.
  std::string file(StringRef name);

private:
  std::string path;
  SmallVector<std::string, 4> files;
};

/// Writes or reads a whole file; failure is reported at `loc`.
LogicalResult writeFile(Location loc, StringRef path, ArrayRef<char> bytes);
FailureOr<SmallVector<char, 0>> readFile(Location loc, StringRef path);

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_TEMPDIR_H
