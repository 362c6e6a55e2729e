// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and functions with names of the C library: machine code of the host
// calls the library's functions, not these.

// RUN: iris-run %s
// RUN: iris-compile %s --target=host --emit=obj -o %t.so
// RUN: llvm-nm -D %t.so | FileCheck %s
// CHECK-NOT: {{ [A-Z] (memcpy|memmove|memset|memcmp|bcmp)$}}
// CHECK-DAG: T iris.memset
// CHECK-DAG: T iris.memcpy
// CHECK-DAG: T iris.memmove
// CHECK-DAG: T iris.bcmp
// CHECK-DAG: T iris._DYNAMIC

!buffer = memref<65536xi32, #iris.symmetric>

gpu.module @kernels {
  // Filling and copying a buffer becomes a call of the C library.
  gpu.func @memmove(%o: !buffer) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    %v = arith.constant 0x5A5A5A5A : i32
    scf.for %i = %c0 to %n step %c1 {
      memref.store %v, %o[%i] : !buffer
    }
    gpu.return
  }
  gpu.func @memset(%a: !buffer, %o: !buffer) kernel attributes {
      iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %t = tile.load %a[%c0] : !buffer -> tensor<65536xi32>
    tile.store %t, %o[%c0] : tensor<65536xi32>, !buffer
    gpu.return
  }
  gpu.func @memcpy(%o: !buffer) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %t = tile.range dim 0 : tensor<65536xi32>
    tile.store %t, %o[%c0] : tensor<65536xi32>, !buffer
    gpu.return
  }
  gpu.func @bcmp(%ctx: !iris.ctx, %o: !buffer) kernel attributes {
      iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %t = tile.load %o[%c0] : !buffer -> tensor<65536xi32>
    %v = arith.constant dense<0x5A5A5A5A> : tensor<65536xi32>
    iris.expect_eq %t, %v, "filled" : tensor<65536xi32>
    gpu.return
  }
  // The linker defines this symbol in every image.
  gpu.func @_DYNAMIC(%ctx: !iris.ctx, %o: !buffer) kernel attributes {
      iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %t = tile.load %o[%c0] : !buffer -> tensor<65536xi32>
    %v = tile.range dim 0 : tensor<65536xi32>
    iris.expect_eq %t, %v, "copied" : tensor<65536xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %a = iris.alloc() : !buffer
  %o = iris.alloc() : !buffer
  iris.launch @kernels::@memmove programs(%one) args(%o : !buffer)
  iris.launch @kernels::@bcmp programs(%one) args(%ctx, %o : !iris.ctx, !buffer)
  iris.launch @kernels::@memcpy programs(%one) args(%a : !buffer)
  iris.launch @kernels::@memset programs(%one) args(%a, %o : !buffer, !buffer)
  iris.launch @kernels::@_DYNAMIC programs(%one) args(%ctx, %o : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
