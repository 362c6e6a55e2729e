// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An i64 is aligned to 8 bytes on all targets, and read and written whole. It
// was aligned to 4, as in LLVM's default layout.
//
// RUN: iris-compile %s --target=sm_90a --emit=llvm | FileCheck %s
// RUN: iris-compile %s --target=gfx942 --emit=llvm | FileCheck %s
// RUN: iris-compile %s --target=host --emit=llvm | FileCheck %s

gpu.module @kernels {
  // CHECK: load i64, {{.*}}, align 8
  // CHECK: store i64 {{.*}}, align 8
  gpu.func @increment(%a: memref<4xi64>, %i: index) kernel
      attributes {iris.num_warps = 1 : i32} {
    %one = arith.constant 1 : i64
    %x = memref.load %a[%i] : memref<4xi64>
    %y = arith.addi %x, %one : i64
    memref.store %y, %a[%i] : memref<4xi64>
    gpu.return
  }
}
