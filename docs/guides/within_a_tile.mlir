// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program computes within a tile by a buffer of its own: a scan, a sort, a
// reshape, a gather, a matmul of tiles; and atomics at computed coordinates.

!matrix = memref<?x?xf16, #iris.symmetric>
!words = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // The sums of rank, rank + 1, rank + 2, ...
  gpu.func @scan(%ctx: !iris.ctx) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %r = arith.index_cast %rank : index to i32
    %ranks = tensor.splat %r : tensor<256xi32>
    %i = tile.range : tensor<256xi32>
    %v = arith.addi %i, %ranks : tensor<256xi32>
    // [scan]
    %buffer = memref.alloca() : memref<256xi32>
    %lane = tile.range : tensor<256xindex>
    %steps = arith.constant 8 : index
    %sums = scf.for %k = %c0 to %steps step %c1
        iter_args(%sum = %v) -> (tensor<256xi32>) {
      tile.store %sum, %buffer[%c0] : tensor<256xi32>, memref<256xi32>
      %distance = arith.shli %c1, %k : index
      %distances = tensor.splat %distance : tensor<256xindex>
      %before = arith.subi %lane, %distances : tensor<256xindex>
      %other = tile.gather %buffer[%before] // 0 in front of the buffer
          : memref<256xi32>, tensor<256xindex> -> tensor<256xi32>
      %next = arith.addi %sum, %other : tensor<256xi32>
      scf.yield %next : tensor<256xi32>
    }
    // [/scan]
    %one = arith.constant dense<1> : tensor<256xi32>
    %count = arith.addi %i, %one : tensor<256xi32>
    %product = arith.muli %i, %count : tensor<256xi32>
    %half = arith.shrui %product, %one : tensor<256xi32>
    %more = arith.muli %count, %ranks : tensor<256xi32>
    %want = arith.addi %half, %more : tensor<256xi32>
    iris.expect_eq %sums, %want, "scan" : tensor<256xi32>
    gpu.return
  }

  // Sorts 0 ... 255.
  gpu.func @sort(%ctx: !iris.ctx) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = tile.range : tensor<256xi32>
    %odd = arith.constant dense<37> : tensor<256xi32>
    %mask = arith.constant dense<255> : tensor<256xi32>
    %scaled = arith.muli %i, %odd : tensor<256xi32>
    %v = arith.andi %scaled, %mask : tensor<256xi32>
    // [sort]
    %buffer = memref.alloca() : memref<256xi32>
    %lane = tile.range : tensor<256xindex>
    %zero = arith.constant dense<0> : tensor<256xindex>
    %steps = arith.constant 8 : index
    %sorted = scf.for %k = %c0 to %steps step %c1
        iter_args(%outer = %v) -> (tensor<256xi32>) {
      %half = arith.shli %c1, %k : index
      %run = arith.shli %half, %c1 : index
      %runs = tensor.splat %run : tensor<256xindex>
      %runBit = arith.andi %lane, %runs : tensor<256xindex>
      %ascends = arith.cmpi eq, %runBit, %zero : tensor<256xindex>
      %stages = arith.addi %k, %c1 : index
      %merged = scf.for %j = %c0 to %stages step %c1
          iter_args(%inner = %outer) -> (tensor<256xi32>) {
        %distance = arith.shrui %half, %j : index
        %distances = tensor.splat %distance : tensor<256xindex>
        %partner = arith.xori %lane, %distances : tensor<256xindex>
        tile.store %inner, %buffer[%c0] : tensor<256xi32>, memref<256xi32>
        %other = tile.gather %buffer[%partner]
            : memref<256xi32>, tensor<256xindex> -> tensor<256xi32>
        %bit = arith.andi %lane, %distances : tensor<256xindex>
        %isFirst = arith.cmpi eq, %bit, %zero : tensor<256xindex>
        %less = arith.minsi %inner, %other : tensor<256xi32>
        %greater = arith.maxsi %inner, %other : tensor<256xi32>
        %takesGreater = arith.xori %ascends, %isFirst : tensor<256xi1>
        %next = arith.select %takesGreater, %greater, %less
            : tensor<256xi1>, tensor<256xi32>
        scf.yield %next : tensor<256xi32>
      }
      scf.yield %merged : tensor<256xi32>
    }
    // [/sort]
    iris.expect_eq %sorted, %i, "sort" : tensor<256xi32>
    gpu.return
  }

  // 0 ... 255 as rows of 16, and in reverse.
  gpu.func @reshape(%ctx: !iris.ctx) kernel {
    %c0 = arith.constant 0 : index
    %v = tile.range : tensor<256xi32>
    // [reshape]
    %buffer = memref.alloca() : memref<256xi32>
    tile.store %v, %buffer[%c0] : tensor<256xi32>, memref<256xi32>
    %rows = memref.expand_shape %buffer [[0, 1]] output_shape [16, 16]
        : memref<256xi32> into memref<16x16xi32>
    %square = tile.load %rows[%c0, %c0]
        : memref<16x16xi32> -> tensor<16x16xi32>
    %lane = tile.range : tensor<256xindex>
    %last = arith.constant dense<255> : tensor<256xindex>
    %mirrored = arith.subi %last, %lane : tensor<256xindex>
    %reversed = tile.gather %buffer[%mirrored]
        : memref<256xi32>, tensor<256xindex> -> tensor<256xi32>
    // [/reshape]
    %row = tile.range dim 0 : tensor<16x16xi32>
    %column = tile.range dim 1 : tensor<16x16xi32>
    %c16 = arith.constant dense<16> : tensor<16x16xi32>
    %start = arith.muli %row, %c16 : tensor<16x16xi32>
    %want = arith.addi %start, %column : tensor<16x16xi32>
    iris.expect_eq %square, %want, "reshape" : tensor<16x16xi32>
    %end = arith.constant dense<255> : tensor<256xi32>
    %wantReversed = arith.subi %end, %v : tensor<256xi32>
    iris.expect_eq %reversed, %wantReversed, "reverse" : tensor<256xi32>
    gpu.return
  }

  // a[i, j] = (i + j) mod 4, and b = 2 where i = j, else 0.
  gpu.func @fill(%ctx: !iris.ctx, %a: !matrix, %b: !matrix) kernel {
    %c0 = arith.constant 0 : index
    %row = tile.range dim 0 : tensor<32x32xi32>
    %column = tile.range dim 1 : tensor<32x32xi32>
    %sum = arith.addi %row, %column : tensor<32x32xi32>
    %three = arith.constant dense<3> : tensor<32x32xi32>
    %mod = arith.andi %sum, %three : tensor<32x32xi32>
    %v = arith.sitofp %mod : tensor<32x32xi32> to tensor<32x32xf16>
    tile.store %v, %a[%c0, %c0] : tensor<32x32xf16>, !matrix
    %isDiagonal = arith.cmpi eq, %row, %column : tensor<32x32xi32>
    %two = arith.constant dense<2.0> : tensor<32x32xf16>
    %zero = arith.constant dense<0.0> : tensor<32x32xf16>
    %w = arith.select %isDiagonal, %two, %zero
        : tensor<32x32xi1>, tensor<32x32xf16>
    tile.store %w, %b[%c0, %c0] : tensor<32x32xf16>, !matrix
    gpu.return
  }

  // max(a a - 64, 0) b, where the first matmul's result stays in the program.
  gpu.func @dot(%ctx: !iris.ctx, %a: !matrix, %b: !matrix) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %c64 = arith.constant dense<64.0> : tensor<32x32xf32>
    // [dot]
    %n = arith.constant 32 : index
    %p = tile.matmul %a[%c0, %c0], %a[%c0, %c0] k(%n) block(32)
        : !matrix, !matrix -> tensor<32x32xf32>
    %less = arith.subf %p, %c64 : tensor<32x32xf32>
    %q = arith.maximumf %less, %zero : tensor<32x32xf32>
    %operand = memref.alloca() : memref<32x32xf16>
    %narrow = arith.truncf %q : tensor<32x32xf32> to tensor<32x32xf16>
    tile.store %narrow, %operand[%c0, %c0]
        : tensor<32x32xf16>, memref<32x32xf16>
    %result = tile.matmul %operand[%c0, %c0], %b[%c0, %c0] k(%n) block(32)
        : memref<32x32xf16>, !matrix -> tensor<32x32xf32>
    // [/dot]
    %want = arith.addf %q, %q : tensor<32x32xf32>
    iris.expect_eq %result, %want, "matmul of a tile" : tensor<32x32xf32>
    gpu.return
  }

  // Counts the numbers 7 i mod 16.
  gpu.func @histogram(%ctx: !iris.ctx, %bins: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 64 : index
    %one = arith.constant 1 : i32
    %i = tile.range : tensor<64xi32>
    %odd = arith.constant dense<7> : tensor<64xi32>
    %mask = arith.constant dense<15> : tensor<64xi32>
    %scaled = arith.muli %i, %odd : tensor<64xi32>
    %v = arith.andi %scaled, %mask : tensor<64xi32>
    // [histogram]
    %keys = memref.alloca() : memref<64xi32>
    tile.store %v, %keys[%c0] : tensor<64xi32>, memref<64xi32>
    scf.for %k = %c0 to %n step %c1 {
      %key = memref.load %keys[%k] : memref<64xi32>
      %bin = arith.index_cast %key : i32 to index
      %old = iris.atomic_rmw add %ctx, %one, %bins[%bin] sem(relaxed) scope(gpu)
          : i32, !words
    }
    // [/histogram]
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %bins: !words) kernel {
    %c0 = arith.constant 0 : index
    %got = tile.load %bins[%c0] : !words -> tensor<16xi32>
    %want = arith.constant dense<8> : tensor<16xi32>
    iris.expect_eq %got, %want, "histogram" : tensor<16xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %a = iris.alloc(%c32, %c32) : !matrix
  %b = iris.alloc(%c32, %c32) : !matrix
  %bins = iris.alloc(%c16) : !words
  iris.launch @kernels::@scan programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@sort programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@reshape programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@fill programs(%c1)
      args(%ctx, %a, %b : !iris.ctx, !matrix, !matrix)
  iris.launch @kernels::@dot programs(%c1)
      args(%ctx, %a, %b : !iris.ctx, !matrix, !matrix)
  iris.launch @kernels::@histogram programs(%c2)
      args(%ctx, %bins : !iris.ctx, !words)
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %bins : !iris.ctx, !words)
  return
}
