// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The all-reduce of all_reduce.mlir with gradients that alternate between two
// halves of a buffer: docs/guides/wrong-sum.md.

!floats = memref<?xf32, #iris.symmetric>
!words = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // A rank's gradient in a step: whole numbers, whose sums are exact.
  func.func @gradient(%rank: index, %step: i32) -> tensor<64xf32> {
    %c100 = arith.constant 100 : i32
    %rank32 = arith.index_cast %rank : index to i32
    %hundreds = arith.muli %step, %c100 : i32
    %number = arith.addi %hundreds, %rank32 : i32
    %value = arith.sitofp %number : i32 to f32
    %values = tensor.splat %value : tensor<64xf32>
    return %values : tensor<64xf32>
  }

  // [half]
  // Where the gradients of a step are: steps alternate between two halves.
  func.func @half(%step: i32) -> index {
    %one = arith.constant 1 : i32
    %c64 = arith.constant 64 : index
    %odd = arith.andi %step, %one : i32
    %index = arith.index_cast %odd : i32 to index
    %offset = arith.muli %index, %c64 : index
    return %offset : index
  }
  // [/half]

  // [backward]
  // The end of the backward pass: the gradients of this step.
  gpu.func @backward(%ctx: !iris.ctx, %gradients: !floats, %step: !words)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %last = memref.load %step[%c0] : !words
    %number = arith.addi %last, %one : i32
    memref.store %number, %step[%c0] : !words
    %gradient = func.call @gradient(%rank, %number)
        : (index, i32) -> tensor<64xf32>
    %half = func.call @half(%number) : (i32) -> index
    tile.store %gradient, %gradients[%half] : tensor<64xf32>, !floats
    gpu.return
  }
  // [/backward]

  // [all_reduce]
  gpu.func @all_reduce(%ctx: !iris.ctx, %gradients: !floats, %sum: !floats,
                       %step: !words, %state: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ranks = iris.num_ranks %ctx : index
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %number = memref.load %step[%c0] : !words
    %half = func.call @half(%number) : (i32) -> index
    // Every rank has stored its gradients.
    iris.barrier %ctx, %state : !words
    %all = scf.for %peer = %c0 to %ranks step %c1
        iter_args(%before = %zero) -> tensor<64xf32> {
      %theirs = iris.load %ctx, %gradients[%half] from %peer
          : !floats -> tensor<64xf32>
      %after = arith.addf %before, %theirs : tensor<64xf32>
      scf.yield %after : tensor<64xf32>
    }
    tile.store %all, %sum[%c0] : tensor<64xf32>, !floats
    gpu.return
  }
  // [/all_reduce]

  // What follows in the stream, and reads the sum.
  gpu.func @check(%ctx: !iris.ctx, %sum: !floats, %step: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ranks = iris.num_ranks %ctx : index
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %number = memref.load %step[%c0] : !words
    %want = scf.for %peer = %c0 to %ranks step %c1
        iter_args(%before = %zero) -> tensor<64xf32> {
      %value = func.call @gradient(%peer, %number)
          : (index, i32) -> tensor<64xf32>
      %after = arith.addf %before, %value : tensor<64xf32>
      scf.yield %after : tensor<64xf32>
    }
    %got = tile.load %sum[%c0] : !floats -> tensor<64xf32>
    iris.expect_eq %got, %want, "sum" : tensor<64xf32>
    gpu.return
  }
}

// [main]
// Replays of a graph: the same launches with the same arguments. The number of
// the step is in memory.
func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %ranks = iris.num_ranks %ctx : index
  %words = arith.muli %ranks, %c32 : index
  %gradients = iris.alloc(%c128) : !floats
  %sum = iris.alloc(%c64) : !floats
  %step = iris.alloc(%c1) : !words
  %state = iris.alloc(%words) : !words
  scf.for %replay = %c0 to %c3 step %c1 {
    iris.launch @kernels::@backward programs(%c1)
        args(%ctx, %gradients, %step : !iris.ctx, !floats, !words)
    iris.launch @kernels::@all_reduce programs(%c1)
        args(%ctx, %gradients, %sum, %step, %state
            : !iris.ctx, !floats, !floats, !words, !words)
    iris.launch @kernels::@check programs(%c1)
        args(%ctx, %sum, %step : !iris.ctx, !floats, !words)
  }
  iris.sync %ctx
  return
}
// [/main]
