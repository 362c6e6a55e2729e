// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-inline-functions))' | FileCheck %s

gpu.module @kernels {
  // CHECK-NOT: func.func
  // CHECK-LABEL: gpu.func @k(
  // CHECK: %[[V:.*]] = tile.load
  // CHECK: scf.for
  // CHECK: %[[W:.*]] = arith.addf %[[V]], %[[V]]
  // CHECK: %[[X:.*]] = arith.addf %[[W]], %[[W]]
  // CHECK: tile.store %[[X]]
  // CHECK-NOT: func.func
  gpu.func @k(%b: memref<?xf32>, %i: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
    scf.for %j = %c0 to %n step %c1 {
      %w = func.call @four_times(%v) : (tensor<256xf32>) -> tensor<256xf32>
      tile.store %w, %b[%i] : tensor<256xf32>, memref<?xf32>
    }
    gpu.return
  }
  func.func @four_times(%v: tensor<256xf32>) -> tensor<256xf32> {
    %w = func.call @twice(%v) : (tensor<256xf32>) -> tensor<256xf32>
    %x = func.call @twice(%w) : (tensor<256xf32>) -> tensor<256xf32>
    return %x : tensor<256xf32>
  }
  func.func @twice(%v: tensor<256xf32>) -> tensor<256xf32> {
    %w = arith.addf %v, %v : tensor<256xf32>
    return %w : tensor<256xf32>
  }
}
