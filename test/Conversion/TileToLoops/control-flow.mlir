// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop-carried tiles, and tiles that branches yield.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // An accumulator is updated in place.
  // CHECK-LABEL: func.func @accumulate
  // CHECK: %[[ACC:.+]] = memref.alloc() : memref<64xf32>
  // CHECK: memref.store %{{.+}}, %[[ACC]]
  // CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} {
  // CHECK:   %[[NEXT:.+]] = memref.alloc() : memref<64xf32>
  // CHECK:   %[[A:.+]] = memref.load %[[ACC]]
  // CHECK:   %[[N:.+]] = memref.load %[[NEXT]]
  // CHECK:   %[[S:.+]] = arith.addf %[[A]], %[[N]]
  // CHECK:   memref.store %[[S]], %[[ACC]]
  // CHECK-NOT: memref.copy
  // CHECK: return
  gpu.func @accumulate(%a: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero)
        -> (tensor<64xf32>) {
      %v = tile.load %a[%i] : memref<?xf32> -> tensor<64xf32>
      %next = arith.addf %acc, %v : tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    tile.store %sum, %a[%c0] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }

  // Swapped tiles: both are read before either is written.
  // CHECK-LABEL: func.func @swap
  // CHECK: memref.copy %{{.+}}, %[[A:.+]] :
  // CHECK: memref.copy %{{.+}}, %[[B:.+]] :
  // CHECK: scf.for
  // CHECK:   memref.copy %[[B]], %[[T0:.+]] :
  // CHECK:   memref.copy %[[A]], %[[T1:.+]] :
  // CHECK:   memref.copy %[[T0]], %[[A]] :
  // CHECK:   memref.copy %[[T1]], %[[B]] :
  gpu.func @swap(%a: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = tile.load %a[%c0] : memref<?xf32> -> tensor<64xf32>
    %w = tile.load %a[%n] : memref<?xf32> -> tensor<64xf32>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v, %y = %w)
        -> (tensor<64xf32>, tensor<64xf32>) {
      scf.yield %y, %x : tensor<64xf32>, tensor<64xf32>
    }
    tile.store %r#0, %a[%c0] : tensor<64xf32>, memref<?xf32>
    tile.store %r#1, %a[%n] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }

  // Other elements of the same tile are read: it cannot be updated in place.
  // CHECK-LABEL: func.func @transpose_each_time
  // CHECK: memref.copy %{{.+}}, %[[ACC:.+]] :
  // CHECK: scf.for
  // CHECK:   %[[X:.+]] = memref.load %[[ACC]]
  // CHECK:   memref.store %[[X]], %[[NEXT:.+]][
  // CHECK:   memref.copy %[[NEXT]], %[[ACC]] :
  gpu.func @transpose_each_time(%a: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = tile.load %a[%c0, %c0] : memref<?x?xf32> -> tensor<4x4xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v)
        -> (tensor<4x4xf32>) {
      %t = tile.transpose %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
      scf.yield %t : tensor<4x4xf32>
    }
    tile.store %r, %a[%c0, %c0] : tensor<4x4xf32>, memref<?x?xf32>
    gpu.return
  }

  // Tiles of branches go through one buffer.
  // CHECK-LABEL: func.func @branches
  // CHECK: %[[R:.+]] = memref.alloc() : memref<64xi32>
  // CHECK: scf.if %{{.+}} {
  // CHECK:   memref.store %{{.+}}, %[[R]]
  // CHECK: } else {
  // CHECK:   memref.store %{{.+}}, %[[R]]
  // CHECK: }
  gpu.func @branches(%a: memref<?xi32>, %n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : tensor<64xi32>
    %r:2 = scf.if %c -> (tensor<64xi32>, index) {
      scf.yield %one, %n : tensor<64xi32>, index
    } else {
      %two = arith.constant dense<2> : tensor<64xi32>
      scf.yield %two, %c0 : tensor<64xi32>, index
    }
    tile.store %r#0, %a[%r#1] : tensor<64xi32>, memref<?xi32>
    gpu.return
  }

  // CHECK-LABEL: func.func @while
  // CHECK: scf.while
  // CHECK:   scf.condition
  // CHECK: } do {
  // CHECK:   arith.addi
  // CHECK:   memref.store
  gpu.func @while(%a: memref<?xi32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant dense<1> : tensor<64xi32>
    %r:2 = scf.while (%x = %one, %i = %c0)
        : (tensor<64xi32>, index) -> (tensor<64xi32>, index) {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %x, %i : tensor<64xi32>, index
    } do {
    ^bb0(%x: tensor<64xi32>, %i: index):
      %y = arith.addi %x, %one : tensor<64xi32>
      %j = arith.addi %i, %c1 : index
      scf.yield %y, %j : tensor<64xi32>, index
    }
    tile.store %r#0, %a[%c0] : tensor<64xi32>, memref<?xi32>
    gpu.return
  }
}
