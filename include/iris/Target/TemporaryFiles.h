// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_TEMPORARYFILES_H
#define IRIS_TARGET_TEMPORARYFILES_H

namespace mlir::iris {

/// Removes the temporary directories that code generation has at this moment,
/// with the files in them. May be called in a signal handler, by tools that are
/// about to end: code generation that goes on will fail.
void removeTemporaryDirectories();

} // namespace mlir::iris

#endif // IRIS_TARGET_TEMPORARYFILES_H
