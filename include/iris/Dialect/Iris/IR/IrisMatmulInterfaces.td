// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_IR_IRISMATMULINTERFACES_TD
#define IRIS_DIALECT_IRIS_IR_IRISMATMULINTERFACES_TD

include "mlir/IR/OpBase.td"

def MatmulCallOpInterface : OpInterface<"MatmulCallOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    A product of matrices in a host program, alone or with communication: what
    all of them have.
  }];
  let methods = [
    InterfaceMethod<"What is done.", "::mlir::iris::MatmulKind",
                    "getMatmulKind">,
    InterfaceMethod<"The context.", "::mlir::Value", "getCtx">,
    InterfaceMethod<"The left operand.", "::mlir::Value", "getA">,
    InterfaceMethod<"The right operand.", "::mlir::Value", "getB">,
    InterfaceMethod<"The result.", "::mlir::Value", "getC">,
    InterfaceMethod<"What is added to rows or columns; may be null.",
                    "::mlir::Value", "getBias">,
    InterfaceMethod<"What products are multiplied by; may be null.",
                    "::mlir::Value", "getScale">,
    InterfaceMethod<"The element type that stands behind i8 operands.",
                    "::std::optional<::mlir::Type>", "getElement">,
    InterfaceMethod<"The ranks that take part; all if there are none.",
                    "::mlir::DenseI32ArrayAttr", "getGroupAttr">,
    InterfaceMethod<"How it is done.", "::mlir::DictionaryAttr",
                    "getConfigAttr">
  ];
  let verify = [{ return verifyMatmulCall($_op); }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISMATMULINTERFACES_TD
