// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packets: an access of 16 bytes per 8 bytes of data, with the cache bits of a
// relaxed atomic of system scope; stores do not wait for each other, there are
// no fences, and the loads are in the loop, all of them before the wait for the
// first.
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX94,GFX9
// RUN: iris-compile %s --target=gfx950 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX94,GFX9
// RUN: iris-compile %s --target=gfx90a --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX90A,GFX9
// RUN: iris-compile %s --target=gfx1100 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12
// RUN: iris-compile %s --target=gfx1250 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12

gpu.module @kernels {
  // The base is in scalar registers: no loop over its values. On gfx12, LLVM
  // waits before every store of system scope.
  // CHECK-LABEL: {{^}}store:
  // CHECK-NOT: readfirstlane
  // GFX94: buffer_store_dwordx4 v[{{.*}}], v{{[0-9]+}}, s[{{.*}}], 0 offen{{.*}} sc0 sc1
  // GFX94-NOT: s_waitcnt
  // GFX94: buffer_store_dwordx4 v[{{.*}}], v{{[0-9]+}}, s[{{.*}}], 0 offen{{.*}} sc0 sc1
  // GFX90A: buffer_store_dwordx4 v[{{.*}}], v{{[0-9]+}}, s[{{.*}}], 0 offen{{$}}
  // GFX90A-NOT: s_waitcnt
  // GFX90A: buffer_store_dwordx4 v[{{.*}}], v{{[0-9]+}}, s[{{.*}}], 0 offen{{( offset:[0-9]+)?$}}
  // GFX11: buffer_store_b128 {{.*}} offen{{$}}
  // GFX11-NOT: wait
  // GFX11-COUNT-3: buffer_store_b128 {{.*}} offen{{( offset:[0-9]+)?$}}
  // GFX12-COUNT-4: buffer_store_b128 {{.*}} scope:SCOPE_SYS
  // CHECK-NOT: {{_store_|buffer_wb|buffer_inv|global_wb|s_wait|s_barrier}}
  // CHECK: s_endpgm
  gpu.func @store(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>,
                  %x: bf16, %r: index, %i: index, %e: i32) kernel {
    %t = tensor.splat %x : tensor<2048xbf16>
    iris.packet_store %ctx, %t, %buf[%i] to %r flag(%e)
        : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // After the wait the data are stored and nothing is published: no barrier, no
  // LDS.
  // CHECK-LABEL: {{^}}load:
  // CHECK-NOT: {{_store_|s_barrier|ds_}}
  // GFX94: buffer_load_dwordx4 {{.*}} offen{{.*}} sc0 sc1
  // GFX90A: buffer_load_dwordx4 {{.*}} offen{{.*}} glc{{$}}
  // GFX9-NOT: wait
  // GFX94: buffer_load_dwordx4 {{.*}} offen{{.*}} sc0 sc1
  // GFX90A: buffer_load_dwordx4 {{.*}} offen{{.*}} glc{{$}}
  // GFX9: s_waitcnt vmcnt(1)
  // GFX11-COUNT-4: buffer_load_b128 {{.*}} offen{{.*}} glc{{$}}
  // GFX11: s_waitcnt vmcnt(3)
  // GFX12-COUNT-4: buffer_load_b128 {{.*}} scope:SCOPE_SYS
  // GFX12: s_wait_loadcnt 0x3
  // CHECK-NOT: s_trap
  // CHECK: .amdhsa_group_segment_fixed_size 0
  // CHECK: .amdhsa_private_segment_fixed_size 0
  gpu.func @load(%ctx: !iris.ctx, %out: memref<?xbf16>, %buf: memref<?xi32, #iris.symmetric>,
                 %r: index, %i: index, %e: i32) kernel {
    %t = iris.packet_load %ctx, %buf[%i] flag(%e) owed_by(%r)
        : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    tile.store %t, %out[%i] : tensor<2048xbf16>, memref<?xbf16>
    gpu.return
  }

  // The loop: every poll is followed by a pause and another poll.
  // CHECK-LABEL: {{^}}loop:
  // GFX9: [[LOOP:.LBB[0-9_]+]]: {{.*}}Loop Header
  // GFX9: s_sleep
  // GFX94: buffer_load_dwordx4 {{.*}} sc0 sc1
  // GFX90A: buffer_load_dwordx4 {{.*}} glc
  // CHECK: s_endpgm
  gpu.func @loop(%ctx: !iris.ctx, %out: memref<512xi32>, %buf: memref<?xi32, #iris.symmetric>,
                 %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = iris.packet_load %ctx, %buf[%i] flag(%e)
        : memref<?xi32, #iris.symmetric> -> tensor<512xi32>
    tile.store %t, %out[%c0] : tensor<512xi32>, memref<512xi32>
    gpu.return
  }

  // Publishing after a wait follows the check of the wait status; there is no
  // fence.
  // CHECK-LABEL: {{^}}forward:
  // CHECK: s_barrier
  // GFX9: buffer_load_dwordx4
  // GFX9: s_barrier
  // GFX9: ds_read_b32
  // GFX9: s_cbranch
  // GFX9-NOT: {{buffer_inv|buffer_wbinv}}
  // GFX9: buffer_store_dwordx4
  // GFX9-NOT: s_waitcnt
  // GFX9: buffer_store_dwordx4
  // CHECK: s_endpgm
  gpu.func @forward(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>, %r: index,
                    %i: index, %e: i32) kernel {
    %t = iris.packet_load %ctx, %buf[%i] flag(%e)
        : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    iris.packet_store %ctx, %t, %buf[%i] to %r flag(%e)
        : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
