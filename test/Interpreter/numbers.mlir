// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of arith and math in the interpreter, with expected values from their
// definitions; integers.mlir and floats.mlir have the others.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 45 checks passed

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx) kernel {
    // Bits.
    %a0_0 = arith.constant 0x5A : i8
    %a0_1 = arith.constant 0x3C : i8
    %r0 = arith.andi %a0_0, %a0_1 : i8
    %w0 = arith.constant 0x18 : i8
    iris.expect_eq %r0, %w0, "andi" : i8
    %a1_0 = arith.constant 0x5A : i8
    %a1_1 = arith.constant 0x3C : i8
    %r1 = arith.ori %a1_0, %a1_1 : i8
    %w1 = arith.constant 0x7E : i8
    iris.expect_eq %r1, %w1, "ori" : i8
    %a2_0 = arith.constant 0x5A : i8
    %a2_1 = arith.constant 0x3C : i8
    %r2 = arith.xori %a2_0, %a2_1 : i8
    %w2 = arith.constant 0x66 : i8
    iris.expect_eq %r2, %w2, "xori" : i8
    // -1 is 255 without a sign.
    %a3_0 = arith.constant -1 : i8
    %a3_1 = arith.constant 1 : i8
    %r3 = arith.minsi %a3_0, %a3_1 : i8
    %w3 = arith.constant -1 : i8
    iris.expect_eq %r3, %w3, "minsi" : i8
    %a4_0 = arith.constant -1 : i8
    %a4_1 = arith.constant 1 : i8
    %r4 = arith.minui %a4_0, %a4_1 : i8
    %w4 = arith.constant 1 : i8
    iris.expect_eq %r4, %w4, "minui" : i8
    // Extended by zeros.
    %a5_0 = arith.constant -1 : i8
    %r5 = arith.index_castui %a5_0 : i8 to index
    %w5 = arith.constant 255 : index
    iris.expect_eq %r5, %w5, "index_castui" : index
    // 1 - 2^-24 is a number; 1.5 * (1 + 2^-23) is 1.5 + 1.5 * 2^-23, half way
    // between two numbers, and rounds to the even one.
    %a6_0 = arith.constant 1.0 : f32
    %a6_1 = arith.constant 0x33800000 : f32
    %r6 = arith.subf %a6_0, %a6_1 : f32
    %w6 = arith.constant 0x3F7FFFFF : f32
    iris.expect_eq %r6, %w6, "subf" : f32
    %a7_0 = arith.constant 1.5 : f32
    %a7_1 = arith.constant 0x3F800001 : f32
    %r7 = arith.mulf %a7_0, %a7_1 : f32
    %w7 = arith.constant 0x3FC00002 : f32
    iris.expect_eq %r7, %w7, "mulf" : f32
    // The sign changes, also that of 0.
    %a8_0 = arith.constant 0.0 : f32
    %r8 = arith.negf %a8_0 : f32
    %w8 = arith.constant -0.0 : f32
    iris.expect_eq %r8, %w8, "negf" : f32
    %a9_0 = arith.constant -2.5 : f32
    %r9 = arith.negf %a9_0 : f32
    %w9 = arith.constant 2.5 : f32
    iris.expect_eq %r9, %w9, "negf" : f32
    // -0 is less than 0. A NaN is the result of minimumf, and not of minnumf.
    %a10_0 = arith.constant 0.0 : f32
    %a10_1 = arith.constant -0.0 : f32
    %r10 = arith.minimumf %a10_0, %a10_1 : f32
    %w10 = arith.constant -0.0 : f32
    iris.expect_eq %r10, %w10, "minimumf" : f32
    %a11_0 = arith.constant 0x7FC00000 : f32
    %a11_1 = arith.constant 1.0 : f32
    %r11 = arith.minimumf %a11_0, %a11_1 : f32
    %w11 = arith.constant 0x7FC00000 : f32
    iris.expect_eq %r11, %w11, "minimumf" : f32
    %a12_0 = arith.constant 0x7FC00000 : f32
    %a12_1 = arith.constant 1.0 : f32
    %r12 = arith.minnumf %a12_0, %a12_1 : f32
    %w12 = arith.constant 1.0 : f32
    iris.expect_eq %r12, %w12, "minnumf" : f32
    %a13_0 = arith.constant 2.0 : f32
    %a13_1 = arith.constant 1.0 : f32
    %r13 = arith.minnumf %a13_0, %a13_1 : f32
    %w13 = arith.constant 1.0 : f32
    iris.expect_eq %r13, %w13, "minnumf" : f32
    // Exact.
    %a14_0 = arith.constant 0x3C01 : f16
    %r14 = arith.extf %a14_0 : f16 to f32
    %w14 = arith.constant 0x3F802000 : f32
    iris.expect_eq %r14, %w14, "extf" : f32
    %a15_0 = arith.constant 0x0001 : f16
    %r15 = arith.extf %a15_0 : f16 to f32
    %w15 = arith.constant 0x33800000 : f32
    iris.expect_eq %r15, %w15, "extf" : f32
    // Rounded towards 0.
    %a16_0 = arith.constant 200.9 : f32
    %r16 = arith.fptoui %a16_0 : f32 to i8
    %w16 = arith.constant 200 : i8
    iris.expect_eq %r16, %w16, "fptoui" : i8
    %a17_0 = arith.constant -0.9 : f32
    %r17 = arith.fptoui %a17_0 : f32 to i8
    %w17 = arith.constant 0 : i8
    iris.expect_eq %r17, %w17, "fptoui" : i8
    // Without a sign; 2^32 - 1 rounds to 2^32.
    %a18_0 = arith.constant -1 : i8
    %r18 = arith.uitofp %a18_0 : i8 to f32
    %w18 = arith.constant 255.0 : f32
    iris.expect_eq %r18, %w18, "uitofp" : f32
    %a19_0 = arith.constant -1 : i32
    %r19 = arith.uitofp %a19_0 : i32 to f32
    %w19 = arith.constant 4294967296.0 : f32
    iris.expect_eq %r19, %w19, "uitofp" : f32
    // Signs.
    %a20_0 = arith.constant -1.5 : f32
    %r20 = math.absf %a20_0 : f32
    %w20 = arith.constant 1.5 : f32
    iris.expect_eq %r20, %w20, "absf" : f32
    %a21_0 = arith.constant 0xFF800000 : f32
    %r21 = math.absf %a21_0 : f32
    %w21 = arith.constant 0x7F800000 : f32
    iris.expect_eq %r21, %w21, "absf" : f32
    %a22_0 = arith.constant 1.5 : f32
    %a22_1 = arith.constant -0.0 : f32
    %r22 = math.copysign %a22_0, %a22_1 : f32
    %w22 = arith.constant -1.5 : f32
    iris.expect_eq %r22, %w22, "copysign" : f32
    // To integers.
    %a23_0 = arith.constant -1.5 : f32
    %r23 = math.ceil %a23_0 : f32
    %w23 = arith.constant -1.0 : f32
    iris.expect_eq %r23, %w23, "ceil" : f32
    %a24_0 = arith.constant -1.5 : f32
    %r24 = math.floor %a24_0 : f32
    %w24 = arith.constant -2.0 : f32
    iris.expect_eq %r24, %w24, "floor" : f32
    %a25_0 = arith.constant -1.5 : f32
    %r25 = math.trunc %a25_0 : f32
    %w25 = arith.constant -1.0 : f32
    iris.expect_eq %r25, %w25, "trunc" : f32
    // Kinds of numbers.
    %a26_0 = arith.constant 0x7FC00000 : f32
    %r26 = math.isnan %a26_0 : f32
    %w26 = arith.constant true
    iris.expect_eq %r26, %w26, "isnan" : i1
    %a27_0 = arith.constant 0x7F800000 : f32
    %r27 = math.isnan %a27_0 : f32
    %w27 = arith.constant false
    iris.expect_eq %r27, %w27, "isnan" : i1
    %a28_0 = arith.constant 0x7F7FFFFF : f32
    %r28 = math.isfinite %a28_0 : f32
    %w28 = arith.constant true
    iris.expect_eq %r28, %w28, "isfinite" : i1
    %a29_0 = arith.constant 0x7F800000 : f32
    %r29 = math.isfinite %a29_0 : f32
    %w29 = arith.constant false
    iris.expect_eq %r29, %w29, "isfinite" : i1
    // Exact results, and correctly rounded ones.
    %a30_0 = arith.constant -149.0 : f32
    %r30 = math.exp2 %a30_0 : f32
    %w30 = arith.constant 0x00000001 : f32
    iris.expect_eq %r30, %w30, "exp2" : f32
    %a31_0 = arith.constant 0x00000001 : f32
    %r31 = math.log2 %a31_0 : f32
    %w31 = arith.constant -149.0 : f32
    iris.expect_eq %r31, %w31, "log2" : f32
    %a32_0 = arith.constant -27.0 : f32
    %r32 = math.cbrt %a32_0 : f32
    %w32 = arith.constant -3.0 : f32
    iris.expect_eq %r32, %w32, "cbrt" : f32
    %a33_0 = arith.constant 0.0625 : f32
    %r33 = math.rsqrt %a33_0 : f32
    %w33 = arith.constant 4.0 : f32
    iris.expect_eq %r33, %w33, "rsqrt" : f32
    %a34_0 = arith.constant 1.0 : f32
    %r34 = math.acos %a34_0 : f32
    %w34 = arith.constant 0.0 : f32
    iris.expect_eq %r34, %w34, "acos" : f32
    %a35_0 = arith.constant -1.0 : f32
    %r35 = math.acos %a35_0 : f32
    %w35 = arith.constant 0x40490FDB : f32
    iris.expect_eq %r35, %w35, "acos" : f32
    %a36_0 = arith.constant 1.0 : f32
    %r36 = math.asin %a36_0 : f32
    %w36 = arith.constant 0x3FC90FDB : f32
    iris.expect_eq %r36, %w36, "asin" : f32
    %a37_0 = arith.constant -0.0 : f32
    %a37_1 = arith.constant -1.0 : f32
    %r37 = math.atan2 %a37_0, %a37_1 : f32
    %w37 = arith.constant 0xC0490FDB : f32
    iris.expect_eq %r37, %w37, "atan2" : f32
    %a38_0 = arith.constant 1.0 : f32
    %a38_1 = arith.constant -1.0 : f32
    %r38 = math.atan2 %a38_0, %a38_1 : f32
    %w38 = arith.constant 0x4016CBE4 : f32
    iris.expect_eq %r38, %w38, "atan2" : f32
    %a39_0 = arith.constant 0.5 : f32
    %r39 = math.tanh %a39_0 : f32
    %w39 = arith.constant 0x3EEC9A9F : f32
    iris.expect_eq %r39, %w39, "tanh" : f32
    %a40_0 = arith.constant 0x7F800000 : f32
    %r40 = math.tanh %a40_0 : f32
    %w40 = arith.constant 1.0 : f32
    iris.expect_eq %r40, %w40, "tanh" : f32
    %a41_0 = arith.constant 0.5 : f32
    %r41 = math.erf %a41_0 : f32
    %w41 = arith.constant 0x3F053F7B : f32
    iris.expect_eq %r41, %w41, "erf" : f32
    %a42_0 = arith.constant 10.0 : f32
    %r42 = math.erfc %a42_0 : f32
    %w42 = arith.constant 0x00000001 : f32
    iris.expect_eq %r42, %w42, "erfc" : f32
    // Both lose everything if 1 is rounded away: x is 2^-41.
    %a43_0 = arith.constant 0x2B000000 : f32
    %r43 = math.expm1 %a43_0 : f32
    %w43 = arith.constant 0x2B000000 : f32
    iris.expect_eq %r43, %w43, "expm1" : f32
    %a44_0 = arith.constant 0x2B000000 : f32
    %r44 = math.log1p %a44_0 : f32
    %w44 = arith.constant 0x2B000000 : f32
    iris.expect_eq %r44, %w44, "log1p" : f32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  iris.launch @kernels::@k programs(%c1) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
