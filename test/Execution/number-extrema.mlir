// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Minima and maxima that ignore NaN, of wide numbers that narrow ones would do
// for: LLVM computes them in f16 then, for which x86 has library calls only.
//
// RUN: iris-run -n 1 %s
// RUN: iris-compile %s --target=gfx942,sm_80 -o %t.iris

gpu.module @kernels {
  gpu.func @extrema(%ctx: !iris.ctx, %x: f16, %y: f16, %min: f16, %max: f16)
      kernel attributes {iris.num_warps = 1 : i32} {
    %x64 = arith.extf %x : f16 to f64
    %y64 = arith.extf %y : f16 to f64
    %min64 = arith.minnumf %x64, %y64 : f64
    %least = arith.truncf %min64 : f64 to f16
    iris.expect_eq %least, %min, "minimum in f64" : f16
    %xs = tensor.splat %x : tensor<64xf16>
    %ys = tensor.splat %y : tensor<64xf16>
    %x32 = arith.extf %xs : tensor<64xf16> to tensor<64xf32>
    %y32 = arith.extf %ys : tensor<64xf16> to tensor<64xf32>
    %max32 = arith.maxnumf %x32, %y32 : tensor<64xf32>
    %mosts = arith.truncf %max32 : tensor<64xf32> to tensor<64xf16>
    %maxs = tensor.splat %max : tensor<64xf16>
    iris.expect_eq %mosts, %maxs, "maximum in f32, tile" : tensor<64xf16>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %programs = arith.constant 1 : index
  %one = arith.constant 1.0 : f16
  %two = arith.constant 2.0 : f16
  %nan = arith.constant 0x7E00 : f16
  iris.launch @kernels::@extrema programs(%programs) args(%ctx, %one, %two, %one, %two : !iris.ctx, f16, f16, f16, f16)
  iris.launch @kernels::@extrema programs(%programs) args(%ctx, %two, %nan, %two, %two : !iris.ctx, f16, f16, f16, f16)
  iris.launch @kernels::@extrema programs(%programs) args(%ctx, %nan, %one, %one, %one : !iris.ctx, f16, f16, f16, f16)
  iris.launch @kernels::@extrema programs(%programs) args(%ctx, %nan, %nan, %nan, %nan : !iris.ctx, f16, f16, f16, f16)
  iris.sync %ctx
  return
}
