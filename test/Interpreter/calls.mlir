// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives and matmuls of `@main` in the interpreter, with expected values
// from their definitions; ranks.mlir has all_reduce and all_gather.
//
// RUN: iris-run --device=reference -n 1 %s
// RUN: iris-run --device=reference -n 2 --schedule-seed=1 %s
// RUN: iris-run --device=reference -n 3 --schedule-seed=2 %s | FileCheck %s
// RUN: iris-run --device=reference -n 4 --schedule-seed=3 %s
// RUN: iris-run --device=reference -n 8 --schedule-seed=4 %s
// CHECK: 3 ranks on reference: all 5511 checks passed

!buffer = memref<?xi32, #iris.symmetric>
!table = memref<?xi64, #iris.symmetric>
!halves = memref<?x?xf16, #iris.symmetric>
!floats = memref<?x?xf32, #iris.symmetric>
!line = memref<?xf32, #iris.symmetric>

gpu.module @kernels {
  // Element i is 100 rank + i.
  gpu.func @fill(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %r = arith.index_cast %rank : index to i32
    %100 = arith.constant 100 : i32
    %first = arith.muli %r, %100 : i32
    %t = tensor.splat %first : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %v = arith.addi %t, %i : tensor<64xi32>
    tile.store %v, %b[%c0] : tensor<64xi32>, !buffer
    gpu.return
  }
  // Tables of chunks: member i has (rank + i) mod 3 elements from 3 i on, which
  // both sides know, or, in the others, i + 1 elements from i (i + 1) / 2 on.
  gpu.func @tables(%ctx: !iris.ctx, %counts: !table, %offsets: !table,
                   %own: !table, %starts: !table) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    scf.for %i = %c0 to %ranks step %c1 {
      %sum = arith.addi %rank, %i : index
      %n = arith.remui %sum, %c3 : index
      %n64 = arith.index_cast %n : index to i64
      memref.store %n64, %counts[%i] : !table
      %at = arith.muli %i, %c3 : index
      %at64 = arith.index_cast %at : index to i64
      memref.store %at64, %offsets[%i] : !table
      %next = arith.addi %i, %c1 : index
      %next64 = arith.index_cast %next : index to i64
      memref.store %next64, %own[%i] : !table
      %twice = arith.muli %i, %next : index
      %half = arith.divui %twice, %c2 : index
      %half64 = arith.index_cast %half : index to i64
      memref.store %half64, %starts[%i] : !table
    }
    gpu.return
  }
  // Element at `at` + i is `first` + i, for i < n.
  gpu.func @check(%ctx: !iris.ctx, %b: !buffer, %at: index, %first: index,
                  %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %offset = arith.addi %at, %i : index
      %got = memref.load %b[%offset] : !buffer
      %value = arith.addi %first, %i : index
      %want = arith.index_cast %value : index to i32
      iris.expect_eq %got, %want, "element" : i32
    }
    gpu.return
  }

  // Element (i, k) of a is i + k + rank, in tiles of 16 rows.
  gpu.func @fill_a(%ctx: !iris.ctx, %a: !halves) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %rows = memref.dim %a, %c0 : !halves
    %rank = iris.rank %ctx : index
    scf.for %from = %c0 to %rows step %c16 {
      %base = arith.addi %from, %rank : index
      %b32 = arith.index_cast %base : index to i32
      %t = tensor.splat %b32 : tensor<16x16xi32>
      %i = tile.range dim 0 : tensor<16x16xi32>
      %k = tile.range dim 1 : tensor<16x16xi32>
      %ik = arith.addi %i, %k : tensor<16x16xi32>
      %v = arith.addi %ik, %t : tensor<16x16xi32>
      %f = arith.sitofp %v : tensor<16x16xi32> to tensor<16x16xf16>
      tile.store %f, %a[%from, %c0] : tensor<16x16xf16>, !halves
    }
    gpu.return
  }
  // Row k of b has j in column j, the others are 0: column j of a x b is
  // j times column k of a.
  gpu.func @fill_b(%b: !halves, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %j = tile.range dim 1 : tensor<1x16xi32>
    %f = arith.sitofp %j : tensor<1x16xi32> to tensor<1x16xf16>
    tile.store %f, %b[%k, %c0] : tensor<1x16xf16>, !halves
    gpu.return
  }
  // Element j is j - 100.
  gpu.func @fill_bias(%bias: !line) kernel {
    %c0 = arith.constant 0 : index
    %j = tile.range : tensor<16xi32>
    %100 = arith.constant dense<100> : tensor<16xi32>
    %v = arith.subi %j, %100 : tensor<16xi32>
    %f = arith.sitofp %v : tensor<16xi32> to tensor<16xf32>
    tile.store %f, %bias[%c0] : tensor<16xf32>, !line
    gpu.return
  }
  // Element (row + i, j) is j (x (i + y) + z).
  gpu.func @check_c(%ctx: !iris.ctx, %c: !floats, %row: index, %x: index,
                    %y: index, %z: index) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range dim 0 : tensor<16x16xindex>
    %j = tile.range dim 1 : tensor<16x16xindex>
    %xs = tensor.splat %x : tensor<16x16xindex>
    %ys = tensor.splat %y : tensor<16x16xindex>
    %zs = tensor.splat %z : tensor<16x16xindex>
    %iy = arith.addi %i, %ys : tensor<16x16xindex>
    %xiy = arith.muli %xs, %iy : tensor<16x16xindex>
    %sum = arith.addi %xiy, %zs : tensor<16x16xindex>
    %v = arith.muli %sum, %j : tensor<16x16xindex>
    %v32 = arith.index_cast %v : tensor<16x16xindex> to tensor<16x16xi32>
    %want = arith.sitofp %v32 : tensor<16x16xi32> to tensor<16x16xf32>
    %got = tile.load %c[%row, %c0] : !floats -> tensor<16x16xf32>
    iris.expect_eq %got, %want, "matmul" : tensor<16x16xf32>
    gpu.return
  }
  // max(0, (i + 3 + rank) j / 2 + j - 100).
  gpu.func @check_epilogue(%ctx: !iris.ctx, %c: !floats) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %c3 = arith.constant 3 : index
    %first = arith.addi %rank, %c3 : index
    %f32s = arith.index_cast %first : index to i32
    %t = tensor.splat %f32s : tensor<16x16xi32>
    %i = tile.range dim 0 : tensor<16x16xi32>
    %j = tile.range dim 1 : tensor<16x16xi32>
    %sum = arith.addi %i, %t : tensor<16x16xi32>
    %all = arith.muli %sum, %j : tensor<16x16xi32>
    %allf = arith.sitofp %all : tensor<16x16xi32> to tensor<16x16xf32>
    %half = arith.constant dense<0.5> : tensor<16x16xf32>
    %scaled = arith.mulf %allf, %half : tensor<16x16xf32>
    %jf = arith.sitofp %j : tensor<16x16xi32> to tensor<16x16xf32>
    %minus = arith.constant dense<-100.0> : tensor<16x16xf32>
    %bias = arith.addf %jf, %minus : tensor<16x16xf32>
    %biased = arith.addf %scaled, %bias : tensor<16x16xf32>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %want = arith.maximumf %biased, %zero : tensor<16x16xf32>
    %got = tile.load %c[%c0, %c0] : !floats -> tensor<16x16xf32>
    iris.expect_eq %got, %want, "scale, bias and activation" : tensor<16x16xf32>
    gpu.return
  }
}

func.func private @expect(%ctx: !iris.ctx, %b: !buffer, %at: index, %first: index,
                          %n: index) {
  %c1 = arith.constant 1 : index
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %at, %first, %n : !iris.ctx, !buffer, index, index, index)
  func.return
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %rank = iris.rank %ctx : index
  %ranks = iris.num_ranks %ctx : index
  %last = arith.subi %ranks, %c1 : index
  %isRoot = arith.cmpi eq, %rank, %last : index
  %chunks = arith.muli %ranks, %c3 : index
  %at = arith.muli %rank, %c3 : index
  %lastFirst = arith.muli %last, %c100 : index
  %in = iris.alloc(%chunks) : !buffer
  %one = iris.alloc(%c3) : !buffer
  %out = iris.alloc(%chunks) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %in : !iris.ctx, !buffer)
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %one : !iris.ctx, !buffer)

  // Chunk s is rank s's chunk for this rank.
  iris.all_to_all %ctx, %in, %out : !buffer, !buffer
  scf.for %s = %c0 to %ranks step %c1 {
    %to = arith.muli %s, %c3 : index
    %first = arith.muli %s, %c100 : index
    %value = arith.addi %first, %at : index
    func.call @expect(%ctx, %out, %to, %value, %c3)
        : (!iris.ctx, !buffer, index, index, index) -> ()
  }

  // The last rank's.
  %broadcast = iris.alloc(%c3) : !buffer
  iris.broadcast %ctx, %one, %broadcast root(%last) : !buffer, !buffer
  func.call @expect(%ctx, %broadcast, %c0, %lastFirst, %c3)
      : (!iris.ctx, !buffer, index, index, index) -> ()
  %scattered = iris.alloc(%c3) : !buffer
  iris.scatter_from %ctx, %in, %scattered root(%last) : !buffer, !buffer
  %scattered.first = arith.addi %lastFirst, %at : index
  func.call @expect(%ctx, %scattered, %c0, %scattered.first, %c3)
      : (!iris.ctx, !buffer, index, index, index) -> ()

  // To the root alone: the other outputs stay 0.
  %gathered = iris.alloc(%chunks) : !buffer
  iris.gather_to %ctx, %one, %gathered root(%last) : !buffer, !buffer
  %reduced = iris.alloc(%c3) : !buffer
  iris.reduce max %ctx, %one, %reduced root(%last) : !buffer, !buffer
  scf.if %isRoot {
    scf.for %s = %c0 to %ranks step %c1 {
      %to = arith.muli %s, %c3 : index
      %first = arith.muli %s, %c100 : index
      func.call @expect(%ctx, %gathered, %to, %first, %c3)
          : (!iris.ctx, !buffer, index, index, index) -> ()
    }
    func.call @expect(%ctx, %reduced, %c0, %lastFirst, %c3)
        : (!iris.ctx, !buffer, index, index, index) -> ()
  } else {
    scf.for %i = %c0 to %chunks step %c1 {
      func.call @expect(%ctx, %gathered, %i, %c0, %c1)
          : (!iris.ctx, !buffer, index, index, index) -> ()
    }
    scf.for %i = %c0 to %c3 step %c1 {
      func.call @expect(%ctx, %reduced, %i, %c0, %c1)
          : (!iris.ctx, !buffer, index, index, index) -> ()
    }
  }

  // The minimum of all is rank 0's: its chunk for this rank.
  %least = iris.alloc(%c3) : !buffer
  iris.reduce_scatter min %ctx, %in, %least : !buffer, !buffer
  func.call @expect(%ctx, %least, %c0, %at, %c3)
      : (!iris.ctx, !buffer, index, index, index) -> ()

  // Chunks of any length.
  %counts = iris.alloc(%ranks) : !table
  %offsets = iris.alloc(%ranks) : !table
  %lengths = iris.alloc(%ranks) : !table
  %starts = iris.alloc(%ranks) : !table
  iris.launch @kernels::@tables programs(%c1)
      args(%ctx, %counts, %offsets, %lengths, %starts
           : !iris.ctx, !table, !table, !table, !table)
  %ragged = iris.alloc(%chunks) : !buffer
  iris.all_to_all_v %ctx, %in chunks(%counts, %offsets),
      %ragged chunks(%counts, %offsets) : !buffer, !buffer, !table
  scf.for %s = %c0 to %ranks step %c1 {
    %to = arith.muli %s, %c3 : index
    %sum = arith.addi %rank, %s : index
    %n = arith.remui %sum, %c3 : index
    %first = arith.muli %s, %c100 : index
    %value = arith.addi %first, %at : index
    func.call @expect(%ctx, %ragged, %to, %value, %n)
        : (!iris.ctx, !buffer, index, index, index) -> ()
    // What follows the chunk is not written.
    %end = arith.addi %to, %n : index
    %next = arith.addi %to, %c3 : index
    scf.for %i = %end to %next step %c1 {
      func.call @expect(%ctx, %ragged, %i, %c0, %c1)
          : (!iris.ctx, !buffer, index, index, index) -> ()
    }
  }
  %long = iris.alloc(%c64) : !buffer
  %all = iris.alloc(%c64) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %long : !iris.ctx, !buffer)
  iris.all_gather_v %ctx, %long, %all chunks(%lengths, %starts)
      : !buffer, !buffer, !table
  scf.for %s = %c0 to %ranks step %c1 {
    %n = arith.addi %s, %c1 : index
    %twice = arith.muli %s, %n : index
    %to = arith.divui %twice, %c2 : index
    %first = arith.muli %s, %c100 : index
    func.call @expect(%ctx, %all, %to, %first, %n)
        : (!iris.ctx, !buffer, index, index, index) -> ()
  }

  // Matmuls: rows of all ranks are 16 ranks.
  %rows = arith.muli %ranks, %c16 : index
  %a = iris.alloc(%c16, %c16) : !halves
  %tall = iris.alloc(%rows, %c16) : !halves
  %b = iris.alloc(%c16, %c16) : !halves
  %tallB = iris.alloc(%rows, %c16) : !halves
  %bias = iris.alloc(%c16) : !line
  iris.launch @kernels::@fill_a programs(%c1) args(%ctx, %a : !iris.ctx, !halves)
  iris.launch @kernels::@fill_a programs(%c1) args(%ctx, %tall : !iris.ctx, !halves)
  iris.launch @kernels::@fill_b programs(%c1) args(%b, %c3 : !halves, index)
  %lastRow = arith.muli %last, %c16 : index
  %lastRow3 = arith.addi %lastRow, %c3 : index
  iris.launch @kernels::@fill_b programs(%c1) args(%tallB, %lastRow3 : !halves, index)
  iris.launch @kernels::@fill_bias programs(%c1) args(%bias : !line)

  %half = arith.constant 0.5 : f32
  %c = iris.alloc(%c16, %c16) : !floats
  iris.matmul %ctx, %a, %b, %c bias(%bias : !line) scale(%half) {activation = "relu"}
      : !halves, !halves, !floats
  iris.launch @kernels::@check_epilogue programs(%c1) args(%ctx, %c : !iris.ctx, !floats)

  // The shards of a are beside each other; row 3 of the last one's part of b is
  // not 0: (i + 3 + last) j.
  %gatheredC = iris.alloc(%c16, %c16) : !floats
  iris.all_gather_matmul %ctx, %a, %tallB, %gatheredC : !halves, !halves, !floats
  %last3 = arith.addi %last, %c3 : index
  iris.launch @kernels::@check_c programs(%c1)
      args(%ctx, %gatheredC, %c0, %c1, %last3, %c0
           : !iris.ctx, !floats, index, index, index, index)

  // Rows of rank s: (i + 3 + s) j.
  %allC = iris.alloc(%rows, %c16) : !floats
  iris.matmul_all_gather %ctx, %a, %b, %allC : !halves, !halves, !floats
  scf.for %s = %c0 to %ranks step %c1 {
    %row = arith.muli %s, %c16 : index
    %s3 = arith.addi %s, %c3 : index
    iris.launch @kernels::@check_c programs(%c1)
        args(%ctx, %allC, %row, %c1, %s3, %c0
             : !iris.ctx, !floats, index, index, index, index)
  }

  // Sums over all ranks s of (row + 3 + s) j, where row is i, or that of this
  // rank: ranks (row + 3) + ranks (ranks - 1) / 2.
  %pairs2 = arith.muli %ranks, %last : index
  %pairs = arith.divui %pairs2, %c2 : index
  %sumC = iris.alloc(%c16, %c16) : !floats
  iris.matmul_all_reduce %ctx, %a, %b, %sumC : !halves, !halves, !floats
  iris.launch @kernels::@check_c programs(%c1)
      args(%ctx, %sumC, %c0, %ranks, %c3, %pairs
           : !iris.ctx, !floats, index, index, index, index)
  %ownC = iris.alloc(%c16, %c16) : !floats
  iris.matmul_reduce_scatter %ctx, %tall, %b, %ownC : !halves, !halves, !floats
  %ownRow = arith.muli %rank, %c16 : index
  %ownRow3 = arith.addi %ownRow, %c3 : index
  iris.launch @kernels::@check_c programs(%c1)
      args(%ctx, %ownC, %c0, %ranks, %ownRow3, %pairs
           : !iris.ctx, !floats, index, index, index, index)
  iris.sync %ctx
  return
}
