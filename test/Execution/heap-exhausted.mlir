// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An allocation larger than the heap: every rank reports an error with the free
// size.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 2 --heap=16M %t.iris 2>&1 | FileCheck %s
// CHECK: iris.alloc at {{.*}}heap-exhausted.mlir:{{[0-9]+}}:{{[0-9]+}}: the symmetric heap is full: 64000000 bytes requested, but of its 16777216 bytes

gpu.module @kernels {
  gpu.func @fill(%all: memref<?xi32, #iris.symmetric>) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    memref.store %one, %all[%c0] : memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %p = arith.constant 1 : index
  %n = arith.constant 16000000 : index
  %all = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@fill programs(%p) args(%all
      : memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
