// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --tile-lower-matmul=target=gfx942

func.func @no_layout(%a: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.matmul' op gives 'tensor<64x64xf32>'; expected the target's layout, from tile-assign-matmul-layouts and tile-assign-layouts}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
  return
}

// -----

#l = #tile.linear<register = [[0, 1], [0, 2], [0, 4], [0, 32], [0, 64], [16, 0], [32, 0], [64, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], warp = []>
func.func @too_much_memory(%a: memref<?x?xf16>, %i: index) attributes {iris.num_warps = 1 : i32} {
  // expected-error @below {{'tile.matmul' op needs 131072 bytes of workgroup memory for a k-block of 128 rows and 128 columns; expected at most 65536}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(256) attributes {tile.result_layout = #l}
      : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32, #l>
  return
}
