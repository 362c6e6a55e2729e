// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of tile ops in the interpreter, with expected values from their
// definitions.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 301 checks passed

!buffer = memref<?xi32, #iris.symmetric>
!halves = memref<?x?xf16, #iris.symmetric>
#blocked = #tile.blocked<size_per_thread = [1, 2], threads_per_warp = [2, 32],
    warps_per_cta = [4, 1], order = [1, 0]>

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %b: !buffer, %m: !halves) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %before = arith.constant -1 : index
    %pad = arith.constant 9 : i32

    // The buffer has 3 elements: 0, 1, 2. What is outside of it is not stored,
    // and reads as 0 or as the `else` value.
    %i = tile.range : tensor<4xi32>
    tile.store %i, %b[%c0] : tensor<4xi32>, !buffer
    %window = tile.load %b[%before] : !buffer -> tensor<4xi32>
    %w0 = tile.reduce sum %window dim 0 : tensor<4xi32> -> i32
    %three = arith.constant 3 : i32
    iris.expect_eq %w0, %three, "0 outside" : i32
    %padded = tile.load %b[%c2] else %pad : !buffer -> tensor<4xi32>
    %w1 = tile.reduce sum %padded dim 0 : tensor<4xi32> -> i32
    %29 = arith.constant 29 : i32
    iris.expect_eq %w1, %29, "else" : i32

    // Element (i, j) of the transpose is element (j, i).
    %row = tile.range dim 0 : tensor<2x4xi32>
    %column = tile.range dim 1 : tensor<2x4xi32>
    %ten = arith.constant dense<10> : tensor<2x4xi32>
    %tens = arith.muli %row, %ten : tensor<2x4xi32>
    %grid = arith.addi %tens, %column : tensor<2x4xi32>
    %turned = tile.transpose %grid [1, 0] : tensor<2x4xi32> -> tensor<4x2xi32>
    %r = tile.range dim 0 : tensor<4x2xi32>
    %c = tile.range dim 1 : tensor<4x2xi32>
    %ten2 = arith.constant dense<10> : tensor<4x2xi32>
    %ctens = arith.muli %c, %ten2 : tensor<4x2xi32>
    %turned.want = arith.addi %ctens, %r : tensor<4x2xi32>
    iris.expect_eq %turned, %turned.want, "transpose" : tensor<4x2xi32>

    // A column, repeated.
    %j = tile.range : tensor<2xi32>
    %col = tile.expand_dims %j dim 1 : tensor<2xi32> -> tensor<2x1xi32>
    %wide = tile.broadcast %col : tensor<2x1xi32> -> tensor<2x4xi32>
    iris.expect_eq %wide, %row, "broadcast" : tensor<2x4xi32>

    // A layout says which thread holds an element; the elements are the same.
    %held = tile.convert_layout %wide : tensor<2x4xi32> -> tensor<2x4xi32, #blocked>
    %free = tile.convert_layout %held : tensor<2x4xi32, #blocked> -> tensor<2x4xi32>
    iris.expect_eq %free, %row, "convert_layout" : tensor<2x4xi32>

    // (1 + 2^24) + (-2^24 + 1): the first sum rounds to 2^24, the second one is
    // exact. From left to right, it would be 1 as well; from right to left, 2.
    %x0 = arith.constant 1.0 : f32
    %big = arith.constant 16777216.0 : f32
    %small = arith.constant -16777216.0 : f32
    %t = tensor.splat %x0 : tensor<4xf32>
    %bigs = tensor.splat %big : tensor<4xf32>
    %smalls = tensor.splat %small : tensor<4xf32>
    %one = arith.constant dense<1> : tensor<4xi32>
    %two = arith.constant dense<2> : tensor<4xi32>
    %is1 = arith.cmpi eq, %i, %one : tensor<4xi32>
    %is2 = arith.cmpi eq, %i, %two : tensor<4xi32>
    %t1 = arith.select %is1, %bigs, %t : tensor<4xi1>, tensor<4xf32>
    %t2 = arith.select %is2, %smalls, %t1 : tensor<4xi1>, tensor<4xf32>
    %sum = tile.reduce sum %t2 dim 0 : tensor<4xf32> -> f32
    iris.expect_eq %sum, %x0, "neighbours first" : f32

    // Gathers: masked elements and those outside are 0.
    %at = tile.range : tensor<8xindex>
    %five = arith.constant dense<2> : tensor<8xindex>
    %mask = arith.cmpi ult, %at, %five : tensor<8xindex>
    %few = tile.gather %b[%at] mask %mask : !buffer, tensor<8xindex> -> tensor<8xi32>
    %fewSum = tile.reduce sum %few dim 0 : tensor<8xi32> -> i32
    %1 = arith.constant 1 : i32
    iris.expect_eq %fewSum, %1, "gather" : i32
    // Only element 1 is stored.
    %values = arith.constant dense<7> : tensor<8xi32>
    %only = arith.constant dense<1> : tensor<8xindex>
    %is = arith.cmpi eq, %at, %only : tensor<8xindex>
    tile.scatter %values, %b[%at] mask %is : tensor<8xi32>, !buffer, tensor<8xindex>
    %all = tile.load %b[%c0] : !buffer -> tensor<4xi32>
    %allSum = tile.reduce sum %all dim 0 : tensor<4xi32> -> i32
    %nine = arith.constant 9 : i32
    iris.expect_eq %allSum, %nine, "scatter" : i32

    // m is 16 x 16, with row i of i: the sum over k of i * k is 120 i.
    %mrow = tile.range dim 0 : tensor<16x16xi32>
    %mf = arith.sitofp %mrow : tensor<16x16xi32> to tensor<16x16xf16>
    tile.store %mf, %m[%c0, %c0] : tensor<16x16xf16>, !halves
    %c40 = arith.constant 40 : index
    // k beyond the matrix counts as 0; init is added.
    %init = arith.constant dense<0.5> : tensor<16x16xf32>
    %got = tile.matmul %m[%c0, %c0], %m[%c0, %c0] k(%c40) block(16) init(%init)
        : !halves, !halves -> tensor<16x16xf32>
    %i120 = arith.constant dense<120> : tensor<16x16xi32>
    %w = arith.muli %mrow, %i120 : tensor<16x16xi32>
    %wf = arith.sitofp %w : tensor<16x16xi32> to tensor<16x16xf32>
    %want = arith.addf %wf, %init : tensor<16x16xf32>
    iris.expect_eq %got, %want, "matmul" : tensor<16x16xf32>

    // The region chooses where each k-block is read: both are the first one.
    %c32 = arith.constant 32 : index
    %twice = tile.matmul %m[%c0, %c0], %m[%c0, %c0] k(%c32) block(16) {
    ^bb0(%kb: index):
      tile.yield %m[%c0, %c0], %m[%c0, %c0] : !halves, !halves
    } : !halves, !halves -> tensor<16x16xf32>
    %first = tile.reduce max %twice dim 1 : tensor<16x16xf32> -> tensor<16xf32>
    %k240 = arith.constant dense<240> : tensor<16xi32>
    %ir = tile.range : tensor<16xi32>
    %iw = arith.muli %ir, %k240 : tensor<16xi32>
    %iwf = arith.sitofp %iw : tensor<16xi32> to tensor<16xf32>
    iris.expect_eq %first, %iwf, "matmul with a region" : tensor<16xf32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %b = iris.alloc(%c3) : !buffer
  %m = iris.alloc(%c16, %c16) : !halves
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %b, %m : !iris.ctx, !buffer, !halves)
  iris.sync %ctx
  return
}
