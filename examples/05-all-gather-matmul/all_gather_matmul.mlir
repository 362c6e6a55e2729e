// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-gather + matmul: every rank holds some columns of a and multiplies all of
// a by b. Once by a hand-written kernel, which reads the chunks from the peers'
// memory during the matmul, and once by `iris.all_gather_matmul`, whose
// generated kernel fetches them into a staging buffer. To run it on four ranks
// of this machine, with every element of both results checked:
//
//   iris-run -n 4 examples/05-all-gather-matmul/all_gather_matmul.mlir

!half = memref<?x?xf16, #iris.symmetric>
!peer = memref<?x?xf16, #iris.peer>
!flags = memref<?xi32, #iris.symmetric>
!tile = tensor<64x64xf32>

gpu.module @kernels {
  // c = (the chunks of a side by side) x b, for chunks whose number of columns
  // is a multiple of 32.
  gpu.func @gather_multiply(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !half,
                            %state: !flags)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %c, %c0 : !half
    %n = memref.dim %c, %c1 : !half
    %chunk = memref.dim %a, %c1 : !half
    %k = arith.muli %chunk, %ranks : index
    %blocks = arith.divui %chunk, %c32 : index
    %m63 = arith.addi %m, %c63 : index
    %rows = arith.divui %m63, %c64 : index
    %n63 = arith.addi %n, %c63 : index
    %columns = arith.divui %n63, %c64 : index
    %tiles = arith.muli %rows, %columns : index

    // After this barrier, every rank has filled its chunk.
    iris.barrier %ctx, %state : !flags
    scf.for %t = %pid to %tiles step %programs {
      %row = arith.divui %t, %columns : index
      %column = arith.remui %t, %columns : index
      %i = arith.muli %row, %c64 : index
      %j = arith.muli %column, %c64 : index
      // One loop over all of k. The region yields the operands of each k-block:
      // every rank begins with its own chunk and continues with that of the
      // next rank, so that no two ranks read from one peer at once.
      %sum = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%k) block(32) {
      ^bb0(%kb: index):
        %step = arith.divui %kb, %blocks : index
        %next = arith.addi %rank, %step : index
        %source = arith.remui %next, %ranks : index
        %block = arith.remui %kb, %blocks : index
        %at = arith.muli %block, %c32 : index
        %start = arith.muli %source, %chunk : index
        %there = arith.addi %start, %at : index
        %peer = iris.translate %ctx, %a to %source : !half -> !peer
        tile.yield %peer[%i, %at], %b[%there, %j] : !peer, !half
      } : !half, !half -> !tile
      %result = arith.truncf %sum : !tile to tensor<64x64xf16>
      tile.store %result, %c[%i, %j] : tensor<64x64xf16>, !half
    }
    // After this barrier, no peer reads this rank's chunk, so it may be
    // overwritten.
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
        iris.expect_eq %got, %want, "gathered a x b" : tensor<1x64xf16>
      }
    }
    gpu.return
  }
}

// One shape: both kernels, on inputs that change in every iteration. Ranks
// synchronize only inside the kernels.
func.func @run(%ctx: !iris.ctx, %m: index, %n: index, %chunk: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c10 = arith.constant 10 : i32
  %saltB = arith.constant 2 : i32
  %rank = iris.rank %ctx : index
  %ranks = iris.num_ranks %ctx : index
  %k = arith.muli %chunk, %ranks : index
  %first = arith.muli %chunk, %rank : index
  %lines = arith.muli %c4, %ranks : index
  %words = arith.muli %lines, %c32 : index
  %state = iris.alloc(%words) : !flags
  %a = iris.alloc(%m, %chunk) : !half
  %b = iris.alloc(%k, %n) : !half
  %c = iris.alloc(%m, %n) : !half
  %d = iris.alloc(%m, %n) : !half
  iris.launch @kernels::@fill programs(%c4)
      args(%ctx, %b, %saltB, %c0, %c0 : !iris.ctx, !half, i32, index, index)
  scf.for %iteration = %c0 to %c3 step %c1 {
    %iteration32 = arith.index_cast %iteration : index to i32
    %saltA = arith.addi %iteration32, %c10 : i32
    iris.launch @kernels::@fill programs(%c4)
        args(%ctx, %a, %saltA, %c0, %first : !iris.ctx, !half, i32, index, index)
    iris.launch @kernels::@gather_multiply programs(%c4)
        args(%ctx, %a, %b, %c, %state : !iris.ctx, !half, !half, !half, !flags)
    iris.all_gather_matmul %ctx, %a, %b, %d
        {variant = "hbm_buffer", tile_m = 64, tile_n = 64, tile_k = 32,
         k_per_flag = 1, programs = 4, num_fetch_programs = 1}
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
  %c200 = arith.constant 200 : index
  %c77 = arith.constant 77 : index
  func.call @run(%ctx, %c128, %c128, %c64) : (!iris.ctx, index, index, index) -> ()
  func.call @run(%ctx, %c77, %c200, %c128) : (!iris.ctx, index, index, index) -> ()
  return
}
