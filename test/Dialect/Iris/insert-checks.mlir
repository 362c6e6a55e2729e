// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks precede each op that names a rank or an element; canonicalization
// removes those that hold; windows have none.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-insert-checks,canonicalize))' --verify-diagnostics | FileCheck %s

!sym = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @accesses
  // CHECK-SAME: iris.debug
  gpu.func @accesses(%ctx: !iris.ctx, %flags: !sym, %i: index, %r: index,
                     %v: i32) kernel {
    // CHECK: %[[N:.*]] = iris.num_ranks
    // CHECK: iris.check %{{.*}}, %{{.*}} below %[[N]] of "iris.signal" "names rank $value; expected 0 to $last, the ranks of the world"
    // CHECK: %[[SIZE:.*]] = memref.dim
    // CHECK: iris.check %{{.*}}, %{{.*}} below %[[SIZE]] of "iris.signal" "accesses index $value of dimension 0 of argument 1; expected 0 to $last"
    // CHECK-NEXT: iris.signal
    iris.signal set %ctx, %v, %flags[%i] to %r : i32, !sym
    // CHECK: iris.check %{{.*}}, %{{.*}} at_least %{{.*}} of "iris.barrier" "needs $bound elements of state, 32 for each program and rank; argument 1 has $value"
    // CHECK-NEXT: iris.barrier
    iris.barrier %ctx, %flags : !sym
    gpu.return
  }

  // CHECK-LABEL: gpu.func @windows
  // CHECK-NOT: iris.check
  // CHECK: gpu.return
  gpu.func @windows(%ctx: !iris.ctx, %b: memref<?xf32>, %i: index) kernel {
    %0 = tile.load %b[%i] : memref<?xf32> -> tensor<64xf32>
    tile.store %0, %b[%i] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @constants
  // CHECK: iris.check %{{.*}}, %{{.*}} below %{{.*}} of "memref.load"
  // CHECK-NOT: iris.check
  // CHECK: gpu.return
  gpu.func @constants(%ctx: !iris.ctx, %b: memref<8xf32>) kernel {
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %0 = memref.load %b[%c8] : memref<8xf32>
    memref.store %0, %b[%c7] : memref<8xf32>
    gpu.return
  }

  // expected-warning @below {{takes no !iris.ctx to report to; its accesses are not checked}}
  gpu.func @mute(%b: memref<?xf32>, %i: index) kernel {
    %0 = memref.load %b[%i] : memref<?xf32>
    memref.store %0, %b[%i] : memref<?xf32>
    gpu.return
  }
}
