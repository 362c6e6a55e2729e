// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-assign-arena))' | FileCheck %s

gpu.module @kernels {
  // The second buffer reuses the memory of the first, the third is next to it.
  // CHECK-LABEL: func.func @reuse
  // CHECK-SAME: iris.arena_bytes = 192 : i64
  // CHECK: %[[ARENA:.+]] = iris.host_arena : memref<?xi8>
  // CHECK: %[[C0:.+]] = arith.constant 0 : index
  // CHECK: memref.view %[[ARENA]][%[[C0]]][] : memref<?xi8> to memref<32xf32>
  // CHECK: %[[C1:.+]] = arith.constant 0 : index
  // CHECK: memref.view %[[ARENA]][%[[C1]]][] : memref<?xi8> to memref<5xf32>
  // CHECK: %[[C64:.+]] = arith.constant 64 : index
  // CHECK: memref.view %[[ARENA]][%[[C64]]][] : memref<?xi8> to memref<17xf32>
  func.func @reuse(%i: index) {
    %a = memref.alloc() : memref<32xf32>
    %x = memref.load %a[%i] : memref<32xf32>
    %b = memref.alloc() : memref<5xf32>
    %c = memref.alloc() : memref<17xf32>
    memref.store %x, %c[%i] : memref<17xf32>
    memref.store %x, %b[%i] : memref<5xf32>
    return
  }

  // A buffer that a loop reads lives until the loop ends; a buffer that it
  // allocates lives for one iteration. Taking its address keeps a buffer alive.
  // CHECK-LABEL: func.func @loops
  // CHECK-SAME: iris.arena_bytes = 192 : i64
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK: memref.view %{{.+}}[%{{.+}}][] : memref<?xi8> to memref<8xf32>
  // CHECK: scf.for
  // CHECK:   %[[C64:.+]] = arith.constant 64 : index
  // CHECK:   memref.view %{{.+}}[%[[C64]]][] : memref<?xi8> to memref<16xf32>
  // CHECK:   %[[C128:.+]] = arith.constant 128 : index
  // CHECK:   memref.view %{{.+}}[%[[C128]]][] : memref<?xi8> to memref<16xi8>
  func.func @loops(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<8xf32>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %a[%i] : memref<8xf32>
      %b = memref.alloc() : memref<16xf32>
      %p = memref.extract_aligned_pointer_as_index %b : memref<16xf32> -> index
      %q = arith.index_cast %p : index to i64
      %r = llvm.inttoptr %q : i64 to !llvm.ptr
      %d = memref.alloc() : memref<16xi8>
      %e = memref.load %d[%i] : memref<16xi8>
      llvm.store %x, %r : f32, !llvm.ptr
    }
    return
  }

  // A buffer that models shared memory lives as long as the program.
  // CHECK-LABEL: func.func @program_memory
  // CHECK-SAME: iris.arena_bytes = 192 : i64
  func.func @program_memory(%i: index) {
    %a = memref.alloc() {iris.program_memory} : memref<32xf32>
    %x = memref.load %a[%i] : memref<32xf32>
    %b = memref.alloc() : memref<5xf32>
    memref.store %x, %b[%i] : memref<5xf32>
    return
  }
}
