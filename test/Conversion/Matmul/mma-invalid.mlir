// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_80},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_80 warp-size=32}))'

gpu.module @kernels {
  gpu.func @float8(%a: memref<?x?xi8>, %k: index) kernel {
    // expected-error @+1 {{multiplies 'f8E4M3FN' by 'f8E5M2' on sm_80; expected f16, bf16, f32, i8}}
    %c = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) as(f8E4M3FN, f8E5M2) : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @registers(%a: memref<?x?xf16>, %k: index) kernel attributes {iris.num_warps = 4 : i32} {
    // expected-error @+1 {{gives 'tensor<256x256xf32>', 512 elements in each thread of 4 warps; expected at most 128 on sm_80}}
    %c = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<256x256xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @memory(%a: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 8 : i32} {
    // expected-error @+1 {{needs 196608 bytes of shared memory for a k-block of 128 rows and 256 columns; expected at most 166656}}
    %c = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(128) : memref<?x?xf32>, memref<?x?xf32> -> tensor<128x256xf32>
    gpu.return
  }
}
