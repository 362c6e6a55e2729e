// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of vectors, with expected values from their definitions.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 1 --device=reference %s | FileCheck %s
// CHECK: all 5 checks passed

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : tensor<8xi32>
    tile.store %i, %b[%c0] : tensor<8xi32>, !buffer
    // 0 to 7; of it 2, 3 and 4; these in the place of 5, 6 and 7.
    %v = vector.load %b[%c0] : !buffer, vector<8xi32>
    %p = vector.extract_strided_slice %v {offsets = [2], sizes = [3], strides = [1]}
        : vector<8xi32> to vector<3xi32>
    %w = vector.insert_strided_slice %p, %v {offsets = [5], strides = [1]}
        : vector<3xi32> into vector<8xi32>
    %2 = arith.constant 2 : i32
    %4 = arith.constant 4 : i32
    %p0 = vector.extract %p[0] : i32 from vector<3xi32>
    iris.expect_eq %p0, %2, "extract, first" : i32
    %p2 = vector.extract %p[2] : i32 from vector<3xi32>
    iris.expect_eq %p2, %4, "extract, last" : i32
    %w4 = vector.extract %w[4] : i32 from vector<8xi32>
    iris.expect_eq %w4, %4, "insert, before" : i32
    %w5 = vector.extract %w[5] : i32 from vector<8xi32>
    iris.expect_eq %w5, %2, "insert, first" : i32
    %w7 = vector.extract %w[7] : i32 from vector<8xi32>
    iris.expect_eq %w7, %4, "insert, last" : i32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %b = iris.alloc(%c8) : !buffer
  iris.launch @kernels::@k programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
