// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics

func.func @dimensions(%a: memref<?xf16>, %b: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{a is 'memref<?xf16>' with 1 dimensions; expected 2}}
  %c = tile.matmul %a[%i], %b[%i, %i] k(%i) block(64) : memref<?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @offsets(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{b has 1 offsets; expected 2}}
  %c = tile.matmul %a[%i, %i], %a[%i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @elements(%a: memref<?x?xf16>, %b: memref<?x?xbf16>, %i: index) {
  // expected-error @+1 {{multiplies 'f16' by 'bf16'; expected f16, bf16, f32 or i8 for both, or f8 types}}
  %c = tile.matmul %a[%i, %i], %b[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xbf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @result_element(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{result is 'tensor<16x16xf16>'; expected a tile of two dimensions of 'f32'}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf16>
  return
}

// -----

func.func @result_shape(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{24}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x24xf32>
  return
}

// -----

func.func @block(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{has k-blocks of 48 for 'f16'; expected a power of two from 16 to 4096}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(48) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @bytes_of_block(%a: memref<?x?xi8>, %i: index) {
  // expected-error @+1 {{has k-blocks of 16 for 'i8'; expected a power of two from 32 to 4096}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(16) : memref<?x?xi8>, memref<?x?xi8> -> tensor<16x16xi32>
  return
}

// -----

func.func @rows(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{gives 'tensor<8x64xf32>'; expected at least 16 rows and columns}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<8x64xf32>
  return
}

// -----

func.func @columns(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{gives 'tensor<64x8xf32>'; expected at least 16 rows and columns}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x8xf32>
  return
}

// -----

func.func @precision(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{has precision(tf32) for 'f16'; expected f32}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) precision(tf32) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @element_name(%a: memref<?x?xi8>, %i: index) {
  // expected-error @+1 {{`as` names 'f16'; expected an f8 type}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) as(f16, f16) : memref<?x?xi8>, memref<?x?xi8> -> tensor<16x16xf32>
  return
}

// -----

func.func @named_buffer(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{`as` names 'f8E5M2' for 'memref<?x?xf16>'; expected a buffer of i8}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) as(f8E5M2, f8E5M2) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @region_argument(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{region has arguments ('i32'); expected the number of the k-block, index}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) {
  ^bb0(%kb: i32):
    tile.yield
  } : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @stand_in(%a: memref<?x?xf16>, %p: memref<?x?xf16, strided<[1, ?]>>, %i: index) {
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) {
  ^bb0(%kb: index):
    // expected-error @+1 {{reads a from 'memref<?x?xf16, strided<[1, ?]>>'; expected the element type and strides of 'memref<?x?xf16>'}}
    tile.yield %p[%i, %i] : memref<?x?xf16, strided<[1, ?]>>
  } : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @tile_in_region(%a: memref<?x?xf16>, %i: index) {
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) {
  ^bb0(%kb: index):
    // expected-error @+1 {{uses tiles in the region of 'tile.matmul'; expected scalars}}
    %v = tile.load %a[%i, %i] : memref<?x?xf16> -> tensor<16x16xf16>
    tile.yield
  } : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @columns(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{wants 17 columns of 'tensor<16x16xf32>'; expected 1 to 16}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) columns(17) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @no_columns(%a: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{wants 0 columns of 'tensor<16x16xf32>'; expected 1 to 16}}
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) columns(0) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x16xf32>
  return
}
