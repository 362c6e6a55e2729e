// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every elided fence is reported at its op, and nothing else is.
// RUN: iris-opt %s --iris-elide-fences --verify-diagnostics \
// RUN:   --remarks-filter=iris-elide-fences --remark-format=emitRemark

gpu.module @kernels {
  gpu.func @rows(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                 %v: i32, %i: index, %j: index) kernel {
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    // expected-remark @+1 {{[Passed] shared | Category:iris-elide-fences | Remark="release is shared with the signal before"}}
    iris.signal set %ctx, %v, %f[%j] : i32, memref<?xi32, #iris.symmetric>
    // expected-remark @+1 {{release is shared with the signal before}}
    iris.signal add %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    // expected-remark @+1 {{[Passed] shared | Category:iris-elide-fences | Remark="acquire is shared with the wait after"}}
    %a = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %b = iris.wait %ctx, %f[%j] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  gpu.func @loops(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                  %v: i32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{[Passed] shared | Category:iris-elide-fences | Remark="release is shared by the iterations"}}
      iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    }
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{[Passed] shared | Category:iris-elide-fences | Remark="acquire is shared by the iterations"}}
      %a = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }

  // Not elided: an access in between, a narrower scope before, and relaxed ops.
  gpu.func @not_shared(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                       %d: memref<?xi32>, %v: i32, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    iris.signal set %ctx, %v, %f[%c0] scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %f[%c1] : i32, memref<?xi32, #iris.symmetric>
    memref.store %v, %d[%c0] : memref<?xi32>
    iris.signal set %ctx, %v, %f[%c0] : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %f[%c1] sem(relaxed)
        : i32, memref<?xi32, #iris.symmetric>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %v, %d[%i] : memref<?xi32>
      iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }
}
