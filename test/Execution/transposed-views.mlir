// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores through memref.transpose, by scalars and by tiles.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

!buffer = memref<4x8xi32, #iris.symmetric>
!view = memref<8x4xi32, strided<[1, 8]>, #iris.symmetric>

gpu.module @kernels {
  // A value of every rank and element.
  func.func @hash(%rank: index, %row: index, %column: index) -> i32 {
    %c31 = arith.constant 31 : index
    %c37 = arith.constant 37 : index
    %0 = arith.muli %rank, %c31 : index
    %1 = arith.addi %0, %row : index
    %2 = arith.muli %1, %c37 : index
    %3 = arith.addi %2, %column : index
    %4 = arith.index_cast %3 : index to i32
    return %4 : i32
  }

  // %a is written as it is and read through its view, %b the other way.
  gpu.func @check(%ctx: !iris.ctx, %a: !buffer, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %rank = iris.rank %ctx : index
    %aView = memref.transpose %a (i, j) -> (j, i) : !buffer to !view
    %bView = memref.transpose %b (i, j) -> (j, i) : !buffer to !view
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %x = func.call @hash(%rank, %i, %j) : (index, index, index) -> i32
        memref.store %x, %a[%i, %j] : !buffer
        memref.store %x, %bView[%j, %i] : !view
      }
    }
    gpu.barrier
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %x = func.call @hash(%rank, %i, %j) : (index, index, index) -> i32
        %fromView = memref.load %aView[%j, %i] : !view
        %fromBuffer = memref.load %b[%i, %j] : !buffer
        iris.expect_eq %fromView, %x, "loaded through the view" : i32
        iris.expect_eq %fromBuffer, %x, "stored through the view" : i32
        %tile = tile.load %aView[%j, %i] : !view -> tensor<1x1xi32>
        %want = tensor.splat %x : tensor<1x1xi32>
        iris.expect_eq %tile, %want, "a tile of the view" : tensor<1x1xi32>
      }
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %a = iris.alloc() : !buffer
  %b = iris.alloc() : !buffer
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %a, %b : !iris.ctx, !buffer, !buffer)
  iris.sync %ctx
  iris.dealloc %a : !buffer
  iris.dealloc %b : !buffer
  return
}
