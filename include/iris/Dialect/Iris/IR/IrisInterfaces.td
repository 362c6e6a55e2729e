// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD
#define IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD

include "mlir/IR/OpBase.td"

def RankedAccessOpInterface : OpInterface<"RankedAccessOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    An access to one buffer on a rank that may be specified. Without a rank the
    op accesses the buffer itself: this rank's copy, or a translated one.
  }];
  let methods = [
    InterfaceMethod<"The accessed buffer.", "::mlir::OpOperand &",
                    "getBufferOperand">,
    InterfaceMethod<"The rank whose copy is accessed; null if not specified.",
                    "::mlir::Value", "getAccessedRank">,
    InterfaceMethod<"Removes the rank from the op.", "void",
                    "dropAccessedRank">
  ];
}

def CollectiveCallOpInterface : OpInterface<"CollectiveCallOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    The common interface of collectives in host programs.
  }];
  let methods = [
    InterfaceMethod<"The kind of the collective.",
                    "::mlir::iris::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<"The reduction, if there is one.",
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
    InterfaceMethod<"The element type that the buffers' element type encodes.",
                    "::std::optional<::mlir::Type>", "getElement">,
    InterfaceMethod<"The ranks of the group; null for all ranks.",
                    "::mlir::DenseI32ArrayAttr", "getGroupAttr">,
    InterfaceMethod<"The config.", "::mlir::DictionaryAttr",
                    "getConfigAttr">
  ];
  let verify = [{ return verifyCollectiveCall($_op); }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISINTERFACES_TD
