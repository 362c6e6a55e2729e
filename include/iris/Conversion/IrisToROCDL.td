// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTOROCDL_TD
#define IRIS_CONVERSION_IRISTOROCDL_TD

include "mlir/Pass/PassBase.td"

def IrisROCDLGatherStoresPass
    : Pass<"iris-rocdl-gather-stores", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Keeps the wide stores of computed values together";
  let description = [{
    A register that a store of more than 8 bytes reads may not be written again
    right behind it: the hardware needs wait states, which LLVM fills with
    `s_nop`. Where the pieces of a tile are rounded and stored one after the
    other, in the same registers, that is one for each piece.

    Wide stores with nothing but pure ops between them go behind those, and no
    instruction is moved from one side to the other. Stores of values that were
    only loaded stay where they are: each can begin as soon as its load is done.

    Before:

    ```mlir
    %0 = llvm.shufflevector %sums, %sums [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf16>
    llvm.store %0, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    %1 = llvm.shufflevector %sums, %sums [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf16>
    llvm.store %1, %q {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    ```

    After:

    ```mlir
    %0 = llvm.shufflevector %sums, %sums [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf16>
    %1 = llvm.shufflevector %sums, %sums [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf16>
    rocdl.sched.barrier 0
    llvm.store %0, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    llvm.store %1, %q {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    ```
  }];
  let dependentDialects = ["::mlir::ROCDL::ROCDLDialect"];
}

#endif // IRIS_CONVERSION_IRISTOROCDL_TD
