// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_ANALYSIS_PROGRAMORDER_TD
#define IRIS_ANALYSIS_PROGRAMORDER_TD

include "mlir/IR/OpBase.td"

def ProgramOrderOpInterface : OpInterface<"ProgramOrderOpInterface"> {
  let cppNamespace = "::mlir::iris";
  let description = [{
    The effect of an op on the order of accesses inside one program: the
    accesses it makes, the earlier accesses it orders before them, and the later
    accesses it orders after them.

    The implementations follow the table "Order inside a program" of
    docs/internals/memory-model.md. An op without this interface orders nothing, and its
    accesses are its memory effects.
  }];
  let methods = [
    InterfaceMethod<"The op's accesses, without those of its regions.",
                    "void", "getMemoryAccesses",
                    (ins "::llvm::SmallVectorImpl<::mlir::iris::MemoryAccess> &"
                       :$accesses), [{}],
                    [{ (void)accesses; }]>,
    InterfaceMethod<"Which earlier accesses of the program are ordered before "
                    "the op's accesses and before all later ones.",
                    "::mlir::iris::OrderedAccesses", "getOrderBefore",
                    (ins), [{}],
                    [{ return ::mlir::iris::OrderedAccesses::None; }]>,
    InterfaceMethod<"Which later accesses of the program are ordered after the "
                    "op's accesses and after all earlier ones.",
                    "::mlir::iris::OrderedAccesses", "getOrderAfter",
                    (ins), [{}],
                    [{ return ::mlir::iris::OrderedAccesses::None; }]>
  ];
}

#endif // IRIS_ANALYSIS_PROGRAMORDER_TD
