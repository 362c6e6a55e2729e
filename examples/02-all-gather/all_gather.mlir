// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-gather by push: every rank stores each tile of its shard into every
// rank's output. To run it on four ranks of this machine, with every element
// checked:
//
//   iris-run -n 4 examples/02-all-gather/all_gather.mlir
//
// To compile the kernels for a GPU:
//
//   iris-compile examples/02-all-gather/all_gather.mlir \
//     --target=gfx942 --emit=obj -o all_gather.gfx942.hsaco

!shard = memref<?x?xf16, #iris.symmetric>
!window = memref<?x?xf16, strided<[?, 1], offset: ?>, #iris.symmetric>

gpu.module @kernels {
  // %in is this rank's M x N shard, %out the (W*M) x N result on every rank.
  // Persistent: the grid may have any number of programs, which distribute the
  // tiles round-robin.
  gpu.func @all_gather(%ctx: !iris.ctx, %in: !shard, %out: !shard)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c255 = arith.constant 255 : index
    %c256 = arith.constant 256 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %in, %c0 : !shard
    %n = memref.dim %in, %c1 : !shard

    // The output rows of this rank's shard. Stores past the edge of this view
    // are masked, so a partial tile does not write into the next rank's rows.
    %row = arith.muli %rank, %m : index
    %shard = memref.subview %out[%row, 0] [%m, %n] [1, 1]
        : !shard to !window

    %m7 = arith.addi %m, %c7 : index
    %tilesM = arith.divui %m7, %c8 : index
    %n255 = arith.addi %n, %c255 : index
    %tilesN = arith.divui %n255, %c256 : index
    %tiles = arith.muli %tilesM, %tilesN : index
    scf.for %t = %pid to %tiles step %programs {
      %ti = arith.divui %t, %tilesN : index
      %tj = arith.remui %t, %tilesN : index
      %i = arith.muli %ti, %c8 : index
      %j = arith.muli %tj, %c256 : index
      %v = tile.load %in[%i, %j] : !shard -> tensor<8x256xf16>
      // Load once, store to every rank. Each rank starts with a different peer,
      // so that no two ranks write to the same peer at once.
      scf.for %k = %c0 to %ranks step %c1 {
        %s = arith.addi %rank, %k : index
        %peer = arith.remui %s, %ranks : index
        iris.store %ctx, %v, %shard[%i, %j] to %peer
            : tensor<8x256xf16>, !window
      }
    }
    gpu.return
  }

  // Element (i, j) of a rank's shard: 11 bits of a hash of (rank, i, j), which
  // f16 represents exactly. A shifted, swapped or stale tile differs.
  gpu.func @fill(%ctx: !iris.ctx, %in: !shard)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %mul1 = arith.constant dense<-1640531527> : tensor<8x256xi32>
    %mul2 = arith.constant dense<739982445> : tensor<8x256xi32>
    %shift1 = arith.constant dense<15> : tensor<8x256xi32>
    %shift2 = arith.constant dense<21> : tensor<8x256xi32>
    %seed = arith.constant -2048144789 : i32
    %one = arith.constant 1 : i32
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %m = memref.dim %in, %c0 : !shard
    %n = memref.dim %in, %c1 : !shard
    %n32 = arith.index_cast %n : index to i32
    %columns = tensor.splat %n32 : tensor<8x256xi32>
    %rank32 = arith.index_cast %rank : index to i32
    %rank1 = arith.addi %rank32, %one : i32
    %salt = arith.muli %rank1, %seed : i32
    %salts = tensor.splat %salt : tensor<8x256xi32>
    %di = tile.range dim 0 : tensor<8x256xi32>
    %dj = tile.range dim 1 : tensor<8x256xi32>

    %start = arith.muli %pid, %c8 : index
    %step = arith.muli %programs, %c8 : index
    scf.for %i = %start to %m step %step {
      scf.for %j = %c0 to %n step %c256 {
        %i32 = arith.index_cast %i : index to i32
        %j32 = arith.index_cast %j : index to i32
        %is = tensor.splat %i32 : tensor<8x256xi32>
        %js = tensor.splat %j32 : tensor<8x256xi32>
        %row = arith.addi %is, %di : tensor<8x256xi32>
        %column = arith.addi %js, %dj : tensor<8x256xi32>
        %before = arith.muli %row, %columns : tensor<8x256xi32>
        %offset = arith.addi %before, %column : tensor<8x256xi32>

        %h0 = arith.muli %offset, %mul1 : tensor<8x256xi32>
        %h1 = arith.addi %h0, %salts : tensor<8x256xi32>
        %h2 = arith.shrui %h1, %shift1 : tensor<8x256xi32>
        %h3 = arith.xori %h1, %h2 : tensor<8x256xi32>
        %h4 = arith.muli %h3, %mul2 : tensor<8x256xi32>
        %h5 = arith.shrui %h4, %shift2 : tensor<8x256xi32>
        %v = arith.sitofp %h5 : tensor<8x256xi32> to tensor<8x256xf16>
        tile.store %v, %in[%i, %j] : tensor<8x256xf16>, !shard
      }
    }
    gpu.return
  }

  // Recomputes every rank's shard and compares it with the gathered tile.
  gpu.func @check(%ctx: !iris.ctx, %in: !shard, %out: !shard)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %mul1 = arith.constant dense<-1640531527> : tensor<8x256xi32>
    %mul2 = arith.constant dense<739982445> : tensor<8x256xi32>
    %shift1 = arith.constant dense<15> : tensor<8x256xi32>
    %shift2 = arith.constant dense<21> : tensor<8x256xi32>
    %nothing = arith.constant dense<0.0> : tensor<8x256xf16>
    %seed = arith.constant -2048144789 : i32
    %one = arith.constant 1 : i32
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %in, %c0 : !shard
    %n = memref.dim %in, %c1 : !shard
    %m32 = arith.index_cast %m : index to i32
    %n32 = arith.index_cast %n : index to i32
    %rows = tensor.splat %m32 : tensor<8x256xi32>
    %columns = tensor.splat %n32 : tensor<8x256xi32>
    %di = tile.range dim 0 : tensor<8x256xi32>
    %dj = tile.range dim 1 : tensor<8x256xi32>

    %start = arith.muli %pid, %c8 : index
    %step = arith.muli %programs, %c8 : index
    scf.for %source = %c0 to %ranks step %c1 {
      %source32 = arith.index_cast %source : index to i32
      %source1 = arith.addi %source32, %one : i32
      %salt = arith.muli %source1, %seed : i32
      %salts = tensor.splat %salt : tensor<8x256xi32>
      %first = arith.muli %source, %m : index
      %shard = memref.subview %out[%first, 0] [%m, %n] [1, 1]
          : !shard to !window
      scf.for %i = %start to %m step %step {
        scf.for %j = %c0 to %n step %c256 {
          %i32 = arith.index_cast %i : index to i32
          %j32 = arith.index_cast %j : index to i32
          %is = tensor.splat %i32 : tensor<8x256xi32>
          %js = tensor.splat %j32 : tensor<8x256xi32>
          %row = arith.addi %is, %di : tensor<8x256xi32>
          %column = arith.addi %js, %dj : tensor<8x256xi32>
          %before = arith.muli %row, %columns : tensor<8x256xi32>
          %offset = arith.addi %before, %column : tensor<8x256xi32>

          %h0 = arith.muli %offset, %mul1 : tensor<8x256xi32>
          %h1 = arith.addi %h0, %salts : tensor<8x256xi32>
          %h2 = arith.shrui %h1, %shift1 : tensor<8x256xi32>
          %h3 = arith.xori %h1, %h2 : tensor<8x256xi32>
          %h4 = arith.muli %h3, %mul2 : tensor<8x256xi32>
          %h5 = arith.shrui %h4, %shift2 : tensor<8x256xi32>
          %v = arith.sitofp %h5 : tensor<8x256xi32> to tensor<8x256xf16>

          // Loads outside the shard return 0.
          %inM = arith.cmpi slt, %row, %rows : tensor<8x256xi32>
          %inN = arith.cmpi slt, %column, %columns : tensor<8x256xi32>
          %inside = arith.andi %inM, %inN : tensor<8x256xi1>
          %want = arith.select %inside, %v, %nothing
              : tensor<8x256xi1>, tensor<8x256xf16>
          %got = tile.load %shard[%i, %j] : !window -> tensor<8x256xf16>
          iris.expect_eq %got, %want, "gathered" : tensor<8x256xf16>
        }
      }
    }
    gpu.return
  }
}

// Every rank runs this: fill, gather, check, for three shapes: whole tiles,
// partial tiles at both edges, and rows that do not start at multiples of 16
// bytes.
func.func @main(%ctx: !iris.ctx) {
  %ranks = iris.num_ranks %ctx : index
  %programs = arith.constant 6 : index

  %m0 = arith.constant 64 : index
  %n0 = arith.constant 1024 : index
  %all0 = arith.muli %ranks, %m0 : index
  %in0 = iris.alloc(%m0, %n0) : !shard
  %out0 = iris.alloc(%all0, %n0) : !shard
  iris.launch @kernels::@fill programs(%programs)
      args(%ctx, %in0 : !iris.ctx, !shard)
  // Every rank is ready before any rank stores into its output.
  iris.sync %ctx
  iris.launch @kernels::@all_gather programs(%programs)
      args(%ctx, %in0, %out0 : !iris.ctx, !shard, !shard)
  // All ranks have stored all their tiles.
  iris.sync %ctx
  iris.launch @kernels::@check programs(%programs)
      args(%ctx, %in0, %out0 : !iris.ctx, !shard, !shard)
  iris.sync %ctx
  iris.dealloc %out0 : !shard
  iris.dealloc %in0 : !shard

  %m1 = arith.constant 37 : index
  %n1 = arith.constant 704 : index
  %all1 = arith.muli %ranks, %m1 : index
  %in1 = iris.alloc(%m1, %n1) : !shard
  %out1 = iris.alloc(%all1, %n1) : !shard
  iris.launch @kernels::@fill programs(%programs)
      args(%ctx, %in1 : !iris.ctx, !shard)
  iris.sync %ctx
  iris.launch @kernels::@all_gather programs(%programs)
      args(%ctx, %in1, %out1 : !iris.ctx, !shard, !shard)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%programs)
      args(%ctx, %in1, %out1 : !iris.ctx, !shard, !shard)
  iris.sync %ctx
  iris.dealloc %out1 : !shard
  iris.dealloc %in1 : !shard

  %m2 = arith.constant 19 : index
  %n2 = arith.constant 515 : index
  %all2 = arith.muli %ranks, %m2 : index
  %in2 = iris.alloc(%m2, %n2) : !shard
  %out2 = iris.alloc(%all2, %n2) : !shard
  iris.launch @kernels::@fill programs(%programs)
      args(%ctx, %in2 : !iris.ctx, !shard)
  iris.sync %ctx
  iris.launch @kernels::@all_gather programs(%programs)
      args(%ctx, %in2, %out2 : !iris.ctx, !shard, !shard)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%programs)
      args(%ctx, %in2, %out2 : !iris.ctx, !shard, !shard)
  iris.sync %ctx
  iris.dealloc %out2 : !shard
  iris.dealloc %in2 : !shard
  return
}
