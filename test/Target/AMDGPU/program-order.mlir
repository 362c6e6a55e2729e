// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: iris-compile %s --target=gfx1100 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12

// A barrier that was inserted for accesses to global memory orders global
// memory. On gfx942 the waves of a program share one L1, which preserves the
// order; on gfx11 and gfx12 each wave waits for its stores before the barrier,
// and invalidates its L0 after it. The barriers of a relaxed wait and of an
// atomic's result do neither.

gpu.module @kernels {
  // A release precedes its own access, which the other waves see after a
  // barrier.
  // CHECK-LABEL: {{^}}signal:
  // GFX9:        buffer_wbl2 sc0 sc1
  // GFX9:        global_store_dword {{.*}} sc0 sc1
  // GFX9:        s_barrier
  // GFX9:        global_load_dword
  // GFX11:       s_barrier
  // GFX11:       global_store_b32
  // GFX11:       s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT:  s_barrier
  // GFX11-NEXT:  buffer_gl0_inv
  // GFX11:       global_load_b32
  // GFX12:       global_store_b32 {{.*}} scope:SCOPE_SYS
  // GFX12:       s_wait_storecnt 0x0
  // GFX12:       s_barrier_signal -1
  // GFX12:       s_barrier_wait -1
  // GFX12-NEXT:  global_inv scope:SCOPE_SE
  // GFX12:       global_load_b32
  // CHECK:       .Lfunc_end
  gpu.func @signal(%ctx: !iris.ctx, %f: memref<64xi32>, %o: memref<256xi32>, %e: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    iris.signal set %ctx, %e, %f[%c0] : i32, memref<64xi32>
    %v = memref.load %f[%c0] : memref<64xi32>
    %t = tensor.splat %v : tensor<256xi32>
    tile.store %t, %o[%c0] : tensor<256xi32>, memref<256xi32>
    gpu.return
  }

  // An acquire follows the program's own stores.
  // CHECK-LABEL: {{^}}acquire:
  // GFX9:        global_store_dword
  // GFX9:        s_barrier
  // GFX9:        global_atomic_add {{.*}} sc1
  // GFX9:        buffer_inv sc0 sc1
  // GFX9:        s_barrier
  // GFX11:       global_store_b{{32|64}}
  // GFX11:       s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT:  s_barrier
  // GFX11-NEXT:  buffer_gl0_inv
  // GFX11:       global_atomic_add_u32
  // GFX11:       s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT:  buffer_gl1_inv
  // GFX12:       global_store_b{{32|64}}
  // GFX12:       s_wait_storecnt 0x0
  // GFX12:       s_barrier_signal -1
  // GFX12:       s_barrier_wait -1
  // GFX12-NEXT:  global_inv scope:SCOPE_SE
  // GFX12:       global_atomic_add_u32 {{.*}} scope:SCOPE_SYS
  // GFX12:       global_inv scope:SCOPE_SYS
  // CHECK:       .Lfunc_end
  gpu.func @acquire(%ctx: !iris.ctx, %b: memref<256xi32>, %w: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c200 = arith.constant 200 : index
    %v = tensor.splat %w : tensor<256xi32>
    tile.store %v, %b[%c0] : tensor<256xi32>, memref<256xi32>
    iris.atomic_rmw add %ctx, %w, %b[%c200] sem(acquire) : i32, memref<256xi32>
    gpu.return
  }

  // The barrier that ends a relaxed wait orders only the wait status, which is
  // read after it; the next barrier orders the store and the load.
  // CHECK-LABEL: {{^}}relaxed_wait:
  // GFX9:        s_barrier
  // GFX9-NOT:    buffer_inv
  // GFX9:        ds_read_b32
  // GFX9:        s_barrier
  // GFX9:        global_load_dword
  // GFX11:       s_barrier
  // GFX11-NOT:   buffer_gl0_inv
  // GFX11:       ds_load_b32
  // GFX11:       s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT:  s_barrier
  // GFX11-NEXT:  buffer_gl0_inv
  // GFX11:       global_load_b{{32|64}}
  // GFX12:       s_barrier_wait -1
  // GFX12-NOT:   global_inv
  // GFX12:       ds_load_b32
  // GFX12:       s_wait_storecnt 0x0
  // GFX12:       s_barrier_signal -1
  // GFX12:       s_barrier_wait -1
  // GFX12-NEXT:  global_inv scope:SCOPE_SE
  // GFX12:       global_load_b{{32|64}}
  // CHECK:       .Lfunc_end
  gpu.func @relaxed_wait(%ctx: !iris.ctx, %f: memref<64xi32>, %b: memref<256xi32>,
                         %o: memref<256xi32>, %e: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %v = tensor.splat %e : tensor<256xi32>
    tile.store %v, %b[%c0] : tensor<256xi32>, memref<256xi32>
    %seen = iris.wait %ctx, %f[%c0] ge %e sem(relaxed) : i32, memref<64xi32>
    %w = tile.load %b[%c64] : memref<256xi32> -> tensor<256xi32>
    tile.store %w, %o[%c0] : tensor<256xi32>, memref<256xi32>
    gpu.return
  }

  // The same holds for the result of a relaxed atomic.
  // CHECK-LABEL: {{^}}relaxed_atomic:
  // GFX11:       global_store_b{{32|64}}
  // GFX11:       global_atomic_add_u32
  // GFX11:       s_barrier
  // GFX11-NOT:   buffer_gl0_inv
  // GFX11:       ds_load_b32
  // GFX11:       s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT:  s_barrier
  // GFX11-NEXT:  buffer_gl0_inv
  // GFX11:       global_load_b{{32|64}}
  // GFX12:       global_atomic_add_u32
  // GFX12:       ds_load_b32
  // GFX12:       s_wait_storecnt 0x0
  // GFX12:       s_barrier_signal -1
  // GFX12:       s_barrier_wait -1
  // GFX12-NEXT:  global_inv scope:SCOPE_SE
  // GFX12:       global_load_b{{32|64}}
  // CHECK:       .Lfunc_end
  gpu.func @relaxed_atomic(%ctx: !iris.ctx, %f: memref<64xi32>, %b: memref<256xi32>,
                           %o: memref<256xi32>, %e: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %v = tensor.splat %e : tensor<256xi32>
    tile.store %v, %b[%c0] : tensor<256xi32>, memref<256xi32>
    %old = iris.atomic_rmw add %ctx, %e, %f[%c0] sem(relaxed) : i32, memref<64xi32>
    %w = tile.load %b[%c64] : memref<256xi32> -> tensor<256xi32>
    %s = tensor.splat %old : tensor<256xi32>
    %x = arith.addi %w, %s : tensor<256xi32>
    tile.store %x, %o[%c0] : tensor<256xi32>, memref<256xi32>
    gpu.return
  }

  // Windows of two rows that overlap from one iteration of the outer loop to the
  // next.
  // CHECK-LABEL: {{^}}nested:
  // CHECK:       s_barrier
  // CHECK:       .Lfunc_end
  gpu.func @nested(%b: memref<64x256xf32>, %n: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %t = %c0 to %n step %c1 {
      %v = tile.load %b[%t, %c0] : memref<64x256xf32> -> tensor<2x256xf32>
      scf.for %r = %c0 to %n step %c1 {
        tile.store %v, %b[%t, %c0] : tensor<2x256xf32>, memref<64x256xf32>
      }
    }
    gpu.return
  }
}
