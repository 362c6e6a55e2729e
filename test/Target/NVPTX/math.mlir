// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of math are instructions: no library is linked.
//
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s

// CHECK-NOT: __nv_
// CHECK-LABEL: .entry exact
// CHECK-DAG: abs.f32
// CHECK-DAG: cvt.rpi.f32.f32
// CHECK-DAG: cvt.rmi.f32.f32
// CHECK-DAG: cvt.rni.f32.f32
// CHECK-DAG: cvt.rzi.f32.f32
// CHECK-DAG: copysign.f32
// CHECK-DAG: fma.rn.f32
// CHECK-DAG: sqrt.rn.f32
// CHECK-NOT: __nv_
// CHECK-LABEL: .entry polynomials
// CHECK: fma.rn.f32
// CHECK-NOT: __nv_
gpu.module @kernels {
  gpu.func @exact(%a: memref<?xf32>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf32> -> tensor<256xf32>
    %1 = math.absf %v : tensor<256xf32>
    %2 = math.ceil %v : tensor<256xf32>
    %3 = math.floor %v : tensor<256xf32>
    %4 = math.roundeven %v : tensor<256xf32>
    %5 = math.trunc %v : tensor<256xf32>
    %6 = math.copysign %1, %2 : tensor<256xf32>
    %7 = math.fma %3, %4, %5 : tensor<256xf32>
    %8 = math.sqrt %6 : tensor<256xf32>
    %9 = math.round %7 : tensor<256xf32>
    %r = arith.addf %8, %9 : tensor<256xf32>
    tile.store %r, %a[%i] : tensor<256xf32>, memref<?xf32>
    gpu.return
  }

  gpu.func @polynomials(%a: memref<?xf16>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf16> -> tensor<256xf16>
    %1 = math.erf %v : tensor<256xf16>
    %2 = math.exp %1 : tensor<256xf16>
    %3 = math.tanh %2 : tensor<256xf16>
    %4 = math.rsqrt %3 : tensor<256xf16>
    tile.store %4, %a[%i] : tensor<256xf16>, memref<?xf16>
    gpu.return
  }
}
