// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --allow-nonportable --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9,GFX940
// RUN: iris-compile %s --allow-nonportable --target=gfx950 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9,GFX940
// RUN: iris-compile %s --allow-nonportable --target=gfx90a --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9,GFX90A
// RUN: iris-compile %s --allow-nonportable --target=gfx1100 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: iris-compile %s --allow-nonportable --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12

// The sequences of the memory model. An emulator that executes instructions in
// order does not notice a missing wait: only these checks do.

gpu.module @kernels {
  // Every wave waits for its own stores, then a workgroup barrier; one thread
  // writes back, waits for the write-back, and publishes.
  // CHECK-LABEL: {{^}}release:
  // GFX9:       global_store_dword
  // GFX9:       s_waitcnt vmcnt(0)
  // GFX9-NEXT:  s_barrier
  // GFX940:     buffer_wbl2 sc0 sc1
  // GFX90A:     buffer_wbl2
  // GFX9:       s_waitcnt vmcnt(0)
  // GFX9-NOT:   buffer_
  // GFX940:     global_store_dword {{.*}} sc0 sc1
  // GFX90A:     global_store_dword
  // GFX11:      global_store_b32
  // GFX11:      s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT: s_barrier
  // GFX11:      global_store_b32
  // GFX12:      global_store_b32
  // GFX12:      s_wait_storecnt{{(_dscnt)?}} 0x0
  // GFX12:      s_barrier_signal -1
  // GFX12-NEXT: s_barrier_wait -1
  // GFX12:      global_wb scope:SCOPE_SYS
  // GFX12:      s_wait_storecnt{{(_dscnt)?}} 0x0
  // GFX12:      global_store_b32 {{.*}} scope:SCOPE_SYS
  // CHECK:      s_endpgm
  gpu.func @release(%ctx: !iris.ctx, %d: memref<?xi32>,
                    %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // The second of two signals in a row has no fence of its own.
  // CHECK-LABEL: {{^}}release_twice:
  // GFX9:     s_barrier
  // GFX9:     buffer_wbl2
  // GFX9:     global_store_dword
  // GFX9-NOT: s_barrier
  // GFX9-NOT: buffer_wbl2
  // GFX9:     global_store_dword
  // GFX12:     global_wb
  // GFX12:     global_store_b32
  // GFX12-NOT: global_wb
  // GFX12:     global_store_b32
  // CHECK:     s_endpgm
  gpu.func @release_twice(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                          %v: i32, %i: index, %j: index) kernel {
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %f[%j] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // A release at device scope needs no write-back to system memory.
  // CHECK-LABEL: {{^}}release_gpu:
  // GFX9:   s_waitcnt vmcnt(0)
  // GFX9:   s_barrier
  // GFX940: buffer_wbl2 sc1
  // GFX9:   s_waitcnt vmcnt(0)
  // GFX940: global_store_dword {{.*}} sc1
  // CHECK:  s_endpgm
  gpu.func @release_gpu(%ctx: !iris.ctx, %d: memref<?xi32>,
                        %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    iris.signal set %ctx, %v, %f[%i] scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // One thread loads the flag inside the loop, with the scope; then come the
  // invalidation, the barrier that releases the other threads, and the data.
  // CHECK-LABEL: {{^}}acquire:
  // GFX940:     [[LOOP:.LBB[0-9]+_[0-9]+]]:
  // GFX940:     s_sleep
  // GFX940:     global_load_dword {{.*}} sc0 sc1
  // GFX940:     buffer_inv sc0 sc1
  // GFX90A:     global_load_dword {{.*}} glc
  // GFX90A:     buffer_invl2
  // GFX90A:     buffer_wbinvl1_vol
  // GFX9:       s_barrier
  // GFX9:       global_load_dword
  // GFX11:      global_load_b32 {{.*}} glc
  // GFX11:      buffer_gl1_inv
  // GFX11:      buffer_gl0_inv
  // GFX11:      s_barrier
  // GFX11:      buffer_gl0_inv
  // GFX11:      global_load_b32
  // GFX12:      global_load_b32 {{.*}} scope:SCOPE_SYS
  // GFX12:      global_inv scope:SCOPE_SYS
  // GFX12:      s_barrier_wait -1
  // GFX12:      global_inv scope:SCOPE_SE
  // GFX12:      global_load_b32
  // CHECK-NOT:  s_trap
  // CHECK:      .end_amdhsa_kernel
  gpu.func @acquire(%ctx: !iris.ctx, %d: memref<?xi32>,
                    %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %t = gpu.thread_id x
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %x = memref.load %d[%t] : memref<?xi32>
    %y = arith.addi %x, %v : i32
    memref.store %y, %d[%t] : memref<?xi32>
    gpu.return
  }

  // Program-wide fence: release and acquire, by one thread, between two
  // barriers.
  // CHECK-LABEL: {{^}}fence:
  // GFX9:   s_waitcnt vmcnt(0)
  // GFX9:   s_barrier
  // GFX940: buffer_wbl2 sc0 sc1
  // GFX9:   s_waitcnt vmcnt(0)
  // GFX940: buffer_inv sc0 sc1
  // GFX9:   s_barrier
  // CHECK:  s_endpgm
  gpu.func @fence(%ctx: !iris.ctx, %d: memref<?xi32>, %v: i32) kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    iris.fence acq_rel scope(sys)
    memref.store %v, %d[%t] : memref<?xi32>
    gpu.return
  }
}
