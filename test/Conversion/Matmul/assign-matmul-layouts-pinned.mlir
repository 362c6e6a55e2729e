// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --tile-assign-matmul-layouts=target=gfx942 --tile-assign-layouts | FileCheck %s

// A layout that the kernel pins is respected, before and after the op.
// CHECK-DAG: #[[L:.+]] = #tile.linear
// CHECK-DAG: #[[P:.+]] = #tile.blocked
// CHECK-LABEL: @pinned
// CHECK: %[[I:.+]] = tile.convert_layout %{{.*}} : tensor<64x64xf32, #[[P]]> -> tensor<64x64xf32, #[[L]]>
// CHECK-NEXT: %[[R:.+]] = tile.matmul {{.*}} init(%[[I]]) {{.*}} -> tensor<64x64xf32, #[[L]]>
// CHECK-NEXT: %[[D:.+]] = tile.convert_layout %[[R]] : tensor<64x64xf32, #[[L]]> -> tensor<64x64xf32, #[[P]]>
// CHECK-NEXT: tile.store %[[D]]
#p = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [4, 16], warps_per_cta = [4, 1], order = [1, 0]>
func.func @pinned(%a: memref<?x?xf16>, %c: memref<?x?xf32>, %i: index, %k: index) {
  %first = tile.load %c[%i, %i] : memref<?x?xf32> -> tensor<64x64xf32, #p>
  %r = tile.matmul %a[%i, %i], %a[%i, %i] k(%k) block(32) init(%first)
      : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32, #p>
  tile.store %r, %c[%i, %i] : tensor<64x64xf32, #p>, memref<?x?xf32>
  return
}
