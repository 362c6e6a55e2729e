// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --convert-tile-to-threads

#l = #tile.blocked<size_per_thread = [8], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @no_layout(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{has no layout; expected tile-assign-layouts to run before}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<2048xf16>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [8], threads_per_warp = [32], warps_per_cta = [4], order = [0]>

func.func @wave_size(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{holds 32 threads; expected 64, the target's wave size}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<2048xf16, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @constant() {
  // expected-error @+1 {{constant tile has differing elements; expected a splat}}
  %v = arith.constant dense<[1, 2]> : tensor<2xi32, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @unsupported(%i: index) {
  %v = arith.constant dense<1> : tensor<2xi32, #l>
  // expected-error @+1 {{'tensor.extract' op on tiles is not supported in GPU kernels}}
  %e = tensor.extract %v[%i] : tensor<2xi32, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @no_context() {
  %v = arith.constant dense<1> : tensor<2xi32, #l>
  // expected-error @+1 {{is in a function without an argument of type !iris.ctx}}
  iris.expect_eq %v, %v, "x" : tensor<2xi32, #l>
  return
}

// -----

#l = #tile.linear<register = [[0, 1]], lane = [[1, 1], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>

// A reduction needs lanes that vary along one dimension only.
func.func @mixed() {
  %v = arith.constant dense<1> : tensor<2x2xi32, #l>
  // expected-error @+2 {{layout of the source has a basis that changes dimension 1 and another one; expected separate bases}}
  // expected-error @+1 {{failed to legalize operation 'tile.reduce'}}
  %r = tile.reduce sum %v dim 1 : tensor<2x2xi32, #l> -> tensor<2xi32, #tile.slice<dim = 1, parent = #l>>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @not_strided(%b: memref<256xf32, affine_map<(i) -> (i floordiv 2, i mod 2)>>, %i: index) {
  // expected-error @+1 {{has no strides; expected an identity or strided layout}}
  %v = tile.load %b[%i] : memref<256xf32, affine_map<(i) -> (i floordiv 2, i mod 2)>> -> tensor<256xf32, #l>
  return
}

// -----

#row = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>
#col = #tile.blocked<size_per_thread = [4, 1], threads_per_warp = [64, 1], warps_per_cta = [1, 4], order = [0, 1]>

func.func @scratch(%s: f32) {
  %v = tensor.splat %s : tensor<256x256xf32, #row>
  // expected-error @+1 {{needs 262144 bytes of workgroup memory to exchange elements; expected at most 65536}}
  %w = tile.convert_layout %v : tensor<256x256xf32, #row> -> tensor<256x256xf32, #col>
  return
}
