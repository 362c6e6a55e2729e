// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixOperands.h"
#include "Decoder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::iris::emulator;
using llvm::Error;

Error mlir::iris::emulator::buildMatrixOperands(InstructionBuilder &builder,
                                                unsigned operandWords,
                                                unsigned resultWords,
                                                bool isFloat) {
  Instruction &instruction = builder.instruction;
  if (Error error = builder.expectOperands(4))
    return error;
  if (Error error =
          builder.result(0, instruction.result, {resultWords, 32, false}))
    return error;
  for (unsigned i = 0; i < 2; ++i) {
    if (Error error = builder.source(1 + i, instruction.sources[i],
                                     {operandWords, 32, false}))
      return error;
    if (instruction.sources[i].kind != Operand::Vector)
      return builder.error("the emulator expects operands in vectors");
  }
  // A constant is the same in all elements.
  bool isConstant = parseInteger(builder.parsed.operands[3]).has_value() ||
                    !llvm::isAlpha(builder.parsed.operands[3].front());
  return builder.source(3, instruction.sources[2],
                        {isConstant ? 1 : resultWords, 32, isFloat});
}
