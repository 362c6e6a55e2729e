// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))' | FileCheck %s

gpu.module @kernels {
  // The instruction's rows are columns of the result: b is the first operand,
  // transposed if it is contiguous along n.
  // CHECK-LABEL: gpu.func @rows
  // CHECK: iris.tensor_map %{{.*}} contiguous 1 box [64, 16] swizzle 128
  // CHECK: iris.tensor_map %{{.*}} contiguous 1 box [64, 64] swizzle 128
  // CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
  // CHECK-SAME: , 1, 1, 1, 0;
  // CHECK-NOT: gpu.barrier
  // CHECK: tile.store
  gpu.func @rows(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x128xf32>
    tile.store %t, %c[%c0, %c0] : tensor<16x128xf32>, memref<?x?xf32>
    gpu.return
  }

  // Of 64 columns only 32 are loaded and kept; every thread gets some of them
  // through shared memory.
  // CHECK-LABEL: gpu.func @corner
  // CHECK: iris.tensor_map %{{.*}} contiguous 0 box [64, 32] swizzle 128
  // CHECK: wgmma.mma_async.sync.aligned.m64n32k16
  // CHECK: gpu.barrier
  // CHECK: gpu.barrier
  // CHECK: tile.store
  gpu.func @corner(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>, %c: memref<?x?xf32>, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<32x32xf32>
    tile.store %t, %c[%c0, %c0] : tensor<32x32xf32>, memref<?x?xf32>
    gpu.return
  }

  // Few columns of a row-major b are copied in a box of 64.
  // CHECK-LABEL: gpu.func @columns
  // CHECK: iris.tensor_map %{{.*}} contiguous 1 box [64, 64] swizzle 128
  // CHECK: wgmma.mma_async.sync.aligned.m64n32k16{{.*}}
  // CHECK: tile.store
  gpu.func @columns(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x32xf32>
    tile.store %t, %c[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32>
    gpu.return
  }
}
