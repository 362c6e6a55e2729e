// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of iris.alloc that only a run knows: negative, or too large in all.
//
// RUN: split-file %s %t
// RUN: not iris-run -n 2 %t/negative.mlir 2>&1 | FileCheck %s
// RUN: not iris-run -n 2 %t/overflow.mlir 2>&1 | FileCheck %s
// CHECK: rank 1{{.*}}: iris.alloc in @main has a negative size, or 2^63 bytes or more; expected sizes of 0 or more that fit the heap

//--- negative.mlir
gpu.module @kernels {
  gpu.func @none() kernel {
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %rank = iris.rank %ctx : index
  %size = arith.subi %c0, %rank : index
  %b = iris.alloc(%size) : memref<?xi32, #iris.symmetric>
  iris.dealloc %b : memref<?xi32, #iris.symmetric>
  return
}

//--- overflow.mlir
gpu.module @kernels {
  gpu.func @none() kernel {
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %big = arith.constant 0x100000000 : index
  %rank = iris.rank %ctx : index
  %size = arith.muli %rank, %big : index
  %b = iris.alloc(%size, %big) : memref<?x?xi32, #iris.symmetric>
  iris.dealloc %b : memref<?x?xi32, #iris.symmetric>
  return
}
