// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fault of a kernel on an emulated device names the line.
// REQUIRES: emulator
// RUN: not iris-run -n 1 --heap=1M --device=emulated:gfx942 %s 2>&1 | FileCheck %s
// RUN: not iris-run -g0 -n 1 --heap=1M --device=emulated:gfx942 %s 2>&1 | FileCheck %s --check-prefix=NONE
// CHECK: kernel 'outside', {{.*}}: lane 0 stores 4 bytes at {{.*}} after the end of {{.*}}fault-line.mlir:17:5
// NONE: kernel 'outside', {{.*}}: lane 0 stores 4 bytes at {{.*}} after the end of
// NONE-NOT: fault-line.mlir:

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @outside(%ctx: !iris.ctx, %out: !buffer) kernel {
    %far = arith.constant 1000000000000 : index
    %v = arith.constant 1 : i32
    // Stores trust their index.
    memref.store %v, %out[%far] : !buffer
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %out = iris.alloc(%n) : !buffer
  iris.launch @kernels::@outside programs(%c1)
      args(%ctx, %out : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
