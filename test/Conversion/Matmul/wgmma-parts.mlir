// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-diagnostics --remarks-filter=tile-lower-matmul --remark-format=emitRemark --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))' | FileCheck %s

// Views of arguments use the arguments' tensor maps, at coordinates that start
// at the view's offset; there is no remark.

!part = memref<?x?xf16, strided<[?, 1], offset: ?>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @both
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf16>, %[[B:[a-z0-9]+]]: memref<?x?xf16>
  // CHECK: %[[AMAP:.*]], %{{.*}} = iris.tensor_map %[[A]] contiguous 1 box [64, 128] swizzle 128
  // CHECK: %[[BMAP:.*]], %{{.*}} = iris.tensor_map %[[B]] contiguous 1 box [64, 64] swizzle 128
  // Where the view ends within the argument, a box must not extend past its end
  // along k.
  // CHECK: memref.dim %[[A]]
  // CHECK: cp.async.bulk.tensor.3d{{.*}} %{{.*}}, %[[AMAP]],
  // CHECK: cp.async.bulk.tensor.3d{{.*}} %{{.*}}, %[[BMAP]],
  // Rows and columns outside the views are masked out of the result.
  // CHECK: wgmma.wait_group.sync.aligned 0
  // CHECK: scf.if
  // CHECK-COUNT-128: arith.select
  // CHECK: tile.store
  gpu.func @both(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
                 %i: index, %j: index, %n: index, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %pa = memref.subview %a[%i, 16] [%n, %k] [1, 1] : memref<?x?xf16> to !part
    %pb = memref.subview %b[8, %j] [%k, %n] [1, 1] : memref<?x?xf16> to !part
    %t = tile.matmul %pa[%c0, %c0], %pb[%c0, %c0] k(%k) block(64)
        : !part, !part -> tensor<128x128xf32>
    tile.store %t, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }
}
