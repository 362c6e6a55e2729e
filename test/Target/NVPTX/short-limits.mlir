// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas decides whether min.s16(x, 0) is 0 by the other half of a register, and
// code generation compares with 0 in front of a count of zeros: limits are
// computed in 32 bits (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=short-limits | FileCheck %s --check-prefix=DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry signed(
  // CHECK-NOT: min.s16
  // CHECK: min.s32 [[WORD:%r[0-9]+]], {{%r[0-9]+}}, 0;
  // CHECK: cvt.u16.u32 [[X:%rs[0-9]+]], [[WORD]];
  // CHECK: setp.eq.b16 {{.*}}, [[X]], 0;
  // DEFECT-LABEL: .entry signed(
  // DEFECT: min.s16 [[X:%rs[0-9]+]], {{%rs[0-9]+}}, 0;
  // DEFECT: setp.eq.b16 {{.*}}, [[X]], 0;
  gpu.func @signed(%a: memref<1xi16>, %o: memref<1xi16>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i16
    %x = memref.load %a[%c0] : memref<1xi16>
    %most = arith.minsi %x, %zero : i16
    %r = math.cttz %most : i16
    memref.store %r, %o[%c0] : memref<1xi16>
    gpu.return
  }

  // CHECK-LABEL: .entry bytes(
  // CHECK-NOT: max.u16
  // CHECK: max.u32 {{%r[0-9]+}}, {{%r[0-9]+}}, 7;
  // DEFECT-LABEL: .entry bytes(
  // DEFECT: max.u16 {{%rs[0-9]+}}, {{%rs[0-9]+}}, 7;
  gpu.func @bytes(%a: memref<1xi8>, %o: memref<1xi8>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : i8
    %x = memref.load %a[%c0] : memref<1xi8>
    %least = arith.maxui %x, %c7 : i8
    memref.store %least, %o[%c0] : memref<1xi8>
    gpu.return
  }

  // Without a constant, ptxas compares halves as it should.
  // CHECK-LABEL: .entry variable(
  // CHECK: min.s16
  gpu.func @variable(%a: memref<1xi16>, %y: i16, %o: memref<1xi16>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<1xi16>
    %most = arith.minsi %x, %y : i16
    memref.store %most, %o[%c0] : memref<1xi16>
    gpu.return
  }
}
