// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of float ops in the interpreter. Functions are correctly rounded:
// the expected values are the exact ones, rounded to nearest even (computed to
// 60 digits).
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 23 checks passed

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx) kernel {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3.0 : f32
    %zero = arith.constant 0.0 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %inf = arith.constant 0x7F800000 : f32

    %third = arith.divf %one, %three : f32
    %third.want = arith.constant 0x3EAAAAAB : f32
    iris.expect_eq %third, %third.want, "divf" : f32
    %by0 = arith.divf %one, %zero : f32
    iris.expect_eq %by0, %inf, "by 0" : f32
    %max = arith.maximumf %nan, %one : f32
    iris.expect_eq %max, %nan, "maximumf" : f32
    %maxnum = arith.maxnumf %nan, %one : f32
    iris.expect_eq %maxnum, %one, "maxnumf" : f32
    %less = arith.cmpf ult, %nan, %one : f32
    %true = arith.constant true
    iris.expect_eq %less, %true, "ult" : i1

    // e, ln 2, sin 1, cos 1, atan 1, erf 1, tanh 1, 2^(1/3), sqrt 2.
    %exp = math.exp %one : f32
    %exp.want = arith.constant 0x402DF854 : f32
    iris.expect_eq %exp, %exp.want, "exp" : f32
    %log = math.log %two : f32
    %log.want = arith.constant 0x3F317218 : f32
    iris.expect_eq %log, %log.want, "log" : f32
    %sin = math.sin %one : f32
    %sin.want = arith.constant 0x3F576AA4 : f32
    iris.expect_eq %sin, %sin.want, "sin" : f32
    %cos = math.cos %one : f32
    %cos.want = arith.constant 0x3F0A5140 : f32
    iris.expect_eq %cos, %cos.want, "cos" : f32
    %atan = math.atan %one : f32
    %atan.want = arith.constant 0x3F490FDB : f32
    iris.expect_eq %atan, %atan.want, "atan" : f32
    %sqrt = math.sqrt %two : f32
    %sqrt.want = arith.constant 0x3FB504F3 : f32
    iris.expect_eq %sqrt, %sqrt.want, "sqrt" : f32
    // The roots of 2^1024 (1 - 2^-53), of 1 - 2^-53 and of 1 + 2^-52 are next to
    // the middle of two numbers of f64; so is the inverse root of 1 - 2^-52.
    %largest = arith.constant 0x7FEFFFFFFFFFFFFF : f64
    %sqrt.largest = math.sqrt %largest : f64
    %sqrt.largest.want = arith.constant 0x5FEFFFFFFFFFFFFF : f64
    iris.expect_eq %sqrt.largest, %sqrt.largest.want, "sqrt of 2^1024" : f64
    %below = arith.constant 0x3FEFFFFFFFFFFFFF : f64
    %sqrt.below = math.sqrt %below : f64
    iris.expect_eq %sqrt.below, %below, "sqrt below 1" : f64
    %above = arith.constant 0x3FF0000000000001 : f64
    %sqrt.above = math.sqrt %above : f64
    %one64 = arith.constant 1.0 : f64
    iris.expect_eq %sqrt.above, %one64, "sqrt above 1" : f64
    %below2 = arith.constant 0x3FEFFFFFFFFFFFFE : f64
    %rsqrt.below = math.rsqrt %below2 : f64
    iris.expect_eq %rsqrt.below, %above, "rsqrt below 1" : f64
    // 4097^2 = 2^24 + 8193: the middle of two neighbours goes to the even one.
    %odd = arith.constant 4097.0 : f32
    %square = math.powf %odd, %two : f32
    %square.want = arith.constant 16785408.0 : f32
    iris.expect_eq %square, %square.want, "powf" : f32
    // 1 + 2^-13 squared is 1 + 2^-12 + 2^-26, which fma keeps.
    %x = arith.constant 0x3F800400 : f32
    %minus = arith.constant 0xBF800800 : f32
    %fma = math.fma %x, %x, %minus : f32
    %fma.want = arith.constant 0x32800000 : f32
    iris.expect_eq %fma, %fma.want, "fma" : f32

    // 2.5 rounds to even, or away from 0.
    %half = arith.constant 2.5 : f32
    %even = math.roundeven %half : f32
    iris.expect_eq %even, %two, "roundeven" : f32
    %away = math.round %half : f32
    iris.expect_eq %away, %three, "round" : f32

    // Narrowing rounds to nearest even; f8 saturates.
    %f16 = arith.constant 65519.0 : f32
    %f16.got = arith.truncf %f16 : f32 to f16
    %f16.want = arith.constant 65504.0 : f16
    iris.expect_eq %f16.got, %f16.want, "truncf" : f16
    %large = arith.truncf %inf : f32 to f8E4M3FN
    %large.bits = arith.bitcast %large : f8E4M3FN to i8
    %large.want = arith.constant 0x7E : i8
    iris.expect_eq %large.bits, %large.want, "truncf to f8" : i8

    %negative = arith.constant -3.75 : f32
    %integer = arith.fptosi %negative : f32 to i32
    %integer.want = arith.constant -3 : i32
    iris.expect_eq %integer, %integer.want, "fptosi" : i32
    // 2^24 + 1 is a middle.
    %many = arith.constant 16777217 : i32
    %float = arith.sitofp %many : i32 to f32
    %float.want = arith.constant 16777216.0 : f32
    iris.expect_eq %float, %float.want, "sitofp" : f32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  iris.launch @kernels::@k programs(%c1) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
