// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TOOLS_IRISOPT_ESCAPEERRORS_H
#define IRIS_TOOLS_IRISOPT_ESCAPEERRORS_H

namespace mlir::iris {

/// Escapes the control characters that this process writes to standard error:
/// MlirOptMain prints lines and names of the input there, and takes no other
/// stream. Also turns colors off, which are control characters.
void escapeErrors();

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRISOPT_ESCAPEERRORS_H
