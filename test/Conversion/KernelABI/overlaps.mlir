// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=gfx942}))' | FileCheck %s
// RUN: iris-compile %s --target=gfx942 --emit=mlir -o - | FileCheck %s --check-prefix=ALL

// The barrier pass records which arguments may overlap in the metadata, and the
// launch checks it.
// CHECK-LABEL: gpu.func @listed(
// CHECK-SAME: overlaps = {disjoint = {{\[}}[0, 1]], same_or_disjoint = {{\[}}[1, 2]]}
// CHECK-LABEL: gpu.func @none(
// CHECK-NOT: overlaps
gpu.module @kernels {
  gpu.func @listed(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>) kernel
      attributes {iris.argument_overlaps = {disjoint = [[0, 1]], same_or_disjoint = [[1, 2]]}} {
    gpu.return
  }
  gpu.func @none(%a: memref<?xf32>) kernel {
    gpu.return
  }

  // The whole path from tiles.
  // ALL: name = "in_place"
  // ALL-SAME: overlaps = {same_or_disjoint = {{\[}}[0, 1]]}
  gpu.func @in_place(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    scf.for %i = %c0 to %n step %c256 {
      %v = tile.load %a[%i] : memref<?xf32> -> tensor<256xf32>
      tile.store %v, %b[%i] : tensor<256xf32>, memref<?xf32>
    }
    gpu.return
  }
}
