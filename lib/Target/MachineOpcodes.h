// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MACHINEOPCODES_H
#define IRIS_TARGET_MACHINEOPCODES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/CodeGen/TargetInstrInfo.h"

namespace mlir::iris {

/// The instruction of this name. LLVM installs no header with the opcodes of
/// its targets; a name that does not exist is a fatal error.
const llvm::MCInstrDesc &
getInstruction(const llvm::TargetInstrInfo &instructions, llvm::StringRef name);

} // namespace mlir::iris

#endif // IRIS_TARGET_MACHINEOPCODES_H
