// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Main loops of generated matmuls of 256x256x64: only 16-byte loads, 16-byte
// LDS accesses, and matrix instructions. This also holds for kernels with waits
// (on gfx942, where a block uses all LDS) and for kernels that store to all
// ranks: there LLVM used to put each load in a loop of its own, since it
// computed the buffer's address in vector registers. Addresses are carried from
// block to block. The steps with waits, in loops that are not innermost, use no
// scratch either: a reload would wait for the loads of the next block.
// RUN: iris-compile %s --target=gfx942 --emit=asm -o %t.gfx942
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t.gfx942 fetch | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t.gfx942 spread | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: iris-compile %s --target=gfx950 --emit=asm -o %t.gfx950
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t.gfx950 fetch | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t.gfx950 spread | FileCheck %s --check-prefixes=CHECK,GFX950

// GFX942: 128 matrix instructions: v_mfma_f32_16x16x16_f16
// GFX942-NEXT: {{^([0-8][0-9]|9[01])}} others
// GFX950: 64 matrix instructions: v_mfma_f32_16x16x32_f16
// GFX950-NEXT: {{^(10[0-4]|[0-9][0-9])}} others
// CHECK: accesses: buffer_load_dwordx4 8, ds_read_b128 24, ds_write_b128 8{{$}}
// GFX942: overlap: 128 matrix
// GFX950: overlap: 64 matrix
// CHECK: steps: {{[1-9]}}, 0 with scratch
// GFX942: lds 65536,

iris.matmul_kernel @fetch all_gather_matmul f16 -> f16 size 4
    {variant = "hbm_buffer", tile_m = 256, tile_n = 256, tile_k = 64, warps = 8,
     b = "row"}
iris.matmul_kernel @spread matmul_all_gather f16 -> f16 size 4
    {variant = "push", tile_m = 256, tile_n = 256, tile_k = 64, warps = 8,
     b = "row"}
