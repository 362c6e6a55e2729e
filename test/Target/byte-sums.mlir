// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUs have no addition of bytes. Vectors of them are added by words, so that a
// reduction needs no register for each byte.

// RUN: iris-compile %s --target=gfx942 --emit=asm | FileCheck %s --check-prefix=AMDGPU
// RUN: iris-compile %s --target=gfx1201 --emit=asm | FileCheck %s --check-prefix=AMDGPU
// RUN: iris-compile %s --target=sm_90a --emit=asm | FileCheck %s --check-prefix=NVPTX

// AMDGPU-LABEL: {{^}}sum:
// AMDGPU-COUNT-4: v_add_{{.*}}u32
// AMDGPU-NOT: v_add_{{.*}}u16
// AMDGPU: store_{{dwordx4|b128}}

// NVPTX-LABEL: .entry sum(
// NVPTX: ld.global.v4.b32
// NVPTX: ld.global.v4.b32
// NVPTX-COUNT-4: add.s32
// NVPTX-NOT: add.s16
// NVPTX: st.global.v4.b32
gpu.module @kernels {
  gpu.func @sum(%a: memref<4096xi8>, %b: memref<4096xi8>) kernel {
    %start = arith.constant 0 : index
    %x = tile.load %a[%start] : memref<4096xi8> -> tensor<4096xi8>
    %y = tile.load %b[%start] : memref<4096xi8> -> tensor<4096xi8>
    %sum = arith.addi %x, %y : tensor<4096xi8>
    tile.store %sum, %b[%start] : tensor<4096xi8>, memref<4096xi8>
    gpu.return
  }
}
