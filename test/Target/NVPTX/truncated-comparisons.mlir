// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// InstCombine takes the middle of -2^127 and the next number of bf16 for the
// largest f32: the value that was rounded is compared (docs/internals/guards.md).
// AMD code too, where test/Execution/truncated-comparisons.mlir has values.
//
// DEFINE: %{asm} = iris-compile %s --emit=asm
// RUN: %{asm} --target=sm_90a | FileCheck %s
// RUN: %{asm} --target=sm_90a --disable-guards=truncated-comparisons | FileCheck %s --check-prefix=DEFECT
// RUN: %{asm} --target=gfx942 | FileCheck %s --check-prefix=AMD
// RUN: %{asm} --target=gfx942 --disable-guards=truncated-comparisons | FileCheck %s --check-prefix=AMD-DEFECT

gpu.module @kernels {
  // CHECK-LABEL: .entry compared(
  // CHECK: cvt.rn.bf16.f32
  // CHECK: setp.
  // DEFECT-LABEL: .entry compared(
  // DEFECT-NOT: cvt.rn.bf16.f32
  // DEFECT: setp.{{.*}}, 0fFF7FFFFF;
  // AMD-LABEL: {{^}}compared:
  // AMD-NOT: 0xff7fffff
  // AMD: s_endpgm
  // AMD-DEFECT-LABEL: {{^}}compared:
  // AMD-DEFECT: 0xff7fffff
  gpu.func @compared(%a: memref<1xf32>, %o: memref<1xi8>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %k = arith.constant 0xFF00 : bf16
    %x = memref.load %a[%c0] : memref<1xf32>
    %t = arith.truncf %x : f32 to bf16
    %c = arith.cmpf oge, %t, %k : bf16
    %r = arith.extui %c : i1 to i8
    memref.store %r, %o[%c0] : memref<1xi8>
    gpu.return
  }
}
