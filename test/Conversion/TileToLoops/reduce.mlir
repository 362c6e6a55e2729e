// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of sums: neighbours are added.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // Eight elements of f16, in f32: 2i + (2i + 1), rounded once.
  // CHECK-LABEL: func.func @sum_f16
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
  // CHECK: %[[PARTS:.+]] = memref.alloc() : memref<4xf32>
  // CHECK: scf.for %[[I:.+]] = %{{.+}} to %[[C4]]
  // CHECK:   %[[EVEN:.+]] = arith.muli %[[I]], %[[C2]]
  // CHECK:   %[[ODD:.+]] = arith.addi %[[EVEN]], %[[C1]]
  // CHECK:   %[[LOW:.+]] = memref.load %[[TILE:.+]][%[[EVEN]]] : memref<8xf16>
  // CHECK:   %[[X:.+]] = arith.extf %[[LOW]] : f16 to f32
  // CHECK:   %[[HIGH:.+]] = memref.load %[[TILE]][%[[ODD]]]
  // CHECK:   %[[Y:.+]] = arith.extf %[[HIGH]] : f16 to f32
  // CHECK:   %[[S:.+]] = arith.addf %[[X]], %[[Y]] : f32
  // CHECK:   memref.store %[[S]], %[[PARTS]][%[[I]]]
  // CHECK: scf.for %[[J:.+]] = %{{.+}} to %[[C2]]
  // CHECK:   arith.muli %[[J]], %[[C2]]
  // CHECK:   arith.addf
  // CHECK: arith.addf
  // CHECK: %[[TOTAL:.+]] = memref.load %[[PARTS]]
  // CHECK: arith.truncf %[[TOTAL]] : f32 to f16
  gpu.func @sum_f16(%a: memref<?xf16>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf16> -> tensor<8xf16>
    %s = tile.reduce sum %v dim 0 : tensor<8xf16> -> f16
    %t = tensor.splat %s : tensor<8xf16>
    tile.store %t, %a[%i] : tensor<8xf16>, memref<?xf16>
    gpu.return
  }

  // Along one of two dimensions; NaN propagates. The order does not matter, and
  // halves can be loaded as vectors: column i, and column i + 4.
  // CHECK-LABEL: func.func @max_rows
  // CHECK: memref.alloc() : memref<16xf32>
  // CHECK: arith.addi %{{.+}}, %c4
  // CHECK: arith.maximumf
  // CHECK: %[[R:.+]] = memref.alloc() : memref<4xf32>
  gpu.func @max_rows(%a: memref<?x?xf32>, %b: memref<?xf32>, %i: index)
      kernel {
    %v = tile.load %a[%i, %i] : memref<?x?xf32> -> tensor<4x8xf32>
    %s = tile.reduce max %v dim 1 : tensor<4x8xf32> -> tensor<4xf32>
    tile.store %s, %b[%i] : tensor<4xf32>, memref<?xf32>
    gpu.return
  }
}
