// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_TEMPORARYFILES_H
#define IRIS_TARGET_TEMPORARYFILES_H

namespace mlir::iris {

/// Removes all current temporary directories of code generation, with their
/// files. May be called in a signal handler, by tools that are about to exit:
/// code generation still running will fail.
void removeTemporaryDirectories();

} // namespace mlir::iris

#endif // IRIS_TARGET_TEMPORARYFILES_H
