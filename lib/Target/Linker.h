// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking of generated code to images that drivers can load.
#ifndef IRIS_LIB_TARGET_LINKER_H
#define IRIS_LIB_TARGET_LINKER_H

#include "iris/Target/TargetRegistry.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace mlir::iris {

/// Links one relocatable ELF object to a shared object (for AMDGPU: an HSACO)
/// with lld, in this process. Undefined symbols are errors, except for those
/// that every process has (host: memcpy and the like).
FailureOr<SmallVector<char, 0>>
linkSharedObject(Location loc, const TargetSpec &target, ArrayRef<char> object);

/// Assembles PTX to a cubin with the program `ptxas`; with line tables from the
/// `.loc` of the PTX, if wanted.
FailureOr<SmallVector<char, 0>>
assemblePTX(Location loc, const TargetSpec &target, StringRef ptxas,
            unsigned optLevel, bool lineTables, ArrayRef<char> ptx);

} // namespace mlir::iris

#endif // IRIS_LIB_TARGET_LINKER_H
