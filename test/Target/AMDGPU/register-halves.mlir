// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that are loaded in pairs, some of them only if they are in the buffer.
// With halves of registers as operands ("true16"), LLVM 22.1.8 makes such a
// pair a v_mov_b32 of no register: the assembly printer crashes, and an object
// file reads any register.

// RUN: iris-compile %s --target=gfx1100 --emit=asm | FileCheck %s
// RUN: iris-compile %s --target=gfx1201 --emit=asm | FileCheck %s

#pairs = #tile.blocked<size_per_thread = [2, 2], threads_per_warp = [16, 2], warps_per_cta = [1, 2], order = [1, 0]>

// CHECK-LABEL: {{^}}pairs:
// CHECK-NOT: v{{[0-9]+}}.{{[lh]}}
// CHECK: global_load_u16
// CHECK-NOT: v{{[0-9]+}}.{{[lh]}}
// CHECK: s_endpgm
gpu.module @kernels {
  gpu.func @pairs(%a: memref<64x16xi8>, %b: memref<32xi32>, %row: index, %column: index)
      kernel attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %t = tile.load %a[%row, %column] : memref<64x16xi8> -> tensor<32x16xi8, #pairs>
    %w = arith.extsi %t : tensor<32x16xi8, #pairs> to tensor<32x16xi32, #pairs>
    %sums = tile.reduce sum %w dim 1 : tensor<32x16xi32, #pairs> -> tensor<32xi32>
    tile.store %sums, %b[%c0] : tensor<32xi32>, memref<32xi32>
    gpu.return
  }
}
