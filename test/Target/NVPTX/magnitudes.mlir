// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas decides comparisons of numbers whose bounds it derives, such as
// magnitudes and squares, also for NaN: those are compared with themselves, too
// (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=magnitudes | FileCheck %s --check-prefix=DEFECT

!f = memref<64xf32>
!p = memref<64xi8>
!t = tensor<64xf32>

gpu.module @kernels {
  // CHECK-LABEL: .entry magnitude(
  // CHECK: setp.num.f32
  // DEFECT-LABEL: .entry magnitude(
  // DEFECT-NOT: setp.num.f32
  // DEFECT: setp.gt.f32
  // DEFECT-NOT: setp.num.f32
  // DEFECT: ret;
  gpu.func @magnitude(%a: !f, %o: !p) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !f -> !t
    %minus = arith.constant dense<-1.0> : !t
    %m = math.copysign %x, %minus : !t
    %k = arith.constant dense<3.25> : !t
    %p = arith.cmpf olt, %m, %k : !t
    %r = arith.extui %p : tensor<64xi1> to tensor<64xi8>
    tile.store %r, %o[%c0] : tensor<64xi8>, !p
    gpu.return
  }

  // CHECK-LABEL: .entry square(
  // CHECK: setp.num.f32
  // DEFECT-LABEL: .entry square(
  // DEFECT-NOT: setp.num.f32
  // DEFECT: setp.ge.f32
  // DEFECT-NOT: setp.num.f32
  // DEFECT: ret;
  gpu.func @square(%a: !f, %o: !p) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !f -> !t
    %m = arith.mulf %x, %x : !t
    %k = arith.constant dense<0.0> : !t
    %p = arith.cmpf oge, %m, %k : !t
    %r = arith.extui %p : tensor<64xi1> to tensor<64xi8>
    tile.store %r, %o[%c0] : tensor<64xi8>, !p
    gpu.return
  }

  // CHECK-LABEL: .entry sum(
  // CHECK: setp.num.f32
  // DEFECT-LABEL: .entry sum(
  // DEFECT-NOT: setp.num.f32
  // DEFECT: setp.gt.f32
  // DEFECT-NOT: setp.num.f32
  // DEFECT: ret;
  gpu.func @sum(%a: !f, %o: !p) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !f -> !t
    %m = math.absf %x : !t
    %two = arith.constant dense<2.0> : !t
    %s = arith.addf %m, %two : !t
    %k = arith.constant dense<1.0> : !t
    %p = arith.cmpf ogt, %s, %k : !t
    %r = arith.extui %p : tensor<64xi1> to tensor<64xi8>
    tile.store %r, %o[%c0] : tensor<64xi8>, !p
    gpu.return
  }

  // No number chooses the constant, so that the bounds of the other arm count.
  // CHECK-LABEL: .entry limited(
  // CHECK: setp.num.f32
  // DEFECT-LABEL: .entry limited(
  // DEFECT-NOT: setp.num.f32
  // DEFECT: ret;
  gpu.func @limited(%a: !f, %o: !f) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !f -> !t
    %m = math.absf %x : !t
    %n = arith.negf %m : !t
    %one = arith.constant dense<1.0> : !t
    %p = arith.cmpf ule, %n, %one : !t
    %s = arith.select %p, %n, %one : tensor<64xi1>, !t
    %k = arith.constant dense<0.5> : !t
    %q = arith.cmpf olt, %s, %k : !t
    %r = arith.select %q, %k, %s : tensor<64xi1>, !t
    tile.store %r, %o[%c0] : !t, !f
    gpu.return
  }

  // The bounds do not decide it.
  // CHECK-LABEL: .entry undecided(
  // CHECK-NOT: setp.num.f32
  // CHECK: ret;
  // DEFECT-LABEL: .entry undecided(
  // DEFECT: setp.gt.f32
  gpu.func @undecided(%a: !f, %o: !p) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !f -> !t
    %m = math.absf %x : !t
    %k = arith.constant dense<1.0> : !t
    %p = arith.cmpf ogt, %m, %k : !t
    %r = arith.extui %p : tensor<64xi1> to tensor<64xi8>
    tile.store %r, %o[%c0] : tensor<64xi8>, !p
    gpu.return
  }
}
