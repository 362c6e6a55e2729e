// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic that LLVM's code generators compile to wrong code where it is not
// guarded (docs/internals/guards.md). The expected values are exact.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

!v = memref<64xi32, #iris.symmetric>
!b = memref<256xi8, #iris.symmetric>
!t = tensor<64xi32>
!t8 = tensor<256xi8>
!t16 = tensor<256xi16>
!h = tensor<256xi32>
!t64 = tensor<64xi64>

gpu.module @kernels {
  // Numbers below 2^24, most of them just below a multiple of the divisor.
  gpu.func @divisions(%ctx: !iris.ctx, %v: !v, %x: i32, %y: i32, %q: i32, %r: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t
    tile.store %xsplat, %v[%c0] : !t, !v
    %xt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %x, %v[%c0] : !v
    %xs = memref.load %v[%c0] : !v
    %ysplat = tensor.splat %y : !t
    tile.store %ysplat, %v[%c0] : !t, !v
    %yt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %y, %v[%c0] : !v
    %ys = memref.load %v[%c0] : !v
    %m24s = arith.constant 16777215 : i32
    %m12s = arith.constant 4095 : i32
    %zeros = arith.constant 0 : i32
    %ns = arith.andi %xs, %m24s : i32
    %ds = arith.andi %ys, %m12s : i32
    %uqs = arith.divui %ns, %ds : i32
    %urs = arith.remui %ns, %ds : i32
    %sqs = arith.divsi %ns, %ds : i32
    %srs = arith.remsi %ns, %ds : i32
    %wns = arith.extui %ns : i32 to i64
    %wds = arith.extui %ds : i32 to i64
    %wqs = arith.divui %wns, %wds : i64
    %nqs = arith.trunci %wqs : i64 to i32
    %mns = arith.subi %zeros, %ns : i32
    %mqs = arith.divsi %mns, %ds : i32
    %pqs = arith.subi %zeros, %mqs : i32
    iris.expect_eq %uqs, %q, "x / y" : i32
    iris.expect_eq %urs, %r, "x % y" : i32
    iris.expect_eq %sqs, %q, "x / y, signed" : i32
    iris.expect_eq %srs, %r, "x % y, signed" : i32
    iris.expect_eq %nqs, %q, "x / y, i64" : i32
    iris.expect_eq %pqs, %q, "-(-x / y)" : i32
    %m24t = arith.constant dense<16777215> : !t
    %m12t = arith.constant dense<4095> : !t
    %zerot = arith.constant dense<0> : !t
    %nt = arith.andi %xt, %m24t : !t
    %dt = arith.andi %yt, %m12t : !t
    %uqt = arith.divui %nt, %dt : !t
    %urt = arith.remui %nt, %dt : !t
    %sqt = arith.divsi %nt, %dt : !t
    %srt = arith.remsi %nt, %dt : !t
    %wnt = arith.extui %nt : !t to !t64
    %wdt = arith.extui %dt : !t to !t64
    %wqt = arith.divui %wnt, %wdt : !t64
    %nqt = arith.trunci %wqt : !t64 to !t
    %mnt = arith.subi %zerot, %nt : !t
    %mqt = arith.divsi %mnt, %dt : !t
    %pqt = arith.subi %zerot, %mqt : !t
    %qt = tensor.splat %q : !t
    iris.expect_eq %uqt, %qt, "x / y, tile" : !t
    %rt = tensor.splat %r : !t
    iris.expect_eq %urt, %rt, "x % y, tile" : !t
    iris.expect_eq %sqt, %qt, "x / y, signed, tile" : !t
    iris.expect_eq %srt, %rt, "x % y, signed, tile" : !t
    iris.expect_eq %nqt, %qt, "x / y, i64, tile" : !t
    iris.expect_eq %pqt, %qt, "-(-x / y), tile" : !t
    gpu.return
  }

  // The same alone: LLVM computes both from one division otherwise.
  gpu.func @quotients(%ctx: !iris.ctx, %v: !v, %x: i32, %y: i32, %q: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t
    tile.store %xsplat, %v[%c0] : !t, !v
    %xt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %x, %v[%c0] : !v
    %xs = memref.load %v[%c0] : !v
    %ysplat = tensor.splat %y : !t
    tile.store %ysplat, %v[%c0] : !t, !v
    %yt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %y, %v[%c0] : !v
    %ys = memref.load %v[%c0] : !v
    %m24s = arith.constant 16777215 : i32
    %m12s = arith.constant 4095 : i32
    %ns = arith.andi %xs, %m24s : i32
    %ds = arith.andi %ys, %m12s : i32
    %gs = arith.divui %ns, %ds : i32
    iris.expect_eq %gs, %q, "x / y" : i32
    %m24t = arith.constant dense<16777215> : !t
    %m12t = arith.constant dense<4095> : !t
    %nt = arith.andi %xt, %m24t : !t
    %dt = arith.andi %yt, %m12t : !t
    %gt = arith.divui %nt, %dt : !t
    %qt = tensor.splat %q : !t
    iris.expect_eq %gt, %qt, "x / y, tile" : !t
    gpu.return
  }

  // The same alone: LLVM computes both from one division otherwise.
  gpu.func @remainders(%ctx: !iris.ctx, %v: !v, %x: i32, %y: i32, %r: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t
    tile.store %xsplat, %v[%c0] : !t, !v
    %xt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %x, %v[%c0] : !v
    %xs = memref.load %v[%c0] : !v
    %ysplat = tensor.splat %y : !t
    tile.store %ysplat, %v[%c0] : !t, !v
    %yt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %y, %v[%c0] : !v
    %ys = memref.load %v[%c0] : !v
    %m24s = arith.constant 16777215 : i32
    %m12s = arith.constant 4095 : i32
    %ns = arith.andi %xs, %m24s : i32
    %ds = arith.andi %ys, %m12s : i32
    %gs = arith.remui %ns, %ds : i32
    iris.expect_eq %gs, %r, "x % y" : i32
    %m24t = arith.constant dense<16777215> : !t
    %m12t = arith.constant dense<4095> : !t
    %nt = arith.andi %xt, %m24t : !t
    %dt = arith.andi %yt, %m12t : !t
    %gt = arith.remui %nt, %dt : !t
    %rt = tensor.splat %r : !t
    iris.expect_eq %gt, %rt, "x % y, tile" : !t
    gpu.return
  }

  // i64 divisions of values that fit in i32.
  gpu.func @wide(%ctx: !iris.ctx, %v: !v, %x: i32, %y: i32, %q: i64, %r: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t
    tile.store %xsplat, %v[%c0] : !t, !v
    %xt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %x, %v[%c0] : !v
    %xs = memref.load %v[%c0] : !v
    %ysplat = tensor.splat %y : !t
    tile.store %ysplat, %v[%c0] : !t, !v
    %yt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %y, %v[%c0] : !v
    %ys = memref.load %v[%c0] : !v
    %ns = arith.extsi %xs : i32 to i64
    %ds = arith.extsi %ys : i32 to i64
    %uqs = arith.divsi %ns, %ds : i64
    %urs = arith.remsi %ns, %ds : i64
    iris.expect_eq %uqs, %q, "x / y" : i64
    iris.expect_eq %urs, %r, "x % y" : i64
    %nt = arith.extsi %xt : !t to !t64
    %dt = arith.extsi %yt : !t to !t64
    %uqt = arith.divsi %nt, %dt : !t64
    %urt = arith.remsi %nt, %dt : !t64
    %qt = tensor.splat %q : !t64
    iris.expect_eq %uqt, %qt, "x / y, tile" : !t64
    %rt = tensor.splat %r : !t64
    iris.expect_eq %urt, %rt, "x % y, tile" : !t64
    gpu.return
  }

  // Bytes of x and of x >> 8 in one word.
  gpu.func @bytes(%ctx: !iris.ctx, %v: !v, %x: i32, %w: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t
    tile.store %xsplat, %v[%c0] : !t, !v
    %xt = tile.load %v[%c0] volatile : !v -> !t
    memref.store %x, %v[%c0] : !v
    %xs = memref.load %v[%c0] : !v
    %c8s = arith.constant 8 : i32
    %c16s = arith.constant 16 : i32
    %m0s = arith.constant 255 : i32
    %m1s = arith.constant 65280 : i32
    %m2s = arith.constant 16711680 : i32
    %m3s = arith.constant -16777216 : i32
    %ss = arith.shrsi %xs, %c8s : i32
    %s16s = arith.shrui %ss, %c16s : i32
    %b0s = arith.andi %s16s, %m0s : i32
    %b3s = arith.andi %xs, %m3s : i32
    %x8s = arith.shrui %xs, %c8s : i32
    %b1s = arith.andi %x8s, %m1s : i32
    %s8s = arith.shrui %ss, %c8s : i32
    %b2s = arith.andi %s8s, %m2s : i32
    %r0s = arith.ori %b1s, %b3s : i32
    %r1s = arith.ori %r0s, %b0s : i32
    %ps = arith.ori %r1s, %b2s : i32
    iris.expect_eq %ps, %w, "packed bytes" : i32
    %c8t = arith.constant dense<8> : !t
    %c16t = arith.constant dense<16> : !t
    %m0t = arith.constant dense<255> : !t
    %m1t = arith.constant dense<65280> : !t
    %m2t = arith.constant dense<16711680> : !t
    %m3t = arith.constant dense<-16777216> : !t
    %st = arith.shrsi %xt, %c8t : !t
    %s16t = arith.shrui %st, %c16t : !t
    %b0t = arith.andi %s16t, %m0t : !t
    %b3t = arith.andi %xt, %m3t : !t
    %x8t = arith.shrui %xt, %c8t : !t
    %b1t = arith.andi %x8t, %m1t : !t
    %s8t = arith.shrui %st, %c8t : !t
    %b2t = arith.andi %s8t, %m2t : !t
    %r0t = arith.ori %b1t, %b3t : !t
    %r1t = arith.ori %r0t, %b0t : !t
    %pt = arith.ori %r1t, %b2t : !t
    %wt = tensor.splat %w : !t
    iris.expect_eq %pt, %wt, "packed bytes, tile" : !t
    gpu.return
  }

  // A signed byte, extended to 16 bits, and without its sign to 32.
  gpu.func @halves(%ctx: !iris.ctx, %b: !b, %x: i8, %zeros: i32, %third: i32, %value: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t8
    tile.store %xsplat, %b[%c0] : !t8, !b
    %xt = tile.load %b[%c0] volatile : !b -> !t8
    memref.store %x, %b[%c0] : !b
    %xs = memref.load %b[%c0] : !b
    %c3s = arith.constant 3 : i32
    %hs = arith.extsi %xs : i8 to i16
    %zs = arith.extui %hs : i16 to i32
    %ls = math.ctlz %zs : i32
    %ds = arith.divui %zs, %c3s : i32
    iris.expect_eq %ls, %zeros, "leading zeros" : i32
    iris.expect_eq %ds, %third, "a third" : i32
    iris.expect_eq %zs, %value, "value" : i32
    %c3t = arith.constant dense<3> : !h
    %ht = arith.extsi %xt : !t8 to !t16
    %zt = arith.extui %ht : !t16 to !h
    %lt = math.ctlz %zt : !h
    %dt = arith.divui %zt, %c3t : !h
    %zerost = tensor.splat %zeros : !h
    iris.expect_eq %lt, %zerost, "leading zeros, tile" : !h
    %thirdt = tensor.splat %third : !h
    iris.expect_eq %dt, %thirdt, "a third, tile" : !h
    %valuet = tensor.splat %value : !h
    iris.expect_eq %zt, %valuet, "value, tile" : !h
    gpu.return
  }

  // The same with a single use.
  gpu.func @zeros(%ctx: !iris.ctx, %b: !b, %x: i8, %zeros: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %xsplat = tensor.splat %x : !t8
    tile.store %xsplat, %b[%c0] : !t8, !b
    %xt = tile.load %b[%c0] volatile : !b -> !t8
    %ht = arith.extsi %xt : !t8 to !t16
    %zt = arith.extui %ht : !t16 to !h
    %lt = math.ctlz %zt : !h
    %zerost = tensor.splat %zeros : !h
    iris.expect_eq %lt, %zerost, "leading zeros alone, tile" : !h
    gpu.return
  }

  // (a + b) + carry and (a - b) - borrow, where z + w carries, or z - w borrows.
  gpu.func @carries(%ctx: !iris.ctx, %a: i32, %b: i32, %z: i32, %w: i32,
      %wsum: i32, %wover: i32, %wdiff: i32, %wunder: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %low, %c = arith.addui_extended %z, %w : i32, i1
    %carry = arith.extui %c : i1 to i32
    %t = arith.addi %a, %b : i32
    %sum, %over = arith.addui_extended %t, %carry : i32, i1
    %o = arith.extui %over : i1 to i32
    iris.expect_eq %sum, %wsum, "(a + b) + carry" : i32
    iris.expect_eq %o, %wover, "carry of (a + b) + carry" : i32
    %below = arith.cmpi ult, %z, %w : i32
    %borrow = arith.extui %below : i1 to i32
    %e = arith.subi %a, %b : i32
    %difference = arith.subi %e, %borrow : i32
    %less = arith.cmpi ult, %e, %borrow : i32
    %u = arith.extui %less : i1 to i32
    iris.expect_eq %difference, %wdiff, "(a - b) - borrow" : i32
    iris.expect_eq %u, %wunder, "borrow of (a - b) - borrow" : i32
    gpu.return
  }

  // x and n are NaN.
  gpu.func @selections(%ctx: !iris.ctx, %x: f32, %y: f32, %n: f64, %m: f64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %k = arith.constant 3.25 : f32
    %one = arith.cmpf one, %x, %k : f32
    %r = arith.select %one, %y, %k : f32
    iris.expect_eq %r, %k, "x one 3.25 ? y : 3.25" : f32
    %ueq = arith.cmpf ueq, %x, %k : f32
    %s = arith.select %ueq, %k, %y : f32
    iris.expect_eq %s, %k, "x ueq 3.25 ? 3.25 : y" : f32
    %xs = tensor.splat %x : tensor<64xf32>
    %ys = tensor.splat %y : tensor<64xf32>
    %ks = arith.constant dense<3.25> : tensor<64xf32>
    %ones = arith.cmpf one, %xs, %ks : tensor<64xf32>
    %rs = arith.select %ones, %ys, %ks : tensor<64xi1>, tensor<64xf32>
    iris.expect_eq %rs, %ks, "x one 3.25 ? y : 3.25, tile" : tensor<64xf32>
    %l = arith.constant 3.25 : f64
    %two = arith.cmpf one, %n, %l : f64
    %d = arith.select %two, %m, %l : f64
    iris.expect_eq %d, %l, "x one 3.25 ? y : 3.25, f64" : f64
    %minus = arith.constant -3.25 : f64
    %signed = math.copysign %d, %minus : f64
    iris.expect_eq %signed, %minus, "-|x one 3.25 ? y : 3.25|, f64" : f64
    %pair = vector.broadcast %x : f32 to vector<2xf32>
    %others = vector.broadcast %y : f32 to vector<2xf32>
    %limits = arith.constant dense<[3.25, 5.5]> : vector<2xf32>
    %arms = arith.constant dense<[3.25, 7.5]> : vector<2xf32>
    %both = arith.cmpf one, %pair, %limits : vector<2xf32>
    %rv = arith.select %both, %others, %arms : vector<2xi1>, vector<2xf32>
    %first = vector.extract %rv[0] : f32 from vector<2xf32>
    iris.expect_eq %first, %k, "x one 3.25 ? y : 3.25, of a pair" : f32
    gpu.return
  }

  // Quotients that are narrowed keep the sign of zero; x is negative.
  gpu.func @narrowed(%ctx: !iris.ctx, %x: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %infinity = arith.constant 0x7F800000 : f32
    %zero = arith.constant -0.0 : f16
    %q = arith.divf %x, %infinity : f32
    %h = arith.truncf %q : f32 to f16
    iris.expect_eq %h, %zero, "x / inf, narrowed" : f16
    %pair = vector.broadcast %x : f32 to vector<2xf32>
    %divisors = arith.constant dense<[0x7F800000, 3.0]> : vector<2xf32>
    %qv = arith.divf %pair, %divisors : vector<2xf32>
    %hv = arith.truncf %qv : vector<2xf32> to vector<2xf16>
    %first = vector.extract %hv[0] : f16 from vector<2xf16>
    iris.expect_eq %first, %zero, "x / inf, narrowed, of a pair" : f16
    gpu.return
  }

  // n is 2^32 + 3: the shift is poison, but not chosen. y is -1.
  gpu.func @shifts(%ctx: !iris.ctx, %x: i64, %n: i64, %y: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i64
    %c64 = arith.constant 64 : i64
    %in = arith.cmpi ult, %n, %c64 : i64
    %up = arith.shli %x, %n : i64
    %u = arith.select %in, %up, %zero : i64
    iris.expect_eq %u, %zero, "n < 64 ? x << n : 0" : i64
    %down = arith.shrui %x, %n : i64
    %d = arith.select %in, %down, %zero : i64
    iris.expect_eq %d, %zero, "n < 64 ? x >>> n : 0" : i64
    %c31 = arith.constant 31 : i32
    %s = arith.shli %y, %c31 overflow<nsw> : i32
    %w = arith.extsi %s : i32 to i64
    %want = arith.constant -2147483648 : i64
    iris.expect_eq %w, %want, "sext(-1 << 31)" : i64
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %v = iris.alloc() : !v
  %b = iris.alloc() : !b
  %nan = arith.constant 0x7FC00000 : f32
  %f1 = arith.constant 1.0 : f32
  %f3 = arith.constant -1.0 : f32
  %nan64 = arith.constant 0x7FF8000000000000 : f64
  %d1 = arith.constant 1.0 : f64
  %k0 = arith.constant 13762304 : i32
  %k1 = arith.constant 241 : i32
  %k2 = arith.constant 57104 : i32
  %k3 = arith.constant 240 : i32
  %k4 = arith.constant 16777214 : i32
  %k5 = arith.constant 255 : i32
  %k6 = arith.constant 65792 : i32
  %k7 = arith.constant 254 : i32
  %k8 = arith.constant 9597359 : i32
  %k9 = arith.constant 3 : i32
  %k10 = arith.constant 3199119 : i32
  %k11 = arith.constant 2 : i32
  %k12 = arith.constant 11182769 : i32
  %k13 = arith.constant 43853 : i32
  %k14 = arith.constant 4194304 : i32
  %k15 = arith.constant 1398101 : i32
  %k16 = arith.constant 1 : i32
  %k17 = arith.constant 15887442 : i32
  %k18 = arith.constant 65922 : i32
  %k19 = arith.constant 16777215 : i32
  %k20 = arith.constant 0 : i32
  %k21 = arith.constant 4095 : i32
  %k22 = arith.constant 4097 : i32
  %k23 = arith.constant 4194303 : i32
  %k24 = arith.constant 5 : i32
  %k25 = arith.constant 838860 : i32
  %k26 = arith.constant -2147483648 : i32
  %k27 = arith.constant -1 : i32
  %k28 = arith.constant 2147483648 : i64
  %k29 = arith.constant 0 : i64
  %k30 = arith.constant -2147483648 : i64
  %k31 = arith.constant -3 : i32
  %k32 = arith.constant 715827882 : i64
  %k33 = arith.constant -2 : i64
  %k34 = arith.constant 2147483647 : i32
  %k35 = arith.constant -2147483647 : i64
  %k36 = arith.constant -1 : i64
  %k37 = arith.constant -7 : i32
  %k38 = arith.constant -3 : i64
  %k39 = arith.constant 134152193 : i32
  %k40 = arith.constant 117505799 : i32
  %k41 = arith.constant -2130771967 : i32
  %k42 = arith.constant -2130706560 : i32
  %k43 = arith.constant 305419896 : i32
  %k44 = arith.constant 302003218 : i32
  %k45 = arith.constant -19088744 : i32
  %k46 = arith.constant -16786178 : i32
  %k47 = arith.constant -127 : i8
  %k48 = arith.constant 16 : i32
  %k49 = arith.constant 21803 : i32
  %k50 = arith.constant 65409 : i32
  %k51 = arith.constant -1 : i8
  %k52 = arith.constant 21845 : i32
  %k53 = arith.constant 65535 : i32
  %k54 = arith.constant 127 : i8
  %k55 = arith.constant 25 : i32
  %k56 = arith.constant 42 : i32
  %k57 = arith.constant 127 : i32
  %k58 = arith.constant -128 : i8
  %k59 = arith.constant 21802 : i32
  %k60 = arith.constant 65408 : i32
  %k61 = arith.constant 0 : i8
  %k62 = arith.constant 32 : i32
  %k63 = arith.constant -2 : i32
  %k64 = arith.constant 6 : i32
  %k65 = arith.constant 12 : i32
  %k66 = arith.constant -4 : i32
  %k67 = arith.constant 5 : i64
  %k68 = arith.constant 4294967299 : i64
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k0, %k1, %k2, %k3 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k0, %k1, %k2 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k0, %k1, %k3 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k4, %k5, %k6, %k7 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k4, %k5, %k6 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k4, %k5, %k7 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k8, %k9, %k10, %k11 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k8, %k9, %k10 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k8, %k9, %k11 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k12, %k5, %k13, %k7 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k12, %k5, %k13 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k12, %k5, %k7 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k14, %k9, %k15, %k16 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k14, %k9, %k15 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k14, %k9, %k16 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k17, %k1, %k18, %k3 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k17, %k1, %k18 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k17, %k1, %k3 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k19, %k16, %k19, %k20 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k19, %k16, %k19 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k19, %k16, %k20 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k19, %k21, %k22, %k20 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k19, %k21, %k22 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k19, %k21, %k20 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@divisions programs(%one) args(%ctx, %v, %k23, %k24, %k25, %k9 : !iris.ctx, !v, i32, i32, i32, i32)
  iris.launch @kernels::@quotients programs(%one) args(%ctx, %v, %k23, %k24, %k25 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@remainders programs(%one) args(%ctx, %v, %k23, %k24, %k9 : !iris.ctx, !v, i32, i32, i32)
  iris.launch @kernels::@wide programs(%one) args(%ctx, %v, %k26, %k27, %k28, %k29 : !iris.ctx, !v, i32, i32, i64, i64)
  iris.launch @kernels::@wide programs(%one) args(%ctx, %v, %k26, %k16, %k30, %k29 : !iris.ctx, !v, i32, i32, i64, i64)
  iris.launch @kernels::@wide programs(%one) args(%ctx, %v, %k26, %k31, %k32, %k33 : !iris.ctx, !v, i32, i32, i64, i64)
  iris.launch @kernels::@wide programs(%one) args(%ctx, %v, %k34, %k27, %k35, %k29 : !iris.ctx, !v, i32, i32, i64, i64)
  iris.launch @kernels::@wide programs(%one) args(%ctx, %v, %k27, %k26, %k29, %k36 : !iris.ctx, !v, i32, i32, i64, i64)
  iris.launch @kernels::@wide programs(%one) args(%ctx, %v, %k37, %k11, %k38, %k36 : !iris.ctx, !v, i32, i32, i64, i64)
  iris.launch @kernels::@bytes programs(%one) args(%ctx, %v, %k39, %k40 : !iris.ctx, !v, i32, i32)
  iris.launch @kernels::@bytes programs(%one) args(%ctx, %v, %k41, %k42 : !iris.ctx, !v, i32, i32)
  iris.launch @kernels::@bytes programs(%one) args(%ctx, %v, %k43, %k44 : !iris.ctx, !v, i32, i32)
  iris.launch @kernels::@bytes programs(%one) args(%ctx, %v, %k45, %k46 : !iris.ctx, !v, i32, i32)
  iris.launch @kernels::@zeros programs(%one) args(%ctx, %b, %k47, %k48 : !iris.ctx, !b, i8, i32)
  iris.launch @kernels::@halves programs(%one) args(%ctx, %b, %k47, %k48, %k49, %k50 : !iris.ctx, !b, i8, i32, i32, i32)
  iris.launch @kernels::@zeros programs(%one) args(%ctx, %b, %k51, %k48 : !iris.ctx, !b, i8, i32)
  iris.launch @kernels::@halves programs(%one) args(%ctx, %b, %k51, %k48, %k52, %k53 : !iris.ctx, !b, i8, i32, i32, i32)
  iris.launch @kernels::@zeros programs(%one) args(%ctx, %b, %k54, %k55 : !iris.ctx, !b, i8, i32)
  iris.launch @kernels::@halves programs(%one) args(%ctx, %b, %k54, %k55, %k56, %k57 : !iris.ctx, !b, i8, i32, i32, i32)
  iris.launch @kernels::@zeros programs(%one) args(%ctx, %b, %k58, %k48 : !iris.ctx, !b, i8, i32)
  iris.launch @kernels::@halves programs(%one) args(%ctx, %b, %k58, %k48, %k59, %k60 : !iris.ctx, !b, i8, i32, i32, i32)
  iris.launch @kernels::@zeros programs(%one) args(%ctx, %b, %k61, %k62 : !iris.ctx, !b, i8, i32)
  iris.launch @kernels::@halves programs(%one) args(%ctx, %b, %k61, %k62, %k20, %k20 : !iris.ctx, !b, i8, i32, i32, i32)
  iris.launch @kernels::@carries programs(%one) args(%ctx, %k27, %k16, %k20, %k20, %k20, %k20, %k63, %k20 : !iris.ctx, i32, i32, i32, i32, i32, i32, i32, i32)
  iris.launch @kernels::@carries programs(%one) args(%ctx, %k27, %k20, %k27, %k16, %k20, %k16, %k27, %k20 : !iris.ctx, i32, i32, i32, i32, i32, i32, i32, i32)
  iris.launch @kernels::@carries programs(%one) args(%ctx, %k24, %k64, %k27, %k27, %k65, %k20, %k27, %k20 : !iris.ctx, i32, i32, i32, i32, i32, i32, i32, i32)
  iris.launch @kernels::@carries programs(%one) args(%ctx, %k63, %k16, %k16, %k27, %k20, %k16, %k66, %k20 : !iris.ctx, i32, i32, i32, i32, i32, i32, i32, i32)
  iris.launch @kernels::@carries programs(%one) args(%ctx, %k20, %k16, %k20, %k16, %k16, %k20, %k63, %k20 : !iris.ctx, i32, i32, i32, i32, i32, i32, i32, i32)
  iris.launch @kernels::@selections programs(%one) args(%ctx, %nan, %f1, %nan64, %d1 : !iris.ctx, f32, f32, f64, f64)
  iris.launch @kernels::@narrowed programs(%one) args(%ctx, %f3 : !iris.ctx, f32)
  iris.launch @kernels::@shifts programs(%one) args(%ctx, %k67, %k68, %k27 : !iris.ctx, i64, i64, i32)
  iris.sync %ctx
  return
}
