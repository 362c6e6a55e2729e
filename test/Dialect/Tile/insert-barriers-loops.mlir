// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow: accesses of one iteration precede those of every later one, in
// every enclosing loop; accesses of any branch count after the join.
// RUN: iris-opt %s --split-input-file --tile-insert-barriers | FileCheck %s
// RUN: iris-opt %s --split-input-file --tile-insert-barriers \
// RUN:   --test-verify-barriers -o /dev/null

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The inner loop stores to the window that this iteration has loaded: each
// thread to its own elements. The next iteration of the outer loop loads
// another, unknown window.
// CHECK-LABEL: @two_deep
// CHECK: scf.for
// CHECK: %[[ROW:.+]] = memref.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load %{{.+}}[%[[ROW]]]
// CHECK-NOT: gpu.barrier
// CHECK: scf.for
// CHECK-NEXT: tile.store
// CHECK-NOT: gpu.barrier
func.func @two_deep(%b: memref<?xf32>, %rows: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %row = memref.load %rows[%t] : memref<?xindex>
    %v = tile.load %b[%row] : memref<?xf32> -> tensor<256xf32, #l>
    scf.for %r = %c0 to %n step %c1 {
      tile.store %v, %b[%row] : tensor<256xf32, #l>, memref<?xf32>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1, 1], threads_per_warp = [1, 64], warps_per_cta = [1, 4], order = [1, 0]>

// Rows of a tile's height overlap from one iteration of the outer loop to the
// next.
// CHECK-LABEL: @rows
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK: scf.for
// CHECK-NEXT: tile.store
// CHECK-NOT: gpu.barrier
func.func @rows(%b: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %v = tile.load %b[%t, %c0] : memref<?x?xf32> -> tensor<2x256xf32, #l>
    scf.for %r = %c0 to %n step %c1 {
      tile.store %v, %b[%t, %c0] : tensor<2x256xf32, #l>, memref<?x?xf32>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Three nested loops: stale in the middle loop, then in the outer one.
// CHECK-LABEL: @three_deep
// CHECK: scf.for
// CHECK-NEXT: memref.load
// CHECK-NEXT: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.store
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @three_deep(%b: memref<?xf32>, %rows: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %row = memref.load %rows[%t] : memref<?xindex>
    scf.for %s = %c0 to %n step %c1 {
      %v = tile.load %b[%row] : memref<?xf32> -> tensor<256xf32, #l>
      scf.for %r = %c0 to %n step %c1 {
        tile.store %v, %b[%row] : tensor<256xf32, #l>, memref<?xf32>
      }
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Within the middle loop the row is the same.
// CHECK-LABEL: @same_row
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @same_row(%b: memref<?xf32>, %row: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %s = %c0 to %n step %c1 {
    %v = tile.load %b[%row] : memref<?xf32> -> tensor<256xf32, #l>
    scf.for %r = %c0 to %n step %c1 {
      tile.store %v, %b[%row] : tensor<256xf32, #l>, memref<?xf32>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A loop-carried value differs in every iteration.
// CHECK-LABEL: @carried_offset
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load %{{.+}}[%[[AT:.+]]]
// CHECK-NEXT: tile.store %{{.+}}, %{{.+}}[%[[AT]]]
func.func @carried_offset(%b: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = scf.for %t = %c0 to %n step %c1 iter_args(%at = %n) -> index {
    %v = tile.load %b[%at] : memref<?xf32> -> tensor<256xf32, #l>
    tile.store %v, %b[%at] : tensor<256xf32, #l>, memref<?xf32>
    %next = arith.addi %at, %c1 : index
    scf.yield %next : index
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A view that is created in the loop differs in every iteration.
// CHECK-LABEL: @views
// CHECK: memref.subview
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
func.func @views(%b: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %w = memref.subview %b[%t] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %v = tile.load %w[%c0] : memref<?xf32, strided<[1], offset: ?>> -> tensor<256xf32, #l>
    tile.store %v, %w[%c0] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Both regions of a while loop: the store of `do` comes before the load of
// `before`, which comes before the next store.
// CHECK-LABEL: @while
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK: } do {
// CHECK: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK: return
func.func @while(%b: memref<?xf32>, %i: index, %j: index, %c: i1) {
  %z = arith.constant dense<0.0> : tensor<256xf32, #l>
  scf.while (%x = %z) : (tensor<256xf32, #l>) -> tensor<256xf32, #l> {
    %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
    scf.condition(%c) %v : tensor<256xf32, #l>
  } do {
  ^bb0(%v: tensor<256xf32, #l>):
    tile.store %v, %b[%j] : tensor<256xf32, #l>, memref<?xf32>
    scf.yield %v : tensor<256xf32, #l>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A barrier on one path does not order the other paths.
// CHECK-LABEL: @switch
// CHECK: scf.index_switch
// CHECK: gpu.barrier
// CHECK: case 1
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK: default
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @switch(%b: memref<?xf32>, %o: memref<?xf32>, %c: index, %i: index, %j: index,
                  %v: tensor<256xf32, #l>) {
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  scf.index_switch %c
  case 0 {
    gpu.barrier
    scf.yield
  }
  case 1 {
    %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
    tile.store %w, %o[%j] : tensor<256xf32, #l>, memref<?xf32>
    scf.yield
  }
  default {
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Nested conditions: a barrier under one of them orders nothing after it.
// CHECK-LABEL: @conditions
// CHECK: scf.if
// CHECK: scf.if
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @conditions(%b: memref<?xf32>, %o: memref<?xf32>, %c: i1, %d: i1, %i: index,
                      %j: index, %v: tensor<256xf32, #l>) {
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  scf.if %c {
    scf.if %d {
      %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
      tile.store %w, %o[%j] : tensor<256xf32, #l>, memref<?xf32>
    }
  }
  %x = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %x, %o[%j] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Unstructured control flow: any branch may be a back edge.
// CHECK-LABEL: @branches
// CHECK: ^bb1:
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
func.func @branches(%b: memref<?xf32>, %i: index, %j: index, %c: i1) {
  cf.br ^bb1
^bb1:
  %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %v, %b[%j] : tensor<256xf32, #l>, memref<?xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Unknown ops: the pass uses their declared effects, else assumes all effects.
// CHECK-LABEL: @others
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.copy
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: call @anything
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: memref.dim
// CHECK-NEXT: return
func.func private @anything()
func.func @others(%b: memref<?xf32>, %o: memref<?xf32>, %i: index, %v: tensor<256xf32, #l>) -> index {
  %c0 = arith.constant 0 : index
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  memref.copy %b, %o : memref<?xf32> to memref<?xf32>
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  func.call @anything() : () -> ()
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %n = memref.dim %b, %c0 : memref<?xf32>
  return %n : index
}
