// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --tile-assign-layouts=warp-size=32 | FileCheck %s

// A wave of 32 threads covers one row.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [1, 32], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-LABEL: @default
// CHECK: tile.load {{.*}} -> tensor<8x256xf16, #[[L]]>
func.func @default(%b: memref<?x?xf16>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<8x256xf16>
  tile.store %v, %b[%i, %i] : tensor<8x256xf16>, memref<?x?xf16>
  return
}
