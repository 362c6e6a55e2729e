// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=gfx942}))' | FileCheck %s

// The barrier pass records which arguments may overlap in the metadata, and the
// launch checks it; overlaps-from-tiles.mlir has the whole path.
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
}
