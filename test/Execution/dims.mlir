// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memref.dim of a dimension that is known only at run time: in a kernel, and in
// @main.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

!buffer = memref<?x?x?xi8, #iris.symmetric>

gpu.module @kernels {
  // %b is 4 x 5 x 6 and %size its dimension %rank mod 3.
  gpu.func @check(%ctx: !iris.ctx, %b: !buffer, %size: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    %want = arith.constant dense<456> : tensor<1xi32>
    %digits = scf.for %dim = %c0 to %c3 step %c1 iter_args(%before = %c0)
        -> (index) {
      %this = memref.dim %b, %dim : !buffer
      %higher = arith.muli %before, %c10 : index
      %next = arith.addi %higher, %this : index
      scf.yield %next : index
    }
    %digits32 = arith.index_cast %digits : index to i32
    %got = tensor.splat %digits32 : tensor<1xi32>
    iris.expect_eq %got, %want, "in a kernel" : tensor<1xi32>

    %rank = iris.rank %ctx : index
    %dim = arith.remui %rank, %c3 : index
    %wantSize = arith.addi %dim, %c4 : index
    %want32 = arith.index_cast %wantSize : index to i32
    %wanted = tensor.splat %want32 : tensor<1xi32>
    %size32 = arith.index_cast %size : index to i32
    %given = tensor.splat %size32 : tensor<1xi32>
    iris.expect_eq %given, %wanted, "in @main" : tensor<1xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %b = iris.alloc(%c4, %c5, %c6) : !buffer
  %rank = iris.rank %ctx : index
  %dim = arith.remui %rank, %c3 : index
  %size = memref.dim %b, %dim : !buffer
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %size : !iris.ctx, !buffer, index)
  iris.sync %ctx
  iris.dealloc %b : !buffer
  return
}
