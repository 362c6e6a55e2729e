// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch fails if the barrier's state is too small, in every mode.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 2 %t.iris 2>&1 | FileCheck %s
// CHECK: rank {{[01]}}: kernel kernels::barrier: argument 1, the state of a barrier, has 255 elements; expected at least 32 for each of 4 programs and 2 ranks: 256
// RUN: iris-run -n 1 %t.iris

gpu.module @kernels {
  gpu.func @barrier(%ctx: !iris.ctx, %state: memref<?xi32, #iris.symmetric>)
      kernel {
    %one = arith.constant 1 : i32
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    iris.expect_eq %one, %one, "met" : i32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 255 : index
  %p = arith.constant 4 : index
  %state = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@barrier programs(%p) args(%ctx, %state
      : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
