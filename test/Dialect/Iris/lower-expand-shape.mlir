// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-lower-expand-shape --split-input-file | FileCheck %s

// CHECK-LABEL: func @two(
// CHECK-SAME: %[[B:.*]]: memref<?xf32>, %[[M:.*]]: index, %[[N:.*]]: index
func.func @two(%b: memref<?xf32>, %m: index, %n: index) -> memref<?x?xf32> {
  // CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[B]]
  // CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[M]], %[[N]]], strides: [%[[N]], 1]
  // CHECK-SAME: memref<f32> to memref<?x?xf32>
  %e = memref.expand_shape %b [[0, 1]] output_shape [%m, %n]
      : memref<?xf32> into memref<?x?xf32>
  return %e : memref<?x?xf32>
}

// -----

// The strides of the source, whatever they are; sizes that are known.
// CHECK-LABEL: func @strided(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index
func.func @strided(%b: memref<4x?xf32, strided<[?, 2], offset: ?>>, %m: index,
                   %n: index) -> memref<2x2x?x3x?xf32, strided<[?, ?, ?, ?, 2], offset: ?>> {
  // CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
  // CHECK: %[[OUTER:.*]] = arith.muli %[[STRIDES]]#0,
  // CHECK: %[[THREE:.*]] = arith.muli %[[N]], %{{.*}}
  // CHECK: %[[ROW:.*]] = arith.muli %[[THREE]],
  // CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [2, 2, %[[M]], 3, %[[N]]], strides: [%[[OUTER]], %[[STRIDES]]#0, %[[ROW]], %[[THREE]], 2]
  %e = memref.expand_shape %b [[0, 1], [2, 3, 4]] output_shape [2, 2, %m, 3, %n]
      : memref<4x?xf32, strided<[?, 2], offset: ?>>
      into memref<2x2x?x3x?xf32, strided<[?, ?, ?, ?, 2], offset: ?>>
  return %e : memref<2x2x?x3x?xf32, strided<[?, ?, ?, ?, 2], offset: ?>>
}

// -----

// MLIR lowers this one.
// CHECK-LABEL: func @one(
func.func @one(%b: memref<?xf32>, %m: index) -> memref<?x8xf32> {
  // CHECK: memref.expand_shape
  %e = memref.expand_shape %b [[0, 1]] output_shape [%m, 8]
      : memref<?xf32> into memref<?x8xf32>
  return %e : memref<?x8xf32>
}
