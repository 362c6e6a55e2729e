// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_100a --emit=asm -o - | FileCheck %s

// CHECK: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
gpu.module @kernels {
  gpu.func @f8(%a: memref<?x?xi8>, %b: memref<?x?xi8, strided<[1, ?]>>, %c: memref<?x?xf32>,
      %i: index, %k: index) kernel {
    %sum = tile.matmul %a[%i, %k], %b[%k, %i] k(%k) block(64) as(f8E4M3FN, f8E5M2)
        : memref<?x?xi8>, memref<?x?xi8, strided<[1, ?]>> -> tensor<64x64xf32>
    tile.store %sum, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
