// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --canonicalize=test-convergence=true | FileCheck %s

#a = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#b = #tile.blocked<size_per_thread = [8], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// CHECK-LABEL: func.func @convert_nothing(
// CHECK-SAME: %[[V:.*]]: tensor
// CHECK-NEXT: return %[[V]]
func.func @convert_nothing(%v: tensor<256xf16, #a>) -> tensor<256xf16, #a> {
  %w = tile.convert_layout %v : tensor<256xf16, #a> -> tensor<256xf16, #a>
  return %w : tensor<256xf16, #a>
}

// Two conversions that cancel are removed.
// CHECK-LABEL: func.func @convert_twice(
// CHECK-SAME: %[[V:.*]]: tensor
// CHECK-NEXT: return %[[V]]
func.func @convert_twice(%v: tensor<256xf16, #a>) -> tensor<256xf16, #a> {
  %w = tile.convert_layout %v : tensor<256xf16, #a> -> tensor<256xf16, #b>
  %x = tile.convert_layout %w : tensor<256xf16, #b> -> tensor<256xf16, #a>
  return %x : tensor<256xf16, #a>
}

// CHECK-LABEL: func.func @broadcast_nothing(
// CHECK-SAME: %[[V:.*]]: tensor
// CHECK-NEXT: return %[[V]]
func.func @broadcast_nothing(%v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = tile.broadcast %v : tensor<8x4xf32> -> tensor<8x4xf32>
  return %w : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @transpose_nothing(
// CHECK-SAME: %[[V:.*]]: tensor
// CHECK-NEXT: return %[[V]]
func.func @transpose_nothing(%v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = tile.transpose %v [0, 1] : tensor<8x4xf32> -> tensor<8x4xf32>
  return %w : tensor<8x4xf32>
}

// A transpose of a square tile stays.
// CHECK-LABEL: func.func @transpose_square(
// CHECK: tile.transpose
func.func @transpose_square(%v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = tile.transpose %v [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  return %w : tensor<8x8xf32>
}
