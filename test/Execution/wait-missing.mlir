// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signal that never arrives: every rank gets the reason, which names the
// flag, its values and the rank that should have signaled. Rank 1 signals one
// time too few.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 2 --timeout=1 %t.iris 2>&1 | FileCheck %s
// CHECK: rank 0: iris.wait at {{.*}}wait-missing.mlir:{{.*}} in kernels::wait_flag
// CHECK-SAME: should become >= 8, was last seen as 7; rank 1 owed

gpu.module @kernels {
  gpu.func @wait_flag(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>)
      kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %seven = arith.constant 7 : i32
    %eight = arith.constant 8 : i32
    %rank = iris.rank %ctx : index
    %signals = arith.cmpi eq, %rank, %c1 : index
    scf.if %signals {
      iris.signal set %ctx, %seven, %flags[%c0] to %c0
          : i32, memref<?xi32, #iris.symmetric>
    } else {
      %seen = iris.wait %ctx, %flags[%c0] ge %eight owed_by(%c1)
          : i32, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 32 : index
  %p = arith.constant 1 : index
  %flags = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@wait_flag programs(%p) args(%ctx, %flags
      : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
