// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_IR_IRISMATMULINTERFACES_TD
#define IRIS_DIALECT_IRIS_IR_IRISMATMULINTERFACES_TD

include "mlir/IR/OpBase.td"

def MatmulCallOpInterface : OpInterface<"MatmulCallOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    The common interface of matmuls in host programs, local and fused with
    communication.
  }];
  let methods = [
    InterfaceMethod<"The kind of the matmul.", "::mlir::iris::MatmulKind",
                    "getMatmulKind">,
    InterfaceMethod<"The context.", "::mlir::Value", "getCtx">,
    InterfaceMethod<"The left operand.", "::mlir::Value", "getA">,
    InterfaceMethod<"The right operand.", "::mlir::Value", "getB">,
    InterfaceMethod<"The result.", "::mlir::Value", "getC">,
    InterfaceMethod<"The bias of rows or columns; may be null.",
                    "::mlir::Value", "getBias">,
    InterfaceMethod<"The factor of the matmul; may be null.",
                    "::mlir::Value", "getScale">,
    InterfaceMethod<"The f8 type of operands that are stored as i8.",
                    "::std::optional<::mlir::Type>", "getElement">,
    InterfaceMethod<"The ranks of the group; null for all ranks.",
                    "::mlir::DenseI32ArrayAttr", "getGroupAttr">,
    InterfaceMethod<"The config.", "::mlir::DictionaryAttr",
                    "getConfigAttr">
  ];
  let verify = [{ return verifyMatmulCall($_op); }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISMATMULINTERFACES_TD
