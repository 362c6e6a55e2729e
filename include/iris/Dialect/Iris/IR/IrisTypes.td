// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The context type and the memory spaces of symmetric buffers.

#ifndef IRIS_DIALECT_IRIS_IR_IRISTYPES_TD
#define IRIS_DIALECT_IRIS_IR_IRISTYPES_TD

include "iris/Dialect/Iris/IR/IrisEnums.td"
include "mlir/IR/AttrTypeBase.td"

def Iris_CtxType : TypeDef<Iris_Dialect, "Ctx"> {
  let mnemonic = "ctx";
  let summary = "The device context of a program";
  let description = [{
    Rank, number of ranks, the addresses of the heaps, and where to report
    errors: `IrisRtContext` of RuntimeABI.h, passed to kernels by value.
  }];
}

def Iris_SymmetricAttr : AttrDef<Iris_Dialect, "Symmetric"> {
  let mnemonic = "symmetric";
  let summary = "Memory space: this rank's copy of a symmetric buffer";
}

def Iris_PeerAttr : AttrDef<Iris_Dialect, "Peer"> {
  let mnemonic = "peer";
  let summary = "Memory space: the copy of a symmetric buffer on some rank";
  let description = [{
    The memory space of the result of `iris.translate`. Such a buffer can be
    read and written, but not translated again.
  }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISTYPES_TD
