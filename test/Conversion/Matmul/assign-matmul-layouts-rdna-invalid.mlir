// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-diagnostics --tile-assign-matmul-layouts=target=gfx1100

func.func @f32(%a: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tile.matmul' op multiplies 'f32' by 'f32' on gfx1100; expected f16, bf16, i8}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf32>, memref<?x?xf32> -> tensor<64x64xf32>
  return
}
