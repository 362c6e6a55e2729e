// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: amdemu
// Operands of floating-point instructions, as the emulator has to read them
// (vector_operands.py, floats.py): absolute values of selected halves,
// accumulators of two registers, scalars.
//
// DEFINE: %{run} = env IRIS_EMULATOR=%S/server.py iris-run -n 1 --heap=4M --timeout=60
// RUN: %{run} --device=emulated:gfx90a %s
// RUN: %{run} --device=emulated:gfx942 %s
// RUN: %{run} --device=emulated:gfx1201 %s
//
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefix=GFX942
// GFX942-DAG: v_rndne_f16_sdwa v{{[0-9]+}}, |v{{[0-9]+}}|
// GFX942-DAG: v_fmac_f64_e64
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefix=GFX1201
// GFX1201-DAG: s_rndne_f32
// GFX1201-DAG: s_ceil_f32

!h = memref<4xf16, #iris.symmetric>

gpu.module @kernels {
  gpu.func @halves(%ctx: !iris.ctx, %h: !h, %x: f16, %magnitude: f16)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    memref.store %x, %h[%c0] : !h
    memref.store %x, %h[%c1] : !h
    %pair = vector.load %h[%c0] : !h, vector<2xf16>
    %absolute = math.absf %pair : vector<2xf16>
    %whole = math.roundeven %absolute : vector<2xf16>
    vector.store %whole, %h[%c2] : !h, vector<2xf16>
    %low = memref.load %h[%c2] : !h
    iris.expect_eq %low, %magnitude, "|x|, lower half" : f16
    %high = memref.load %h[%c3] : !h
    iris.expect_eq %high, %magnitude, "|x|, upper half" : f16
    gpu.return
  }

  gpu.func @sum(%ctx: !iris.ctx, %x: f64, %sum: f64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %infinity = arith.constant 0x7FF0000000000000 : f64
    %got = math.fma %x, %x, %infinity : f64
    iris.expect_eq %got, %sum, "x * x + infinity" : f64
    gpu.return
  }

  gpu.func @whole(%ctx: !iris.ctx, %x: f32, %even: f32, %up: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %e = math.roundeven %x : f32
    iris.expect_eq %e, %even, "roundeven" : f32
    %c = math.ceil %x : f32
    iris.expect_eq %c, %up, "ceil" : f32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %h = iris.alloc() : !h
  %x16 = arith.constant 0x8002 : f16
  %zero16 = arith.constant 0.0 : f16
  iris.launch @kernels::@halves programs(%one) args(%ctx, %h, %x16, %zero16 : !iris.ctx, !h, f16, f16)
  %x64 = arith.constant -1.25e-57 : f64
  %sum = arith.constant 0x7FF0000000000000 : f64
  iris.launch @kernels::@sum programs(%one) args(%ctx, %x64, %sum : !iris.ctx, f64, f64)
  %denormal = arith.constant 0x80000001 : f32
  %zero = arith.constant -0.0 : f32
  iris.launch @kernels::@whole programs(%one) args(%ctx, %denormal, %zero, %zero : !iris.ctx, f32, f32, f32)
  iris.sync %ctx
  return
}
