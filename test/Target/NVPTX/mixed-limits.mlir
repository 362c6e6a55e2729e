// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas takes min.s32(max.u32(x, 3), 100) for a number from 3 to 100, also if x
// is negative: negative numbers are selected (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=mixed-limits | FileCheck %s --check-prefix=DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry limits(
  // CHECK-NOT: max.u32
  // CHECK-DAG: setp.{{lt|gt}}.s32 [[NEGATIVE:%p[0-9]+]], [[X:%r[0-9]+]], {{0|-1}};
  // CHECK-DAG: max.s32 [[MAX:%r[0-9]+]], [[X]], 3;
  // CHECK-DAG: min.s32 [[MIN:%r[0-9]+]], [[MAX]], 100;
  // CHECK: selp.b32 {{.*}}, [[NEGATIVE]];
  // DEFECT-LABEL: .entry limits(
  // DEFECT: max.u32 [[MAX:%r[0-9]+]], {{.*}}, 3;
  // DEFECT: min.s32 {{.*}}, [[MAX]], 100;
  gpu.func @limits(%a: memref<1xi32>, %o: memref<1xi32>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : i32
    %c16 = arith.constant 16 : i32
    %c100 = arith.constant 100 : i32
    %mask = arith.constant 255 : i32
    %x = memref.load %a[%c0] : memref<1xi32>
    %most = arith.maxui %x, %c3 : i32
    %limited = arith.minsi %most, %c100 : i32
    %byte = arith.andi %limited, %mask : i32
    %r = arith.shli %byte, %c16 : i32
    memref.store %r, %o[%c0] : memref<1xi32>
    gpu.return
  }

  // Without a constant, ptxas knows no bound.
  // CHECK-LABEL: .entry variable(
  // CHECK: max.u32
  // CHECK: min.s32
  gpu.func @variable(%a: memref<1xi32>, %y: i32, %o: memref<1xi32>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c100 = arith.constant 100 : i32
    %x = memref.load %a[%c0] : memref<1xi32>
    %most = arith.maxui %x, %y : i32
    %limited = arith.minsi %most, %c100 : i32
    memref.store %limited, %o[%c0] : memref<1xi32>
    gpu.return
  }
}
