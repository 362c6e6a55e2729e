// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmul + all-gather: every rank holds some columns of b, computes these
// columns of c, and stores each tile to all ranks as soon as it is computed.
// Once by a hand-written kernel, and once by `iris.matmul_all_gather`. To run
// it on four ranks of this machine, with every element of both results checked:
//
//   iris-run -n 4 examples/06-matmul-all-scatter/matmul_all_scatter.mlir

!half = memref<?x?xf16, #iris.symmetric>
!window = memref<?x?xf16, strided<[?, 1], offset: ?>, #iris.symmetric>
!flags = memref<?xi32, #iris.symmetric>
!tile = tensor<64x64xf32>

gpu.module @kernels {
  // This rank's columns of c = a x b, stored to all ranks.
  gpu.func @multiply_scatter(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !half,
                             %state: !flags)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %a, %c0 : !half
    %k = memref.dim %a, %c1 : !half
    %n = memref.dim %b, %c1 : !half
    // Stores past the edge of this view are masked, so a partial tile does not
    // write into the next rank's columns.
    %first = arith.muli %rank, %n : index
    %own = memref.subview %c[0, %first] [%m, %n] [1, 1] : !half to !window
    %m63 = arith.addi %m, %c63 : index
    %rows = arith.divui %m63, %c64 : index
    %n63 = arith.addi %n, %c63 : index
    %columns = arith.divui %n63, %c64 : index
    %tiles = arith.muli %rows, %columns : index

    // After this barrier, no rank uses the previous contents of c.
    iris.barrier %ctx, %state : !flags
    scf.for %t = %pid to %tiles step %programs {
      %row = arith.divui %t, %columns : index
      %column = arith.remui %t, %columns : index
      %i = arith.muli %row, %c64 : index
      %j = arith.muli %column, %c64 : index
      %sum = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%k) block(32)
          : !half, !half -> !tile
      %result = arith.truncf %sum : !tile to tensor<64x64xf16>
      // Every rank begins with a different peer.
      scf.for %r = %c0 to %ranks step %c1 {
        %next = arith.addi %rank, %r : index
        %peer = arith.remui %next, %ranks : index
        iris.store %ctx, %result, %own[%i, %j] to %peer
            : tensor<64x64xf16>, !window
      }
    }
    // After this barrier, all tiles of all ranks have arrived.
    iris.barrier %ctx, %state : !flags
    gpu.return
  }

  // Small integers in -4 .. 3, a hash of (i, j in the whole matrix, %salt), so
  // that every sum is exact.
  func.func @number(%salt: i32, %i: tensor<1x64xi32>,
                    %j: tensor<1x64xi32>) -> tensor<1x64xi32> {
    %p = arith.constant dense<1009> : tensor<1x64xi32>
    %c1 = arith.constant dense<-1640531535> : tensor<1x64xi32>
    %c2 = arith.constant dense<739982445> : tensor<1x64xi32>
    %shift = arith.constant dense<15> : tensor<1x64xi32>
    %top = arith.constant dense<29> : tensor<1x64xi32>
    %half = arith.constant dense<4> : tensor<1x64xi32>
    %prime = arith.constant 31337 : i32
    %seed = arith.muli %salt, %prime : i32
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

  // Fills a chunk whose first element is (%row0, %column0) of the whole matrix.
  gpu.func @fill(%ctx: !iris.ctx, %out: !half, %salt: i32, %row0: index,
                 %column0: index) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %m = memref.dim %out, %c0 : !half
    %n = memref.dim %out, %c1 : !half
    scf.for %i = %pid to %m step %programs {
      scf.for %j = %c0 to %n step %c64 {
        %row = arith.addi %row0, %i : index
        %column = arith.addi %column0, %j : index
        %rows, %columns = func.call @coordinates(%row, %column)
            : (index, index) -> (tensor<1x64xi32>, tensor<1x64xi32>)
        %h = func.call @number(%salt, %rows, %columns)
            : (i32, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
        %v = arith.sitofp %h : tensor<1x64xi32> to tensor<1x64xf16>
        tile.store %v, %out[%i, %j] : tensor<1x64xf16>, !half
      }
    }
    gpu.return
  }

  // Recomputes the result from the same hashes, one k at a time.
  gpu.func @check(%ctx: !iris.ctx, %c: !half, %k: index, %saltA: i32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %saltB = arith.constant 2 : i32
    %none = arith.constant dense<0> : tensor<1x64xi32>
    %zeros = arith.constant dense<0.0> : tensor<1x64xf16>
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
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
          %x = func.call @number(%saltA, %rows, %ats)
              : (i32, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
          %y = func.call @number(%saltB, %ats, %columns)
              : (i32, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
          %xy = arith.muli %x, %y : tensor<1x64xi32>
          %next = arith.addi %s, %xy : tensor<1x64xi32>
          scf.yield %next : tensor<1x64xi32>
        }
        %f = arith.sitofp %sum : tensor<1x64xi32> to tensor<1x64xf32>
        %value = arith.truncf %f : tensor<1x64xf32> to tensor<1x64xf16>
        %inside = arith.cmpi ult, %columns, %end : tensor<1x64xi32>
        %want = arith.select %inside, %value, %zeros
            : tensor<1x64xi1>, tensor<1x64xf16>
        %got = tile.load %c[%i, %j] : !half -> tensor<1x64xf16>
        iris.expect_eq %got, %want, "a x b on all ranks" : tensor<1x64xf16>
      }
    }
    gpu.return
  }
}

// One shape: both kernels, on inputs that change in every iteration. Ranks
// synchronize only inside the kernels.
func.func @run(%ctx: !iris.ctx, %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c10 = arith.constant 10 : i32
  %saltB = arith.constant 2 : i32
  %rank = iris.rank %ctx : index
  %ranks = iris.num_ranks %ctx : index
  %whole = arith.muli %n, %ranks : index
  %first = arith.muli %n, %rank : index
  %lines = arith.muli %c4, %ranks : index
  %words = arith.muli %lines, %c32 : index
  %state = iris.alloc(%words) : !flags
  %a = iris.alloc(%m, %k) : !half
  %b = iris.alloc(%k, %n) : !half
  %c = iris.alloc(%m, %whole) : !half
  %d = iris.alloc(%m, %whole) : !half
  iris.launch @kernels::@fill programs(%c4)
      args(%ctx, %b, %saltB, %c0, %first : !iris.ctx, !half, i32, index, index)
  scf.for %iteration = %c0 to %c3 step %c1 {
    %iteration32 = arith.index_cast %iteration : index to i32
    %saltA = arith.addi %iteration32, %c10 : i32
    iris.launch @kernels::@fill programs(%c4)
        args(%ctx, %a, %saltA, %c0, %c0 : !iris.ctx, !half, i32, index, index)
    iris.launch @kernels::@multiply_scatter programs(%c4)
        args(%ctx, %a, %b, %c, %state : !iris.ctx, !half, !half, !half, !flags)
    iris.matmul_all_gather %ctx, %a, %b, %d
        {shard = "n", tile_m = 64, tile_n = 64, tile_k = 32, programs = 4}
        : !half, !half, !half
    iris.launch @kernels::@check programs(%c4)
        args(%ctx, %c, %k, %saltA : !iris.ctx, !half, index, i32)
    iris.launch @kernels::@check programs(%c4)
        args(%ctx, %d, %k, %saltA : !iris.ctx, !half, index, i32)
  }
  iris.sync %ctx
  return
}

func.func @main(%ctx: !iris.ctx) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c45 = arith.constant 45 : index
  %c77 = arith.constant 77 : index
  func.call @run(%ctx, %c128, %c64, %c128) : (!iris.ctx, index, index, index) -> ()
  func.call @run(%ctx, %c77, %c45, %c77) : (!iris.ctx, index, index, index) -> ()
  return
}
