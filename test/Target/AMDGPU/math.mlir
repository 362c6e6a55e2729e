// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm | FileCheck %s
// RUN: iris-compile %s --target=gfx1100 --emit=asm | FileCheck %s

// Rounding has instructions; no library function is called.
// CHECK-LABEL: rounds:
// CHECK-NOT: __ocml
// CHECK-DAG: v_floor_f32
// CHECK-DAG: v_ceil_f32
// CHECK-DAG: v_trunc_f32
// CHECK-DAG: v_rndne_f32
// CHECK: s_endpgm
// CHECK-LABEL: integers:
// CHECK: v_bcnt_u32_b32
// CHECK: s_endpgm
// CHECK-LABEL: signs:
// CHECK: v_cvt_f32_f64
// CHECK: s_endpgm
gpu.module @kernels {
  gpu.func @rounds(%b: memref<?xf32>, %i: index) kernel {
    %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
    %f = math.floor %v : tensor<256xf32>
    %c = math.ceil %v : tensor<256xf32>
    %t = math.trunc %v : tensor<256xf32>
    %r = math.roundeven %v : tensor<256xf32>
    %fc = arith.addf %f, %c : tensor<256xf32>
    %tr = arith.mulf %t, %r : tensor<256xf32>
    %all = arith.subf %fc, %tr : tensor<256xf32>
    tile.store %all, %b[%i] : tensor<256xf32>, memref<?xf32>
    gpu.return
  }

  gpu.func @integers(%b: memref<?xi32>, %i: index) kernel {
    %v = tile.load %b[%i] : memref<?xi32> -> tensor<256xi32>
    %1 = math.absi %v : tensor<256xi32>
    %2 = math.ctlz %1 : tensor<256xi32>
    %3 = math.cttz %1 : tensor<256xi32>
    %4 = math.ctpop %1 : tensor<256xi32>
    %5 = arith.muli %2, %3 : tensor<256xi32>
    %6 = arith.muli %5, %4 : tensor<256xi32>
    tile.store %6, %b[%i] : tensor<256xi32>, memref<?xi32>
    gpu.return
  }

  // One element per thread: LLVM crashes if a copysign of such vectors is
  // rounded.
  gpu.func @signs(%b: memref<?xf32>, %i: index) kernel {
    %v = tile.load %b[%i] : memref<?xf32> -> tensor<64xf32>
    %a = math.atan %v : tensor<64xf32>
    tile.store %a, %b[%i] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }
}
