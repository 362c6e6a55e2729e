// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warnings of iris-check-sync: once for all targets, an error with -Werror, and
// off with -Wno-sync.
//
// RUN: rm -f %t.iris
// RUN: iris-compile %s --target=host,gfx942 -o %t.iris 2>&1 | FileCheck %s
// RUN: ls %t.iris
// CHECK: warnings.mlir:[[@LINE+21]]:7: warning: 'iris.barrier' op never ends: not all ranks execute it
// CHECK: warnings.mlir:[[@LINE+19]]:5: note: ranks differ in what they execute here
// CHECK-NOT: warning:
//
// RUN: rm %t.iris
// RUN: not iris-compile %s -Werror -o %t.iris 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not ls %t.iris
// ERROR: warnings.mlir:[[@LINE+14]]:7: error: 'iris.barrier' op never ends
// ERROR: warnings.mlir:[[@LINE+12]]:5: note: ranks differ in what they execute here
// ERROR-NOT: error:
//
// RUN: iris-compile %s -Werror -Wno-sync -o %t.iris 2>&1 | count 0
// RUN: ls %t.iris

!words = memref<?xi32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %state: !words) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %isFirst = arith.cmpi eq, %rank, %c0 : index
    scf.if %isFirst {
      iris.barrier %ctx, %state : !words
    }
    gpu.return
  }
}
