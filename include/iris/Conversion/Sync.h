// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowering of synchronization ops to instructions of a target.
#ifndef IRIS_CONVERSION_SYNC_H
#define IRIS_CONVERSION_SYNC_H

#include "iris/Conversion/LowerSync.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

#define GEN_PASS_DECL
#include "iris/Conversion/Sync.h.inc"

#define GEN_PASS_REGISTRATION
#include "iris/Conversion/Sync.h.inc"

} // namespace mlir::iris

#endif // IRIS_CONVERSION_SYNC_H
