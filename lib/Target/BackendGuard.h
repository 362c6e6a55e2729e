// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's back ends answer some inputs with `report_fatal_error`, which ends the
// process. A compiler that is given somebody's file must answer with an error.
#ifndef IRIS_LIB_TARGET_BACKENDGUARD_H
#define IRIS_LIB_TARGET_BACKENDGUARD_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::iris {

/// Runs `work`. A fatal error or a crash inside it becomes a diagnostic at
/// `loc` that names `what`, and failure; what `work` was changing is then in an
/// undefined state and must be leaked, not destroyed.
LogicalResult runBackend(Location loc, StringRef what,
                         llvm::function_ref<void()> work);

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_BACKENDGUARD_H
