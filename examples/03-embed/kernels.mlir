// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that this folder's host programs launch.

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @embed {
  // Every rank stores its `from` into the `to` of the next rank.
  gpu.func @rotate(%ctx: !iris.ctx, %from: !buffer, %to: !buffer)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %right = arith.remui %after, %ranks : index
    %n = memref.dim %from, %c0 : !buffer
    %start = arith.muli %pid, %c1024 : index
    %step = arith.muli %programs, %c1024 : index
    scf.for %i = %start to %n step %step {
      %v = tile.load %from[%i] : !buffer -> tensor<1024xi32>
      iris.store %ctx, %v, %to[%i] to %right : tensor<1024xi32>, !buffer
    }
    gpu.return
  }
}
