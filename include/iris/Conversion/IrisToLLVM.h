// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTOLLVM_H
#define IRIS_CONVERSION_IRISTOLLVM_H

#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// The host's processor, under the name `host`; null for other names.
std::unique_ptr<TargetInfo> createHostTargetInfo(StringRef name);

/// Placeholders of the host program's callbacks (IrisRtHostProgram), declared
/// in the module by the lowerings and resolved by iris-lower-host-callbacks.
inline constexpr StringLiteral kHostClockSymbol = "irisrtIR_clock";
inline constexpr StringLiteral kHostYieldSymbol = "irisrtIR_yield";

/// Replaces the calls of the placeholders in `kernel` by calls through
/// `program`, a pointer to its IrisRtHostProgram.
void lowerHostCallbacks(Operation *kernel, Value program);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_IRISTOLLVM_H
