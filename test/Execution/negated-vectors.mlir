// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The negatives of floats that are selected as integers, several for each thread
// (guard negated-vectors).
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

!i = memref<512xi32, #iris.symmetric>
!f = memref<512xf32, #iris.symmetric>
!t = tensor<512xi32>
!u = tensor<512xf32>

gpu.module @kernels {
  // 128 in every second word, else the bits of `x`.
  gpu.func @fill(%words: !i, %numerators: !f, %x: f32, %n: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !t
    %zero = arith.constant dense<0> : !t
    %k128 = arith.constant dense<128> : !t
    %number = tile.range : !t
    %low = arith.andi %number, %one : !t
    %even = arith.cmpi eq, %low, %zero : !t
    %xs = tensor.splat %x : !u
    %bits = arith.bitcast %xs : !u to !t
    %word = arith.select %even, %bits, %k128 : tensor<512xi1>, !t
    tile.store %word, %words[%c0] : !t, !i
    %ns = tensor.splat %n : !u
    tile.store %ns, %numerators[%c0] : !u, !f
    gpu.return
  }
  // 4.0 for 128, else the float.
  gpu.func @divide(%words: !i, %numerators: !f) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %k128 = arith.constant dense<128> : !t
    %four = arith.constant dense<0x40800000> : !t
    %word = tile.load %words[%c0] : !i -> !t
    %is = arith.cmpi eq, %word, %k128 : !t
    %selected = arith.select %is, %four, %word : tensor<512xi1>, !t
    %float = arith.bitcast %selected : !t to !u
    %negative = arith.negf %float : !u
    %numerator = tile.load %numerators[%c0] : !f -> !u
    %quotient = arith.divf %numerator, %negative : !u
    tile.store %quotient, %numerators[%c0] : !u, !f
    gpu.return
  }
  // The same by the signs of the integers: 128 * 0x810000 are the bits of 4.0.
  gpu.func @divide_by_flipped(%words: !i, %numerators: !f) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %k128 = arith.constant dense<128> : !t
    %factor = arith.constant dense<0x810000> : !t
    %sign = arith.constant dense<0x80000000> : !t
    %word = tile.load %words[%c0] : !i -> !t
    %is = arith.cmpi ule, %word, %k128 : !t
    %four = arith.muli %word, %factor : !t
    %selected = arith.select %is, %four, %word : tensor<512xi1>, !t
    %flipped = arith.xori %selected, %sign : !t
    %negative = arith.bitcast %flipped : !t to !u
    %numerator = tile.load %numerators[%c0] : !f -> !u
    %quotient = arith.divf %numerator, %negative : !u
    tile.store %quotient, %numerators[%c0] : !u, !f
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %quotients: !f, %first: f32, %second: f32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !t
    %zero = arith.constant dense<0> : !t
    %number = tile.range : !t
    %low = arith.andi %number, %one : !t
    %even = arith.cmpi eq, %low, %zero : !t
    %firsts = tensor.splat %first : !u
    %seconds = tensor.splat %second : !u
    %want = arith.select %even, %firsts, %seconds : tensor<512xi1>, !u
    %got = tile.load %quotients[%c0] : !f -> !u
    iris.expect_eq %got, %want, "quotients by negatives" : !u
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %words = iris.alloc() : !i
  %numerators = iris.alloc() : !f
  %x = arith.constant 2.0 : f32
  %n = arith.constant 6.0 : f32
  %first = arith.constant -3.0 : f32
  %second = arith.constant -1.5 : f32
  iris.launch @kernels::@fill programs(%one) args(%words, %numerators, %x, %n : !i, !f, f32, f32)
  iris.launch @kernels::@divide programs(%one) args(%words, %numerators : !i, !f)
  iris.launch @kernels::@check programs(%one) args(%ctx, %numerators, %first, %second : !iris.ctx, !f, f32, f32)
  iris.launch @kernels::@fill programs(%one) args(%words, %numerators, %x, %n : !i, !f, f32, f32)
  iris.launch @kernels::@divide_by_flipped programs(%one) args(%words, %numerators : !i, !f)
  iris.launch @kernels::@check programs(%one) args(%ctx, %numerators, %first, %second : !iris.ctx, !f, f32, f32)
  iris.sync %ctx
  return
}
