// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of memref ops in the interpreter, in kernels and in `@main`, with
// expected values from their definitions. Element (i, j) of the buffer is
// 10 i + j.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 37 checks passed

!buffer = memref<?x?xi32, #iris.symmetric>
!sub = memref<?x2xi32, strided<[?, 2], offset: ?>, #iris.symmetric>
!turned = memref<?x?xi32, strided<[1, ?]>, #iris.symmetric>
!flat = memref<?xi32, #iris.symmetric>
!cube = memref<?x?x3xi32, #iris.symmetric>
!any = memref<?x?xi32, strided<[?, ?], offset: ?>, #iris.symmetric>
!plain = memref<?x?xi32>
!bytes = memref<?xi8, #iris.symmetric>
!words = memref<?xi16, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range dim 0 : tensor<4x8xi32>
    %j = tile.range dim 1 : tensor<4x8xi32>
    %ten = arith.constant dense<10> : tensor<4x8xi32>
    %tens = arith.muli %i, %ten : tensor<4x8xi32>
    %v = arith.addi %tens, %j : tensor<4x8xi32>
    tile.store %v, %b[%c0, %c0] : tensor<4x8xi32>, !buffer
    gpu.return
  }

  // 4 x 6 elements.
  gpu.func @k(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %24 = arith.constant 24 : i32
    %v23 = arith.constant 23 : i32
    %v35 = arith.constant 35 : i32
    %v7 = arith.constant 7 : i32
    %i7 = arith.constant 7 : index
    %i24 = arith.constant 24 : index
    %i15 = arith.constant 15 : index
    // Element 6 + 2 * 2 + 3: (2, 1).
    %v21 = arith.constant 21 : i32

    %rows = memref.dim %b, %c0 : !buffer
    iris.expect_eq %rows, %c4, "dim 0" : index
    %columns = memref.dim %b, %c1 : !buffer
    iris.expect_eq %columns, %c6, "dim 1" : index

    // Memory of the program: a store is seen by later loads only.
    %own = memref.alloca() : memref<2x3xi32>
    memref.store %v7, %own[%c1, %c2] : memref<2x3xi32>
    %own12 = memref.load %own[%c1, %c2] : memref<2x3xi32>
    iris.expect_eq %own12, %v7, "alloca" : i32
    memref.store %24, %own[%c1, %c2] : memref<2x3xi32>
    iris.expect_eq %own12, %v7, "a load is a copy" : i32

    // Element (i, j) of the view is element (1 + i, 2 j + 1).
    %sub = memref.subview %b[1, 1] [%c3, 2] [1, 2] : !buffer to
        memref<?x2xi32, strided<[?, 2], offset: ?>, #iris.symmetric>
    %s11 = memref.load %sub[%c1, %c1] : !sub
    iris.expect_eq %s11, %v23, "subview" : i32
    %srows = memref.dim %sub, %c0 : !sub
    iris.expect_eq %srows, %c3, "dim of a subview" : index
    // A dropped dimension.
    %row = memref.subview %b[%c2, 0] [1, 6] [1, 1] : !buffer to
        memref<6xi32, strided<[1], offset: ?>, #iris.symmetric>
    %row3 = memref.load %row[%c3] : memref<6xi32, strided<[1], offset: ?>, #iris.symmetric>
    iris.expect_eq %row3, %v23, "subview of one row" : i32

    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %sub
        : !sub -> memref<i32, #iris.symmetric>, index, index, index, index, index
    iris.expect_eq %offset, %i7, "offset" : index
    iris.expect_eq %sizes#0, %c3, "size 0" : index
    iris.expect_eq %sizes#1, %c2, "size 1" : index
    iris.expect_eq %strides#0, %c6, "stride 0" : index
    iris.expect_eq %strides#1, %c2, "stride 1" : index
    %b00 = memref.load %base[] : memref<i32, #iris.symmetric>
    %zero = arith.constant 0 : i32
    iris.expect_eq %b00, %zero, "base" : i32

    // Rows of any stride: element (i, j) is element 6 + 2 i + 3 j of the base.
    %re = memref.reinterpret_cast %b to offset: [%c6], sizes: [%c3, %c2],
        strides: [%c2, %c3] : !buffer to !any
    %re21 = memref.load %re[%c2, %c1] : !any
    iris.expect_eq %re21, %v21, "reinterpret_cast" : i32

    // Element (i, j) of the transpose is element (j, i).
    %turned = memref.transpose %b (i, j) -> (j, i) : !buffer to !turned
    %t53 = memref.load %turned[%c5, %c3] : !turned
    iris.expect_eq %t53, %v35, "transpose" : i32
    %tsize = memref.dim %turned, %c0 : !turned
    iris.expect_eq %tsize, %c6, "dim of the transpose" : index

    // In row-major order.
    %flat = memref.collapse_shape %b [[0, 1]] : !buffer into !flat
    %f15 = memref.load %flat[%i15] : !flat
    iris.expect_eq %f15, %v23, "collapse_shape" : i32
    %flatSize = memref.dim %flat, %c0 : !flat
    iris.expect_eq %flatSize, %i24, "collapsed size" : index
    %cube = memref.expand_shape %b [[0], [1, 2]] output_shape [%c4, %c2, 3]
        : !buffer into !cube
    %c312 = memref.load %cube[%c3, %c1, %c2] : !cube
    iris.expect_eq %c312, %v35, "expand_shape" : i32

    %static = memref.cast %b : !buffer to memref<4x6xi32, #iris.symmetric>
    %st = memref.load %static[%c2, %c3] : memref<4x6xi32, #iris.symmetric>
    iris.expect_eq %st, %v23, "cast" : i32
    %space = memref.memory_space_cast %b : !buffer to !plain
    %sp = memref.load %space[%c2, %c3] : !plain
    iris.expect_eq %sp, %v23, "memory_space_cast" : i32
    %aligned = memref.assume_alignment %b, 16 : !buffer
    %al = memref.load %aligned[%c2, %c3] : !buffer
    iris.expect_eq %al, %v23, "assume_alignment" : i32

    // Addresses: that of a view has its base's, and buffers are 256 bytes apart
    // at least.
    %address = memref.extract_aligned_pointer_as_index %b : !buffer -> index
    %address2 = memref.extract_aligned_pointer_as_index %sub : !sub -> index
    iris.expect_eq %address2, %address, "pointer of a view" : index
    %256 = arith.constant 256 : index
    %rest = arith.remui %address, %256 : index
    iris.expect_eq %rest, %c0, "alignment" : index

    // A store through a view is a store to the buffer.
    memref.store %v7, %sub[%c0, %c1] : !sub
    %b13 = memref.load %b[%c1, %c3] : !buffer
    iris.expect_eq %b13, %v7, "store through a subview" : i32
    gpu.return
  }

  // What @main passes, of 3 x 8 elements of which it views some.
  gpu.func @views(%ctx: !iris.ctx, %sub: !any, %turned: !any, %flat: !flat,
                  %cube: !cube, %re: !any, %plain: !plain, %words: !words,
                  %sizes: index, %stride: index, %offset: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c24 = arith.constant 24 : index
    %s = memref.load %sub[%c0, %c1] : !any
    %s.want = arith.constant 13 : i32
    iris.expect_eq %s, %s.want, "subview in @main" : i32
    %t = memref.load %turned[%c3, %c2] : !any
    %t.want = arith.constant 23 : i32
    iris.expect_eq %t, %t.want, "transpose in @main" : i32
    %f = memref.load %flat[%c6] : !flat
    %f.want = arith.constant 10 : i32
    iris.expect_eq %f, %f.want, "collapse_shape in @main" : i32
    %flatSize = memref.dim %flat, %c0 : !flat
    iris.expect_eq %flatSize, %c24, "collapsed size in @main" : index
    %e = memref.load %cube[%c1, %c1, %c0] : !cube
    iris.expect_eq %e, %s.want, "expand_shape in @main" : i32
    %r = memref.load %re[%c1, %c1] : !any
    %r.want = arith.constant 11 : i32
    iris.expect_eq %r, %r.want, "reinterpret_cast in @main" : i32
    %p = memref.load %plain[%c2, %c3] : !plain
    iris.expect_eq %p, %t.want, "casts in @main" : i32
    iris.expect_eq %sizes, %c3, "dim and metadata in @main" : index
    iris.expect_eq %stride, %c6, "stride in @main" : index
    %offset.want = arith.constant 7 : index
    iris.expect_eq %offset, %offset.want, "offset in @main" : index

    // Elements of two bytes from byte 2 on: this one has bytes 4 and 5.
    %ab = arith.constant 0xAB : i16
    memref.store %ab, %words[%c1] : !words
    gpu.return
  }
  // A symmetric buffer is passed for one without a memory space.
  gpu.func @bytes(%ctx: !iris.ctx, %bytes: memref<?xi8>) kernel {
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %low = memref.load %bytes[%c4] : memref<?xi8>
    %low.want = arith.constant 0xAB : i8
    iris.expect_eq %low, %low.want, "view, low byte" : i8
    %high = memref.load %bytes[%c5] : memref<?xi8>
    %zero = arith.constant 0 : i8
    iris.expect_eq %high, %zero, "view, high byte" : i8
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %b = iris.alloc(%c4, %c6) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%b : !buffer)
  iris.launch @kernels::@k programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.launch @kernels::@fill programs(%c1) args(%b : !buffer)
  %sub = memref.subview %b[1, 1] [%c3, %c3] [1, 2] : !buffer to
      memref<?x?xi32, strided<[?, 2], offset: ?>, #iris.symmetric>
  %sub.any = memref.cast %sub
      : memref<?x?xi32, strided<[?, 2], offset: ?>, #iris.symmetric> to !any
  %turned = memref.transpose %b (i, j) -> (j, i) : !buffer to !turned
  %turned.any = memref.cast %turned : !turned to !any
  %flat = memref.collapse_shape %b [[0, 1]] : !buffer into !flat
  %cube = memref.expand_shape %b [[0], [1, 2]] output_shape [%c4, %c2, 3]
      : !buffer into !cube
  // Element (i, j) is element 2 + 2 i + 3 j of the base: (1, 1) is element 7.
  %re = memref.reinterpret_cast %b to offset: [%c2], sizes: [%c3, %c2],
      strides: [%c2, %c3] : !buffer to !any
  %aligned = memref.assume_alignment %b, 8 : !buffer
  %plain = memref.memory_space_cast %aligned : !buffer to !plain
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %sub
      : memref<?x?xi32, strided<[?, 2], offset: ?>, #iris.symmetric>
        -> memref<i32, #iris.symmetric>, index, index, index, index, index
  %rows = memref.dim %sub, %c0
      : memref<?x?xi32, strided<[?, 2], offset: ?>, #iris.symmetric>
  %size = arith.minsi %rows, %sizes#1 : index
  %bytes = iris.alloc(%c8) : !bytes
  %words = memref.view %bytes[%c2][%c3] : !bytes to !words
  iris.launch @kernels::@views programs(%c1)
      args(%ctx, %sub.any, %turned.any, %flat, %cube, %re, %plain, %words, %size,
           %strides#0, %offset
           : !iris.ctx, !any, !any, !flat, !cube, !any, !plain, !words, index, index,
             index)
  iris.launch @kernels::@bytes programs(%c1) args(%ctx, %bytes : !iris.ctx, !bytes)
  iris.sync %ctx
  return
}
