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

def CollectiveCallOpInterface : OpInterface<"CollectiveCallOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    A collective in a host program: what all of them have.
  }];
  let methods = [
    InterfaceMethod<"What is done.", "::mlir::iris::CollectiveKind",
                    "getCollectiveKind">,
    InterfaceMethod<"How elements are combined, if they are.",
                    "::std::optional<::mlir::iris::Reduction>",
                    "getReductionKind">,
    InterfaceMethod<"The root, a member of the group; null if there is none.",
                    "::mlir::Value", "getRootMember">,
    InterfaceMethod<"The context.", "::mlir::Value", "getCtx">,
    InterfaceMethod<"The input.", "::mlir::Value", "getInput">,
    InterfaceMethod<"The output.", "::mlir::Value", "getOutput">,
    InterfaceMethod<"Counts and offsets of the chunks of the input, then of "
                    "the output, where they have some.",
                    "::llvm::SmallVector<::mlir::Value>", "getChunkTables">,
    InterfaceMethod<"The element type that stands behind the buffers' one.",
                    "::std::optional<::mlir::Type>", "getElement">,
    InterfaceMethod<"The ranks that take part; all if there are none.",
                    "::mlir::DenseI32ArrayAttr", "getGroupAttr">,
    InterfaceMethod<"How it is done.", "::mlir::DictionaryAttr",
                    "getConfigAttr">
  ];
  let verify = [{ return verifyCollectiveCall($_op); }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD
