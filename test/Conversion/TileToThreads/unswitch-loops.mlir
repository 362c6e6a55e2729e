// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-unswitch-loops | FileCheck %s

// One loop for when both conditions hold, and the loop as it was.
// CHECK-LABEL: func.func @two
// CHECK: %[[BOTH:.+]] = arith.andi %{{.+}}, %{{.+}} : i1
// CHECK: %[[SUM:.+]] = scf.if %[[BOTH]] -> (f32) {
// CHECK:   %[[FAST:.+]] = scf.for
// CHECK-NOT: scf.if
// CHECK:     memref.load %{{.+}}[%{{.+}}]
// CHECK-NOT: scf.if
// CHECK:     memref.store
// CHECK:   scf.yield %[[FAST]]
// CHECK: } else {
// CHECK:   %[[SLOW:.+]] = scf.for
// CHECK:     scf.if
// CHECK:     scf.if
// CHECK:   scf.yield %[[SLOW]]
// CHECK: return %[[SUM]]
func.func @two(%a: memref<?xf32>, %p: i1, %q: i1, %n: index, %z: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> f32 {
    %v = scf.if %p -> f32 {
      %w = memref.load %a[%i] : memref<?xf32>
      scf.yield %w : f32
    } else {
      scf.yield %z : f32
    }
    scf.if %q {
      memref.store %v, %a[%c0] : memref<?xf32>
    }
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// A condition that changes in the loop stays; only innermost loops are copied.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: scf.if %{{.+}} {
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: } else {
// CHECK: return
func.func @stays(%a: memref<?xf32>, %p: i1, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      memref.store %z, %a[%i] : memref<?xf32>
    }
    scf.for %j = %c0 to %n step %c1 {
      %even = arith.cmpi eq, %i, %j : index
      scf.if %even {
        memref.store %z, %a[%j] : memref<?xf32>
      }
    }
  }
  return
}

// Where the second branch is right in any case, it stands alone.
// CHECK-LABEL: func.func @checked
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: memref.store %{{.+}}, %{{.+}}[%c0]
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: memref.store %{{.+}}, %{{.+}}[%c1]
// CHECK: return
func.func @checked(%a: memref<?xf32>, %p: i1, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      memref.store %z, %a[%c0] : memref<?xf32>
    } else {
      memref.store %z, %a[%c1] : memref<?xf32>
    } {iris.checked_form}
  }
  return
}
