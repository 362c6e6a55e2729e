// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The context type and the memory spaces of symmetric buffers.

#ifndef IRIS_DIALECT_IRIS_IR_IRISTYPES_TD
#define IRIS_DIALECT_IRIS_IR_IRISTYPES_TD

include "iris/Dialect/Iris/IR/IrisEnums.td"
include "mlir/IR/AttrTypeBase.td"

def Iris_CtxType : TypeDef<Iris_Dialect, "Ctx"> {
  let mnemonic = "ctx";
  let summary = "What a program knows about its world";
  let description = [{
    Rank, number of ranks, the place of the heaps, and where to report errors:
    `IrisRtContext` of RuntimeABI.h, passed to kernels by value.
  }];
}

def Iris_SymmetricAttr : AttrDef<Iris_Dialect, "Symmetric"> {
  let mnemonic = "symmetric";
  let summary = "Memory space: the own copy of a buffer on the symmetric heap";
}

def Iris_PeerAttr : AttrDef<Iris_Dialect, "Peer"> {
  let mnemonic = "peer";
  let summary = "Memory space: some rank's copy of a symmetric buffer";
  let description = [{
    What `iris.translate` gives. It can be read and written, but not
    translated again.
  }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISTYPES_TD
