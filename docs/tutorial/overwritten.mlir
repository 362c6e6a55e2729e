// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank sends a message to the next one, twice, into the same buffer. The
// second message may overwrite the first one while it is still read.
!words = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @send(%ctx: !iris.ctx, %inbox: !words, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %message = tensor.splat %epoch : tensor<64xi32>
    iris.store %ctx, %message, %inbox[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    %got = tile.load %inbox[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %first = arith.constant 1 : i32
  %second = arith.constant 2 : i32
  %inbox = iris.alloc(%c64) : !words
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@send programs(%c1)
      args(%ctx, %inbox, %flags, %first : !iris.ctx, !words, !words, i32)
  iris.launch @kernels::@send programs(%c1)
      args(%ctx, %inbox, %flags, %second : !iris.ctx, !words, !words, i32)
  iris.sync %ctx
  return
}
