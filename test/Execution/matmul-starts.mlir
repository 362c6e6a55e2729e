// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matmul may start at any element of a matrix, also in the middle of the unit
// of a global-to-shared copy, along the rows of either matrix.
//
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: iris-run -n 1 %t.iris
// RUN: iris-run -n 2 %t.iris

!half = memref<?x?xf16, #iris.symmetric>
!tile = tensor<64x64xf32>

gpu.module @kernels {
  // -3 .. 3, a hash of (rank, row, column, salt).
  gpu.func @fill(%ctx: !iris.ctx, %m: !half, %salt: i32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = arith.constant 1009 : i32
    %c = arith.constant -1640531535 : i32
    %c7 = arith.constant 7 : i32
    %c3 = arith.constant 3 : i32
    %shift = arith.constant 13 : i32
    %rows = memref.dim %m, %c0 : !half
    %columns = memref.dim %m, %c1 : !half
    %rank = iris.rank %ctx : index
    %r = arith.index_cast %rank : index to i32
    %seed = arith.addi %r, %salt : i32
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    scf.for %i = %pid to %rows step %programs {
      scf.for %j = %c0 to %columns step %c1 {
        %x = arith.index_cast %i : index to i32
        %y = arith.index_cast %j : index to i32
        %row = arith.muli %x, %p : i32
        %index = arith.addi %row, %y : i32
        %salted = arith.addi %index, %seed : i32
        %h0 = arith.muli %salted, %c : i32
        %h1 = arith.shrui %h0, %shift : i32
        %h2 = arith.remui %h1, %c7 : i32
        %n = arith.subi %h2, %c3 : i32
        %f = arith.sitofp %n : i32 to f16
        memref.store %f, %m[%i, %j] : !half
      }
    }
    gpu.return
  }

  gpu.func @multiply(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !half,
                    %start: index, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %sum = tile.matmul %a[%c0, %start], %b[%c0, %start] k(%k) block(32)
        : !half, !half -> !tile
    %r = arith.truncf %sum : !tile to tensor<64x64xf16>
    tile.store %r, %c[%c0, %c0] : tensor<64x64xf16>, !half
    gpu.return
  }

  // Some rows, one for each program.
  gpu.func @check(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !half,
                  %start: index, %k: index)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %pid = gpu.block_id x
    %i = arith.muli %pid, %c9 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %column = arith.addi %start, %j : index
      %want = scf.for %l = %c0 to %k step %c1 iter_args(%sum = %zero) -> f32 {
        %at = arith.addi %start, %l : index
        %x = memref.load %a[%i, %at] : !half
        %y = memref.load %b[%l, %column] : !half
        %xf = arith.extf %x : f16 to f32
        %yf = arith.extf %y : f16 to f32
        %xy = arith.mulf %xf, %yf : f32
        %next = arith.addf %sum, %xy : f32
        scf.yield %next : f32
      }
      %w = arith.truncf %want : f32 to f16
      %got = memref.load %c[%i, %j] : !half
      iris.expect_eq %got, %w, "a x b" : f16
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c83 = arith.constant 83 : index
  %c160 = arith.constant 160 : index
  %salt = arith.constant 5 : i32
  %other = arith.constant 77 : i32
  %a = iris.alloc(%c64, %c160) : !half
  %b = iris.alloc(%c83, %c160) : !half
  %c = iris.alloc(%c64, %c64) : !half
  iris.launch @kernels::@fill programs(%c8) args(%ctx, %a, %salt : !iris.ctx, !half, i32)
  iris.launch @kernels::@fill programs(%c8) args(%ctx, %b, %other : !iris.ctx, !half, i32)
  // 0, 5, 10, ... 75: some of them multiples of 8 or of 16; whole blocks of k
  // and less.
  %c0 = arith.constant 0 : index
  %c80 = arith.constant 80 : index
  scf.for %start = %c0 to %c80 step %c5 {
    %more = arith.remui %start, %c3 : index
    %even = arith.cmpi eq, %more, %c0 : index
    %k = arith.select %even, %c64, %c83 : index
    iris.launch @kernels::@multiply programs(%c1) args(%ctx, %a, %b, %c, %start, %k
        : !iris.ctx, !half, !half, !half, index, index)
    iris.launch @kernels::@check programs(%c8) args(%ctx, %a, %b, %c, %start, %k
        : !iris.ctx, !half, !half, !half, index, index)
  }
  return
}
