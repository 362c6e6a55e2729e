// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))'

gpu.module @kernels {
  gpu.func @fnuz(%a: memref<?x?xi8>, %k: index) kernel {
    // expected-error @+1 {{multiplies 'f8E4M3FNUZ'; expected f8E4M3FN or f8E5M2 on this target}}
    %c = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) as(f8E4M3FNUZ, f8E5M2) : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @registers(%a: memref<?x?xf16>, %k: index) kernel attributes {iris.num_warps = 8 : i32} {
    // expected-error @+1 {{result is 'tensor<256x256xf32>', 256 values in each of 8 warps' threads; expected at most 128 on this target}}
    %c = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<256x256xf32>
    gpu.return
  }
}
