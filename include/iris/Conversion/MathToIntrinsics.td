// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_MATHTOINTRINSICS_TD
#define IRIS_CONVERSION_MATHTOINTRINSICS_TD

include "mlir/Pass/PassBase.td"

def IrisMathToIntrinsicsPass
    : Pass<"iris-math-to-intrinsics", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower math ops with native instructions to LLVM intrinsics";
  let description = [{
    For GPUs. Upstream's conversion to NVVM calls libdevice for every `math` op
    on floats and for `absi`, rejects LLVM's own ops for them, and does not
    support the ops that count bits. The conversion to ROCDL calls ROCm's device
    library for some ops. Neither library is linked. The ops that
    `iris-expand-math` leaves have one or a few instructions in the backend.

    Before:

    ```mlir
    %y = math.fma %a, %b, %c : f32
    ```

    After:

    ```mlir
    %y = llvm.call_intrinsic "llvm.fma"(%a, %b, %c) : (f32, f32, f32) -> f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // IRIS_CONVERSION_MATHTOINTRINSICS_TD
