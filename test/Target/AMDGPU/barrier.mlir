// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --allow-nonportable --target=gfx942 --emit=asm -o - | FileCheck %s

// A release, one store and one poll per lane, an acquire; the grid comes from
// the implicit arguments, not from a device library.
gpu.module @kernels {
  // CHECK-LABEL: {{^}}barrier:
  // CHECK: global_load_dword {{.*}} sc1
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK: s_barrier
  // CHECK: buffer_wbl2 sc0 sc1
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK: global_store_dword {{.*}} sc0 sc1
  // CHECK: global_load_dword {{.*}} sc0 sc1
  // CHECK: buffer_inv sc0 sc1
  // CHECK: s_barrier
  // CHECK-NOT: __ockl
  // CHECK: .amdhsa_private_segment_fixed_size 0
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
