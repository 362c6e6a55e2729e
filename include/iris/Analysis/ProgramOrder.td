// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_ANALYSIS_PROGRAMORDER_TD
#define IRIS_ANALYSIS_PROGRAMORDER_TD

include "mlir/IR/OpBase.td"

def ProgramOrderOpInterface : OpInterface<"ProgramOrderOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    What an op means for the order of accesses inside one program: its own
    accesses, what it orders before them, and what it orders after them.

    The table of docs/memory-model.md, "Order inside a program", is what the
    ops answer. An op without this interface orders nothing, and accesses what
    its memory effects say.
  }];
  let methods = [
    InterfaceMethod<"The op's own accesses, in addition to those of its "
                    "regions.",
                    "void", "getMemoryAccesses",
                    (ins "::llvm::SmallVectorImpl<::mlir::iris::MemoryAccess> &"
                       :$accesses), [{}],
                    [{ (void)accesses; }]>,
    InterfaceMethod<"Which earlier accesses of the program come before the own "
                    "ones and before all later ones.",
                    "::mlir::iris::OrderedAccesses", "getOrderBefore",
                    (ins), [{}],
                    [{ return ::mlir::iris::OrderedAccesses::None; }]>,
    InterfaceMethod<"Which later accesses of the program come after the own "
                    "ones and after all earlier ones.",
                    "::mlir::iris::OrderedAccesses", "getOrderAfter",
                    (ins), [{}],
                    [{ return ::mlir::iris::OrderedAccesses::None; }]>
  ];
}

#endif // IRIS_ANALYSIS_PROGRAMORDER_TD
