// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of integers to bf16, and fma, round once; those by way of f32, twice. The
// expected values are exact: the integer rounded to 8 bits, or to 24 and then 8.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
//
// MLIR and LLVM still have the defects that the guards are for.
// RUN: iris-compile %s --disable-guards=roundings -o %t.roundings.iris
// RUN: not iris-run -n 1 %t.roundings.iris 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: bf16(f32(
// RUN: iris-compile %s --disable-guards=integers-to-bf16 -o %t.integers.iris
// RUN: not iris-run -n 1 %t.integers.iris 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: : bf16(

!v = memref<64xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @scalars(%ctx: !iris.ctx,
      %a0: i32, %a1: i32, %a2: i32, %a3: i32, %a4: i32, %a5: i32, %a6: i32, %a7: i32, %a8: i32, %a9: i32, %a10: i32, %a11: i32, %a12: i32, %a13: i64, %a14: i64, %a15: i64, %a16: i64, %a17: i64, %a18: i64, %a19: i64, %a20: i64, %a21: i64, %a22: i64, %a23: i64, %a24: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %once0 = arith.sitofp %a0 : i32 to bf16
    %o0 = arith.constant 0x3F80 : bf16
    iris.expect_eq %once0, %o0, "bf16(1)" : bf16
    %d0 = arith.sitofp %a0 : i32 to f64
    %e0 = arith.truncf %d0 : f64 to bf16
    iris.expect_eq %e0, %o0, "bf16(f64(1))" : bf16
    %f0 = arith.sitofp %a0 : i32 to f32
    %twice0 = arith.truncf %f0 : f32 to bf16
    %t0 = arith.constant 0x3F80 : bf16
    iris.expect_eq %twice0, %t0, "bf16(f32(1))" : bf16
    %once1 = arith.sitofp %a1 : i32 to bf16
    %o1 = arith.constant 0xC380 : bf16
    iris.expect_eq %once1, %o1, "bf16(-257)" : bf16
    %d1 = arith.sitofp %a1 : i32 to f64
    %e1 = arith.truncf %d1 : f64 to bf16
    iris.expect_eq %e1, %o1, "bf16(f64(-257))" : bf16
    %f1 = arith.sitofp %a1 : i32 to f32
    %twice1 = arith.truncf %f1 : f32 to bf16
    %t1 = arith.constant 0xC380 : bf16
    iris.expect_eq %twice1, %t1, "bf16(f32(-257))" : bf16
    %once2 = arith.sitofp %a2 : i32 to bf16
    %o2 = arith.constant 0x4B81 : bf16
    iris.expect_eq %once2, %o2, "bf16(16842753)" : bf16
    %d2 = arith.sitofp %a2 : i32 to f64
    %e2 = arith.truncf %d2 : f64 to bf16
    iris.expect_eq %e2, %o2, "bf16(f64(16842753))" : bf16
    %f2 = arith.sitofp %a2 : i32 to f32
    %twice2 = arith.truncf %f2 : f32 to bf16
    %t2 = arith.constant 0x4B80 : bf16
    iris.expect_eq %twice2, %t2, "bf16(f32(16842753))" : bf16
    %once3 = arith.sitofp %a3 : i32 to bf16
    %o3 = arith.constant 0xCB81 : bf16
    iris.expect_eq %once3, %o3, "bf16(-16842753)" : bf16
    %d3 = arith.sitofp %a3 : i32 to f64
    %e3 = arith.truncf %d3 : f64 to bf16
    iris.expect_eq %e3, %o3, "bf16(f64(-16842753))" : bf16
    %f3 = arith.sitofp %a3 : i32 to f32
    %twice3 = arith.truncf %f3 : f32 to bf16
    %t3 = arith.constant 0xCB80 : bf16
    iris.expect_eq %twice3, %t3, "bf16(f32(-16842753))" : bf16
    %once4 = arith.sitofp %a4 : i32 to bf16
    %o4 = arith.constant 0x4B80 : bf16
    iris.expect_eq %once4, %o4, "bf16(16842752)" : bf16
    %d4 = arith.sitofp %a4 : i32 to f64
    %e4 = arith.truncf %d4 : f64 to bf16
    iris.expect_eq %e4, %o4, "bf16(f64(16842752))" : bf16
    %f4 = arith.sitofp %a4 : i32 to f32
    %twice4 = arith.truncf %f4 : f32 to bf16
    %t4 = arith.constant 0x4B80 : bf16
    iris.expect_eq %twice4, %t4, "bf16(f32(16842752))" : bf16
    %once5 = arith.sitofp %a5 : i32 to bf16
    %o5 = arith.constant 0x4B82 : bf16
    iris.expect_eq %once5, %o5, "bf16(16973824)" : bf16
    %d5 = arith.sitofp %a5 : i32 to f64
    %e5 = arith.truncf %d5 : f64 to bf16
    iris.expect_eq %e5, %o5, "bf16(f64(16973824))" : bf16
    %f5 = arith.sitofp %a5 : i32 to f32
    %twice5 = arith.truncf %f5 : f32 to bf16
    %t5 = arith.constant 0x4B82 : bf16
    iris.expect_eq %twice5, %t5, "bf16(f32(16973824))" : bf16
    %once6 = arith.sitofp %a6 : i32 to bf16
    %o6 = arith.constant 0x4F00 : bf16
    iris.expect_eq %once6, %o6, "bf16(2147483647)" : bf16
    %d6 = arith.sitofp %a6 : i32 to f64
    %e6 = arith.truncf %d6 : f64 to bf16
    iris.expect_eq %e6, %o6, "bf16(f64(2147483647))" : bf16
    %f6 = arith.sitofp %a6 : i32 to f32
    %twice6 = arith.truncf %f6 : f32 to bf16
    %t6 = arith.constant 0x4F00 : bf16
    iris.expect_eq %twice6, %t6, "bf16(f32(2147483647))" : bf16
    %once7 = arith.sitofp %a7 : i32 to bf16
    %o7 = arith.constant 0xCF00 : bf16
    iris.expect_eq %once7, %o7, "bf16(-2147483648)" : bf16
    %d7 = arith.sitofp %a7 : i32 to f64
    %e7 = arith.truncf %d7 : f64 to bf16
    iris.expect_eq %e7, %o7, "bf16(f64(-2147483648))" : bf16
    %f7 = arith.sitofp %a7 : i32 to f32
    %twice7 = arith.truncf %f7 : f32 to bf16
    %t7 = arith.constant 0xCF00 : bf16
    iris.expect_eq %twice7, %t7, "bf16(f32(-2147483648))" : bf16
    %once8 = arith.sitofp %a8 : i32 to bf16
    %o8 = arith.constant 0x4E81 : bf16
    iris.expect_eq %once8, %o8, "bf16(1077936129)" : bf16
    %d8 = arith.sitofp %a8 : i32 to f64
    %e8 = arith.truncf %d8 : f64 to bf16
    iris.expect_eq %e8, %o8, "bf16(f64(1077936129))" : bf16
    %f8 = arith.sitofp %a8 : i32 to f32
    %twice8 = arith.truncf %f8 : f32 to bf16
    %t8 = arith.constant 0x4E80 : bf16
    iris.expect_eq %twice8, %t8, "bf16(f32(1077936129))" : bf16
    %once9 = arith.sitofp %a9 : i32 to bf16
    %o9 = arith.constant 0x4B80 : bf16
    iris.expect_eq %once9, %o9, "bf16(16777088)" : bf16
    %d9 = arith.sitofp %a9 : i32 to f64
    %e9 = arith.truncf %d9 : f64 to bf16
    iris.expect_eq %e9, %o9, "bf16(f64(16777088))" : bf16
    %f9 = arith.sitofp %a9 : i32 to f32
    %twice9 = arith.truncf %f9 : f32 to bf16
    %t9 = arith.constant 0x4B80 : bf16
    iris.expect_eq %twice9, %t9, "bf16(f32(16777088))" : bf16
    %once10 = arith.uitofp %a10 : i32 to bf16
    %o10 = arith.constant 0x4F80 : bf16
    iris.expect_eq %once10, %o10, "bf16(4294967295)" : bf16
    %d10 = arith.uitofp %a10 : i32 to f64
    %e10 = arith.truncf %d10 : f64 to bf16
    iris.expect_eq %e10, %o10, "bf16(f64(4294967295))" : bf16
    %f10 = arith.uitofp %a10 : i32 to f32
    %twice10 = arith.truncf %f10 : f32 to bf16
    %t10 = arith.constant 0x4F80 : bf16
    iris.expect_eq %twice10, %t10, "bf16(f32(4294967295))" : bf16
    %once11 = arith.uitofp %a11 : i32 to bf16
    %o11 = arith.constant 0x4F01 : bf16
    iris.expect_eq %once11, %o11, "bf16(2164326401)" : bf16
    %d11 = arith.uitofp %a11 : i32 to f64
    %e11 = arith.truncf %d11 : f64 to bf16
    iris.expect_eq %e11, %o11, "bf16(f64(2164326401))" : bf16
    %f11 = arith.uitofp %a11 : i32 to f32
    %twice11 = arith.truncf %f11 : f32 to bf16
    %t11 = arith.constant 0x4F01 : bf16
    iris.expect_eq %twice11, %t11, "bf16(f32(2164326401))" : bf16
    %once12 = arith.uitofp %a12 : i32 to bf16
    %o12 = arith.constant 0x4F01 : bf16
    iris.expect_eq %once12, %o12, "bf16(2164326400)" : bf16
    %d12 = arith.uitofp %a12 : i32 to f64
    %e12 = arith.truncf %d12 : f64 to bf16
    iris.expect_eq %e12, %o12, "bf16(f64(2164326400))" : bf16
    %f12 = arith.uitofp %a12 : i32 to f32
    %twice12 = arith.truncf %f12 : f32 to bf16
    %t12 = arith.constant 0x4F01 : bf16
    iris.expect_eq %twice12, %t12, "bf16(f32(2164326400))" : bf16
    %once13 = arith.sitofp %a13 : i64 to bf16
    %o13 = arith.constant 0xBF80 : bf16
    iris.expect_eq %once13, %o13, "bf16(-1)" : bf16
    %f13 = arith.sitofp %a13 : i64 to f32
    %twice13 = arith.truncf %f13 : f32 to bf16
    %t13 = arith.constant 0xBF80 : bf16
    iris.expect_eq %twice13, %t13, "bf16(f32(-1))" : bf16
    %once14 = arith.sitofp %a14 : i64 to bf16
    %o14 = arith.constant 0x5BD1 : bf16
    iris.expect_eq %once14, %o14, "bf16(117938015241764863)" : bf16
    %f14 = arith.sitofp %a14 : i64 to f32
    %twice14 = arith.truncf %f14 : f32 to bf16
    %t14 = arith.constant 0x5BD2 : bf16
    iris.expect_eq %twice14, %t14, "bf16(f32(117938015241764863))" : bf16
    %once15 = arith.sitofp %a15 : i64 to bf16
    %o15 = arith.constant 0xDBD1 : bf16
    iris.expect_eq %once15, %o15, "bf16(-117938015241764863)" : bf16
    %f15 = arith.sitofp %a15 : i64 to f32
    %twice15 = arith.truncf %f15 : f32 to bf16
    %t15 = arith.constant 0xDBD2 : bf16
    iris.expect_eq %twice15, %t15, "bf16(f32(-117938015241764863))" : bf16
    %once16 = arith.sitofp %a16 : i64 to bf16
    %o16 = arith.constant 0x5F00 : bf16
    iris.expect_eq %once16, %o16, "bf16(9223372036854775807)" : bf16
    %f16 = arith.sitofp %a16 : i64 to f32
    %twice16 = arith.truncf %f16 : f32 to bf16
    %t16 = arith.constant 0x5F00 : bf16
    iris.expect_eq %twice16, %t16, "bf16(f32(9223372036854775807))" : bf16
    %once17 = arith.sitofp %a17 : i64 to bf16
    %o17 = arith.constant 0xDF00 : bf16
    iris.expect_eq %once17, %o17, "bf16(-9223372036854775808)" : bf16
    %f17 = arith.sitofp %a17 : i64 to f32
    %twice17 = arith.truncf %f17 : f32 to bf16
    %t17 = arith.constant 0xDF00 : bf16
    iris.expect_eq %twice17, %t17, "bf16(f32(-9223372036854775808))" : bf16
    %once18 = arith.sitofp %a18 : i64 to bf16
    %o18 = arith.constant 0x5E81 : bf16
    iris.expect_eq %once18, %o18, "bf16(4629700416936869889)" : bf16
    %f18 = arith.sitofp %a18 : i64 to f32
    %twice18 = arith.truncf %f18 : f32 to bf16
    %t18 = arith.constant 0x5E80 : bf16
    iris.expect_eq %twice18, %t18, "bf16(f32(4629700416936869889))" : bf16
    %once19 = arith.sitofp %a19 : i64 to bf16
    %o19 = arith.constant 0xDE81 : bf16
    iris.expect_eq %once19, %o19, "bf16(-4629700416936869889)" : bf16
    %f19 = arith.sitofp %a19 : i64 to f32
    %twice19 = arith.truncf %f19 : f32 to bf16
    %t19 = arith.constant 0xDE80 : bf16
    iris.expect_eq %twice19, %t19, "bf16(f32(-4629700416936869889))" : bf16
    %once20 = arith.sitofp %a20 : i64 to bf16
    %o20 = arith.constant 0x5381 : bf16
    iris.expect_eq %once20, %o20, "bf16(1103806595073)" : bf16
    %f20 = arith.sitofp %a20 : i64 to f32
    %twice20 = arith.truncf %f20 : f32 to bf16
    %t20 = arith.constant 0x5380 : bf16
    iris.expect_eq %twice20, %t20, "bf16(f32(1103806595073))" : bf16
    %once21 = arith.sitofp %a21 : i64 to bf16
    %o21 = arith.constant 0xCE81 : bf16
    iris.expect_eq %once21, %o21, "bf16(-1077936129)" : bf16
    %f21 = arith.sitofp %a21 : i64 to f32
    %twice21 = arith.truncf %f21 : f32 to bf16
    %t21 = arith.constant 0xCE80 : bf16
    iris.expect_eq %twice21, %t21, "bf16(f32(-1077936129))" : bf16
    %once22 = arith.uitofp %a22 : i64 to bf16
    %o22 = arith.constant 0x5F80 : bf16
    iris.expect_eq %once22, %o22, "bf16(18446744073709551615)" : bf16
    %f22 = arith.uitofp %a22 : i64 to f32
    %twice22 = arith.truncf %f22 : f32 to bf16
    %t22 = arith.constant 0x5F80 : bf16
    iris.expect_eq %twice22, %t22, "bf16(f32(18446744073709551615))" : bf16
    %once23 = arith.uitofp %a23 : i64 to bf16
    %o23 = arith.constant 0x5F01 : bf16
    iris.expect_eq %once23, %o23, "bf16(9259400833873739777)" : bf16
    %f23 = arith.uitofp %a23 : i64 to f32
    %twice23 = arith.truncf %f23 : f32 to bf16
    %t23 = arith.constant 0x5F00 : bf16
    iris.expect_eq %twice23, %t23, "bf16(f32(9259400833873739777))" : bf16
    %once24 = arith.uitofp %a24 : i64 to bf16
    %o24 = arith.constant 0x5F00 : bf16
    iris.expect_eq %once24, %o24, "bf16(9259400833873739776)" : bf16
    %f24 = arith.uitofp %a24 : i64 to f32
    %twice24 = arith.truncf %f24 : f32 to bf16
    %t24 = arith.constant 0x5F00 : bf16
    iris.expect_eq %twice24, %t24, "bf16(f32(9259400833873739776))" : bf16
    gpu.return
  }

  // x is -2^24, which f16 does not have.
  gpu.func @overflow(%ctx: !iris.ctx, %x: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c = arith.constant -16777216 : i32
    %y = arith.andi %x, %c : i32
    %minus = arith.constant 0xFFF0000000000000 : f64
    %d = arith.sitofp %y : i32 to f64
    %h = arith.truncf %d : f64 to f16
    %w = arith.extf %h : f16 to f64
    iris.expect_eq %w, %minus, "f64(f16(f64(-2^24)))" : f64
    %g = arith.sitofp %y : i32 to f16
    %v = arith.extf %g : f16 to f64
    iris.expect_eq %v, %minus, "f64(f16(-2^24))" : f64
    %plus = arith.constant 0x7FF0000000000000 : f64
    %u = arith.uitofp %y : i32 to f16
    %t = arith.extf %u : f16 to f64
    iris.expect_eq %t, %plus, "f64(f16(2^32 - 2^24))" : f64
    gpu.return
  }

  // x * x + x of 1.3125 * 2^59 is just above a tie of bf16.
  gpu.func @fma(%ctx: !iris.ctx, %x: bf16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %r = math.fma %x, %x, %x : bf16
    %want = arith.constant 0x7ADD : bf16
    iris.expect_eq %r, %want, "x * x + x" : bf16
    %t = tensor.splat %x : tensor<64xbf16>
    %rt = math.fma %t, %t, %t : tensor<64xbf16>
    %wt = arith.constant dense<0x7ADD> : tensor<64xbf16>
    iris.expect_eq %rt, %wt, "x * x + x, tile" : tensor<64xbf16>
    gpu.return
  }

  gpu.func @tiles(%ctx: !iris.ctx, %b: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %v0 = arith.constant dense<1077936129> : tensor<64xi32>
    tile.store %v0, %b[%c0] : tensor<64xi32>, !v
    %x0 = tile.load %b[%c0] volatile : !v -> tensor<64xi32>
    %once0 = arith.sitofp %x0 : tensor<64xi32> to tensor<64xbf16>
    %o0 = arith.constant dense<0x4E81> : tensor<64xbf16>
    iris.expect_eq %once0, %o0, "tile bf16(1077936129)" : tensor<64xbf16>
    %f0 = arith.sitofp %x0 : tensor<64xi32> to tensor<64xf32>
    %twice0 = arith.truncf %f0 : tensor<64xf32> to tensor<64xbf16>
    %t0 = arith.constant dense<0x4E80> : tensor<64xbf16>
    iris.expect_eq %twice0, %t0, "tile bf16(f32(1077936129))" : tensor<64xbf16>
    %v1 = arith.constant dense<-1077936129> : tensor<64xi32>
    tile.store %v1, %b[%c0] : tensor<64xi32>, !v
    %x1 = tile.load %b[%c0] volatile : !v -> tensor<64xi32>
    %once1 = arith.sitofp %x1 : tensor<64xi32> to tensor<64xbf16>
    %o1 = arith.constant dense<0xCE81> : tensor<64xbf16>
    iris.expect_eq %once1, %o1, "tile bf16(-1077936129)" : tensor<64xbf16>
    %f1 = arith.sitofp %x1 : tensor<64xi32> to tensor<64xf32>
    %twice1 = arith.truncf %f1 : tensor<64xf32> to tensor<64xbf16>
    %t1 = arith.constant dense<0xCE80> : tensor<64xbf16>
    iris.expect_eq %twice1, %t1, "tile bf16(f32(-1077936129))" : tensor<64xbf16>
    %v2 = arith.constant dense<16842753> : tensor<64xi32>
    tile.store %v2, %b[%c0] : tensor<64xi32>, !v
    %x2 = tile.load %b[%c0] volatile : !v -> tensor<64xi32>
    %once2 = arith.sitofp %x2 : tensor<64xi32> to tensor<64xbf16>
    %o2 = arith.constant dense<0x4B81> : tensor<64xbf16>
    iris.expect_eq %once2, %o2, "tile bf16(16842753)" : tensor<64xbf16>
    %f2 = arith.sitofp %x2 : tensor<64xi32> to tensor<64xf32>
    %twice2 = arith.truncf %f2 : tensor<64xf32> to tensor<64xbf16>
    %t2 = arith.constant dense<0x4B80> : tensor<64xbf16>
    iris.expect_eq %twice2, %t2, "tile bf16(f32(16842753))" : tensor<64xbf16>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %b = iris.alloc() : !v
  %a0 = arith.constant 1 : i32
  %a1 = arith.constant -257 : i32
  %a2 = arith.constant 16842753 : i32
  %a3 = arith.constant -16842753 : i32
  %a4 = arith.constant 16842752 : i32
  %a5 = arith.constant 16973824 : i32
  %a6 = arith.constant 2147483647 : i32
  %a7 = arith.constant -2147483648 : i32
  %a8 = arith.constant 1077936129 : i32
  %a9 = arith.constant 16777088 : i32
  %a10 = arith.constant -1 : i32
  %a11 = arith.constant -2130640895 : i32
  %a12 = arith.constant -2130640896 : i32
  %a13 = arith.constant -1 : i64
  %a14 = arith.constant 117938015241764863 : i64
  %a15 = arith.constant -117938015241764863 : i64
  %a16 = arith.constant 9223372036854775807 : i64
  %a17 = arith.constant -9223372036854775808 : i64
  %a18 = arith.constant 4629700416936869889 : i64
  %a19 = arith.constant -4629700416936869889 : i64
  %a20 = arith.constant 1103806595073 : i64
  %a21 = arith.constant -1077936129 : i64
  %a22 = arith.constant -1 : i64
  %a23 = arith.constant -9187343239835811839 : i64
  %a24 = arith.constant -9187343239835811840 : i64
  iris.launch @kernels::@scalars programs(%one) args(%ctx, %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19, %a20, %a21, %a22, %a23, %a24 : !iris.ctx, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)
  %large = arith.constant -16777216 : i32
  iris.launch @kernels::@overflow programs(%one) args(%ctx, %large : !iris.ctx, i32)
  %x = arith.constant 0x5D28 : bf16
  iris.launch @kernels::@fma programs(%one) args(%ctx, %x : !iris.ctx, bf16)
  iris.launch @kernels::@tiles programs(%one) args(%ctx, %b : !iris.ctx, !v)
  iris.sync %ctx
  return
}
