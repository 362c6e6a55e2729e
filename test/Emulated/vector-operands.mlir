// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: emulator
// Operands of floating-point instructions, as the emulator has to read them
// (vector_operands.py, floats.py): absolute values of selected halves,
// accumulators of two registers, scalars; carries of all lanes.
//
// DEFINE: %{run} = iris-run -n 1 --heap=4M --timeout=60
// RUN: %{run} --device=emulated:gfx90a %s
// RUN: %{run} --device=emulated:gfx942 %s
// RUN: %{run} --device=emulated:gfx1201 %s
//
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefix=GFX942
// GFX942-DAG: v_rndne_f16_sdwa v{{[0-9]+}}, |v{{[0-9]+}}|
// GFX942-DAG: v_fmac_f64_e64
// GFX942-DAG: v_sub_co_u32_sdwa
// GFX942-DAG: v_sub_u16_sdwa {{.*}} clamp
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefix=GFX1201
// GFX1201-DAG: s_rndne_f32
// GFX1201-DAG: s_ceil_f32

!h = memref<4xf16, #iris.symmetric>
!w = memref<64xi32, #iris.symmetric>
!d = memref<64xi64, #iris.symmetric>
!b = memref<64xi8, #iris.symmetric>

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

  // The first of 64 lanes borrows.
  gpu.func @differences(%ctx: !iris.ctx, %w: !w, %d: !d, %x: i32,
      %difference: i64) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %splat = tensor.splat %x : tensor<64xi32>
    tile.store %splat, %w[%c0] : tensor<64xi32>, !w
    %v = tile.load %w[%c0] volatile : !w -> tensor<64xi32>
    // LLVM makes it 0 - (x >> 24).
    %wide = arith.index_castui %v : tensor<64xi32> to tensor<64xindex>
    %divisor = arith.constant dense<-16777216> : tensor<64xindex>
    %quotient = arith.ceildivsi %wide, %divisor : tensor<64xindex>
    %negative = arith.index_cast %quotient : tensor<64xindex> to tensor<64xi64>
    tile.store %negative, %d[%c0] : tensor<64xi64>, !d
    %got = memref.load %d[%c0] : !d
    iris.expect_eq %got, %difference, "ceil(x / -2^24)" : i64
    gpu.return
  }

  // A difference that is not below 0.
  gpu.func @limited(%ctx: !iris.ctx, %w: !w, %bytes: !b, %x: i32,
      %difference: i8) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %splat = tensor.splat %x : tensor<64xi32>
    tile.store %splat, %w[%c0] : tensor<64xi32>, !w
    %v = tile.load %w[%c0] volatile : !w -> tensor<64xi32>
    %c8 = arith.constant dense<8> : tensor<64xi32>
    %shifted = arith.shrui %v, %c8 : tensor<64xi32>
    %a = arith.trunci %v : tensor<64xi32> to tensor<64xi8>
    %b = arith.trunci %shifted : tensor<64xi32> to tensor<64xi8>
    %above = arith.maxui %a, %b : tensor<64xi8>
    %limited = arith.subi %above, %b : tensor<64xi8>
    tile.store %limited, %bytes[%c0] : tensor<64xi8>, !b
    %got = memref.load %bytes[%c0] : !b
    iris.expect_eq %got, %difference, "max(a, b) - b" : i8
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
  %w = iris.alloc() : !w
  %d = iris.alloc() : !d
  %word = arith.constant 0xFF123456 : i32
  %difference = arith.constant -255 : i64
  iris.launch @kernels::@differences programs(%one) args(%ctx, %w, %d, %word, %difference : !iris.ctx, !w, !d, i32, i64)
  %bytes = iris.alloc() : !b
  // Bytes 0x21 and 0x43, and the other way round.
  %less = arith.constant 0x4321 : i32
  %none = arith.constant 0 : i8
  iris.launch @kernels::@limited programs(%one) args(%ctx, %w, %bytes, %less, %none : !iris.ctx, !w, !b, i32, i8)
  %greater = arith.constant 0x2143 : i32
  %more = arith.constant 0x22 : i8
  iris.launch @kernels::@limited programs(%one) args(%ctx, %w, %bytes, %greater, %more : !iris.ctx, !w, !b, i32, i8)
  iris.sync %ctx
  return
}
