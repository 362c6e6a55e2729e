// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TARGET_COPYOPERAND_H
#define IRIS_TARGET_COPYOPERAND_H

#include "llvm/CodeGen/MachineOperand.h"
#include "llvm/CodeGen/TargetInstrInfo.h"

namespace mlir::iris {

/// Copies the register of an operand through a second one, in front of the
/// instruction. SIPeepholeSDWA of AMD GPUs does not look through the copy;
/// SIFoldOperands undoes it later.
/// \param vectors the class of the second register
void copyOperand(llvm::MachineOperand &operand,
                 const llvm::TargetRegisterClass *vectors,
                 const llvm::TargetInstrInfo &instructions);

} // namespace mlir::iris

#endif // IRIS_TARGET_COPYOPERAND_H
