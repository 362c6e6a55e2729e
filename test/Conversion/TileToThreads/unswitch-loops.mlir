// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-unswitch-loops | FileCheck %s

// One loop for the case that both conditions hold, and one that chooses.
// CHECK-LABEL: func.func @two
// CHECK: %[[BOTH:.+]] = arith.andi %{{.+}}, %{{.+}} : i1
// CHECK: %[[SUM:.+]] = scf.if %[[BOTH]] -> (f32) {
// CHECK:   %[[FAST:.+]] = scf.for
// CHECK-NOT: scf.if
// CHECK:     memref.load %{{.+}}[%{{.+}}]
// CHECK-NOT: scf.if
// CHECK:     memref.store %{{.+}}, %{{.+}}[%c0]
// CHECK:   scf.yield %[[FAST]]
// CHECK: } else {
// CHECK:   %[[SLOW:.+]] = scf.for
// CHECK:     scf.if %arg1
// CHECK:       memref.load
// CHECK:     scf.if %arg2
// CHECK:       memref.store %{{.+}}, %{{.+}}[%c0]
// CHECK:       memref.store %{{.+}}, %{{.+}}[%c1]
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
    } {iris.checked_form}
    scf.if %q {
      memref.store %v, %a[%c0] : memref<?xf32>
    } else {
      memref.store %v, %a[%c1] : memref<?xf32>
    } {iris.checked_form}
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// Other conditions stay: they may differ between threads, and the loop may hold
// a barrier. A condition that changes in the loop stays as well.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.if %{{.+}} {
// CHECK: }
// CHECK: scf.if
// CHECK: return
func.func @stays(%a: memref<?xf32>, %p: i1, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    gpu.barrier
    scf.if %p {
      memref.store %z, %a[%i] : memref<?xf32>
    }
    %even = arith.cmpi eq, %i, %c1 : index
    scf.if %even {
      memref.store %z, %a[%c0] : memref<?xf32>
    } else {
      memref.store %z, %a[%c1] : memref<?xf32>
    } {iris.checked_form}
  }
  return
}

// Only innermost loops are copied.
// CHECK-LABEL: func.func @outer
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK-NEXT: scf.if
// CHECK: scf.for
// CHECK: return
func.func @outer(%a: memref<?xf32>, %p: i1, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      memref.store %z, %a[%i] : memref<?xf32>
    } else {
      memref.store %z, %a[%c1] : memref<?xf32>
    } {iris.checked_form}
    scf.for %j = %c0 to %n step %c1 {
      memref.store %z, %a[%j] : memref<?xf32>
    }
  }
  return
}

// The loop over an access's elements does not make its parent an outer loop.
// CHECK-LABEL: func.func @elements
// CHECK: scf.if %{{.+}} {
// CHECK:   scf.for
// CHECK-NOT: scf.for
// CHECK:     memref.store %{{.+}}, %{{.+}}[%c0]
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     scf.if
// CHECK:     scf.for
// CHECK:       memref.store %{{.+}}, %{{.+}}[%c1]
// CHECK: return
func.func @elements(%a: memref<?xf32>, %p: i1, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      memref.store %z, %a[%c0] : memref<?xf32>
    } else {
      scf.for %j = %c0 to %n step %c1 {
        memref.store %z, %a[%c1] : memref<?xf32>
      } {iris.element_loop}
    } {iris.checked_form}
  }
  return
}
