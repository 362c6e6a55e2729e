// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas converts a float to an integer where a store narrower than its register
// writes its low bits: such registers are copied (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=narrow-stores | FileCheck %s --check-prefix=DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry low_half(
  // CHECK: add.rn.f64 [[SUM:%rd[0-9]+]],
  // CHECK: mov.b64 [[BITS:%rd[0-9]+]], [[SUM]];
  // CHECK: st.global.b32 [{{.*}}], [[BITS]];
  // DEFECT-LABEL: .entry low_half(
  // DEFECT: add.rn.f64 [[SUM:%rd[0-9]+]],
  // DEFECT: st.global.b32 [{{.*}}], [[SUM]];
  gpu.func @low_half(%a: memref<1xf64>, %o: memref<1xi32>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<1xf64>
    %sum = arith.addf %x, %x : f64
    %bits = arith.bitcast %sum : f64 to i64
    %low = arith.trunci %bits : i64 to i32
    memref.store %low, %o[%c0] : memref<1xi32>
    gpu.return
  }

  // CHECK-LABEL: .entry bytes(
  // CHECK: add.rn.f32 [[SUM:%r[0-9]+]],
  // CHECK: mov.b32 [[BITS:%r[0-9]+]], [[SUM]];
  // CHECK: st.global.b8 [{{.*}}], [[BITS]];
  // CHECK: mov.b32 [[BITS:%r[0-9]+]], [[SUM]];
  // CHECK: st.global.b16 [{{.*}}], [[BITS]];
  gpu.func @bytes(%a: memref<1xf32>, %o: memref<1xi8>, %p: memref<1xi16>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<1xf32>
    %sum = arith.addf %x, %x : f32
    %bits = arith.bitcast %sum : f32 to i32
    %byte = arith.trunci %bits : i32 to i8
    memref.store %byte, %o[%c0] : memref<1xi8>
    %half = arith.trunci %bits : i32 to i16
    memref.store %half, %p[%c0] : memref<1xi16>
    gpu.return
  }

  // A whole register is stored as it is.
  // CHECK-LABEL: .entry whole(
  // CHECK: add.rn.f64 [[SUM:%rd[0-9]+]],
  // CHECK: st.global.b64 [{{.*}}], [[SUM]];
  gpu.func @whole(%a: memref<1xf64>, %o: memref<1xi64>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<1xf64>
    %sum = arith.addf %x, %x : f64
    %bits = arith.bitcast %sum : f64 to i64
    memref.store %bits, %o[%c0] : memref<1xi64>
    gpu.return
  }
}
