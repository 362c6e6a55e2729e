// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s

// Neighbouring lanes gather and scatter neighbours, 4 bytes apart: of the four
// elements of a thread, each is as many further on as a program has threads.
gpu.module @kernels {
  // CHECK-LABEL: copy:
  // CHECK-DAG: v_or_b32_e32 v[[T1:[0-9]+]], 0x100, v0
  // CHECK-DAG: v_or_b32_e32 v[[T2:[0-9]+]], 0x200, v0
  // CHECK-DAG: v_or_b32_e32 v[[T3:[0-9]+]], 0x300, v0
  // CHECK: v_lshlrev_b32_e32 v[[A0:[0-9]+]], 2, v0
  // CHECK: global_load_dword v{{[0-9]+}}, v[[A0]], s
  // CHECK: v_lshlrev_b32_e32 v[[A1:[0-9]+]], 2, v[[T1]]
  // CHECK: global_load_dword v{{[0-9]+}}, v[[A1]], s
  // CHECK: v_lshlrev_b32_e32 v[[A2:[0-9]+]], 2, v[[T2]]
  // CHECK: global_load_dword v{{[0-9]+}}, v[[A2]], s
  // CHECK: v_lshlrev_b32_e32 v[[A3:[0-9]+]], 2, v[[T3]]
  // CHECK: global_load_dword v{{[0-9]+}}, v[[A3]], s
  // CHECK: global_store_dword v[[A0]], v
  // CHECK: global_store_dword v[[A1]], v
  // CHECK: global_store_dword v[[A2]], v
  // CHECK: global_store_dword v[[A3]], v
  // CHECK: s_endpgm
  gpu.func @copy(%ctx: !iris.ctx, %a: memref<?xf32, #iris.symmetric>,
                 %b: memref<?xf32, #iris.symmetric>, %n: index) kernel {
    %i = tile.range dim 0 : tensor<1024xindex>
    %limit = tensor.splat %n : tensor<1024xindex>
    %m = arith.cmpi slt, %i, %limit : tensor<1024xindex>
    %v = tile.gather %a[%i] mask %m : memref<?xf32, #iris.symmetric>,
        tensor<1024xindex> -> tensor<1024xf32>
    tile.scatter %v, %b[%i] mask %m : tensor<1024xf32>,
        memref<?xf32, #iris.symmetric>, tensor<1024xindex>
    gpu.return
  }
}
