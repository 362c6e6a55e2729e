// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_MACHINEOPCODES_H
#define IRIS_TARGET_MACHINEOPCODES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"

namespace mlir::iris {

/// The instruction of this name. LLVM installs no header with the opcodes of
/// its targets; a name that does not exist is a fatal error.
const llvm::MCInstrDesc &
getInstruction(const llvm::TargetInstrInfo &instructions, llvm::StringRef name);

/// The register class of this name, in the same way.
const llvm::TargetRegisterClass *
getRegisterClass(const llvm::TargetRegisterInfo &registers,
                 llvm::StringRef name);

/// The register of this name, in the same way.
llvm::MCRegister getRegister(const llvm::TargetRegisterInfo &registers,
                             llvm::StringRef name);

/// The registered pass of code generation of this name, in the same way.
/// `purpose` is what it does.
llvm::AnalysisID getCodegenPass(llvm::StringRef name, llvm::StringRef purpose);

} // namespace mlir::iris

#endif // IRIS_TARGET_MACHINEOPCODES_H
