// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-diagnostics --test-print-tile-layouts
// RUN: iris-opt %s --test-print-tile-layouts -o /dev/null 2>&1 | FileCheck %s

#rows = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
#small = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @layouts(%b: memref<?x?xf16>, %c: memref<?xf32>, %i: index) {
  // A thread loads 16 bytes, and holds one element of the tile in each register.
  // CHECK: 8 registers, 64 lanes, 4 waves
  // CHECK: register: (0, 1) (0, 2) (0, 4)
  // CHECK: lane: (0, 8) (0, 16) (0, 32) (0, 64) (0, 128) (1, 0)
  // CHECK: warp: (2, 0) (4, 0)
  // expected-remark @+2 {{8 registers, 64 lanes, 4 waves; 8 consecutive elements of a row, 16 consecutive bytes of the tile; one owner of each element}}
  // expected-note @+1 {{register: (0, 1) (0, 2) (0, 4)}}
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<8x256xf16, #rows>
  // 16 elements for 256 threads.
  // expected-remark @+2 {{1 registers, 64 lanes, 4 waves; 1 consecutive elements of a row, 4 consecutive bytes of the tile; several owners of each element}}
  // expected-note @+1 {{lane:}}
  %w = tile.load %c[%i] : memref<?xf32> -> tensor<16xf32, #small>
  // expected-remark @+1 {{tile without a layout}}
  %x = tile.load %c[%i] : memref<?xf32> -> tensor<256xf32>
  return
}
