// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_MATHTOINTRINSICS_TD
#define IRIS_CONVERSION_MATHTOINTRINSICS_TD

include "mlir/Pass/PassBase.td"

def IrisMathToIntrinsicsPass
    : Pass<"iris-math-to-intrinsics", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turns functions that are instructions into LLVM's intrinsics";
  let description = [{
    For GPUs. Upstream's conversion to NVVM calls a function of libdevice for
    every op of `math` on floats and for `absi`, refuses LLVM's own ops for
    them, and knows no op that counts bits; that to ROCDL calls ROCm's device
    library for some. Neither library is linked. What `iris-expand-math` leaves
    has an instruction, or a few, in the back end.

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
