// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12
// RUN: iris-compile %s --target=gfx1250 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12

gpu.module @kernels {
  // Clock and abort word are read inside the loop; the record is complete
  // before it is marked ready; the program ends without a trap and without
  // scratch memory.
  // CHECK-LABEL: {{^}}wait:
  // GFX9:     s_memrealtime
  // GFX9:     global_atomic_cmpswap {{.*}} offset:128 sc0 sc1
  // GFX9:     buffer_wbl2 sc0 sc1
  // GFX9:     s_waitcnt vmcnt(0)
  // GFX9:     global_store_dword {{.*}} offset:128 sc0 sc1
  // GFX12:    sendmsg(MSG_RTN_GET_REALTIME)
  // GFX12:    global_wb scope:SCOPE_SYS
  // GFX12:    s_wait_storecnt{{(_dscnt)?}} 0x0
  // GFX12:    global_store_b32 {{.*}} offset:128 scope:SCOPE_SYS
  // CHECK-NOT: s_trap
  // CHECK:    .amdhsa_private_segment_fixed_size 0
  gpu.func @wait(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %v: i32,
                 %i: index) kernel {
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Two waits: two loops, one invalidation.
  // CHECK-LABEL: {{^}}waits:
  // GFX9:     s_sleep
  // GFX9-NOT: buffer_inv
  // GFX9:     s_barrier
  // GFX9:     s_sleep
  // GFX9:     buffer_inv sc0 sc1
  // GFX9-NOT: buffer_inv
  // CHECK-NOT: s_trap
  // CHECK:    .end_amdhsa_kernel
  gpu.func @waits(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %v: i32,
                  %i: index, %j: index) kernel {
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %t = iris.wait %ctx, %f[%j] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
