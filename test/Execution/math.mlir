// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions at arguments with exact results, on tiles of eight elements
// per thread and of one.
//
// RUN: iris-compile %s --target=host,gfx942,sm_90a -o %t.iris
// RUN: iris-run -n 1 %t.iris

gpu.module @kernels {
  gpu.func @roots(%ctx: !iris.ctx) kernel {
    %i = tile.range : tensor<1024xi32>
    %x = arith.sitofp %i : tensor<1024xi32> to tensor<1024xf32>
    %square = arith.mulf %x, %x : tensor<1024xf32>
    %root = math.sqrt %square : tensor<1024xf32>
    iris.expect_eq %root, %x, "square root" : tensor<1024xf32>
    %one = arith.constant dense<1.0> : tensor<1024xf32>
    %inverse = arith.divf %one, %x : tensor<1024xf32>
    %rsqrt = math.rsqrt %square : tensor<1024xf32>
    iris.expect_eq %rsqrt, %inverse, "reciprocal square root"
        : tensor<1024xf32>
    gpu.return
  }

  gpu.func @narrow_roots(%ctx: !iris.ctx) kernel {
    %i = tile.range : tensor<1024xi32>
    %mask = arith.constant dense<31> : tensor<1024xi32>
    %n = arith.andi %i, %mask : tensor<1024xi32>
    %x = arith.sitofp %n : tensor<1024xi32> to tensor<1024xf16>
    %square = arith.mulf %x, %x : tensor<1024xf16>
    %one = arith.constant dense<1.0> : tensor<1024xf16>
    %inverse = arith.divf %one, %x : tensor<1024xf16>
    %rsqrt = math.rsqrt %square : tensor<1024xf16>
    iris.expect_eq %rsqrt, %inverse, "reciprocal square root of f16"
        : tensor<1024xf16>
    gpu.return
  }

  gpu.func @single(%ctx: !iris.ctx) kernel {
    %i = tile.range : tensor<256xi32>
    %x = arith.sitofp %i : tensor<256xi32> to tensor<256xf32>
    %square = arith.mulf %x, %x : tensor<256xf32>
    %cube = arith.mulf %square, %x : tensor<256xf32>
    %root = math.cbrt %cube : tensor<256xf32>
    iris.expect_eq %root, %x, "cube root" : tensor<256xf32>
    // The angle of (x, x * x).
    %angle = math.atan2 %square, %x : tensor<256xf32>
    %slope = math.atan %x : tensor<256xf32>
    iris.expect_eq %angle, %slope, "angle" : tensor<256xf32>
    gpu.return
  }

  // Powers of two.
  gpu.func @bits(%ctx: !iris.ctx) kernel {
    %i = tile.range : tensor<1024xi32>
    %last = arith.constant dense<31> : tensor<1024xi32>
    %one = arith.constant dense<1> : tensor<1024xi32>
    %n = arith.andi %i, %last : tensor<1024xi32>
    %power = arith.shli %one, %n : tensor<1024xi32>
    %before = arith.subi %last, %n : tensor<1024xi32>
    %ctlz = math.ctlz %power : tensor<1024xi32>
    iris.expect_eq %ctlz, %before, "leading zeros" : tensor<1024xi32>
    %cttz = math.cttz %power : tensor<1024xi32>
    iris.expect_eq %cttz, %n, "trailing zeros" : tensor<1024xi32>
    %ones = arith.subi %power, %one : tensor<1024xi32>
    %ctpop = math.ctpop %ones : tensor<1024xi32>
    iris.expect_eq %ctpop, %n, "bits set" : tensor<1024xi32>

    %zero = arith.subi %i, %i : tensor<1024xi32>
    %all = arith.constant dense<32> : tensor<1024xi32>
    %none = math.ctlz %zero : tensor<1024xi32>
    iris.expect_eq %none, %all, "leading zeros of 0" : tensor<1024xi32>
    %negative = arith.subi %zero, %i : tensor<1024xi32>
    %magnitude = math.absi %negative : tensor<1024xi32>
    iris.expect_eq %magnitude, %i, "magnitude" : tensor<1024xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  iris.launch @kernels::@roots programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@narrow_roots programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@single programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@bits programs(%c1) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
