// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 5: a matmul that reads the rows of a which other ranks have, by a kernel
// and by one op.

!matrix = memref<?x?xf16, #iris.symmetric>
!peer = memref<?x?xf16, #iris.peer>
!rows = memref<?x?xf16, strided<[?, 1], offset: ?>, #iris.symmetric>
!state = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // [kernel]
  // c = (all ranks' rows of a) x b. %a has m rows, %c has ranks * m rows.
  gpu.func @gather_and_multiply(%ctx: !iris.ctx, %a: !matrix, %b: !matrix,
                                %c: !matrix, %state: !state) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %a, %c0 : !matrix
    %k = memref.dim %a, %c1 : !matrix
    %n = memref.dim %c, %c1 : !matrix
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %first = arith.muli %pid, %c64 : index
    %step = arith.muli %programs, %c64 : index

    // After this barrier, every rank has filled its rows.
    iris.barrier %ctx, %state : !state
    scf.for %s = %c0 to %ranks step %c1 {
      // This rank's rows first, then those of the next rank, and so on.
      %sum = arith.addi %rank, %s : index
      %source = arith.remui %sum, %ranks : index
      %row0 = arith.muli %source, %m : index
      %peer = iris.translate %ctx, %a to %source : !matrix -> !peer
      // The rows of c that this source gives: a tile at their end stops there.
      %rows = memref.subview %c[%row0, 0] [%m, %n] [1, 1] : !matrix to !rows
      scf.for %i = %first to %m step %step {
        scf.for %j = %c0 to %n step %c64 {
          %acc = tile.matmul %peer[%i, %c0], %b[%c0, %j] k(%k) block(32)
              : !peer, !matrix -> tensor<64x64xf32>
          %v = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
          tile.store %v, %rows[%i, %j] : tensor<64x64xf16>, !rows
        }
      }
    }
    // After this barrier, no peer reads this rank's rows.
    iris.barrier %ctx, %state : !state
    gpu.return
  }
  // [/kernel]

  // a: rank + 1 everywhere. b: element (i, j) is j.
  gpu.func @fill(%ctx: !iris.ctx, %a: !matrix, %b: !matrix) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %m = memref.dim %a, %c0 : !matrix
    %k = memref.dim %b, %c0 : !matrix
    %next = arith.addi %rank, %c1 : index
    %r = arith.index_cast %next : index to i32
    %f = arith.sitofp %r : i32 to f16
    %as = tensor.splat %f : tensor<1x64xf16>
    %j = tile.range dim 1 : tensor<1x128xi32>
    %bs = arith.sitofp %j : tensor<1x128xi32> to tensor<1x128xf16>
    scf.for %i = %c0 to %m step %c1 {
      tile.store %as, %a[%i, %c0] : tensor<1x64xf16>, !matrix
    }
    scf.for %i = %c0 to %k step %c1 {
      tile.store %bs, %b[%i, %c0] : tensor<1x128xf16>, !matrix
    }
    gpu.return
  }

  // Element (i, j) of c is k * (source + 1) * j, where source is the rank that
  // has row i of a.
  gpu.func @check(%ctx: !iris.ctx, %a: !matrix, %c: !matrix) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %a, %c0 : !matrix
    %k = memref.dim %a, %c1 : !matrix
    %rows = memref.dim %c, %c0 : !matrix
    %j = tile.range dim 1 : tensor<1x128xi32>
    scf.for %i = %c0 to %rows step %c1 {
      %source = arith.divui %i, %m : index
      %next = arith.addi %source, %c1 : index
      %x = arith.muli %next, %k : index
      %factor = arith.index_cast %x : index to i32
      %factors = tensor.splat %factor : tensor<1x128xi32>
      %y = arith.muli %factors, %j : tensor<1x128xi32>
      %want = arith.sitofp %y : tensor<1x128xi32> to tensor<1x128xf16>
      %got = tile.load %c[%i, %c0] : !matrix -> tensor<1x128xf16>
      iris.expect_eq %got, %want, "a x b" : tensor<1x128xf16>
    }
    gpu.return
  }
}

// [main]
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %programs = arith.constant 2 : index
  %m = arith.constant 100 : index
  %n = arith.constant 128 : index
  %k = arith.constant 64 : index
  %ranks = iris.num_ranks %ctx : index
  %rows = arith.muli %ranks, %m : index
  // 32 words for each program and rank.
  %c32 = arith.constant 32 : index
  %wordsPerRank = arith.muli %programs, %c32 : index
  %words = arith.muli %ranks, %wordsPerRank : index
  %state = iris.alloc(%words) : !state
  %a = iris.alloc(%m, %k) : !matrix
  %b = iris.alloc(%k, %n) : !matrix
  %c = iris.alloc(%rows, %n) : !matrix
  %d = iris.alloc(%rows, %n) : !matrix
  iris.launch @kernels::@fill programs(%c1)
      args(%ctx, %a, %b : !iris.ctx, !matrix, !matrix)

  iris.launch @kernels::@gather_and_multiply programs(%programs)
      args(%ctx, %a, %b, %c, %state
          : !iris.ctx, !matrix, !matrix, !matrix, !state)
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %a, %c : !iris.ctx, !matrix, !matrix)

  iris.all_gather_matmul %ctx, %a, %b, %d
      {shard = "m", variant = "hbm_buffer", tile_m = 64, tile_n = 64,
       tile_k = 32, programs = 4, num_fetch_programs = 1}
      : !matrix, !matrix, !matrix
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %a, %d : !iris.ctx, !matrix, !matrix)
  return
}
// [/main]
