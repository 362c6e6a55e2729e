// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --allow-nonportable --target=sm_90a --emit=asm -o - | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: .entry barrier(
  // CHECK: ld.relaxed.gpu.global.b32
  // CHECK: bar.sync
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: st.relaxed.sys.global.b32
  // CHECK: ld.acquire.sys.global.b32
  // CHECK: bar.sync
  gpu.func @barrier(%ctx: !iris.ctx, %d: memref<?xi32>,
                    %s: memref<?xi32, #iris.symmetric>, %v: i32) kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    iris.barrier %ctx, %s : memref<?xi32, #iris.symmetric>
    %x = memref.load %d[%t] : memref<?xi32>
    %y = arith.addi %x, %v : i32
    memref.store %y, %d[%t] : memref<?xi32>
    gpu.return
  }
}
