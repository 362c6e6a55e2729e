// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers of index, and views of bytes as a single element and as indices,
// which the compiler once crashed on.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 2 --compare=reference %s
// RUN: iris-run -n 2 --device=emulated:gfx942 --compare=reference %s

gpu.module @kernels {
  gpu.func @indices(%ctx: !iris.ctx, %x: index,
      %buffer: memref<4x8xindex, #iris.symmetric>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    memref.store %x, %buffer[%c3, %c7] : memref<4x8xindex, #iris.symmetric>
    %got = memref.load %buffer[%c3, %c7] : memref<4x8xindex, #iris.symmetric>
    iris.expect_eq %got, %x, "element" : index
    gpu.return
  }

  gpu.func @views(%ctx: !iris.ctx, %x: i32, %i: index) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %bytes = memref.alloca() : memref<64xi8>
    %single = memref.view %bytes[%c4][] : memref<64xi8> to memref<i32>
    memref.store %x, %single[] : memref<i32>
    %few = memref.view %bytes[%c4][] : memref<64xi8> to memref<4xi32>
    %word = memref.load %few[%c0] : memref<4xi32>
    iris.expect_eq %word, %x, "single element" : i32

    // i is 2: element 2 of the first view is element 1 of the second.
    %first = memref.view %bytes[%c0][] : memref<64xi8> to memref<4xindex>
    %second = memref.view %bytes[%c8][] : memref<64xi8> to memref<4xindex>
    %one = arith.constant 1 : index
    memref.store %c8, %first[%i] : memref<4xindex>
    memref.store %i, %second[%one] : memref<4xindex>
    %got = memref.load %first[%i] : memref<4xindex>
    iris.expect_eq %got, %i, "common element" : index
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %far = arith.constant 4294967301 : index
  %buffer = iris.alloc() : memref<4x8xindex, #iris.symmetric>
  iris.launch @kernels::@indices programs(%one) args(%ctx, %far, %buffer : !iris.ctx, index, memref<4x8xindex, #iris.symmetric>)
  %x = arith.constant 7 : i32
  %two = arith.constant 2 : index
  iris.launch @kernels::@views programs(%one) args(%ctx, %x, %two : !iris.ctx, i32, index)
  iris.sync %ctx
  return
}
