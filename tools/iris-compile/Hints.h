// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TOOLS_IRIS_COMPILE_HINTS_H
#define IRIS_TOOLS_IRIS_COMPILE_HINTS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::iris {

/// Adds a note to errors of the parser that come from a forgotten context, of
/// which the parser cannot know: it expects a comma behind the first operand,
/// or does not know the name.
LogicalResult hintAtContext(Diagnostic &diagnostic, llvm::SourceMgr &sources);

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_HINTS_H
