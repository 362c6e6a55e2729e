// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// math.copysign of f16 and bf16 from rounded signs (guard copied-signs); of f16 for
// bf16: Target/AMDGPU/copied-signs.mlir.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
// RUN: iris-run -n 1 --device=emulated:gfx942 %s
// RUN: iris-run -n 1 --device=emulated:gfx1201 %s
//
// DEFINE: %{chip} = gfx942
// DEFINE: %{defect} = iris-compile %s --target=%{chip} --disable-guards=copied-signs -o %t.iris && not iris-run -n 1 --device=emulated:%{chip} %t.iris 2>&1 | FileCheck %s
// RUN: %{defect}
// REDEFINE: %{chip} = gfx1201
// RUN: %{defect}
// CHECK: got 2 {{.*}}, want -2 {{.*}}: signs of f32

!w = memref<256xf64, #iris.symmetric>
!s = memref<256xf32, #iris.symmetric>
!h = memref<256xf16, #iris.symmetric>
!b = memref<256xbf16, #iris.symmetric>
!ti = tensor<256xi32>
!tc = tensor<256xi1>
!tw = tensor<256xf64>
!ts = tensor<256xf32>
!th = tensor<256xf16>
!tb = tensor<256xbf16>

gpu.module @kernels {
  // 3.25 at every second index, else -3.25: bit 15 of their f32 is 0.
  gpu.func @fill(%wide: !w, %single: !s) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %number = tile.range : !ti
    %low = arith.andi %number, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %positive = arith.constant dense<3.25> : !tw
    %negative = arith.constant dense<-3.25> : !tw
    %x = arith.select %odd, %positive, %negative : !tc, !tw
    tile.store %x, %wide[%c0] : !tw, !w
    %y = arith.truncf %x : !tw to !ts
    tile.store %y, %single[%c0] : !ts, !s
    gpu.return
  }
  gpu.func @of_f32(%single: !s, %halves: !h, %brains: !b) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %sign = tile.load %single[%c0] : !s -> !ts
    %half = arith.truncf %sign : !ts to !th
    %two_halves = arith.constant dense<2.0> : !th
    %h = math.copysign %two_halves, %half : !th
    tile.store %h, %halves[%c0] : !th, !h
    %brain = arith.truncf %sign : !ts to !tb
    %two_brains = arith.constant dense<2.0> : !tb
    %b = math.copysign %two_brains, %brain : !tb
    tile.store %b, %brains[%c0] : !tb, !b
    gpu.return
  }
  gpu.func @of_f64(%wide: !w, %halves: !h, %brains: !b) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %sign = tile.load %wide[%c0] : !w -> !tw
    %half = arith.truncf %sign : !tw to !th
    %two_halves = arith.constant dense<2.0> : !th
    %h = math.copysign %two_halves, %half : !th
    tile.store %h, %halves[%c0] : !th, !h
    %brain = arith.truncf %sign : !tw to !tb
    %two_brains = arith.constant dense<2.0> : !tb
    %b = math.copysign %two_brains, %brain : !tb
    tile.store %b, %brains[%c0] : !tb, !b
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %halves: !h, %brains: !b)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !ti
    %zero = arith.constant dense<0> : !ti
    %number = tile.range : !ti
    %low = arith.andi %number, %one : !ti
    %odd = arith.cmpi ne, %low, %zero : !ti
    %h_odd = arith.constant dense<2.0> : !th
    %h_even = arith.constant dense<-2.0> : !th
    %want_h = arith.select %odd, %h_odd, %h_even : !tc, !th
    %h = tile.load %halves[%c0] : !h -> !th
    iris.expect_eq %h, %want_h, "signs of f32 or f64" : !th
    %b_odd = arith.constant dense<2.0> : !tb
    %b_even = arith.constant dense<-2.0> : !tb
    %want_b = arith.select %odd, %b_odd, %b_even : !tc, !tb
    %b = tile.load %brains[%c0] : !b -> !tb
    iris.expect_eq %b, %want_b, "signs of f32 or f64" : !tb
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %wide = iris.alloc() : !w
  %single = iris.alloc() : !s
  %halves = iris.alloc() : !h
  %brains = iris.alloc() : !b
  iris.launch @kernels::@fill programs(%one) args(%wide, %single : !w, !s)
  iris.launch @kernels::@of_f32 programs(%one) args(%single, %halves, %brains : !s, !h, !b)
  iris.launch @kernels::@check programs(%one) args(%ctx, %halves, %brains : !iris.ctx, !h, !b)
  iris.launch @kernels::@of_f64 programs(%one) args(%wide, %halves, %brains : !w, !h, !b)
  iris.launch @kernels::@check programs(%one) args(%ctx, %halves, %brains : !iris.ctx, !h, !b)
  iris.sync %ctx
  return
}
