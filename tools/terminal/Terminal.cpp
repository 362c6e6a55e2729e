// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Terminal.h"

#include "iris/Text/EscapeControls.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::iris;

LogicalResult mlir::iris::checkArguments(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string printable = iristext::escapeControls(argv[i]);
    if (printable == argv[i])
      continue;
    llvm::errs() << iristext::escapeControls(
                        llvm::sys::path::filename(argv[0]).str())
                 << ": error: argument " << i << " is '" << printable
                 << "'; expected UTF-8 without control characters (rename the "
                    "file, or use standard input and output)\n";
    return failure();
  }
  return success();
}

raw_ostream &EscapedErrors::changeColor(enum Colors color, bool bold,
                                        bool background) {
  llvm::errs().changeColor(color, bold, background);
  return *this;
}

raw_ostream &EscapedErrors::resetColor() {
  llvm::errs().resetColor();
  return *this;
}

void EscapedErrors::write_impl(const char *data, size_t size) {
  llvm::errs() << iristext::escapeControls(std::string(data, size));
}
