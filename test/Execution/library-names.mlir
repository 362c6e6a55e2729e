// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and functions with names of the C library: machine code of the host
// calls the library's functions, not these.

// RUN: iris-run %s
// RUN: iris-compile %s --target=host --emit=obj -o %t.so
// RUN: llvm-nm -D %t.so | FileCheck %s
// CHECK-NOT: {{ T (memcpy|memmove|memset|memcmp|bcmp)$}}
// CHECK-DAG: T iris.memset
// CHECK-DAG: T iris.memcpy
// CHECK-DAG: T iris.memmove
// CHECK-DAG: T iris.bcmp
// CHECK-DAG: T iris._DYNAMIC
// CHECK-DAG: U memset
// CHECK-DAG: U mem{{cpy|move}}

!buffer = memref<65536xi32, #iris.symmetric>

gpu.module @kernels {
  // %from, %from + 1, ...
  func.func @numbers(%from: index) -> tensor<8192xi32> {
    %range = tile.range dim 0 : tensor<8192xi32>
    %first = arith.index_cast %from : index to i32
    %splat = tensor.splat %first : tensor<8192xi32>
    %sum = arith.addi %range, %splat : tensor<8192xi32>
    return %sum : tensor<8192xi32>
  }
  // Filling a buffer, and copying one, become calls of the C library.
  gpu.func @memmove(%o: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    %v = arith.constant 0x5A5A5A5A : i32
    scf.for %i = %c0 to %n step %c1 {
      memref.store %v, %o[%i] : !buffer
    }
    gpu.return
  }
  gpu.func @memset(%a: !buffer, %o: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 8192 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %tile {
      %t = tile.load %a[%i] : !buffer -> tensor<8192xi32>
      tile.store %t, %o[%i] : tensor<8192xi32>, !buffer
    }
    gpu.return
  }
  gpu.func @memcpy(%o: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 8192 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %tile {
      %t = func.call @numbers(%i) : (index) -> tensor<8192xi32>
      tile.store %t, %o[%i] : tensor<8192xi32>, !buffer
    }
    gpu.return
  }
  gpu.func @bcmp(%ctx: !iris.ctx, %o: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 8192 : index
    %n = arith.constant 65536 : index
    %v = arith.constant dense<0x5A5A5A5A> : tensor<8192xi32>
    scf.for %i = %c0 to %n step %tile {
      %t = tile.load %o[%i] : !buffer -> tensor<8192xi32>
      iris.expect_eq %t, %v, "filled" : tensor<8192xi32>
    }
    gpu.return
  }
  // The linker defines this symbol in every image.
  gpu.func @_DYNAMIC(%ctx: !iris.ctx, %o: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 8192 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %tile {
      %t = tile.load %o[%i] : !buffer -> tensor<8192xi32>
      %v = func.call @numbers(%i) : (index) -> tensor<8192xi32>
      iris.expect_eq %t, %v, "copied" : tensor<8192xi32>
    }
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
