// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --tile-assign-layouts

#wave32 = #tile.blocked<size_per_thread = [8], threads_per_warp = [32], warps_per_cta = [4], order = [0]>

func.func @wave_size(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{holds 32 threads; expected 64, the target's wave size}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<2048xf16, #wave32>
  return
}

// -----

#warps8 = #tile.blocked<size_per_thread = [8], threads_per_warp = [64], warps_per_cta = [8], order = [0]>

func.func @num_warps(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{holds 8 waves; expected 4, the kernel's iris.num_warps}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<2048xf16, #warps8>
  return
}

// -----

#wave32 = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [1, 32], warps_per_cta = [4, 1], order = [1, 0]>

// The parent of a slice must fit.
func.func @slice(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{holds 32 threads; expected 64}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<2048xf16, #tile.slice<dim = 0, parent = #wave32>>
  return
}

// -----

#linear = #tile.linear<register = [[1]], lane = [[2], [4]], warp = [[8], [16]]>

func.func @linear(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{has 2 lane bases; expected 6 for the target's wave size of 64}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<32xf16, #linear>
  return
}

// -----

func.func @foreign(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{is not a tile layout; expected #tile.blocked, #tile.slice or #tile.linear}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<32xf16, "mine">
  return
}

// -----

#thread = #tile.blocked<size_per_thread = [4096], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @pinned_elements_per_thread(%b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{gives every thread 2^12 elements; expected at most 512: use smaller tiles or more waves}}
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<1048576xf16, #thread>
  return
}

// -----

gpu.module @kernels {
  // expected-error @below {{parameter 1 is a tile of type 'tensor<64xi32>'; expected a scalar, a memref or !iris.ctx}}
  gpu.func @parameter(%i: index, %v: tensor<64xi32>, %b: memref<?xi32>) kernel {
    tile.store %v, %b[%i] : tensor<64xi32>, memref<?xi32>
    gpu.return
  }
}
