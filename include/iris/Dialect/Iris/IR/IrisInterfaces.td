// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD
#define IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD

include "mlir/IR/OpBase.td"

def RankedAccessOpInterface : OpInterface<"RankedAccessOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    An access to one buffer on a rank that may be named. Without a rank the op
    accesses the buffer as it is: the own copy, or a translated one.
  }];
  let methods = [
    InterfaceMethod<"The buffer that is accessed.", "::mlir::OpOperand &",
                    "getBufferOperand">,
    InterfaceMethod<"The rank whose copy is accessed; null if not named.",
                    "::mlir::Value", "getAccessedRank">,
    InterfaceMethod<"Turns the op into one that names no rank.", "void",
                    "dropAccessedRank">
  ];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD
