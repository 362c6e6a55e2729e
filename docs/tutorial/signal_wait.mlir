// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 2: a tile goes around the ring of ranks, inside of one kernel.

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // [kernel]
  // Every rank stores its tile to its right neighbour and sets a flag there;
  // then it waits for its own flag and checks the tile that came.
  gpu.func @exchange(%ctx: !iris.ctx, %data: !buffer, %flags: !buffer,
                     %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %next = arith.addi %rank, %c1 : index
    %right = arith.remui %next, %ranks : index
    %sum = arith.addi %rank, %ranks : index
    %before = arith.subi %sum, %c1 : index
    %left = arith.remui %before, %ranks : index
    %tile = func.call @tileOf(%rank, %epoch) : (index, i32) -> tensor<64xi32>

    iris.store %ctx, %tile, %data[%c0] to %right : tensor<64xi32>, !buffer
    iris.signal set %ctx, %epoch, %flags[%c0] to %right : i32, !buffer

    %seen = iris.wait %ctx, %flags[%c0] ge %epoch owed_by(%left) : i32, !buffer
    %got = tile.load %data[%c0] : !buffer -> tensor<64xi32>

    %want = func.call @tileOf(%left, %epoch) : (index, i32) -> tensor<64xi32>
    iris.expect_eq %got, %want, "left neighbour's tile" : tensor<64xi32>
    gpu.return
  }
  // [/kernel]

  // 1000 * rank + 100 * epoch + i, for i = 0 .. 63.
  func.func @tileOf(%rank: index, %epoch: i32) -> tensor<64xi32> {
    %c100 = arith.constant 100 : i32
    %c1000 = arith.constant 1000 : i32
    %r = arith.index_cast %rank : index to i32
    %x = arith.muli %r, %c1000 : i32
    %y = arith.muli %epoch, %c100 : i32
    %base = arith.addi %x, %y : i32
    %bases = tensor.splat %base : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %v = arith.addi %bases, %i : tensor<64xi32>
    return %v : tensor<64xi32>
  }
}

// [main]
func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 64 : index
  %one = arith.constant 1 : index
  %data = iris.alloc(%n) : !buffer
  %flags = iris.alloc(%one) : !buffer
  scf.for %launch = %c1 to %c4 step %c1 {
    %epoch = arith.index_cast %launch : index to i32
    iris.launch @kernels::@exchange programs(%c1)
        args(%ctx, %data, %flags, %epoch : !iris.ctx, !buffer, !buffer, i32)
    // The next launch overwrites %data: no rank may still be reading it.
    iris.sync %ctx
  }
  return
}
// [/main]
