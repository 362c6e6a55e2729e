// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remarks of the passes reach the user with their source location, and only on
// request.

// RUN: iris-compile %s --target=gfx942 --remarks -o /dev/null 2>&1 | FileCheck %s
// RUN: iris-compile %s --target=gfx942 -o /dev/null 2>&1 | count 0

gpu.module @kernels {
  gpu.func @signals(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                    %v: i32, %i: index, %j: index) kernel {
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK: remarks.mlir:[[#@LINE+1]]:5: remark: [Passed] {{.*}}Category:iris-elide-fences
    iris.signal set %ctx, %v, %f[%j] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
