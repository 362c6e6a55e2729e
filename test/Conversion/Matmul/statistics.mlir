// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statistics of a matmul, which are narrow tiles in the layout of the result,
// are stored on every target.
// RUN: iris-compile %s --target=sm_90a --until=tiles -o /dev/null
// RUN: iris-compile %s --target=gfx942 --until=tiles -o /dev/null
// RUN: iris-compile %s --target=gfx950 --until=tiles -o /dev/null
// RUN: iris-compile %s --target=gfx1100 --until=tiles -o /dev/null
// RUN: iris-compile %s --target=host --until=tiles -o /dev/null

gpu.module @kernels {
  gpu.func @rows(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    %r = tile.reduce sum %c dim 1 : tensor<64x64xf32> -> tensor<64xf32>
    %e = tile.expand_dims %r dim 1 : tensor<64xf32> -> tensor<64x1xf32>
    tile.store %e, %o[%c0, %c0] : tensor<64x1xf32>, memref<?x?xf32>
    %s = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x64xf32>
    %d = arith.subf %c, %s : tensor<64x64xf32>
    tile.store %d, %o[%k, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
  gpu.func @columns(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    %r = tile.reduce max %c dim 0 : tensor<64x64xf32> -> tensor<64xf32>
    %e = tile.expand_dims %r dim 0 : tensor<64xf32> -> tensor<1x64xf32>
    tile.store %e, %o[%c0, %c0] : tensor<1x64xf32>, memref<?x?xf32>
    %s = tile.broadcast %e : tensor<1x64xf32> -> tensor<64x64xf32>
    %d = arith.subf %c, %s : tensor<64x64xf32>
    tile.store %d, %o[%k, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
  gpu.func @wide(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %c = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    %r = tile.reduce min %c dim 1 : tensor<128x128xf32> -> tensor<128xf32>
    %e = tile.expand_dims %r dim 1 : tensor<128xf32> -> tensor<128x1xf32>
    tile.store %e, %o[%c0, %c0] : tensor<128x1xf32>, memref<?x?xf32>
    %s = tile.broadcast %e : tensor<128x1xf32> -> tensor<128x128xf32>
    %d = arith.subf %c, %s : tensor<128x128xf32>
    tile.store %d, %o[%k, %c0] : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }
  gpu.func @few(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x64xf32>
    %r = tile.reduce sum %c dim 1 : tensor<16x64xf32> -> tensor<16xf32>
    %e = tile.expand_dims %r dim 1 : tensor<16xf32> -> tensor<16x1xf32>
    tile.store %e, %o[%c0, %c0] : tensor<16x1xf32>, memref<?x?xf32>
    %s = tile.broadcast %e : tensor<16x1xf32> -> tensor<16x64xf32>
    %d = arith.subf %c, %s : tensor<16x64xf32>
    tile.store %d, %o[%k, %c0] : tensor<16x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
