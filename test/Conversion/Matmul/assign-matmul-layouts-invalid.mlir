// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --tile-assign-matmul-layouts=target=gfx942

func.func @too_large(%a: memref<?x?xf16>, %i: index) attributes {iris.num_warps = 8 : i32} {
  // expected-error @below {{'tile.matmul' op gives 'tensor<256x512xf32>', 256 elements in each thread of 8 waves; expected at most 128 on gfx942}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<256x512xf32>
  return
}

// -----

// The f8 types of this chip are those without negative zero and infinity.
func.func @other_f8(%a: memref<?x?xi8>, %i: index) {
  // expected-error @below {{'tile.matmul' op multiplies 'f8E4M3FN' by 'f8E5M2' on gfx942; expected f16, bf16, f32, i8, f8E4M3FNUZ or f8E5M2FNUZ}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) as(f8E4M3FN, f8E5M2) : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xf32>
  return
}

// -----

func.func @mixed_f8(%a: memref<?x?xi8>, %i: index) {
  // expected-error @below {{'tile.matmul' op multiplies 'f8E4M3FN' by 'f8E5M2FNUZ' on gfx942; expected}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) as(f8E4M3FN, f8E5M2FNUZ) : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xf32>
  return
}
