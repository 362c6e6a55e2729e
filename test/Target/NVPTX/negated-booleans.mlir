// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The negative of a boolean that is converted to a float is -0.0 for false:
// ptxas loses the sign of neg(cvt(b ? 1 : 0)), so two constants are selected
// (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=negated-booleans | FileCheck %s --check-prefix=DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry unsigned(
  // CHECK-NOT: neg.bf16
  // CHECK: selp.b16 {{.*}}, 0xBF80, 0x8000
  // DEFECT-LABEL: .entry unsigned(
  // DEFECT: neg.bf16
  gpu.func @unsigned(%a: memref<1xi32>, %o: memref<1xbf16>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : i32
    %x = memref.load %a[%c0] : memref<1xi32>
    %b = arith.cmpi slt, %x, %c3 : i32
    %i = arith.extui %b : i1 to i32
    %f = arith.uitofp %i : i32 to bf16
    %n = arith.negf %f : bf16
    memref.store %n, %o[%c0] : memref<1xbf16>
    gpu.return
  }

  // A signed boolean is 0 or -1.
  // CHECK-LABEL: .entry signed(
  // CHECK-NOT: neg.f32
  // CHECK: selp.{{.*}} 0f3F800000, 0f80000000
  gpu.func @signed(%a: memref<1xi32>, %o: memref<1xf32>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : i32
    %x = memref.load %a[%c0] : memref<1xi32>
    %b = arith.cmpi slt, %x, %c3 : i32
    %i = arith.extsi %b : i1 to i32
    %f = arith.sitofp %i : i32 to f32
    %n = arith.negf %f : f32
    memref.store %n, %o[%c0] : memref<1xf32>
    gpu.return
  }

  // Other users of the conversion have it.
  // CHECK-LABEL: .entry both(
  // CHECK-NOT: neg.bf16
  // CHECK-DAG: selp.b16 {{.*}}, 0x3F80, 0x0000
  // CHECK-DAG: selp.b16 {{.*}}, 0xBF80, 0x8000
  gpu.func @both(%a: memref<1xi32>, %o: memref<2xbf16>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : i32
    %x = memref.load %a[%c0] : memref<1xi32>
    %b = arith.cmpi slt, %x, %c3 : i32
    %i = arith.extui %b : i1 to i32
    %f = arith.uitofp %i : i32 to bf16
    %n = arith.negf %f : bf16
    memref.store %f, %o[%c0] : memref<2xbf16>
    memref.store %n, %o[%c1] : memref<2xbf16>
    gpu.return
  }
}
