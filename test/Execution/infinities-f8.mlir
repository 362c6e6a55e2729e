// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest and the smallest of f8 that are infinite are infinite; sums of them
// saturate.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 2 %s
// RUN: iris-run -n 3 --device=reference %s
// CHECK: all 12 checks passed

!buffer = memref<?xi8, #iris.symmetric>

gpu.module @kernels {
  // 0x7c is infinity, 0xfc its negative, 0x7b and 0xfb the largest numbers.
  gpu.func @fill(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : tensor<4xi32>
    %one = arith.constant dense<1> : tensor<4xi32>
    %odd = arith.andi %i, %one : tensor<4xi32>
    %infinity = arith.constant dense<124> : tensor<4xi8>
    %least = arith.constant dense<-4> : tensor<4xi8>
    %isOdd = arith.cmpi eq, %odd, %one : tensor<4xi32>
    %v = arith.select %isOdd, %least, %infinity : tensor<4xi1>, tensor<4xi8>
    tile.store %v, %b[%c0] : tensor<4xi8>, !buffer
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %b: !buffer, %even: i8, %odd: i8) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : tensor<4xi32>
    %one = arith.constant dense<1> : tensor<4xi32>
    %bit = arith.andi %i, %one : tensor<4xi32>
    %isOdd = arith.cmpi eq, %bit, %one : tensor<4xi32>
    %evens = tensor.splat %even : tensor<4xi8>
    %odds = tensor.splat %odd : tensor<4xi8>
    %want = arith.select %isOdd, %odds, %evens : tensor<4xi1>, tensor<4xi8>
    %got = tile.load %b[%c0] : !buffer -> tensor<4xi8>
    iris.expect_eq %got, %want, "reduction" : tensor<4xi8>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %infinity = arith.constant 124 : i8
  %least = arith.constant -4 : i8
  %largest = arith.constant 123 : i8
  %smallest = arith.constant -5 : i8
  %in = iris.alloc(%c4) : !buffer
  %out = iris.alloc(%c4) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %in : !iris.ctx, !buffer)
  iris.all_reduce max %ctx, %in, %out as f8E5M2 : !buffer, !buffer
  iris.launch @kernels::@check programs(%c1) args(%ctx, %out, %infinity, %least
      : !iris.ctx, !buffer, i8, i8)
  iris.all_reduce min %ctx, %in, %out as f8E5M2 : !buffer, !buffer
  iris.launch @kernels::@check programs(%c1) args(%ctx, %out, %infinity, %least
      : !iris.ctx, !buffer, i8, i8)
  iris.all_reduce sum %ctx, %in, %out as f8E5M2 : !buffer, !buffer
  iris.launch @kernels::@check programs(%c1) args(%ctx, %out, %largest, %smallest
      : !iris.ctx, !buffer, i8, i8)
  iris.sync %ctx
  return
}
