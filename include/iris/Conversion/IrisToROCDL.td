// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTOROCDL_TD
#define IRIS_CONVERSION_IRISTOROCDL_TD

include "mlir/Pass/PassBase.td"

def IrisROCDLGatherStoresPass
    : Pass<"iris-rocdl-gather-stores", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Group wide stores of computed values";
  let description = [{
    Registers that a store of more than 8 bytes reads must not be written
    immediately after it: the hardware requires wait states, which LLVM fills
    with `s_nop`. If the pieces of a tile are rounded and stored one after the
    other in the same registers, every piece needs them.

    The pass moves wide stores with only pure ops between them after those ops,
    and prevents the scheduler from moving instructions across. Stores of values
    that were only loaded are not moved: each of them can begin as soon as its
    load has completed.

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
