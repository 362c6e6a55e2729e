// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=mlir -o - | FileCheck %s
// RUN: iris-compile %s --target=host --emit=mlir -o - | FileCheck %s
// RUN: iris-compile %s --target=host --debug --emit=mlir -o - | FileCheck %s

// From tiles to the metadata: which arguments may overlap.
gpu.module @kernels {
  // CHECK: name = "in_place"
  // CHECK-SAME: overlaps = {same_or_disjoint = {{\[}}[0, 1]]}
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
