// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 1: every rank stores a tile into the memory of its right neighbour.

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // [kernel]
  // Stores 1000 * rank + i, for i = 0 .. 63, into the right neighbour's %out.
  gpu.func @store(%ctx: !iris.ctx, %out: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1000 = arith.constant 1000 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %next = arith.addi %rank, %c1 : index
    %right = arith.remui %next, %ranks : index

    %r = arith.index_cast %rank : index to i32
    %base = arith.muli %r, %c1000 : i32
    %bases = tensor.splat %base : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %v = arith.addi %bases, %i : tensor<64xi32>

    iris.store %ctx, %v, %out[%c0] to %right : tensor<64xi32>, !buffer
    gpu.return
  }
  // [/kernel]

  // [check]
  // Compares this rank's %out with what the left neighbour stores.
  gpu.func @check(%ctx: !iris.ctx, %out: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1000 = arith.constant 1000 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %ranks : index
    %before = arith.subi %sum, %c1 : index
    %left = arith.remui %before, %ranks : index

    %l = arith.index_cast %left : index to i32
    %base = arith.muli %l, %c1000 : i32
    %bases = tensor.splat %base : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %want = arith.addi %bases, %i : tensor<64xi32>

    %got = tile.load %out[%c0] : !buffer -> tensor<64xi32>
    iris.expect_eq %got, %want, "left neighbour's tile" : tensor<64xi32>
    gpu.return
  }
  // [/check]
}

// [main]
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %out = iris.alloc(%n) : !buffer
  iris.launch @kernels::@store programs(%c1)
      args(%ctx, %out : !iris.ctx, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %out : !iris.ctx, !buffer)
  return
}
// [/main]
