// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wait for a flag past the end of its buffer, which no rank can set: the
// report says that, and how to find the index.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 1 --timeout=1 %t.iris 2>&1 | FileCheck %s
// RUN: not iris-run -n 1 --timeout=1 --debug %s 2>&1 \
// RUN:   | FileCheck --check-prefix=DEBUG %s
// CHECK: rank 0: iris.wait at {{.*}}wait-outside.mlir:{{.*}} in kernels::wait
// CHECK-SAME: (element 40) should become >= 1, was last seen as 0
// CHECK-SAME: ; the flag is outside of its buffer, which has 128 bytes; iris-run --debug names the index (launch 1)
// DEBUG: accesses index 40 of dimension 0 of argument 1; expected 0 to 31

gpu.module @kernels {
  gpu.func @wait(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>)
      kernel {
    %index = arith.constant 40 : index
    %one = arith.constant 1 : i32
    %seen = iris.wait %ctx, %flags[%index] ge %one
        : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  // Not constant, so that the compiler does not see it.
  %ranks = iris.num_ranks %ctx : index
  %line = arith.constant 32 : index
  %n = arith.muli %ranks, %line : index
  %p = arith.constant 1 : index
  %flags = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@wait programs(%p) args(%ctx, %flags
      : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
