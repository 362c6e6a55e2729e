// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=host --emit=asm -o - | FileCheck %s

gpu.module @kernels {
  // Each iteration loads the flag; clock and yield are the runtime's callbacks;
  // a failed wait returns, and nothing after it is executed.
  // CHECK-LABEL: {{^}}iris.wait:
  // CHECK-NOT: irisrtIR
  // CHECK-NOT: ud2
  // CHECK: {{callq[[:space:]]+\*}}
  // CHECK: .size iris.wait,
  gpu.func @wait(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                 %d: memref<?xi32>, %v: i32, %i: index) kernel {
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    memref.store %s, %d[%i] : memref<?xi32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}iris.barrier:
  // CHECK-NOT: irisrtIR
  // CHECK: {{callq[[:space:]]+\*}}
  // CHECK: .size iris.barrier,
  gpu.func @barrier(%ctx: !iris.ctx, %s: memref<?xi32, #iris.symmetric>)
      kernel {
    iris.barrier %ctx, %s : memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
