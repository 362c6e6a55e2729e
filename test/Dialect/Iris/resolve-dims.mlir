// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-resolve-dims | FileCheck %s
// RUN: iris-opt %s --iris-resolve-dims --iris-resolve-dims | FileCheck %s
// RUN: iris-opt %s --iris-resolve-dims --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @constant(
// CHECK-SAME: %[[B:.+]]: memref
func.func @constant(%b: memref<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[C1:.+]] = arith.constant 1
  // CHECK: memref.dim %[[B]], %[[C1]]
  %0 = memref.dim %b, %c1 : memref<?x?xf32>
  // Only constant propagation finds this one; nothing else is folded.
  // CHECK: arith.subi
  // CHECK: %[[C0:.+]] = arith.constant 0
  // CHECK-NEXT: memref.dim %[[B]], %[[C0]]
  // CHECK-NOT: arith.select
  %difference = arith.subi %c1, %c1 : index
  %1 = memref.dim %b, %difference : memref<?x?xf32>
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @not_constant(
// CHECK-SAME: %[[B:.+]]: memref<?x?x?xf32>, %[[I:.+]]: index
func.func @not_constant(%b: memref<?x?x?xf32>, %i: index) -> index {
  // CHECK: %[[C2:.+]] = arith.constant 2
  // CHECK: %[[D2:.+]] = memref.dim %[[B]], %[[C2]]
  // CHECK: %[[C1:.+]] = arith.constant 1
  // CHECK: %[[IS1:.+]] = arith.cmpi eq, %[[I]], %[[C1]]
  // CHECK: %[[D1:.+]] = memref.dim %[[B]], %
  // CHECK: %[[S1:.+]] = arith.select %[[IS1]], %[[D1]], %[[D2]]
  // CHECK: %[[C0:.+]] = arith.constant 0
  // CHECK: %[[IS0:.+]] = arith.cmpi eq, %[[I]], %[[C0]]
  // CHECK: %[[D0:.+]] = memref.dim %[[B]], %
  // CHECK: %[[S0:.+]] = arith.select %[[IS0]], %[[D0]], %[[S1]]
  // CHECK: return %[[S0]]
  %0 = memref.dim %b, %i : memref<?x?x?xf32>
  return %0 : index
}

// CHECK-LABEL: func.func @one_dimension(
func.func @one_dimension(%b: memref<?xf32>, %i: index) -> index {
  // CHECK: %[[C0:.+]] = arith.constant 0
  // CHECK: %[[D:.+]] = memref.dim %{{.+}}, %[[C0]]
  // CHECK-NEXT: return %[[D]]
  %0 = memref.dim %b, %i : memref<?xf32>
  return %0 : index
}

// A size may itself be a dimension.
// CHECK-LABEL: func.func @of_size(
func.func @of_size(%b: memref<?x?xf32>, %i: index) -> index {
  // CHECK: %[[S:.+]] = arith.select
  // CHECK: arith.cmpi eq, %[[S]], %
  %0 = memref.dim %b, %i : memref<?x?xf32>
  %1 = memref.dim %b, %0 : memref<?x?xf32>
  return %1 : index
}

// A loop that runs once becomes its body, with the dimension -1, only by
// canonicalization. Kernels load the dialect whose patterns require valid
// dimensions.
gpu.module @kernels {
  // FOLD-LABEL: gpu.func @folded(
  // FOLD-NOT: constant -1
  // FOLD: gpu.return
  gpu.func @folded(%b: memref<?x?xf32>, %out: memref<?xindex>) kernel {
    %m1 = arith.constant -1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %m1 to %c0 step %c1 {
      %size = memref.dim %b, %i : memref<?x?xf32>
      memref.store %size, %out[%c0] : memref<?xindex>
    }
    gpu.return
  }
}
