// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: emulator
// Order inside a program of four waves that run at different speeds: data that
// one iteration of the outer loop leaves for the next one, a signal's own
// access, and acquiring atomics. Every kernel reads memory only after another
// launch, or after an access of its own.
//
// RUN: iris-compile %s --target=gfx942 --emit=obj -o %t.gfx942
// RUN: %python %S/emulate.py %s %t.gfx942 --ranks=2
// RUN: iris-compile %s --target=gfx1100 --emit=obj -o %t.gfx1100
// RUN: %python %S/emulate.py %s %t.gfx1100 --ranks=1 --seeds=2
// RUN: iris-compile %s --target=gfx1201 --emit=obj -o %t.gfx1201
// RUN: %python %S/emulate.py %s %t.gfx1201 --ranks=1 --seeds=1

!sym = memref<?xi32, #iris.symmetric>
!rows = memref<?x?xi32, #iris.symmetric>

gpu.module @kernels {
  // A hash of rank and index.
  func.func @hash(%rank: index, %index: tensor<256xi32>) -> tensor<256xi32> {
    %c1 = arith.constant 1 : i32
    %salt = arith.constant -2048144789 : i32
    %factor = arith.constant dense<-1640531535> : tensor<256xi32>
    %c15 = arith.constant dense<15> : tensor<256xi32>
    %r = arith.index_cast %rank : index to i32
    %next = arith.addi %r, %c1 : i32
    %salted = arith.muli %next, %salt : i32
    %s = tensor.splat %salted : tensor<256xi32>
    %m = arith.muli %index, %factor : tensor<256xi32>
    %a = arith.addi %m, %s : tensor<256xi32>
    %b = arith.shrui %a, %c15 : tensor<256xi32>
    %h = arith.xori %a, %b : tensor<256xi32>
    return %h : tensor<256xi32>
  }
  func.func @row(%rank: index, %row: index) -> tensor<1x256xi32> {
    %c256 = arith.constant 256 : i32
    %i = tile.range : tensor<256xi32>
    %r = arith.index_cast %row : index to i32
    %first = arith.muli %r, %c256 : i32
    %f = tensor.splat %first : tensor<256xi32>
    %index = arith.addi %i, %f : tensor<256xi32>
    %h = func.call @hash(%rank, %index) : (index, tensor<256xi32>) -> tensor<256xi32>
    %e = tile.expand_dims %h dim 0 : tensor<256xi32> -> tensor<1x256xi32>
    return %e : tensor<1x256xi32>
  }

  gpu.func @fill(%ctx: !iris.ctx, %b: !rows) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %n = memref.dim %b, %c0 : !rows
    scf.for %t = %c0 to %n step %c1 {
      %v = func.call @row(%rank, %t) : (index, index) -> tensor<1x256xi32>
      tile.store %v, %b[%t, %c0] : tensor<1x256xi32>, !rows
    }
    gpu.return
  }

  // Every row but the first and the last one is in two windows, and is counted
  // twice.
  gpu.func @nested(%ctx: !iris.ctx, %b: !rows, %times: index) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %b, %c0 : !rows
    %last = arith.subi %n, %c1 : index
    %one = arith.constant dense<1> : tensor<2x256xi32>
    scf.for %t = %c0 to %last step %c1 {
      %v = tile.load %b[%t, %c0] : !rows -> tensor<2x256xi32>
      %w = arith.addi %v, %one : tensor<2x256xi32>
      scf.for %r = %c0 to %times step %c1 {
        tile.store %w, %b[%t, %c0] : tensor<2x256xi32>, !rows
      }
    }
    gpu.return
  }
  gpu.func @check_nested(%ctx: !iris.ctx, %b: !rows) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %n = memref.dim %b, %c0 : !rows
    %last = arith.subi %n, %c1 : index
    %i1 = arith.constant 1 : i32
    %i2 = arith.constant 2 : i32
    scf.for %t = %c0 to %n step %c1 {
      %v = tile.load %b[%t, %c0] : !rows -> tensor<1x256xi32>
      %h = func.call @row(%rank, %t) : (index, index) -> tensor<1x256xi32>
      %isFirst = arith.cmpi eq, %t, %c0 : index
      %isLast = arith.cmpi eq, %t, %last : index
      %isEnd = arith.ori %isFirst, %isLast : i1
      %k = arith.select %isEnd, %i1, %i2 : i32
      %count = tensor.splat %k : tensor<1x256xi32>
      %want = arith.addi %h, %count : tensor<1x256xi32>
      iris.expect_eq %v, %want, "rows of overlapping windows" : tensor<1x256xi32>
    }
    gpu.return
  }

  // The leader sets a flag of this rank, with and without naming the rank, and
  // all threads read it.
  gpu.func @signal(%ctx: !iris.ctx, %f: !sym, %o: !rows, %e: i32) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %rank = iris.rank %ctx : index
    iris.signal set %ctx, %e, %f[%c0] : i32, !sym
    %a = memref.load %f[%c0] : !sym
    iris.signal set %ctx, %e, %f[%c32] to %rank : i32, !sym
    iris.signal add %ctx, %e, %f[%c64] to %rank : i32, !sym
    %b = memref.load %f[%c32] : !sym
    iris.atomic_rmw add %ctx, %e, %f[%c64] sem(release) : i32, !sym
    %c = memref.load %f[%c64] : !sym
    %ta = tensor.splat %a : tensor<1x256xi32>
    %tb = tensor.splat %b : tensor<1x256xi32>
    %tc = tensor.splat %c : tensor<1x256xi32>
    tile.store %ta, %o[%c0, %c0] : tensor<1x256xi32>, !rows
    tile.store %tb, %o[%c1, %c0] : tensor<1x256xi32>, !rows
    tile.store %tc, %o[%c2, %c0] : tensor<1x256xi32>, !rows
    gpu.return
  }
  gpu.func @check_signal(%ctx: !iris.ctx, %o: !rows, %e: i32) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e2 = arith.addi %e, %e : i32
    %want = tensor.splat %e : tensor<1x256xi32>
    %twice = tensor.splat %e2 : tensor<1x256xi32>
    %a = tile.load %o[%c0, %c0] : !rows -> tensor<1x256xi32>
    %b = tile.load %o[%c1, %c0] : !rows -> tensor<1x256xi32>
    %c = tile.load %o[%c2, %c0] : !rows -> tensor<1x256xi32>
    iris.expect_eq %a, %want, "flag" : tensor<1x256xi32>
    iris.expect_eq %b, %want, "flag of a named rank" : tensor<1x256xi32>
    iris.expect_eq %c, %twice, "sum" : tensor<1x256xi32>
    gpu.return
  }

  // The leader updates an element that another wave has stored.
  gpu.func @acquire(%ctx: !iris.ctx, %b: !sym) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c200 = arith.constant 200 : index
    %c400 = arith.constant 400 : index
    %c256 = arith.constant 256 : index
    %five = arith.constant 5 : i32
    %seven = arith.constant 7 : i32
    %rank = iris.rank %ctx : index
    %i = tile.range : tensor<256xi32>
    %h = func.call @hash(%rank, %i) : (index, tensor<256xi32>) -> tensor<256xi32>
    tile.store %h, %b[%c0] : tensor<256xi32>, !sym
    iris.atomic_rmw add %ctx, %five, %b[%c200] sem(acquire) : i32, !sym
    %sevens = tensor.splat %seven : tensor<256xi32>
    tile.store %sevens, %b[%c256] : tensor<256xi32>, !sym
    iris.atomic_cas %ctx, %seven, %five, %b[%c400] sem(acquire) : i32, !sym
    gpu.return
  }
  gpu.func @check_acquire(%ctx: !iris.ctx, %b: !sym) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %rank = iris.rank %ctx : index
    %i = tile.range : tensor<256xi32>
    %h = func.call @hash(%rank, %i) : (index, tensor<256xi32>) -> tensor<256xi32>
    %i200 = arith.constant dense<200> : tensor<256xi32>
    %i144 = arith.constant dense<144> : tensor<256xi32>
    %five = arith.constant dense<5> : tensor<256xi32>
    %seven = arith.constant dense<7> : tensor<256xi32>
    %is200 = arith.cmpi eq, %i, %i200 : tensor<256xi32>
    %more = arith.addi %h, %five : tensor<256xi32>
    %want = arith.select %is200, %more, %h : tensor<256xi1>, tensor<256xi32>
    %is144 = arith.cmpi eq, %i, %i144 : tensor<256xi32>
    %want2 = arith.select %is144, %five, %seven : tensor<256xi1>, tensor<256xi32>
    %a = tile.load %b[%c0] : !sym -> tensor<256xi32>
    %c = tile.load %b[%c256] : !sym -> tensor<256xi32>
    iris.expect_eq %a, %want, "added to a stored tile" : tensor<256xi32>
    iris.expect_eq %c, %want2, "replaced in a stored tile" : tensor<256xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c33 = arith.constant 33 : index
  %c96 = arith.constant 96 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %e = arith.constant 41 : i32
  %b = iris.alloc(%c33, %c256) : memref<?x?xi32, #iris.symmetric>
  %f = iris.alloc(%c96) : memref<?xi32, #iris.symmetric>
  %o = iris.alloc(%c3, %c256) : memref<?x?xi32, #iris.symmetric>
  %d = iris.alloc(%c512) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b : !iris.ctx, memref<?x?xi32, #iris.symmetric>)
  iris.launch @kernels::@nested programs(%c1) args(%ctx, %b, %c1 : !iris.ctx, memref<?x?xi32, #iris.symmetric>, index)
  iris.launch @kernels::@check_nested programs(%c1) args(%ctx, %b : !iris.ctx, memref<?x?xi32, #iris.symmetric>)
  iris.launch @kernels::@signal programs(%c1) args(%ctx, %f, %o, %e : !iris.ctx, memref<?xi32, #iris.symmetric>, memref<?x?xi32, #iris.symmetric>, i32)
  iris.launch @kernels::@check_signal programs(%c1) args(%ctx, %o, %e : !iris.ctx, memref<?x?xi32, #iris.symmetric>, i32)
  iris.launch @kernels::@acquire programs(%c1) args(%ctx, %d : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.launch @kernels::@check_acquire programs(%c1) args(%ctx, %d : !iris.ctx, memref<?xi32, #iris.symmetric>)
  return
}
