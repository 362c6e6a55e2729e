// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --time names every stage from process start to the written file.

// RUN: iris-compile %s --target=gfx942 --emit=obj --time -o /dev/null 2>&1 | FileCheck %s
// CHECK: before main: {{.*}} ms of CPU time
// CHECK: parsing
// CHECK: gfx942
// CHECK: lowering of kernels
// CHECK: translation to LLVM IR
// CHECK: optimization
// CHECK: code generation
// CHECK: link
// CHECK: writing
// CHECK: Total

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx) kernel {
    gpu.return
  }
}
