// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong has to be so on each number of ranks. If the programs of many ranks
// are too long to be followed, it is not decided, and a remark says so.
// RUN: iris-opt %s --iris-check-sync -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: iris-opt %s --iris-check-sync=max-ops=25 -o /dev/null \
// RUN:   --remarks-filter=iris-check-sync --remark-format=emitRemark 2>&1 | FileCheck %s
// ALL: warning: 'iris.wait' op never ends
// CHECK-NOT: warning:
// CHECK: remark: {{.*}}the loop has too many iterations
// CHECK-NOT: warning:

!words = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    scf.for %peer = %c0 to %ranks step %c1 {
      iris.signal set %ctx, %one, %flags[%rank] to %peer : i32, !words
    }
    scf.for %peer = %c0 to %ranks step %c1 {
      %seen = iris.wait %ctx, %flags[%peer] ge %two : i32, !words
    }
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags : !iris.ctx, !words)
  iris.sync %ctx
  return
}
