// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selections between a value and a zero that it is compared with: for the other
// zero they are not what minima and maxima of GPUs are (guard selected-zeros,
// docs/internals/guards.md). Emulated/conversions-amd.test executes them on AMD
// GPUs.
//
// RUN: iris-run -n 1 %s
//
// DEFINE: %{asm} = iris-compile %s --emit=asm
// RUN: %{asm} --target=gfx942 | FileCheck %s --check-prefix=AMD
// RUN: %{asm} --target=gfx942 --disable-guards=selected-zeros | FileCheck %s --check-prefix=AMD-DEFECT
// RUN: %{asm} --target=gfx942 --disable-guards=clamped-zeros,negated-medians | FileCheck %s --check-prefix=CLAMP-DEFECT
// RUN: %{asm} --target=sm_90a | FileCheck %s --check-prefix=NVIDIA
// RUN: %{asm} --target=sm_90a --disable-guards=selected-zeros | FileCheck %s --check-prefix=NVIDIA-DEFECT

!t = tensor<64xf32>

gpu.module @kernels {
  // AMD-LABEL: {{^}}numbers:
  // AMD-NOT: v_{{min|max}}_f32
  // AMD: s_endpgm
  // AMD-DEFECT-LABEL: {{^}}numbers:
  // AMD-DEFECT-DAG: v_min_f32
  // AMD-DEFECT-DAG: v_max_f32
  // AMD-DEFECT: s_endpgm
  // NVIDIA-LABEL: .entry numbers(
  // NVIDIA-NOT: {{min|max}}.f32
  // NVIDIA: ret;
  // NVIDIA-DEFECT-LABEL: .entry numbers(
  // NVIDIA-DEFECT-DAG: min.f32
  // NVIDIA-DEFECT-DAG: max.f32
  // NVIDIA-DEFECT: ret;
  gpu.func @numbers(%ctx: !iris.ctx, %x: f32, %y: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0.0 : f32
    %negative = arith.constant -0.0 : f32
    %c = arith.cmpf olt, %x, %zero : f32
    %low = arith.select %c, %x, %zero : f32
    iris.expect_eq %low, %zero, "x < 0 ? x : 0" : f32
    %d = arith.cmpf ugt, %y, %negative : f32
    %high = arith.select %d, %y, %negative : f32
    iris.expect_eq %high, %negative, "y > -0 ? y : -0" : f32
    gpu.return
  }

  // The value is selected where the numbers are equal.
  gpu.func @values(%ctx: !iris.ctx, %x: f32, %y: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0.0 : f32
    %negative = arith.constant -0.0 : f32
    %c = arith.cmpf olt, %x, %zero : f32
    %high = arith.select %c, %zero, %x : f32
    iris.expect_eq %high, %negative, "x < 0 ? 0 : x" : f32
    %d = arith.cmpf ogt, %y, %negative : f32
    %low = arith.select %d, %negative, %y : f32
    iris.expect_eq %low, %zero, "y > -0 ? -0 : y" : f32
    gpu.return
  }

  // A median has no order of zeros.
  // AMD-LABEL: {{^}}clamped:
  // AMD-NOT: v_med3_f
  // AMD: s_endpgm
  // CLAMP-DEFECT-LABEL: {{^}}clamped:
  // CLAMP-DEFECT-DAG: v_med3_f16
  // CLAMP-DEFECT-DAG: v_med3_f32
  // CLAMP-DEFECT: s_endpgm
  gpu.func @clamped(%ctx: !iris.ctx, %x: f32, %h: f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant -1.0 : f32
    %above = arith.maxnumf %x, %low : f32
    %r = arith.minimumf %above, %zero : f32
    iris.expect_eq %r, %x, "min(max(-0, -1), 0)" : f32
    %zeroh = arith.constant 0.0 : f16
    %lowh = arith.constant -1.0 : f16
    %aboveh = arith.maxnumf %h, %lowh : f16
    %rh = arith.minimumf %aboveh, %zeroh : f16
    iris.expect_eq %rh, %h, "min(max(-0, -1), 0) of f16" : f16
    gpu.return
  }

  // So where the other limit is a selection, which instruction selection finds.
  // AMD-LABEL: {{^}}clamped_selections:
  // AMD-NOT: v_med3_f
  // AMD: s_endpgm
  // CLAMP-DEFECT-LABEL: {{^}}clamped_selections:
  // CLAMP-DEFECT: v_med3_f32
  // CLAMP-DEFECT: s_endpgm
  gpu.func @clamped_selections(%ctx: !iris.ctx, %x: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0.0 : f32
    %negative = arith.constant -0.0 : f32
    %c1 = arith.constant -1.0 : f32
    %c2 = arith.constant -2.0 : f32
    %c3 = arith.constant dense<-3.0> : vector<2xf32>
    %p1 = arith.cmpf oge, %x, %c1 : f32
    %s1 = arith.select %p1, %x, %c1 : f32
    %r1 = arith.minimumf %s1, %zero : f32
    iris.expect_eq %r1, %x, "min(x >= -1 ? x : -1, 0)" : f32
    %p2 = arith.cmpf oge, %x, %c2 : f32
    %s2 = arith.select %p2, %x, %c2 : f32
    %m2 = arith.negf %s2 : f32
    %r2 = arith.maximumf %m2, %negative : f32
    iris.expect_eq %r2, %zero, "max(-(x >= -2 ? x : -2), -0)" : f32
    %pair = vector.broadcast %x : f32 to vector<2xf32>
    %p3 = arith.cmpf oge, %pair, %c3 : vector<2xf32>
    %s3 = arith.select %p3, %pair, %c3 : vector<2xi1>, vector<2xf32>
    %limits = arith.constant dense<[0.0, 1.0]> : vector<2xf32>
    %r3 = arith.minimumf %s3, %limits : vector<2xf32>
    %first = vector.extract %r3[0] : f32 from vector<2xf32>
    iris.expect_eq %first, %x, "min(x >= -3 ? x : -3, 0), of a pair" : f32
    gpu.return
  }

  // Pairs of f16 in one register.
  gpu.func @pairs(%ctx: !iris.ctx, %x: f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %xs = vector.broadcast %x : f16 to vector<2xf16>
    %limits = arith.constant dense<[0.0, -1.0]> : vector<2xf16>
    %c = arith.cmpf olt, %xs, %limits : vector<2xf16>
    %low = arith.select %c, %xs, %limits : vector<2xi1>, vector<2xf16>
    %zero = arith.constant 0.0 : f16
    %first = vector.extract %low[0] : f16 from vector<2xf16>
    iris.expect_eq %first, %zero, "x < 0 ? x : 0, of a pair" : f16
    gpu.return
  }

  // Maxima with zero are the usual ones.
  // AMD-LABEL: {{^}}maximum:
  // AMD: v_max_f32
  // NVIDIA-LABEL: .entry maximum(
  // NVIDIA: max.f32
  gpu.func @maximum(%ctx: !iris.ctx, %x: f32, %want: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %xs = tensor.splat %x : !t
    %zero = arith.constant dense<0.0> : !t
    %c = arith.cmpf ogt, %xs, %zero : !t
    %high = arith.select %c, %xs, %zero : tensor<64xi1>, !t
    %wants = tensor.splat %want : !t
    iris.expect_eq %high, %wants, "x > 0 ? x : 0" : !t
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  %half = arith.constant -0.0 : f16
  %minus = arith.constant -1.0 : f32
  iris.launch @kernels::@numbers programs(%one) args(%ctx, %negative, %zero : !iris.ctx, f32, f32)
  iris.launch @kernels::@numbers programs(%one) args(%ctx, %zero, %negative : !iris.ctx, f32, f32)
  iris.launch @kernels::@values programs(%one) args(%ctx, %negative, %zero : !iris.ctx, f32, f32)
  iris.launch @kernels::@pairs programs(%one) args(%ctx, %half : !iris.ctx, f16)
  iris.launch @kernels::@maximum programs(%one) args(%ctx, %negative, %zero : !iris.ctx, f32, f32)
  iris.launch @kernels::@maximum programs(%one) args(%ctx, %minus, %zero : !iris.ctx, f32, f32)
  iris.launch @kernels::@clamped_selections programs(%one) args(%ctx, %negative : !iris.ctx, f32)
  iris.launch @kernels::@clamped programs(%one) args(%ctx, %negative, %half : !iris.ctx, f32, f16)
  iris.sync %ctx
  return
}
