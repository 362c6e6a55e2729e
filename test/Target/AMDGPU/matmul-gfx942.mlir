// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm -o %t
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t matmul_256x256x64 | FileCheck %s --check-prefix=LARGE
// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t matmul_128x128x64 | FileCheck %s --check-prefix=SMALL

// RUN: %python %iris_src_root/benchmarks/isa/main_loop.py %t matmul_along_n | FileCheck %s --check-prefix=ALONG-N

// Every access moves 16 bytes per lane. The loads of the next block come first,
// and nothing waits for them before the last MFMA of this one. Scratch is not
// used.
// LARGE: 128 matrix instructions: v_mfma_f32_16x16x16_f16
// LARGE: {{^[0-6][0-9]}} others
// LARGE: accesses: buffer_load_dwordx4 8, ds_read_b128 24, ds_write_b128 8{{$}}
// LARGE: order: salu:{{[0-9]+}} memory:4 salu:{{[0-9]+}} memory:4 lds:
// LARGE: overlap: 128 matrix
// LARGE: kernel: vgprs {{[0-9]+}}, sgprs {{[0-9]+}}, scratch 0, lds 65536, occupancy 2

// Two programs fit a compute unit.
// SMALL: 64 matrix instructions: v_mfma_f32_16x16x16_f16
// SMALL: {{^[0-6][0-9]}} others
// SMALL: accesses: buffer_load_dwordx4 8, ds_read_b128 16, ds_write_b128 8{{$}}
// SMALL: overlap: 64 matrix
// SMALL: kernel: vgprs {{1[0-9][0-9]}}, sgprs {{[0-9]+}}, scratch 0, lds 32768, occupancy

// b is transposed on its way to LDS, two columns at a time, whose 16-byte
// halves are adjacent. Nothing is spilled, not even around the loop.
// ALONG-N: 128 matrix instructions: v_mfma_f32_16x16x16_f16
// ALONG-N: {{^[0-9][0-9]}} others
// ALONG-N: accesses: buffer_load_dwordx4 8, ds_read_b128 24, ds_write_b128 8{{$}}
// ALONG-N: overlap: 128 matrix
// ALONG-N: kernel: vgprs {{[0-9]+}}, sgprs {{[0-9]+}}, scratch 0, lds 65536, occupancy 2

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
