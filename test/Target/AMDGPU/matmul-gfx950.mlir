// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx950 --emit=asm -o %t
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t matmul_256x256x64 | FileCheck %s --check-prefix=LARGE
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t matmul_128x128x64 | FileCheck %s --check-prefix=SMALL
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t matmul_along_n | FileCheck %s --check-prefix=ALONG-N
// RUN: FileCheck %s --check-prefix=EXCHANGE < %t

// Loads go directly to LDS, 16 bytes per lane, and one barrier per block is
// enough. Nothing waits for the next block before the last MFMA.
// LARGE: 64 matrix instructions: v_mfma_f32_16x16x32_f16
// LARGE: {{^[0-7][0-9]}} others
// LARGE: kinds: barrier 1,
// LARGE: accesses: buffer_load_dwordx4 8, ds_read_b128 24{{$}}
// LARGE: overlap: 64 matrix
// LARGE: kernel: vgprs {{[0-9]+}}, sgprs {{[0-9]+}}, scratch 0, lds 131072, occupancy 2

// Two blocks in each iteration of the loop.
// SMALL: 64 matrix instructions: v_mfma_f32_16x16x32_f16
// SMALL: {{^1[0-2][0-9]}} others
// SMALL: kinds: barrier 2,
// SMALL: accesses: buffer_load_dwordx4 16, ds_read_b128 32{{$}}
// SMALL: overlap: 32 matrix
// SMALL: kernel: vgprs {{1[0-9][0-9]}}, sgprs {{[0-9]+}}, scratch 0, lds 65536, occupancy

// b is transposed on its way to LDS; two lanes that hold 16-byte halves of two
// columns exchange them.
// ALONG-N: 64 matrix instructions: v_mfma_f32_16x16x32_f16
// ALONG-N: {{^10[0-4]}} others
// ALONG-N: kinds: barrier 1,
// ALONG-N: accesses: buffer_load_dwordx4 8, ds_read_b128 24, ds_write_b128 8{{$}}
// ALONG-N: overlap: 64 matrix
// ALONG-N: kernel: vgprs {{[0-9]+}}, sgprs {{[0-9]+}}, scratch 0, lds 131072, occupancy 2
// EXCHANGE-LABEL: matmul_along_n:
// EXCHANGE: v_permlane32_swap_b32
// EXCHANGE: ds_write_b128

gpu.module @kernels {
  gpu.func @matmul_256x256x64(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>,
      %c: memref<?x?xf16>, %i: index, %j: index, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %z = arith.constant 0 : index
    %sum = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<256x256xf32>
    %r = arith.truncf %sum : tensor<256x256xf32> to tensor<256x256xf16>
    tile.store %r, %c[%i, %j] : tensor<256x256xf16>, memref<?x?xf16>
    gpu.return
  }
  gpu.func @matmul_along_n(%a: memref<?x?xf16>, %b: memref<?x?xf16>,
      %c: memref<?x?xf16>, %i: index, %j: index, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %z = arith.constant 0 : index
    %sum = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<256x256xf32>
    %r = arith.truncf %sum : tensor<256x256xf32> to tensor<256x256xf16>
    tile.store %r, %c[%i, %j] : tensor<256x256xf16>, memref<?x?xf16>
    gpu.return
  }
  gpu.func @matmul_128x128x64(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>,
      %c: memref<?x?xf16>, %i: index, %j: index, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %z = arith.constant 0 : index
    %sum = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<128x128xf32>
    %r = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
    tile.store %r, %c[%i, %j] : tensor<128x128xf16>, memref<?x?xf16>
    gpu.return
  }
}
