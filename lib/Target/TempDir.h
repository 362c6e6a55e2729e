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
///
/// Its files are found by way of the open directory: whoever may rename the
/// directory, or another one in its place, cannot redirect them.
class TempDir {
public:
  TempDir() = default;
  TempDir(const TempDir &) = delete;
  TempDir &operator=(const TempDir &) = delete;
  ~TempDir();

  /// Creates the directory; reports failure at `loc`.
  LogicalResult create(Location loc);

  /// The path of the file `name`, for this process and its children.
  std::string file(StringRef name) const;

  /// Writes or reads the whole file `name`; reports failure at `loc`.
  LogicalResult write(Location loc, StringRef name, ArrayRef<char> bytes) const;
  FailureOr<SmallVector<char, 0>> read(Location loc, StringRef name) const;

private:
  InFlightDiagnostic error(Location loc, StringRef action, StringRef name,
                           const std::string &reason) const;

  /// Where it was created; for messages, and to remove it.
  std::string path;
  int fd = -1;
};

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_TEMPDIR_H
