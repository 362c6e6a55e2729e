// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes whose sizes are all known at run time only, of buffers and of views with
// strides, in kernels and in @main.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 1 --device=reference %s | FileCheck %s
// CHECK: all 72 checks passed

!buffer = memref<?xi32, #iris.symmetric>
!matrix = memref<?x?xi32, #iris.symmetric>
!even = memref<?xi32, strided<[2]>, #iris.symmetric>
!evens = memref<?x?xi32, strided<[?, 2]>, #iris.symmetric>

gpu.module @kernels {
  // b[i] = i
  gpu.func @fill(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : tensor<64xi32>
    tile.store %i, %b[%c0] : tensor<64xi32>, !buffer
    gpu.return
  }

  // Row i begins at i * n.
  gpu.func @whole(%ctx: !iris.ctx, %b: !buffer, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = memref.expand_shape %b [[0, 1]] output_shape [%m, %n] : !buffer into !matrix
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %in = arith.muli %i, %n : index
        %at = arith.addi %in, %j : index
        %expected = arith.index_cast %at : index to i32
        %value = memref.load %e[%i, %j] : !matrix
        iris.expect_eq %value, %expected, "element" : i32
      }
    }
    gpu.return
  }

  // Every second element.
  gpu.func @strided(%ctx: !iris.ctx, %b: !buffer, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %all = arith.muli %m, %n : index
    %v = memref.subview %b[0] [%all] [2] : !buffer to !even
    %e = memref.expand_shape %v [[0, 1]] output_shape [%m, %n] : !even into !evens
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %in = arith.muli %i, %n : index
        %at = arith.addi %in, %j : index
        %twice = arith.muli %at, %c2 : index
        %expected = arith.index_cast %twice : index to i32
        %value = memref.load %e[%i, %j] : !evens
        iris.expect_eq %value, %expected, "every second" : i32
      }
    }
    gpu.return
  }

  gpu.func @viewed(%ctx: !iris.ctx, %e: !matrix, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %in = arith.muli %i, %n : index
        %at = arith.addi %in, %j : index
        %expected = arith.index_cast %at : index to i32
        %value = memref.load %e[%i, %j] : !matrix
        iris.expect_eq %value, %expected, "view of @main" : i32
      }
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c64 = arith.constant 64 : index
  %c24 = arith.constant 24 : index
  %b = iris.alloc(%c64) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  %v = memref.subview %b[0] [%c24] [1] : !buffer to !buffer
  iris.launch @kernels::@whole programs(%c1)
      args(%ctx, %v, %c4, %c6 : !iris.ctx, !buffer, index, index)
  iris.launch @kernels::@strided programs(%c1)
      args(%ctx, %b, %c4, %c6 : !iris.ctx, !buffer, index, index)
  %e = memref.expand_shape %v [[0, 1]] output_shape [%c4, %c6] : !buffer into !matrix
  iris.launch @kernels::@viewed programs(%c1)
      args(%ctx, %e, %c4, %c6 : !iris.ctx, !matrix, index, index)
  iris.sync %ctx
  return
}
