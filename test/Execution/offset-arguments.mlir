// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments whose type has an offset: it is not added to the address of the first
// element, which a launch passes, a second time.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 2 --device=reference %s
// CHECK: all 96 checks passed

!buffer = memref<?xi32, #iris.symmetric>
!whole = memref<8x16xi32, #iris.symmetric>
!rows = memref<5x8xi32, strided<[16, 2], offset: 49>, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : tensor<128xi32>
    tile.store %i, %b[%c0] : tensor<128xi32>, !buffer
    gpu.return
  }

  // Element (i, j) is 49 + 16 i + 2 j, on this rank and the next.
  gpu.func @read(%ctx: !iris.ctx, %b: !rows) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %ranks : index
    %i = tile.range dim 0 : tensor<4x8xi32>
    %j = tile.range dim 1 : tensor<4x8xi32>
    %16 = arith.constant dense<16> : tensor<4x8xi32>
    %2 = arith.constant dense<2> : tensor<4x8xi32>
    %49 = arith.constant dense<49> : tensor<4x8xi32>
    %row = arith.muli %i, %16 : tensor<4x8xi32>
    %column = arith.muli %j, %2 : tensor<4x8xi32>
    %both = arith.addi %row, %column : tensor<4x8xi32>
    %want = arith.addi %both, %49 : tensor<4x8xi32>
    %own = tile.load %b[%c0, %c0] : !rows -> tensor<4x8xi32>
    iris.expect_eq %own, %want, "load" : tensor<4x8xi32>
    %got = iris.load %ctx, %b[%c1, %c0] from %next : !rows -> tensor<4x8xi32>
    %more = arith.addi %want, %16 : tensor<4x8xi32>
    iris.expect_eq %got, %more, "remote load" : tensor<4x8xi32>
    // Element (i, j) of the rows from the last one on: 113 + 2 j, then 0.
    %c4 = arith.constant 4 : index
    %end = tile.load %b[%c4, %c0] : !rows -> tensor<4x8xi32>
    %zero = arith.constant dense<0> : tensor<4x8xi32>
    %first = arith.cmpi eq, %i, %zero : tensor<4x8xi32>
    %64 = arith.constant dense<64> : tensor<4x8xi32>
    %last = arith.addi %want, %64 : tensor<4x8xi32>
    %end.want = arith.select %first, %last, %zero : tensor<4x8xi1>, tensor<4x8xi32>
    iris.expect_eq %end, %end.want, "load beyond the end" : tensor<4x8xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %b = iris.alloc(%n) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.sync %ctx
  %all = memref.cast %b : !buffer to memref<128xi32, #iris.symmetric>
  %whole = memref.expand_shape %all [[0, 1]] output_shape [8, 16]
      : memref<128xi32, #iris.symmetric> into !whole
  %rows = memref.subview %whole[3, 1] [5, 8] [1, 2] : !whole to !rows
  iris.launch @kernels::@read programs(%c1) args(%ctx, %rows : !iris.ctx, !rows)
  iris.sync %ctx
  return
}
