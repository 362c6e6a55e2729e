// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas takes abs(x) > c with a negative c for true, also if x is NaN: x is
// compared with itself (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=magnitudes | FileCheck %s --check-prefix=DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry magnitude(
  // CHECK-NOT: abs.f32
  // CHECK: setp.{{num|nan}}.f32
  // DEFECT-LABEL: .entry magnitude(
  // DEFECT: abs.f32
  // DEFECT: setp.gt.f32 {{.*}}, 0fC0500000;
  gpu.func @magnitude(%a: memref<64xf32>, %o: memref<64xi8>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : memref<64xf32> -> tensor<64xf32>
    %minus = arith.constant dense<-1.0> : tensor<64xf32>
    %m = math.copysign %x, %minus : tensor<64xf32>
    %k = arith.constant dense<3.25> : tensor<64xf32>
    %p = arith.cmpf olt, %m, %k : tensor<64xf32>
    %r = arith.extui %p : tensor<64xi1> to tensor<64xi8>
    tile.store %r, %o[%c0] : tensor<64xi8>, memref<64xi8>
    gpu.return
  }
}
