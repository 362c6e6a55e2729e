// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics

func.func @load_offsets(%b: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{has 1 offsets for 'memref<?x?xf16>'; expected 2}}
  %v = tile.load %b[%i] : memref<?x?xf16> -> tensor<8x8xf16>
  return
}

// -----

func.func @store_extent(%b: memref<?xf16>, %v: tensor<24xf16>, %i: index) {
  // expected-error @+1 {{tile extent 24 in dimension 0 of 'tensor<24xf16>' is not a power of two}}
  tile.store %v, %b[%i] : tensor<24xf16>, memref<?xf16>
  return
}

// -----

func.func @gather_elements(%b: memref<?xf16>, %x: tensor<8xindex>) {
  // expected-error @+1 {{element type of 'tensor<8xf32>' differs from that of 'memref<?xf16>'}}
  %v = tile.gather %b[%x] : memref<?xf16>, tensor<8xindex> -> tensor<8xf32>
  return
}

// -----

func.func @scatter_count(%b: memref<?x?xf16>, %v: tensor<8xf16>, %x: tensor<8xindex>) {
  // expected-error @+1 {{has 1 index tiles for 'memref<?x?xf16>'; expected 2}}
  tile.scatter %v, %b[%x] : tensor<8xf16>, memref<?x?xf16>, tensor<8xindex>
  return
}

// -----

func.func @range_dim() {
  // expected-error @+1 {{dim is 1; expected one of 1 dimensions}}
  %v = tile.range dim 1 : tensor<8xindex>
  return
}

// -----

func.func @expand(%v: tensor<8xf32>) {
  // expected-error @+1 {{result is 'tensor<8x2xf32>'; expected shape [8, 1] of 'f32'}}
  %w = tile.expand_dims %v dim 1 : tensor<8xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func @broadcast(%v: tensor<8x2xf32>) {
  // expected-error @+1 {{dimension 1 of 'tensor<8x2xf32>' is 2; expected 1 or 4}}
  %w = tile.broadcast %v : tensor<8x2xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_rank(%v: tensor<8xf32>) {
  // expected-error @+1 {{has a result of 2 dimensions for 'tensor<8xf32>'; expected 1 (tile.expand_dims adds one)}}
  %w = tile.broadcast %v : tensor<8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @transpose(%v: tensor<8x4xf32>) {
  // expected-error @+1 {{[0, 0] is not a permutation of the 2 dimensions}}
  %w = tile.transpose %v [0, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_shape(%v: tensor<8x4xf32>) {
  // expected-error @+1 {{result is 'tensor<8x4xf32>'; expected shape [4, 8] of 'f32'}}
  %w = tile.transpose %v [1, 0] : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @convert(%v: tensor<8xf32>) {
  // expected-error @+1 {{result is 'tensor<16xf32>'; expected the shape and element type of 'tensor<8xf32>'}}
  %w = tile.convert_layout %v : tensor<8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_float_kind(%v: tensor<8x4xf32>) {
  // expected-error @+1 {{kind and needs integers; got 'tensor<8x4xf32>'}}
  %w = tile.reduce and %v dim 0 : tensor<8x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_element(%v: tensor<8x4xf16>) {
  // expected-error @+1 {{result element type is 'f64'; expected 'f16' or f32}}
  %w = tile.reduce sum %v dim 0 : tensor<8x4xf16> -> tensor<4xf64>
  return
}

// -----

func.func @reduce_shape(%v: tensor<8x4xf16>) {
  // expected-error @+1 {{result is 'tensor<8xf16>'; expected a tile of shape [4]}}
  %w = tile.reduce sum %v dim 0 : tensor<8x4xf16> -> tensor<8xf16>
  return
}

// -----

func.func @reduce_scalar(%v: tensor<8xf16>) {
  // expected-error @+1 {{result is 'tensor<8xf16>'; expected a scalar}}
  %w = tile.reduce sum %v dim 0 : tensor<8xf16> -> tensor<8xf16>
  return
}

// -----

// expected-error @+1 {{size_per_thread has the entry 3; expected a power of two}}
#a = #tile.blocked<size_per_thread = [3], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// -----

// expected-error @+1 {{threads_per_warp has 1 entries; expected 2, as size_per_thread has}}
#a = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [64], warps_per_cta = [4, 1], order = [1, 0]>

// -----

// expected-error @+1 {{order [1, 1] is not a permutation of the 2 tile dimensions}}
#a = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 1]>

// -----

// expected-error @+1 {{dim is 2; expected one of the parent's 2 dimensions}}
#a = #tile.slice<dim = 2, parent = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>>

// -----

// expected-error @+1 {{parent is 1 : i64; expected a tile layout}}
#a = #tile.slice<dim = 0, parent = 1 : i64>

// -----

// expected-error @+1 {{basis [0] has 1 entries; expected 2}}
#a = #tile.linear<register = [[0, 1], [0]], lane = [], warp = []>

// -----

// expected-error @+1 {{basis entry -1 : i64 is not a non-negative integer}}
#a = #tile.linear<register = [[-1]], lane = [], warp = []>

// -----

func.func @layout_rank(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{has 2 dimensions; expected 1}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<8xf16, #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>>
  return
}

// -----

func.func @too_many_elements(%b: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{tile 'tensor<4611686018427387904x4xf16>' has too many elements; expected at most 1048576}}
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<4611686018427387904x4xf16>
  return
}
