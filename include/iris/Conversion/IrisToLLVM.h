// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTOLLVM_H
#define IRIS_CONVERSION_IRISTOLLVM_H

#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// The host's processor, named `host`; null for other names.
std::unique_ptr<TargetInfo> createHostTargetInfo(StringRef name);

/// Placeholders for the callbacks of IrisRtHostProgram. The lowerings declare
/// them in the module, iris-lower-host-callbacks resolves them.
inline constexpr StringLiteral kHostClockSymbol = "irisrtIR_clock";
inline constexpr StringLiteral kHostYieldSymbol = "irisrtIR_yield";

/// Replaces the calls of the placeholders in `kernel` by calls through
/// `program`, a pointer to its IrisRtHostProgram.
void lowerHostCallbacks(Operation *kernel, Value program);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_IRISTOLLVM_H
