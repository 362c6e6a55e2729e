// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiplications of 24 bits, operations on bits of three values and limited numbers
// that LLVM's code generator for AMD GPUs compiles to wrong code where they are
// not guarded (docs/internals/guards.md). Emulated/conversions-amd.test executes
// them there. The expected values are exact.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
//
// DEFINE: %{guard} =
// DEFINE: %{chip} = gfx942
// DEFINE: %{defect} = iris-compile %s --target=%{chip} --disable-guards=%{guard} -o %t.iris && not iris-run -n 1 --device=emulated:%{chip} %t.iris 2>&1
// REDEFINE: %{guard} = multiply-24
// RUN: %{defect} | FileCheck %s --check-prefix=FACTORS
// FACTORS: multiplication of 24 bits
// REDEFINE: %{guard} = negated-medians
// RUN: %{defect} | FileCheck %s --check-prefix=MEDIANS
// MEDIANS: negative of a limited NaN
// REDEFINE: %{guard} = bit-ops-3
// REDEFINE: %{chip} = gfx950
// RUN: %{defect} | FileCheck %s --check-prefix=BITS
// BITS: sum and low bit

!words = memref<64xi32, #iris.symmetric>
!wide = memref<64xi64, #iris.symmetric>
!floats = memref<128xf32, #iris.symmetric>
!t = tensor<64xi32>
!t64 = tensor<64xi64>
!f = tensor<128xf32>

gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %words: !words, %x: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %s = tensor.splat %x : !t
    tile.store %s, %words[%c0] : !t, !words
    gpu.return
  }

  // (x mod 2^24) * (y mod 2^24) + 7.
  gpu.func @multiplication(%ctx: !iris.ctx, %x: !words, %y: !words, %out: !wide) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %a = tile.load %x[%c0] : !words -> !t
    %b = tile.load %y[%c0] : !words -> !t
    %mask = arith.constant dense<16777215> : !t
    %a24 = arith.andi %a, %mask : !t
    %b24 = arith.andi %b, %mask : !t
    %a64 = arith.extui %a24 : !t to !t64
    %b64 = arith.extui %b24 : !t to !t64
    %p = arith.muli %a64, %b64 : !t64
    %c7 = arith.constant dense<7> : !t64
    %r = arith.addi %p, %c7 : !t64
    tile.store %r, %out[%c0] : !t64, !wide
    gpu.return
  }
  gpu.func @check_multiplication(%ctx: !iris.ctx, %out: !wide, %want: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %r = tile.load %out[%c0] : !wide -> !t64
    %w = tensor.splat %want : !t64
    iris.expect_eq %r, %w, "multiplication of 24 bits" : !t64
    gpu.return
  }

  // (k + z) | z, where z is 1 for even numbers.
  gpu.func @low_bit(%ctx: !iris.ctx, %x: !words, %out: !words) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %a = tile.load %x[%c0] : !words -> !t
    %c31 = arith.constant dense<31> : !t
    %zero = arith.constant dense<0> : !t
    %top = arith.shli %a, %c31 : !t
    %zeros = math.ctlz %top : !t
    %isEven = arith.cmpi ne, %zeros, %zero : !t
    %z = arith.extui %isEven : tensor<64xi1> to !t
    %k = arith.constant dense<-268451840> : !t
    %sum = arith.addi %k, %z : !t
    %r = arith.ori %sum, %z : !t
    tile.store %r, %out[%c0] : !t, !words
    gpu.return
  }
  gpu.func @check_low_bit(%ctx: !iris.ctx, %out: !words, %want: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %r = tile.load %out[%c0] : !words -> !t
    %w = tensor.splat %want : !t
    iris.expect_eq %r, %w, "sum and low bit" : !t
    gpu.return
  }

  gpu.func @fill_floats(%ctx: !iris.ctx, %floats: !floats, %x: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %s = tensor.splat %x : !f
    tile.store %s, %floats[%c0] : !f, !floats
    gpu.return
  }
  // -min(max(x, 2), 4), and the same of pairs.
  gpu.func @limits(%ctx: !iris.ctx, %x: !floats, %tiles: !floats, %pairs: !floats) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %a = tile.load %x[%c0] : !floats -> !f
    %low = arith.constant dense<2.0> : !f
    %high = arith.constant dense<4.0> : !f
    %above = arith.maxnumf %a, %low : !f
    %within = arith.minnumf %above, %high : !f
    %r = arith.negf %within : !f
    tile.store %r, %tiles[%c0] : !f, !floats
    %v = vector.load %x[%c0] : !floats, vector<4xf32>
    %lowv = arith.constant dense<2.0> : vector<4xf32>
    %highv = arith.constant dense<4.0> : vector<4xf32>
    %abovev = arith.maxnumf %v, %lowv : vector<4xf32>
    %withinv = arith.minnumf %abovev, %highv : vector<4xf32>
    %rv = arith.negf %withinv : vector<4xf32>
    vector.store %rv, %pairs[%c0] : !floats, vector<4xf32>
    gpu.return
  }
  gpu.func @check_limits(%ctx: !iris.ctx, %tiles: !floats, %pairs: !floats, %want: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %r = tile.load %tiles[%c0] : !floats -> !f
    %w = tensor.splat %want : !f
    iris.expect_eq %r, %w, "negative of a limited NaN" : !f
    %e = memref.load %pairs[%c0] : !floats
    iris.expect_eq %e, %want, "negative of a limited NaN, of a vector" : f32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %x = iris.alloc() : !words
  %y = iris.alloc() : !words
  %wide = iris.alloc() : !wide
  %out = iris.alloc() : !words
  %a = arith.constant 16777219 : i32
  %b = arith.constant 33554437 : i32
  // 3 * 5 + 7.
  %p = arith.constant 22 : i64
  iris.launch @kernels::@fill programs(%one) args(%ctx, %x, %a : !iris.ctx, !words, i32)
  iris.launch @kernels::@fill programs(%one) args(%ctx, %y, %b : !iris.ctx, !words, i32)
  iris.launch @kernels::@multiplication programs(%one) args(%ctx, %x, %y, %wide : !iris.ctx, !words, !words, !wide)
  iris.launch @kernels::@check_multiplication programs(%one) args(%ctx, %wide, %p : !iris.ctx, !wide, i64)
  // Odd, then even.
  %odd = arith.constant -268451840 : i32
  iris.launch @kernels::@low_bit programs(%one) args(%ctx, %y, %out : !iris.ctx, !words, !words)
  iris.launch @kernels::@check_low_bit programs(%one) args(%ctx, %out, %odd : !iris.ctx, !words, i32)
  %two = arith.constant 2 : i32
  %even = arith.constant -268451839 : i32
  iris.launch @kernels::@fill programs(%one) args(%ctx, %x, %two : !iris.ctx, !words, i32)
  iris.launch @kernels::@low_bit programs(%one) args(%ctx, %x, %out : !iris.ctx, !words, !words)
  iris.launch @kernels::@check_low_bit programs(%one) args(%ctx, %out, %even : !iris.ctx, !words, i32)
  %f = iris.alloc() : !floats
  %tiles = iris.alloc() : !floats
  %pairs = iris.alloc() : !floats
  %nan = arith.constant 0x7FC00000 : f32
  %limited = arith.constant -2.0 : f32
  iris.launch @kernels::@fill_floats programs(%one) args(%ctx, %f, %nan : !iris.ctx, !floats, f32)
  iris.launch @kernels::@limits programs(%one) args(%ctx, %f, %tiles, %pairs : !iris.ctx, !floats, !floats, !floats)
  iris.launch @kernels::@check_limits programs(%one) args(%ctx, %tiles, %pairs, %limited : !iris.ctx, !floats, !floats, f32)
  iris.sync %ctx
  return
}
