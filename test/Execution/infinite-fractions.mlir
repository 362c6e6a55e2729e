// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fractions of numbers and of infinities, below 1: minnum(x - floor(x), K) with
// the largest number K below 1 is K for infinities (guard infinite-fractions).
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
// RUN: iris-run -n 1 --device=emulated:gfx942 %s
// RUN: iris-run -n 1 --device=emulated:gfx1201 %s
//
// DEFINE: %{chip} = gfx942
// DEFINE: %{defect} = iris-compile %s --target=%{chip} --disable-guards=infinite-fractions -o %t.iris && not iris-run -n 1 --device=emulated:%{chip} %t.iris 2>&1 | FileCheck %s
// RUN: %{defect}
// REDEFINE: %{chip} = gfx1201
// RUN: %{defect}
// CHECK: 384 of 768 checks failed{{.*}}want 0.99999994{{.*}}: fractions of f32

!f16 = memref<128xf16, #iris.symmetric>
!f32 = memref<128xf32, #iris.symmetric>
!f64 = memref<128xf64, #iris.symmetric>
!t16 = tensor<128xf16>
!t32 = tensor<128xf32>
!t64 = tensor<128xf64>
!ti = tensor<128xi32>
!tc = tensor<128xi1>

gpu.module @kernels {
  // Infinities at every second index, else -3.75.
  gpu.func @fill_f32(%out: !f32, %infinity: f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %index = tile.range : !ti
    %low = arith.andi %index, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %infinities = tensor.splat %infinity : !t32
    %number = arith.constant dense<-3.75> : !t32
    %x = arith.select %odd, %infinities, %number : !tc, !t32
    tile.store %x, %out[%c0] : !t32, !f32
    gpu.return
  }
  gpu.func @fraction_f32(%in: !f32, %out: !f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %in[%c0] : !f32 -> !t32
    %below_one = arith.constant dense<0x3F7FFFFF> : !t32
    %floor = math.floor %x : !t32
    %rest = arith.subf %x, %floor : !t32
    %limited = arith.minnumf %rest, %below_one : !t32
    %is_nan = arith.cmpf uno, %x, %x : !t32
    %fraction = arith.select %is_nan, %x, %limited : !tc, !t32
    tile.store %fraction, %out[%c0] : !t32, !f32
    gpu.return
  }
  gpu.func @check_f32(%ctx: !iris.ctx, %out: !f32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %index = tile.range : !ti
    %low = arith.andi %index, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %below_one = arith.constant dense<0x3F7FFFFF> : !t32
    %quarter = arith.constant dense<0.25> : !t32
    %want = arith.select %odd, %below_one, %quarter : !tc, !t32
    %got = tile.load %out[%c0] : !f32 -> !t32
    iris.expect_eq %got, %want, "fractions of f32" : !t32
    gpu.return
  }
  // Infinities at every second index, else -3.75.
  gpu.func @fill_f16(%out: !f16, %infinity: f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %index = tile.range : !ti
    %low = arith.andi %index, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %infinities = tensor.splat %infinity : !t16
    %number = arith.constant dense<-3.75> : !t16
    %x = arith.select %odd, %infinities, %number : !tc, !t16
    tile.store %x, %out[%c0] : !t16, !f16
    gpu.return
  }
  gpu.func @fraction_f16(%in: !f16, %out: !f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %in[%c0] : !f16 -> !t16
    %below_one = arith.constant dense<0x3BFF> : !t16
    %floor = math.floor %x : !t16
    %rest = arith.subf %x, %floor : !t16
    %limited = arith.minnumf %rest, %below_one : !t16
    %is_nan = arith.cmpf uno, %x, %x : !t16
    %fraction = arith.select %is_nan, %x, %limited : !tc, !t16
    tile.store %fraction, %out[%c0] : !t16, !f16
    gpu.return
  }
  gpu.func @check_f16(%ctx: !iris.ctx, %out: !f16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %index = tile.range : !ti
    %low = arith.andi %index, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %below_one = arith.constant dense<0x3BFF> : !t16
    %quarter = arith.constant dense<0.25> : !t16
    %want = arith.select %odd, %below_one, %quarter : !tc, !t16
    %got = tile.load %out[%c0] : !f16 -> !t16
    iris.expect_eq %got, %want, "fractions of f16" : !t16
    gpu.return
  }
  // Infinities at every second index, else -3.75.
  gpu.func @fill_f64(%out: !f64, %infinity: f64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %index = tile.range : !ti
    %low = arith.andi %index, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %infinities = tensor.splat %infinity : !t64
    %number = arith.constant dense<-3.75> : !t64
    %x = arith.select %odd, %infinities, %number : !tc, !t64
    tile.store %x, %out[%c0] : !t64, !f64
    gpu.return
  }
  gpu.func @fraction_f64(%in: !f64, %out: !f64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %in[%c0] : !f64 -> !t64
    %below_one = arith.constant dense<0x3FEFFFFFFFFFFFFF> : !t64
    %floor = math.floor %x : !t64
    %rest = arith.subf %x, %floor : !t64
    %limited = arith.minnumf %rest, %below_one : !t64
    %is_nan = arith.cmpf uno, %x, %x : !t64
    %fraction = arith.select %is_nan, %x, %limited : !tc, !t64
    tile.store %fraction, %out[%c0] : !t64, !f64
    gpu.return
  }
  gpu.func @check_f64(%ctx: !iris.ctx, %out: !f64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %index = tile.range : !ti
    %low = arith.andi %index, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %below_one = arith.constant dense<0x3FEFFFFFFFFFFFFF> : !t64
    %quarter = arith.constant dense<0.25> : !t64
    %want = arith.select %odd, %below_one, %quarter : !tc, !t64
    %got = tile.load %out[%c0] : !f64 -> !t64
    iris.expect_eq %got, %want, "fractions of f64" : !t64
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %in_f32 = iris.alloc() : !f32
  %out_f32 = iris.alloc() : !f32
  %infinity_f32 = arith.constant 0x7F800000 : f32
  iris.launch @kernels::@fill_f32 programs(%one) args(%in_f32, %infinity_f32 : !f32, f32)
  iris.launch @kernels::@fraction_f32 programs(%one) args(%in_f32, %out_f32 : !f32, !f32)
  iris.launch @kernels::@check_f32 programs(%one) args(%ctx, %out_f32 : !iris.ctx, !f32)
  %negative_f32 = arith.constant 0xFF800000 : f32
  iris.launch @kernels::@fill_f32 programs(%one) args(%in_f32, %negative_f32 : !f32, f32)
  iris.launch @kernels::@fraction_f32 programs(%one) args(%in_f32, %out_f32 : !f32, !f32)
  iris.launch @kernels::@check_f32 programs(%one) args(%ctx, %out_f32 : !iris.ctx, !f32)
  %in_f16 = iris.alloc() : !f16
  %out_f16 = iris.alloc() : !f16
  %infinity_f16 = arith.constant 0x7C00 : f16
  iris.launch @kernels::@fill_f16 programs(%one) args(%in_f16, %infinity_f16 : !f16, f16)
  iris.launch @kernels::@fraction_f16 programs(%one) args(%in_f16, %out_f16 : !f16, !f16)
  iris.launch @kernels::@check_f16 programs(%one) args(%ctx, %out_f16 : !iris.ctx, !f16)
  %negative_f16 = arith.constant 0xFC00 : f16
  iris.launch @kernels::@fill_f16 programs(%one) args(%in_f16, %negative_f16 : !f16, f16)
  iris.launch @kernels::@fraction_f16 programs(%one) args(%in_f16, %out_f16 : !f16, !f16)
  iris.launch @kernels::@check_f16 programs(%one) args(%ctx, %out_f16 : !iris.ctx, !f16)
  %in_f64 = iris.alloc() : !f64
  %out_f64 = iris.alloc() : !f64
  %infinity_f64 = arith.constant 0x7FF0000000000000 : f64
  iris.launch @kernels::@fill_f64 programs(%one) args(%in_f64, %infinity_f64 : !f64, f64)
  iris.launch @kernels::@fraction_f64 programs(%one) args(%in_f64, %out_f64 : !f64, !f64)
  iris.launch @kernels::@check_f64 programs(%one) args(%ctx, %out_f64 : !iris.ctx, !f64)
  %negative_f64 = arith.constant 0xFFF0000000000000 : f64
  iris.launch @kernels::@fill_f64 programs(%one) args(%in_f64, %negative_f64 : !f64, f64)
  iris.launch @kernels::@fraction_f64 programs(%one) args(%in_f64, %out_f64 : !f64, !f64)
  iris.launch @kernels::@check_f64 programs(%one) args(%ctx, %out_f64 : !iris.ctx, !f64)
  iris.sync %ctx
  return
}
