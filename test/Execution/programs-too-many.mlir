// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More programs that wait for each other than any device runs at once: the
// launch fails, with the largest valid number, before anything hangs.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 2 %t.iris 2>&1 | FileCheck %s
// CHECK: kernels::barrier: 1000000 programs wait for each other and must all run at once
// CHECK-SAME: launch at most {{[0-9]+}}

gpu.module @kernels {
  gpu.func @barrier(%ctx: !iris.ctx, %state: memref<?xi32, #iris.symmetric>)
      kernel {
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %words = arith.constant 1024 : index
  %p = arith.constant 1000000 : index
  %state = iris.alloc(%words) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@barrier programs(%p) args(%ctx, %state
      : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
