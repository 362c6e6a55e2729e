// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_IRISTONVVM_TD
#define IRIS_CONVERSION_IRISTONVVM_TD

include "mlir/Pass/PassBase.td"

def IrisNVVMNameBarriersPass
    : Pass<"iris-nvvm-name-barriers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Exclude producer warps from the program's barriers";
  let description = [{
    In a kernel with `iris.producer_warps`, the program's barriers must not
    include the producer warps. They become named barriers of the other warps.

    Before:

    ```mlir
    gpu.barrier
    ```

    After, in a kernel of eight warps:

    ```mlir
    nvvm.barrier id = %c1 number_of_threads = %c256
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def IrisNVVMPassTensorMapsPass
    : Pass<"iris-nvvm-pass-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Pass tensor maps to kernels by value";
  let description = [{
    The parameters from number `iris.first_map_parameter` on become `byval`
    pointers to 128 bytes in the kernel's parameter space.

    After:

    ```mlir
    llvm.func @k(..., %map: !llvm.ptr {llvm.align = 128 : i64,
        llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // IRIS_CONVERSION_IRISTONVVM_TD
