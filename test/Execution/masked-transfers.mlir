// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// get, put and copy with a mask and an `else` value: masked-out elements keep
// the destination's value, elements outside the source become `else`.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 2 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 8 %s

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // src[i] = hash of (rank, i), 40 elements; the results start as -1.
  gpu.func @fill(%ctx: !iris.ctx, %src: !buffer, %got: !buffer, %put: !buffer,
                 %copied: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %h = func.call @hash(%rank) : (index) -> tensor<64xi32>
    %none = arith.constant dense<-1> : tensor<64xi32>
    tile.store %h, %src[%c0] : tensor<64xi32>, !buffer
    tile.store %none, %got[%c0] : tensor<64xi32>, !buffer
    tile.store %none, %put[%c0] : tensor<64xi32>, !buffer
    tile.store %none, %copied[%c0] : tensor<64xi32>, !buffer
    gpu.return
  }

  func.func @hash(%rank: index) -> tensor<64xi32> {
    %mul = arith.constant dense<-1640531527> : tensor<64xi32>
    %shift = arith.constant dense<13> : tensor<64xi32>
    %r = arith.index_cast %rank : index to i32
    %c97 = arith.constant 97 : i32
    %salt = arith.muli %r, %c97 : i32
    %salts = tensor.splat %salt : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %a = arith.addi %i, %salts : tensor<64xi32>
    %b = arith.muli %a, %mul : tensor<64xi32>
    %c = arith.shrui %b, %shift : tensor<64xi32>
    return %c : tensor<64xi32>
  }

  // Every third element is left out.
  func.func @mask() -> tensor<64xi1> {
    %three = arith.constant dense<3> : tensor<64xi32>
    %zero = arith.constant dense<0> : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %m = arith.remui %i, %three : tensor<64xi32>
    %r = arith.cmpi ne, %m, %zero : tensor<64xi32>
    return %r : tensor<64xi1>
  }

  gpu.func @move(%ctx: !iris.ctx, %src: !buffer, %got: !buffer, %put: !buffer,
                 %copied: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 77 : i32
    %rank = iris.rank %ctx : index
    %n = iris.num_ranks %ctx : index
    %next0 = arith.addi %rank, %c1 : index
    %next = arith.remui %next0, %n : index
    %after0 = arith.addi %next, %c1 : index
    %after = arith.remui %after0, %n : index
    %m = func.call @mask() : () -> tensor<64xi1>
    iris.get %ctx, %src[%c0], %got[%c0] from %next shape [64] mask %m else %pad
        : !buffer, !buffer
    iris.put %ctx, %src[%c0], %put[%c0] to %next shape [64] mask %m else %pad
        : !buffer, !buffer
    iris.copy %ctx, %src[%c0], %copied[%c0] from %next to %after shape [64]
        mask %m else %pad : !buffer, !buffer
    gpu.return
  }

  // The source has 40 elements, the destinations 64.
  gpu.func @check(%ctx: !iris.ctx, %got: !buffer, %put: !buffer,
                  %copied: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %n = iris.num_ranks %ctx : index
    %next0 = arith.addi %rank, %c1 : index
    %next = arith.remui %next0, %n : index
    %last0 = arith.addi %rank, %n : index
    %last1 = arith.subi %last0, %c1 : index
    %last = arith.remui %last1, %n : index

    %wantGot = func.call @want(%next) : (index) -> tensor<64xi32>
    %wantPut = func.call @want(%last) : (index) -> tensor<64xi32>
    %a = tile.load %got[%c0] : !buffer -> tensor<64xi32>
    iris.expect_eq %a, %wantGot, "masked get" : tensor<64xi32>
    %b = tile.load %put[%c0] : !buffer -> tensor<64xi32>
    iris.expect_eq %b, %wantPut, "masked put" : tensor<64xi32>
    %c = tile.load %copied[%c0] : !buffer -> tensor<64xi32>
    iris.expect_eq %c, %wantPut, "masked copy" : tensor<64xi32>
    gpu.return
  }

  func.func @want(%rank: index) -> tensor<64xi32> {
    %none = arith.constant dense<-1> : tensor<64xi32>
    %pad = arith.constant dense<77> : tensor<64xi32>
    %size = arith.constant dense<40> : tensor<64xi32>
    %i = tile.range : tensor<64xi32>
    %inside = arith.cmpi slt, %i, %size : tensor<64xi32>
    %h = func.call @hash(%rank) : (index) -> tensor<64xi32>
    %m = func.call @mask() : () -> tensor<64xi1>
    %v = arith.select %inside, %h, %pad : tensor<64xi1>, tensor<64xi32>
    %w = arith.select %m, %v, %none : tensor<64xi1>, tensor<64xi32>
    return %w : tensor<64xi32>
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %c64 = arith.constant 64 : index
  %src = iris.alloc(%c40) : !buffer
  %got = iris.alloc(%c64) : !buffer
  %put = iris.alloc(%c64) : !buffer
  %copied = iris.alloc(%c64) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %src, %got, %put, %copied
      : !iris.ctx, !buffer, !buffer, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@move programs(%c1) args(%ctx, %src, %got, %put, %copied
      : !iris.ctx, !buffer, !buffer, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%c1) args(%ctx, %got, %put, %copied
      : !iris.ctx, !buffer, !buffer, !buffer)
  iris.sync %ctx
  return
}
