// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmul with bias and ReLU: once by a hand-written kernel, once by
// `iris.matmul`, whose kernel the compiler generates. To run it on four ranks
// of this machine, with every element of both results checked:
//
//   iris-run -n 4 examples/04-matmul/matmul.mlir
//
// Every rank multiplies matrices of its own.

!half = memref<?x?xf16, #iris.symmetric>
!line = memref<?xf16, #iris.symmetric>
!tile = tensor<64x64xf32>

gpu.module @kernels {
  // c = relu(a x b + bias). Tiles of 64 x 64, in groups of 4 rows of tiles:
  // programs that run at the same time read the same rows of a and columns of
  // b.
  gpu.func @multiply(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !half,
                     %bias: !line)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %zeros = arith.constant dense<0.0> : !tile
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %m = memref.dim %c, %c0 : !half
    %n = memref.dim %c, %c1 : !half
    %k = memref.dim %a, %c1 : !half
    %m63 = arith.addi %m, %c63 : index
    %rows = arith.divui %m63, %c64 : index
    %n63 = arith.addi %n, %c63 : index
    %columns = arith.divui %n63, %c64 : index
    %tiles = arith.muli %rows, %columns : index
    %groupTiles = arith.muli %c4, %columns : index

    scf.for %t = %pid to %tiles step %programs {
      // Tile index to coordinates: group by group, and column by column within
      // a group. The last group may have fewer rows.
      %group = arith.divui %t, %groupTiles : index
      %first = arith.muli %group, %c4 : index
      %left = arith.subi %rows, %first : index
      %height = arith.minui %left, %c4 : index
      %index = arith.remui %t, %groupTiles : index
      %inGroup = arith.remui %index, %height : index
      %row = arith.addi %first, %inGroup : index
      %column = arith.divui %index, %height : index
      %i = arith.muli %row, %c64 : index
      %j = arith.muli %column, %c64 : index

      // The whole loop over k. Loads past the edges return 0; the accumulator
      // is f32.
      %sum = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%k) block(32)
          : !half, !half -> !tile

      // The epilogue is ordinary arithmetic on the tile.
      %v = tile.load %bias[%j] : !line -> tensor<64xf16>
      %w = arith.extf %v : tensor<64xf16> to tensor<64xf32>
      %x = tile.expand_dims %w dim 0 : tensor<64xf32> -> tensor<1x64xf32>
      %y = tile.broadcast %x : tensor<1x64xf32> -> !tile
      %biased = arith.addf %sum, %y : !tile
      %active = arith.maximumf %biased, %zeros : !tile
      %result = arith.truncf %active : !tile to tensor<64x64xf16>
      tile.store %result, %c[%i, %j] : tensor<64x64xf16>, !half
    }
    gpu.return
  }

  // Small integers in -4 .. 3, a hash of (rank, i, j, %salt), so that every sum
  // is exact.
  func.func @number(%rank: index, %salt: i32, %i: tensor<1x64xi32>,
                    %j: tensor<1x64xi32>) -> tensor<1x64xi32> {
    %p = arith.constant dense<1009> : tensor<1x64xi32>
    %c1 = arith.constant dense<-1640531535> : tensor<1x64xi32>
    %c2 = arith.constant dense<739982445> : tensor<1x64xi32>
    %shift = arith.constant dense<15> : tensor<1x64xi32>
    %top = arith.constant dense<29> : tensor<1x64xi32>
    %half = arith.constant dense<4> : tensor<1x64xi32>
    %prime = arith.constant 31337 : i32
    %r = arith.index_cast %rank : index to i32
    %s = arith.addi %r, %salt : i32
    %seed = arith.muli %s, %prime : i32
    %seeds = tensor.splat %seed : tensor<1x64xi32>
    %row = arith.muli %i, %p : tensor<1x64xi32>
    %index = arith.addi %row, %j : tensor<1x64xi32>
    %h0 = arith.muli %index, %c1 : tensor<1x64xi32>
    %h1 = arith.addi %h0, %seeds : tensor<1x64xi32>
    %h2 = arith.shrui %h1, %shift : tensor<1x64xi32>
    %h3 = arith.xori %h1, %h2 : tensor<1x64xi32>
    %h4 = arith.muli %h3, %c2 : tensor<1x64xi32>
    %h5 = arith.shrui %h4, %top : tensor<1x64xi32>
    %v = arith.subi %h5, %half : tensor<1x64xi32>
    return %v : tensor<1x64xi32>
  }

  // Coordinates of the 64 elements from (%i, %j) on.
  func.func @coordinates(%i: index, %j: index)
      -> (tensor<1x64xi32>, tensor<1x64xi32>) {
    %row = arith.index_cast %i : index to i32
    %rows = tensor.splat %row : tensor<1x64xi32>
    %range = tile.range dim 1 : tensor<1x64xi32>
    %column = arith.index_cast %j : index to i32
    %columns = tensor.splat %column : tensor<1x64xi32>
    %to = arith.addi %range, %columns : tensor<1x64xi32>
    return %rows, %to : tensor<1x64xi32>, tensor<1x64xi32>
  }

  gpu.func @fill(%ctx: !iris.ctx, %out: !half, %salt: i32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %m = memref.dim %out, %c0 : !half
    %n = memref.dim %out, %c1 : !half
    scf.for %i = %pid to %m step %programs {
      scf.for %j = %c0 to %n step %c64 {
        %rows, %columns = func.call @coordinates(%i, %j)
            : (index, index) -> (tensor<1x64xi32>, tensor<1x64xi32>)
        %h = func.call @number(%rank, %salt, %rows, %columns)
            : (index, i32, tensor<1x64xi32>, tensor<1x64xi32>)
              -> tensor<1x64xi32>
        %v = arith.sitofp %h : tensor<1x64xi32> to tensor<1x64xf16>
        tile.store %v, %out[%i, %j] : tensor<1x64xf16>, !half
      }
    }
    gpu.return
  }

  // Recomputes the result from the same hashes, one k at a time.
  gpu.func @check(%ctx: !iris.ctx, %c: !half, %k: index)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %saltA = arith.constant 1 : i32
    %saltB = arith.constant 2 : i32
    %saltBias = arith.constant 3 : i32
    %none = arith.constant dense<0> : tensor<1x64xi32>
    %zeros = arith.constant dense<0.0> : tensor<1x64xf32>
    %halfZeros = arith.constant dense<0.0> : tensor<1x64xf16>
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %m = memref.dim %c, %c0 : !half
    %n = memref.dim %c, %c1 : !half
    %n32 = arith.index_cast %n : index to i32
    %end = tensor.splat %n32 : tensor<1x64xi32>
    scf.for %i = %pid to %m step %programs {
      scf.for %j = %c0 to %n step %c64 {
        %rows, %columns = func.call @coordinates(%i, %j)
            : (index, index) -> (tensor<1x64xi32>, tensor<1x64xi32>)
        %sum = scf.for %at = %c0 to %k step %c1 iter_args(%s = %none)
            -> (tensor<1x64xi32>) {
          %at32 = arith.index_cast %at : index to i32
          %ats = tensor.splat %at32 : tensor<1x64xi32>
          %x = func.call @number(%rank, %saltA, %rows, %ats)
              : (index, i32, tensor<1x64xi32>, tensor<1x64xi32>)
                -> tensor<1x64xi32>
          %y = func.call @number(%rank, %saltB, %ats, %columns)
              : (index, i32, tensor<1x64xi32>, tensor<1x64xi32>)
                -> tensor<1x64xi32>
          %xy = arith.muli %x, %y : tensor<1x64xi32>
          %next = arith.addi %s, %xy : tensor<1x64xi32>
          scf.yield %next : tensor<1x64xi32>
        }
        // The bias is a matrix of one row.
        %bias = func.call @number(%rank, %saltBias, %none, %columns)
            : (index, i32, tensor<1x64xi32>, tensor<1x64xi32>)
              -> tensor<1x64xi32>
        %biased = arith.addi %sum, %bias : tensor<1x64xi32>
        %f = arith.sitofp %biased : tensor<1x64xi32> to tensor<1x64xf32>
        %active = arith.maximumf %f, %zeros : tensor<1x64xf32>
        %value = arith.truncf %active : tensor<1x64xf32> to tensor<1x64xf16>
        %inside = arith.cmpi ult, %columns, %end : tensor<1x64xi32>
        %want = arith.select %inside, %value, %halfZeros
            : tensor<1x64xi1>, tensor<1x64xf16>
        %got = tile.load %c[%i, %j] : !half -> tensor<1x64xf16>
        iris.expect_eq %got, %want, "relu(a x b + bias)" : tensor<1x64xf16>
      }
    }
    gpu.return
  }
}

// One shape: both kernels, both checked.
func.func @run(%ctx: !iris.ctx, %m: index, %n: index, %k: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %saltA = arith.constant 1 : i32
  %saltB = arith.constant 2 : i32
  %saltBias = arith.constant 3 : i32
  %a = iris.alloc(%m, %k) : !half
  %b = iris.alloc(%k, %n) : !half
  %c = iris.alloc(%m, %n) : !half
  %d = iris.alloc(%m, %n) : !half
  %row = iris.alloc(%c1, %n) : !half
  %bias = memref.collapse_shape %row [[0, 1]] : !half into !line
  iris.launch @kernels::@fill programs(%c4) args(%ctx, %a, %saltA : !iris.ctx, !half, i32)
  iris.launch @kernels::@fill programs(%c4) args(%ctx, %b, %saltB : !iris.ctx, !half, i32)
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %row, %saltBias : !iris.ctx, !half, i32)

  iris.launch @kernels::@multiply programs(%c4)
      args(%ctx, %a, %b, %c, %bias : !iris.ctx, !half, !half, !half, !line)
  iris.launch @kernels::@check programs(%c4) args(%ctx, %c, %k : !iris.ctx, !half, index)

  iris.matmul %ctx, %a, %b, %d bias(%bias : !line)
      {activation = "relu", tile_m = 64, tile_n = 64, tile_k = 32, group_m = 4}
      : !half, !half, !half
  iris.launch @kernels::@check programs(%c4) args(%ctx, %d, %k : !iris.ctx, !half, index)
  iris.sync %ctx
  iris.dealloc %row : !half
  iris.dealloc %d : !half
  iris.dealloc %c : !half
  iris.dealloc %b : !half
  iris.dealloc %a : !half
  return
}

func.func @main(%ctx: !iris.ctx) {
  // Whole tiles; partial tiles at every edge; less than one tile.
  %c5 = arith.constant 5 : index
  %c17 = arith.constant 17 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %c200 = arith.constant 200 : index
  %c333 = arith.constant 333 : index
  func.call @run(%ctx, %c128, %c128, %c96) : (!iris.ctx, index, index, index) -> ()
  func.call @run(%ctx, %c333, %c200, %c17) : (!iris.ctx, index, index, index) -> ()
  func.call @run(%ctx, %c5, %c17, %c333) : (!iris.ctx, index, index, index) -> ()
  return
}
