// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's backends call `report_fatal_error` for some inputs, which ends the
// process. For user input the compiler must report an error instead.
#ifndef IRIS_LIB_TARGET_BACKENDGUARD_H
#define IRIS_LIB_TARGET_BACKENDGUARD_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::iris {

/// Runs `work`. A fatal error or a crash inside it becomes a diagnostic at
/// `loc` that contains `what`, and failure. Objects that `work` was modifying
/// are then in an undefined state and must be leaked, not destroyed.
LogicalResult runBackend(Location loc, StringRef what,
                         llvm::function_ref<void()> work);

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_BACKENDGUARD_H
