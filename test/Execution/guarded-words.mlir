// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of halves of i64, of numbers of few bits, and minima that LLVM
// compiles to wrong code where it is not guarded (docs/internals/guards.md). The
// expected values are exact.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
//
// LLVM still has the one defect that the host has, too.
// RUN: iris-compile %s --disable-guards=nested-min-max -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: {{[0-9]+}} of {{[0-9]+}} checks failed

!w = memref<64xi64, #iris.symmetric>
!b = memref<256xi8, #iris.symmetric>
!v = memref<256xi32, #iris.symmetric>

gpu.module @kernels {
  // The product of the constants would overflow if it was rounded.
  gpu.func @overflowing_fma(%ctx: !iris.ctx, %x: f64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %a = arith.constant dense<3.25> : vector<2xf64>
    %b = arith.constant dense<0xFFE0000000000000> : vector<2xf64>
    %c = vector.broadcast %x : f64 to vector<2xf64>
    %got = vector.fma %a, %b, %c : vector<2xf64>
    %first = vector.extract %got[0] : f64 from vector<2xf64>
    iris.expect_eq %first, %x, "3.25 * -2^1023 + x" : f64
    gpu.return
  }

  // Three bytes of a word, and one of the sign of a byte.
  gpu.func @signs_of_bytes(%ctx: !iris.ctx, %b: !b, %v: !v, %x: i8, %y: i32,
      %want: i32) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xs = tensor.splat %x : tensor<256xi8>
    %ys = tensor.splat %y : tensor<256xi32>
    tile.store %xs, %b[%c0] : tensor<256xi8>, !b
    tile.store %ys, %v[%c0] : tensor<256xi32>, !v
    %xt = tile.load %b[%c0] volatile : !b -> tensor<256xi8>
    %yt = tile.load %v[%c0] volatile : !v -> tensor<256xi32>
    %c8 = arith.constant dense<8> : tensor<256xi32>
    %m0 = arith.constant dense<255> : tensor<256xi32>
    %m12 = arith.constant dense<16776960> : tensor<256xi32>
    %m3 = arith.constant dense<-16777216> : tensor<256xi32>
    %e = arith.extsi %xt : tensor<256xi8> to tensor<256xi32>
    %b3 = arith.andi %e, %m3 : tensor<256xi32>
    %y8 = arith.shrui %yt, %c8 : tensor<256xi32>
    %b0 = arith.andi %y8, %m0 : tensor<256xi32>
    %b12 = arith.andi %yt, %m12 : tensor<256xi32>
    %r0 = arith.ori %b0, %b12 : tensor<256xi32>
    %r = arith.ori %r0, %b3 : tensor<256xi32>
    %w = tensor.splat %want : tensor<256xi32>
    iris.expect_eq %r, %w, "bytes of y below the sign of x" : tensor<256xi32>
    gpu.return
  }

  // Words that differ in their bytes in the middle, and in another kernel, which
  // does not know them, a byte in two places, and zero above it.
  gpu.func @fill_words(%v: !v, %y: i32) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %k8 = arith.constant dense<8> : tensor<256xi32>
    %i = tile.range : tensor<256xi32>
    %middle = arith.shli %i, %k8 : tensor<256xi32>
    %word = tensor.splat %y : tensor<256xi32>
    %x = arith.addi %word, %middle : tensor<256xi32>
    tile.store %x, %v[%c0] : tensor<256xi32>, !v
    gpu.return
  }
  gpu.func @packed_bytes(%v: !v) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %k8 = arith.constant dense<8> : tensor<256xi32>
    %k16 = arith.constant dense<16> : tensor<256xi32>
    %k24 = arith.constant dense<24> : tensor<256xi32>
    %byte = arith.constant dense<255> : tensor<256xi32>
    %x = tile.load %v[%c0] : !v -> tensor<256xi32>
    %high = arith.shrui %x, %k24 : tensor<256xi32>
    %low = arith.andi %x, %byte : tensor<256xi32>
    %second = arith.shli %high, %k8 : tensor<256xi32>
    %third = arith.shli %high, %k16 : tensor<256xi32>
    %two = arith.ori %third, %low : tensor<256xi32>
    %all = arith.ori %two, %second : tensor<256xi32>
    tile.store %all, %v[%c0] : tensor<256xi32>, !v
    gpu.return
  }
  gpu.func @check_words(%ctx: !iris.ctx, %v: !v, %packed: i32) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %got = tile.load %v[%c0] : !v -> tensor<256xi32>
    %want = tensor.splat %packed : tensor<256xi32>
    iris.expect_eq %got, %want, "packed bytes" : tensor<256xi32>
    gpu.return
  }

  // Sign-extended bytes and halves whose bits are a float.
  gpu.func @extended_floats(%ctx: !iris.ctx, %b: !b, %v: !v, %x: i8, %y: i32,
      %want: f32, %half: f32, %high: i32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xs = tensor.splat %x : tensor<256xi8>
    %ys = tensor.splat %y : tensor<256xi32>
    tile.store %xs, %b[%c0] : tensor<256xi8>, !b
    tile.store %ys, %v[%c0] : tensor<256xi32>, !v
    %xt = tile.load %b[%c0] volatile : !b -> tensor<256xi8>
    %yt = tile.load %v[%c0] volatile : !v -> tensor<256xi32>
    %e = arith.extsi %xt : tensor<256xi8> to tensor<256xi32>
    %f = arith.bitcast %e : tensor<256xi32> to tensor<256xf32>
    %h = arith.truncf %f : tensor<256xf32> to tensor<256xf16>
    %fh = arith.extf %h : tensor<256xf16> to tensor<256xf32>
    %w = tensor.splat %want : tensor<256xf32>
    iris.expect_eq %fh, %w, "f16 of the bits of a byte" : tensor<256xf32>
    %c16 = arith.constant dense<16> : tensor<256xi32>
    %yh = arith.shrsi %yt, %c16 : tensor<256xi32>
    %y16 = arith.trunci %yh : tensor<256xi32> to tensor<256xi16>
    %n16 = arith.bitcast %y16 : tensor<256xi16> to tensor<256xf16>
    %n = arith.extf %n16 : tensor<256xf16> to tensor<256xf32>
    %ws = tensor.splat %half : tensor<256xf32>
    iris.expect_eq %n, %ws, "the upper half of y, as f16" : tensor<256xf32>
    %sum = arith.addi %yh, %yt : tensor<256xi32>
    %wh = tensor.splat %high : tensor<256xi32>
    iris.expect_eq %sum, %wh, "y and its upper half" : tensor<256xi32>
    gpu.return
  }

  // Comparisons that hold for all numbers, but not for NaN.
  gpu.func @magnitudes(%ctx: !iris.ctx, %v: memref<64xf32, #iris.symmetric>,
      %x: f32, %want: i1) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xs = tensor.splat %x : tensor<64xf32>
    tile.store %xs, %v[%c0] : tensor<64xf32>, memref<64xf32, #iris.symmetric>
    %xt = tile.load %v[%c0] volatile : memref<64xf32, #iris.symmetric> -> tensor<64xf32>
    %w = tensor.splat %want : tensor<64xi1>
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %two = arith.constant dense<2.0> : tensor<64xf32>
    %minus = arith.constant dense<-3.25> : tensor<64xf32>
    %m = math.absf %xt : tensor<64xf32>
    %p0 = arith.cmpf ogt, %m, %minus : tensor<64xf32>
    iris.expect_eq %p0, %w, "|x| > -3.25" : tensor<64xi1>
    %n = arith.negf %m : tensor<64xf32>
    %p1 = arith.cmpf olt, %n, %two : tensor<64xf32>
    iris.expect_eq %p1, %w, "-|x| < 2" : tensor<64xi1>
    %q = arith.mulf %xt, %xt : tensor<64xf32>
    %p2 = arith.cmpf oge, %q, %zero : tensor<64xf32>
    iris.expect_eq %p2, %w, "x * x >= 0" : tensor<64xi1>
    %s = arith.addf %m, %two : tensor<64xf32>
    %p3 = arith.cmpf ogt, %s, %zero : tensor<64xf32>
    iris.expect_eq %p3, %w, "|x| + 2 > 0" : tensor<64xi1>
    gpu.return
  }

  // A constant of 24 bits, divided by a number of 8 bits.
  gpu.func @constant_numerator(%ctx: !iris.ctx, %y: i32, %q: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %m = arith.constant 255 : i32
    %x = arith.constant 16777214 : i32
    %d = arith.andi %y, %m : i32
    %got = arith.divui %x, %d : i32
    iris.expect_eq %got, %q, "16777214 / y" : i32
    gpu.return
  }

  // -2^(n-1) / -1 of n bits is 2^(n-1), which has one more.
  gpu.func @narrow_quotients(%ctx: !iris.ctx, %w: !w, %x: i8, %y: i8, %q8: i32,
      %q24: i32) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : i32
    %xs = arith.extsi %x : i8 to i32
    %ys = arith.extsi %y : i8 to i32
    %s8 = arith.divsi %xs, %ys : i32
    iris.expect_eq %s8, %q8, "x / y of i8, in i32" : i32
    %x24 = arith.shli %xs, %c16 : i32
    %s24 = arith.divsi %x24, %ys : i32
    iris.expect_eq %s24, %q24, "x / y of 24 bits" : i32
    %xsplat = tensor.splat %x : tensor<64xi8>
    %ysplat = tensor.splat %y : tensor<64xi8>
    %xt = arith.extsi %xsplat : tensor<64xi8> to tensor<64xi64>
    %yt = arith.extsi %ysplat : tensor<64xi8> to tensor<64xi64>
    tile.store %xt, %w[%c0] : tensor<64xi64>, !w
    %xl = tile.load %w[%c0] volatile : !w -> tensor<64xi64>
    %x8 = arith.trunci %xl : tensor<64xi64> to tensor<64xi8>
    %xw = arith.extsi %x8 : tensor<64xi8> to tensor<64xi64>
    %qt = arith.divsi %xw, %yt : tensor<64xi64>
    tile.store %qt, %w[%c0] : tensor<64xi64>, !w
    %got = memref.load %w[%c0] : !w
    %got32 = arith.trunci %got : i64 to i32
    iris.expect_eq %got32, %q8, "x / y of i8, in i64" : i32
    gpu.return
  }

  // A constant of 2 bits, -2, divided by -1.
  gpu.func @negative_numerator(%ctx: !iris.ctx, %w: !w, %x: i64, %q: i64)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %splat = tensor.splat %x : tensor<64xi64>
    tile.store %splat, %w[%c0] : tensor<64xi64>, !w
    %loaded = tile.load %w[%c0] volatile : !w -> tensor<64xi64>
    %c31 = arith.constant dense<31> : tensor<64xi32>
    %c1 = arith.constant dense<1> : tensor<64xi32>
    %low = arith.trunci %loaded : tensor<64xi64> to tensor<64xi32>
    %sign = arith.shrsi %low, %c31 : tensor<64xi32>
    %one = arith.ori %sign, %c1 : tensor<64xi32>
    %d = arith.extsi %one : tensor<64xi32> to tensor<64xi64>
    %n = arith.constant dense<-2> : tensor<64xi64>
    %quotient = arith.divsi %n, %d : tensor<64xi64>
    tile.store %quotient, %w[%c0] : tensor<64xi64>, !w
    %got = memref.load %w[%c0] : !w
    iris.expect_eq %got, %q, "-2 / -1 of i64" : i64
    gpu.return
  }

  // The upper half of the multiplication is a sum, to which zero and a carry are added.
  gpu.func @upper_carry(%ctx: !iris.ctx, %w: !w, %x: i64, %y: i64,
      %sum: i64, %over: i32) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    memref.store %x, %w[%c0] : !w
    %xs = memref.load %w[%c0] : !w
    %m22 = arith.constant 4194303 : i64
    %m8 = arith.constant 255 : i64
    %negative = arith.constant -65538 : i64
    %low = arith.andi %xs, %m22 : i64
    %y8 = arith.andi %y, %m8 : i64
    %factor = arith.addi %y8, %negative : i64
    %scaled = arith.muli %xs, %factor : i64
    %s = arith.addi %low, %scaled : i64
    %less = arith.cmpi ult, %s, %low : i64
    %carry = arith.extui %less : i1 to i32
    iris.expect_eq %s, %sum, "(x mod 2^22) + x * y" : i64
    iris.expect_eq %carry, %over, "carry of (x mod 2^22) + x * y" : i32
    gpu.return
  }

  // The carry of z + c, where z is a + c, and c itself a carry.
  gpu.func @carry_twice(%ctx: !iris.ctx, %w: !w, %a: i32, %b: i32, %over: i32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %as = tensor.splat %a : tensor<64xi32>
    %bs = tensor.splat %b : tensor<64xi32>
    %overs = tensor.splat %over : tensor<64xi32>
    %sum = arith.addi %as, %bs : tensor<64xi32>
    %less = arith.cmpi ult, %sum, %as : tensor<64xi32>
    %c = arith.extui %less : tensor<64xi1> to tensor<64xi32>
    %z = arith.addi %c, %as : tensor<64xi32>
    %again = arith.addi %z, %c : tensor<64xi32>
    %less2 = arith.cmpi ult, %again, %z : tensor<64xi32>
    %got = arith.extui %less2 : tensor<64xi1> to tensor<64xi32>
    iris.expect_eq %got, %overs, "carry of (a + c) + c" : tensor<64xi32>
    gpu.return
  }

  // The lower half of the first or is constant, the second one is in another
  // block.
  gpu.func @constant_or(%ctx: !iris.ctx, %w: !w, %x: i64, %z: i64, %or: i64)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ones = arith.constant 9007199254740991 : i64
    %zero = arith.constant 0 : i64
    memref.store %x, %w[%c0] : !w
    %xs = memref.load %w[%c0] : !w
    %y = arith.ori %xs, %ones : i64
    memref.store %y, %w[%c1] : !w
    %positive = arith.cmpi sgt, %xs, %zero : i64
    scf.if %positive {
      memref.store %z, %w[%c0] : !w
      %zs = memref.load %w[%c0] : !w
      %all = arith.ori %y, %zs : i64
      memref.store %all, %w[%c0] : !w
    }
    %got = memref.load %w[%c0] : !w
    iris.expect_eq %got, %or, "x | 2^53 - 1 | z" : i64
    gpu.return
  }

  // The inner minimum keeps NaN, the outer one does not.
  gpu.func @minima(%ctx: !iris.ctx, %x: f32, %h: f16, %want: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : f32
    %above = arith.cmpf ogt, %x, %k : f32
    %v = arith.select %above, %k, %x : f32
    %again = arith.cmpf ugt, %v, %k : f32
    %w = arith.select %again, %k, %v : f32
    iris.expect_eq %w, %want, "min(min(x, 3.25), 3.25)" : f32
    %xs = tensor.splat %x : tensor<64xf32>
    %ks = arith.constant dense<3.25> : tensor<64xf32>
    %wants = tensor.splat %want : tensor<64xf32>
    %below = arith.cmpf ule, %xs, %ks : tensor<64xf32>
    %vs = arith.select %below, %xs, %ks : tensor<64xi1>, tensor<64xf32>
    %below2 = arith.cmpf ole, %vs, %ks : tensor<64xf32>
    %ws = arith.select %below2, %vs, %ks : tensor<64xi1>, tensor<64xf32>
    iris.expect_eq %ws, %wants, "min(min(x, 3.25), 3.25), tile" : tensor<64xf32>
    %kh = arith.constant 3.25 : f16
    %aboveh = arith.cmpf oge, %h, %kh : f16
    %vh = arith.select %aboveh, %kh, %h : f16
    %wide = arith.extf %vh : f16 to f32
    %againw = arith.cmpf uge, %wide, %k : f32
    %ww = arith.select %againw, %k, %wide : f32
    iris.expect_eq %ww, %want, "min(extf(min(x, 3.25)), 3.25)" : f32
    gpu.return
  }

  // The inner maximum keeps NaN. The outer one compares in f32.
  gpu.func @extended_maxima(%ctx: !iris.ctx, %h: f16, %want: f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : f32
    %kh = arith.constant 3.25 : f16
    %above = arith.cmpf uge, %h, %kh : f16
    %v = arith.select %above, %h, %kh : f16
    %wide = arith.extf %v : f16 to f32
    %again = arith.cmpf ogt, %wide, %k : f32
    %w = arith.select %again, %v, %kh : f16
    iris.expect_eq %w, %want, "max(max(x, 3.25), 3.25), compared in f32" : f16
    %number = arith.maxnumf %v, %kh : f16
    iris.expect_eq %number, %want, "maxnum(max(x, 3.25), 3.25)" : f16
    %wide2 = arith.extf %v : f16 to f32
    %ordered = arith.cmpf oge, %v, %kh : f16
    %selected = arith.select %ordered, %wide2, %k : f32
    %x = arith.truncf %selected : f32 to f16
    iris.expect_eq %x, %want, "max(max(x, 3.25), 3.25), selected in f32" : f16
    gpu.return
  }

  // The host selects bf16 by their bits, until minnum needs the number.
  gpu.func @short_minima(%ctx: !iris.ctx, %h: bf16, %want: bf16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : bf16
    %below = arith.cmpf ult, %h, %k : bf16
    %v = arith.select %below, %h, %k : bf16
    %above = arith.cmpf uge, %v, %k : bf16
    %w = arith.select %above, %k, %v : bf16
    %most = arith.constant 1.0e+30 : bf16
    %m = arith.minnumf %most, %w : bf16
    iris.expect_eq %m, %want, "minnum(y, min(min(x, 3.25), 3.25))" : bf16
    gpu.return
  }

  // The outer minimum is of f32 on the host.
  gpu.func @short_minnum(%ctx: !iris.ctx, %h: bf16, %want: bf16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : bf16
    %above = arith.cmpf ogt, %h, %k : bf16
    %v = arith.select %above, %k, %h : bf16
    %m = arith.minnumf %v, %k : bf16
    iris.expect_eq %m, %want, "minnum(min(x, 3.25), 3.25)" : bf16
    gpu.return
  }

  // The middle minimum becomes the inner one, and then the outer one is of it.
  gpu.func @three_minima(%ctx: !iris.ctx, %x: f32, %want: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : f32
    %above = arith.cmpf ogt, %x, %k : f32
    %inner = arith.select %above, %k, %x : f32
    %below = arith.cmpf ult, %inner, %k : f32
    %middle = arith.select %below, %inner, %k : f32
    %beyond = arith.cmpf ugt, %middle, %k : f32
    %outer = arith.select %beyond, %k, %inner : f32
    iris.expect_eq %outer, %want, "min(min(min(x, 3.25), 3.25), 3.25)" : f32
    gpu.return
  }

  // x86 has library calls for selections of bf16 that are not of their bits.
  gpu.func @chosen_minimum(%ctx: !iris.ctx, %h: bf16, %number: i1, %limit: i1,
      %want: bf16) kernel attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : bf16
    %v = arith.select %number, %h, %k : bf16
    %above = arith.cmpf ugt, %v, %k : bf16
    %w = arith.select %above, %k, %v : bf16
    %m = arith.select %limit, %k, %w : bf16
    iris.expect_eq %m, %want, "min(c ? x : 3.25, 3.25), chosen" : bf16
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %w = iris.alloc() : !w
  %three = arith.constant 3 : i32
  %third = arith.constant 5592404 : i32
  iris.launch @kernels::@constant_numerator programs(%one) args(%ctx, %three, %third : !iris.ctx, i32, i32)
  %m128 = arith.constant -128 : i8
  %m1 = arith.constant -1 : i8
  %q128 = arith.constant 128 : i32
  %q23 = arith.constant 8388608 : i32
  iris.launch @kernels::@narrow_quotients programs(%one) args(%ctx, %w, %m128, %m1, %q128, %q23 : !iris.ctx, !w, i8, i8, i32, i32)
  %minus = arith.constant -384562266 : i64
  %two = arith.constant 2 : i64
  iris.launch @kernels::@negative_numerator programs(%one) args(%ctx, %w, %minus, %two : !iris.ctx, !w, i64, i64)
  %k0 = arith.constant -4194308 : i64
  %k1 = arith.constant 274890752004 : i64
  %y0 = arith.constant 0 : i64
  %none = arith.constant 0 : i32
  iris.launch @kernels::@upper_carry programs(%one) args(%ctx, %w, %k0, %y0, %k1, %none : !iris.ctx, !w, i64, i64, i64, i32)
  %a = arith.constant -1 : i32
  %b = arith.constant 5 : i32
  iris.launch @kernels::@carry_twice programs(%one) args(%ctx, %w, %a, %b, %none : !iris.ctx, !w, i32, i32, i32)
  %x = arith.constant 1 : i64
  %z = arith.constant 1152921504606846980 : i64
  %or = arith.constant 1161928703861587967 : i64
  iris.launch @kernels::@constant_or programs(%one) args(%ctx, %w, %x, %z, %or : !iris.ctx, !w, i64, i64, i64)
  %nan = arith.constant 0x7FC00000 : f32
  %nan16 = arith.constant 0x7E00 : f16
  %limit = arith.constant 3.25 : f32
  iris.launch @kernels::@minima programs(%one) args(%ctx, %nan, %nan16, %limit : !iris.ctx, f32, f16, f32)
  %x1 = arith.constant 1.0 : f32
  %h1 = arith.constant 1.0 : f16
  iris.launch @kernels::@minima programs(%one) args(%ctx, %x1, %h1, %x1 : !iris.ctx, f32, f16, f32)
  %limit16 = arith.constant 3.25 : f16
  iris.launch @kernels::@extended_maxima programs(%one) args(%ctx, %nan16, %limit16 : !iris.ctx, f16, f16)
  iris.launch @kernels::@extended_maxima programs(%one) args(%ctx, %h1, %limit16 : !iris.ctx, f16, f16)
  %nanb = arith.constant 0x7FC0 : bf16
  %limitb = arith.constant 3.25 : bf16
  %b1 = arith.constant 1.0 : bf16
  iris.launch @kernels::@short_minima programs(%one) args(%ctx, %nanb, %limitb : !iris.ctx, bf16, bf16)
  iris.launch @kernels::@short_minima programs(%one) args(%ctx, %b1, %b1 : !iris.ctx, bf16, bf16)
  iris.launch @kernels::@short_minnum programs(%one) args(%ctx, %nanb, %limitb : !iris.ctx, bf16, bf16)
  iris.launch @kernels::@short_minnum programs(%one) args(%ctx, %b1, %b1 : !iris.ctx, bf16, bf16)
  iris.launch @kernels::@three_minima programs(%one) args(%ctx, %nan, %limit : !iris.ctx, f32, f32)
  iris.launch @kernels::@three_minima programs(%one) args(%ctx, %x1, %x1 : !iris.ctx, f32, f32)
  %true = arith.constant true
  %false = arith.constant false
  iris.launch @kernels::@chosen_minimum programs(%one) args(%ctx, %nanb, %true, %false, %limitb : !iris.ctx, bf16, i1, i1, bf16)
  iris.launch @kernels::@chosen_minimum programs(%one) args(%ctx, %b1, %true, %false, %b1 : !iris.ctx, bf16, i1, i1, bf16)
  %inf = arith.constant 0x7FF0000000000000 : f64
  iris.launch @kernels::@overflowing_fma programs(%one) args(%ctx, %inf : !iris.ctx, f64)
  %bytes = iris.alloc() : !b
  %words = iris.alloc() : !v
  %word = arith.constant 0xFE123405 : i32
  %packed = arith.constant 0x00FEFE05 : i32
  iris.launch @kernels::@fill_words programs(%one) args(%words, %word : !v, i32)
  iris.launch @kernels::@packed_bytes programs(%one) args(%words : !v)
  iris.launch @kernels::@check_words programs(%one) args(%ctx, %words, %packed : !iris.ctx, !v, i32)
  %seven = arith.constant 7 : i8
  %y = arith.constant 305419896 : i32
  %below0 = arith.constant 3429974 : i32
  %below1 = arith.constant -13347242 : i32
  iris.launch @kernels::@signs_of_bytes programs(%one) args(%ctx, %bytes, %words, %seven, %y, %below0 : !iris.ctx, !b, !v, i8, i32, i32)
  iris.launch @kernels::@signs_of_bytes programs(%one) args(%ctx, %bytes, %words, %m1, %y, %below1 : !iris.ctx, !b, !v, i8, i32, i32)
  %nan32 = arith.constant 0x7FC00000 : f32
  %zero32 = arith.constant 0.0 : f32
  // 0xC5001234 and 0x45001234: the upper halves are the f16 -5.0 and 5.0.
  %ym = arith.constant -989851084 : i32
  %minus5 = arith.constant -5.0 : f32
  %highm = arith.constant -989866188 : i32
  %yp = arith.constant 1157632564 : i32
  %plus5 = arith.constant 5.0 : f32
  %highp = arith.constant 1157650228 : i32
  iris.launch @kernels::@extended_floats programs(%one) args(%ctx, %bytes, %words, %m1, %ym, %nan32, %minus5, %highm : !iris.ctx, !b, !v, i8, i32, f32, f32, i32)
  iris.launch @kernels::@extended_floats programs(%one) args(%ctx, %bytes, %words, %seven, %yp, %zero32, %plus5, %highp : !iris.ctx, !b, !v, i8, i32, f32, f32, i32)
  %floats = iris.alloc() : memref<64xf32, #iris.symmetric>
  iris.launch @kernels::@magnitudes programs(%one) args(%ctx, %floats, %nan, %false : !iris.ctx, memref<64xf32, #iris.symmetric>, f32, i1)
  iris.launch @kernels::@magnitudes programs(%one) args(%ctx, %floats, %x1, %true : !iris.ctx, memref<64xf32, #iris.symmetric>, f32, i1)
  iris.sync %ctx
  return
}
