// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on numbers of bf16 that are beyond those of f16, with results in f16
// (guard bf16-extensions, docs/internals/guards.md).
// Emulated/conversions-amd.test executes it on AMD GPUs.
//
// RUN: iris-run -n 1 %s
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=bf16-extensions | FileCheck %s --check-prefix=DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry quotient(
  // CHECK: div.rn.f64
  // DEFECT-LABEL: .entry quotient(
  // DEFECT-NOT: div.rn.f64
  // DEFECT: ret;
  gpu.func @quotient(%ctx: !iris.ctx, %x: bf16, %y: bf16, %want: f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %xw = arith.extf %x : bf16 to f64
    %yw = arith.extf %y : bf16 to f64
    %q = arith.divf %xw, %yw : f64
    %got = arith.truncf %q : f64 to f16
    iris.expect_eq %got, %want, "x / y" : f16
    gpu.return
  }

  gpu.func @difference(%ctx: !iris.ctx, %x: bf16, %y: bf16, %want: f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %xs = tensor.splat %x : tensor<64xbf16>
    %ys = tensor.splat %y : tensor<64xbf16>
    %xw = arith.extf %xs : tensor<64xbf16> to tensor<64xf32>
    %yw = arith.extf %ys : tensor<64xbf16> to tensor<64xf32>
    %d = arith.subf %xw, %yw : tensor<64xf32>
    %got = arith.truncf %d : tensor<64xf32> to tensor<64xf16>
    %wants = tensor.splat %want : tensor<64xf16>
    iris.expect_eq %got, %wants, "x - y" : tensor<64xf16>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %large = arith.constant 1.0e+30 : bf16
  %two = arith.constant 2.0 : bf16
  %three = arith.constant 3.0 : bf16
  %q1 = arith.constant 1.0 : f16
  %q15 = arith.constant 1.5 : f16
  %zero = arith.constant 0.0 : f16
  iris.launch @kernels::@quotient programs(%one) args(%ctx, %large, %large, %q1 : !iris.ctx, bf16, bf16, f16)
  iris.launch @kernels::@quotient programs(%one) args(%ctx, %three, %two, %q15 : !iris.ctx, bf16, bf16, f16)
  iris.launch @kernels::@difference programs(%one) args(%ctx, %large, %large, %zero : !iris.ctx, bf16, bf16, f16)
  iris.launch @kernels::@difference programs(%one) args(%ctx, %three, %two, %q1 : !iris.ctx, bf16, bf16, f16)
  iris.sync %ctx
  return
}
