// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program whose wait for a packet timed out publishes nothing more.
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-check-wait-status))' | FileCheck %s

gpu.module @kernels {
  // Packets in a row share one check of the wait status; before the first wait
  // there is none.
  // CHECK-LABEL: gpu.func @row
  // CHECK-NEXT: iris.packet_store
  // CHECK-NEXT: iris.packet_load
  // CHECK-NEXT: iris.packet_load
  // CHECK-NEXT: iris.leave_if_failed
  // CHECK-NEXT: iris.packet_store
  // CHECK-NEXT: iris.packet_store
  // CHECK-NEXT: gpu.return
  gpu.func @row(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %p: memref<?xi32, #iris.peer>,
                %t: tensor<64xf32>, %i: index, %e: i32) {
    iris.packet_store %ctx, %t, %p[%i] flag(%e) : tensor<64xf32>, memref<?xi32, #iris.peer>
    %u = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    %v = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    iris.packet_store %ctx, %u, %p[%i] flag(%e) : tensor<64xf32>, memref<?xi32, #iris.peer>
    iris.packet_store %ctx, %v, %p[%i] flag(%e) : tensor<64xf32>, memref<?xi32, #iris.peer>
    gpu.return
  }

  // Stores to local memory publish nothing.
  // CHECK-LABEL: gpu.func @last
  // CHECK-NOT: leave_if_failed
  // CHECK: gpu.return
  gpu.func @last(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %o: memref<?xf32>,
                 %i: index, %e: i32) kernel {
    %u = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    tile.store %u, %o[%i] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @every_kind
  gpu.func @every_kind(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %p: memref<?xf32, #iris.peer>,
                       %s: memref<?xi32, #iris.symmetric>, %i: index, %e: i32, %one: i32) kernel {
    %0 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    // CHECK: iris.leave_if_failed
    // CHECK-NEXT: tile.store
    tile.store %0, %p[%i] : tensor<64xf32>, memref<?xf32, #iris.peer>
    %1 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    // CHECK: iris.leave_if_failed
    // CHECK-NEXT: iris.signal
    iris.signal set %ctx, %e, %s[%i] : i32, memref<?xi32, #iris.symmetric>
    %2 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    // CHECK: iris.leave_if_failed
    // CHECK-NEXT: iris.atomic_rmw
    %old = iris.atomic_rmw add %ctx, %one, %s[%i] sem(relaxed) : i32, memref<?xi32, #iris.symmetric>
    %3 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    // CHECK: iris.leave_if_failed
    // CHECK-NEXT: iris.barrier
    iris.barrier %ctx, %s : memref<?xi32, #iris.symmetric>
    %4 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    // A wait ends with its own check of the wait status.
    // CHECK: iris.packet_load
    // CHECK-NEXT: iris.wait
    // CHECK-NEXT: iris.signal
    %seen = iris.wait %ctx, %s[%i] ge %e : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %e, %s[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // The next iteration publishes.
  // CHECK-LABEL: gpu.func @loop
  // CHECK: scf.for
  // CHECK-NEXT: iris.leave_if_failed
  // CHECK-NEXT: iris.packet_store
  // CHECK-NEXT: iris.packet_load
  // CHECK-NEXT: }
  // CHECK-NEXT: iris.leave_if_failed
  // CHECK-NEXT: iris.signal
  gpu.func @loop(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %p: memref<?xi32, #iris.peer>,
                 %t: tensor<64xf32>, %n: index, %i: index, %e: i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %n step %c1 {
      iris.packet_store %ctx, %t, %p[%i] flag(%e) : tensor<64xf32>, memref<?xi32, #iris.peer>
      %u = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    }
    iris.signal set %ctx, %e, %b[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // One branch waits, the other does not.
  // CHECK-LABEL: gpu.func @branches
  // CHECK: scf.if
  // CHECK-NEXT: iris.packet_load
  // CHECK-NEXT: } else {
  // CHECK-NEXT: iris.signal
  // CHECK-NEXT: }
  // CHECK-NEXT: iris.leave_if_failed
  // CHECK-NEXT: iris.signal
  gpu.func @branches(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %c: i1, %i: index, %e: i32) {
    scf.if %c {
      %u = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    } else {
      iris.signal set %ctx, %e, %b[%i] : i32, memref<?xi32, #iris.symmetric>
    }
    iris.signal set %ctx, %e, %b[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
