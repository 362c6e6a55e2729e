// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions are instructions: no library is linked.
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
// CHECK-LABEL: .entry integers
// CHECK-DAG: abs.s32
// CHECK-DAG: clz.b32
// CHECK-DAG: popc.b32
// CHECK-NOT: __nv_
// CHECK-LABEL: .entry index
// CHECK: clz.b64
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

  // Eight elements per thread.
  gpu.func @polynomials(%a: memref<?xf16>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf16> -> tensor<1024xf16>
    %1 = math.erf %v : tensor<1024xf16>
    %2 = math.exp %1 : tensor<1024xf16>
    %3 = math.tanh %2 : tensor<1024xf16>
    %4 = math.rsqrt %3 : tensor<1024xf16>
    tile.store %4, %a[%i] : tensor<1024xf16>, memref<?xf16>
    gpu.return
  }

  gpu.func @integers(%a: memref<?xi32>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xi32> -> tensor<256xi32>
    %1 = math.absi %v : tensor<256xi32>
    %2 = math.ctlz %1 : tensor<256xi32>
    %3 = math.cttz %1 : tensor<256xi32>
    %4 = math.ctpop %1 : tensor<256xi32>
    %5 = arith.muli %2, %3 : tensor<256xi32>
    %6 = arith.muli %5, %4 : tensor<256xi32>
    tile.store %6, %a[%i] : tensor<256xi32>, memref<?xi32>
    gpu.return
  }

  gpu.func @index(%a: memref<?xi64>, %i: index) kernel {
    %0 = math.ctlz %i : index
    %1 = arith.index_cast %0 : index to i64
    %2 = tensor.splat %1 : tensor<256xi64>
    tile.store %2, %a[%i] : tensor<256xi64>, memref<?xi64>
    gpu.return
  }
}
