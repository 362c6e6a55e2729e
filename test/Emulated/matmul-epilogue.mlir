// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: numpy
// RUN: iris-compile %s --target=sm_80 --emit=asm -o %t.ptx
// RUN: %python %S/matmul_epilogue.py %t.ptx

// Two matmuls that use the same stages one after the other, an initial value,
// and the maximum of each row of the result; matmul_epilogue.py checks them.
gpu.module @kernels {
  gpu.func @twice(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
      %most: memref<?xf32>, %i: index, %j: index, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %z = arith.constant 0 : index
    %one = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    %two = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(32) init(%one)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    %m = tile.reduce max %two dim 1 : tensor<64x64xf32> -> tensor<64xf32>
    tile.store %m, %most[%i] : tensor<64xf32>, memref<?xf32>
    tile.store %two, %c[%i, %j] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // The same of a small tile, of which each warp has a copy.
  gpu.func @copies(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
      %most: memref<?xf32>, %i: index, %j: index, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %z = arith.constant 0 : index
    %one = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
    %two = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(32) init(%one)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
    %m = tile.reduce max %two dim 1 : tensor<16x16xf32> -> tensor<16xf32>
    tile.store %m, %most[%i] : tensor<16xf32>, memref<?xf32>
    tile.store %two, %c[%i, %j] : tensor<16x16xf32>, memref<?x?xf32>
    gpu.return
  }
}
