// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of unknown origin on a terminal: arguments, and lines of input files.
#ifndef IRIS_TOOLS_TERMINAL_TERMINAL_H
#define IRIS_TOOLS_TERMINAL_TERMINAL_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::iris {

/// Reports the first argument that would control a terminal. LLVM's option
/// parser prints arguments as they are, so such ones must not reach it.
LogicalResult checkArguments(int argc, char **argv);

/// Standard error, with control characters escaped. Unbuffered.
class EscapedErrors final : public llvm::raw_ostream {
public:
  EscapedErrors() : raw_ostream(/*unbuffered=*/true) {}

  bool is_displayed() const override { return llvm::errs().is_displayed(); }
  bool has_colors() const override { return llvm::errs().has_colors(); }
  raw_ostream &changeColor(enum Colors color, bool bold,
                           bool background) override;
  raw_ostream &resetColor() override;

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return llvm::errs().tell(); }
};

} // namespace mlir::iris

#endif // IRIS_TOOLS_TERMINAL_TERMINAL_H
