// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of i16 and i8 of neighbouring numbers, some of which overflow, beside sums of
// i32. ptxas let the overflow of one reach the next one.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

#columns = #tile.blocked<size_per_thread = [2, 1], threads_per_warp = [1, 32],
                         warps_per_cta = [1, 2], order = [1, 0]>
!word = memref<?xi32, #iris.symmetric>
!shorts = memref<?x?xi16, #iris.symmetric>
!bytes = memref<?x?xi8, #iris.symmetric>
!words = tensor<16x32xi32>

gpu.module @kernels {
  // A thread has all rows of a column: one number plus 0, 1, 2, ..., which passes
  // a power of two.
  gpu.func @add_shorts(%ctx: !iris.ctx, %start: !word, %to: !shorts) kernel
      attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %s = memref.load %start[%c0] : !word
    %range = tile.range dim 0 : tensor<16x32xi32, #columns>
    %splat = tensor.splat %s : tensor<16x32xi32, #columns>
    %sum = arith.addi %range, %splat : tensor<16x32xi32, #columns>
    %short = arith.trunci %sum
        : tensor<16x32xi32, #columns> to tensor<16x32xi16, #columns>
    tile.store %short, %to[%c0, %c0] : tensor<16x32xi16, #columns>, !shorts
    gpu.return
  }
  gpu.func @add_bytes(%ctx: !iris.ctx, %start: !word, %to: !bytes) kernel
      attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %s = memref.load %start[%c0] : !word
    %range = tile.range dim 0 : tensor<16x32xi32, #columns>
    %splat = tensor.splat %s : tensor<16x32xi32, #columns>
    %sum = arith.addi %range, %splat : tensor<16x32xi32, #columns>
    %short = arith.trunci %sum
        : tensor<16x32xi32, #columns> to tensor<16x32xi8, #columns>
    tile.store %short, %to[%c0, %c0] : tensor<16x32xi8, #columns>, !bytes
    gpu.return
  }
  gpu.func @set(%ctx: !iris.ctx, %start: !word, %value: i32) kernel {
    %c0 = arith.constant 0 : index
    memref.store %value, %start[%c0] : !word
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %start: !word, %shorts: !shorts,
                  %bytes: !bytes) kernel {
    %c0 = arith.constant 0 : index
    %s = memref.load %start[%c0] : !word
    %range = tile.range dim 0 : !words
    %splat = tensor.splat %s : !words
    %sum = arith.addi %range, %splat : !words
    %c16 = arith.constant dense<16> : !words
    %high = arith.shli %sum, %c16 : !words
    %wantShort = arith.shrsi %high, %c16 : !words
    %short = tile.load %shorts[%c0, %c0] : !shorts -> tensor<16x32xi16>
    %gotShort = arith.extsi %short : tensor<16x32xi16> to !words
    iris.expect_eq %gotShort, %wantShort, "short" : !words
    %c24 = arith.constant dense<24> : !words
    %top = arith.shli %sum, %c24 : !words
    %wantByte = arith.shrsi %top, %c24 : !words
    %byte = tile.load %bytes[%c0, %c0] : !bytes -> tensor<16x32xi8>
    %gotByte = arith.extsi %byte : tensor<16x32xi8> to !words
    iris.expect_eq %gotByte, %wantByte, "byte" : !words
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 32 : index
  %start = iris.alloc(%one) : !word
  %shorts = iris.alloc(%rows, %columns) : !shorts
  %bytes = iris.alloc(%rows, %columns) : !bytes
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %one {
    %odd = arith.constant 65521 : i32
    %step = arith.constant -16339 : i32
    %i32 = arith.index_cast %i : index to i32
    %more = arith.muli %i32, %step : i32
    %value = arith.addi %odd, %more : i32
    iris.launch @kernels::@set programs(%one) args(%ctx, %start, %value
        : !iris.ctx, !word, i32)
    iris.launch @kernels::@add_shorts programs(%one) args(%ctx, %start, %shorts
        : !iris.ctx, !word, !shorts)
    iris.launch @kernels::@add_bytes programs(%one) args(%ctx, %start, %bytes
        : !iris.ctx, !word, !bytes)
    iris.launch @kernels::@check programs(%one) args(%ctx, %start, %shorts, %bytes
        : !iris.ctx, !word, !shorts, !bytes)
  }
  iris.sync %ctx
  return
}
