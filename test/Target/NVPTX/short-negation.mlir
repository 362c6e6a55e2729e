// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_90a --emit=asm -O0 -o - \
// RUN:   | FileCheck %s --check-prefix=NONE

// ptxas takes the results of neg.s16 and abs.s16 for sign-extended, which that of
// -32768 is not: they are computed in the upper half of 32 bits.

// NONE-NOT: {{(neg|abs)\.s16|sub\.s16 +%rs[0-9]+, 0,}}

!buffer = memref<?xi16, #iris.symmetric>
!tile = tensor<128xi16>

gpu.module @kernels {
  // CHECK-LABEL: .entry negation(
  // CHECK-NOT: neg.s16
  // CHECK: shl.b32 [[UPPER:%r[0-9]+]], %r{{[0-9]+}}, 16;
  // CHECK: neg.s32 [[NEGATIVE:%r[0-9]+]], [[UPPER]];
  // CHECK: mov.b32 {_, [[RESULT:%rs[0-9]+]]}, [[NEGATIVE]];
  // CHECK-NOT: neg.s16
  // CHECK: div.s16 %rs{{[0-9]+}}, [[RESULT]],
  gpu.func @negation(%ctx: !iris.ctx, %a: !buffer, %b: !buffer)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : !tile
    %x = tile.load %a[%c0] : !buffer -> !tile
    %y = tile.load %b[%c0] : !buffer -> !tile
    %negative = arith.subi %zero, %x : !tile
    %quotient = arith.divsi %negative, %y : !tile
    tile.store %quotient, %a[%c0] : !tile, !buffer
    gpu.return
  }

  // CHECK-LABEL: .entry absolute_value(
  // CHECK-NOT: abs.s16
  // CHECK: shl.b32 [[UPPER:%r[0-9]+]], %r{{[0-9]+}}, 16;
  // CHECK: abs.s32 [[POSITIVE:%r[0-9]+]], [[UPPER]];
  // CHECK: mov.b32 {_, [[RESULT:%rs[0-9]+]]}, [[POSITIVE]];
  // CHECK-NOT: abs.s16
  // CHECK: div.s16 %rs{{[0-9]+}}, [[RESULT]],
  gpu.func @absolute_value(%ctx: !iris.ctx, %a: !buffer, %b: !buffer)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !buffer -> !tile
    %y = tile.load %b[%c0] : !buffer -> !tile
    %positive = math.absi %x : !tile
    %quotient = arith.divsi %positive, %y : !tile
    tile.store %quotient, %a[%c0] : !tile, !buffer
    gpu.return
  }

  // CHECK-LABEL: .entry multiplication(
  // CHECK-NOT: neg.s16
  // CHECK: shl.b32 [[UPPER:%r[0-9]+]], %r{{[0-9]+}}, 23;
  // CHECK: neg.s32 [[NEGATIVE:%r[0-9]+]], [[UPPER]];
  // CHECK-NOT: neg.s16
  // CHECK: ret
  gpu.func @multiplication(%ctx: !iris.ctx, %a: !buffer, %b: !buffer)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %factor = arith.constant dense<-128> : !tile
    %x = tile.load %a[%c0] : !buffer -> !tile
    %y = tile.load %b[%c0] : !buffer -> !tile
    %scaled = arith.muli %x, %factor : !tile
    %quotient = arith.divsi %scaled, %y : !tile
    tile.store %quotient, %a[%c0] : !tile, !buffer
    gpu.return
  }
}
