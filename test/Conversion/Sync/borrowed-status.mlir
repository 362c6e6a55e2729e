// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose tiles leave no LDS for the words of the waits.
// RUN: iris-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx942},canonicalize))' | FileCheck %s
// RUN: iris-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx950},canonicalize))' | FileCheck %s --check-prefix=LARGER

// CHECK-NOT: __iris_sync_slots
// LARGER: llvm.mlir.global internal @__iris_sync_slots
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<65528 x i8>
  // CHECK-LABEL: gpu.func @wait
  // CHECK-NOT: iris.shared_bytes
  gpu.func @wait(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %v: i32,
                 %i: index) kernel {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    llvm.store %v, %tile : i32, !llvm.ptr<3>
    gpu.barrier
    // All threads read the word before the leader changes it, and have read it
    // again before another thread writes to it.
    // CHECK: gpu.barrier
    // CHECK: %[[BEFORE:.+]] = llvm.load volatile %[[TILE:.+]] {{.*}} : !llvm.ptr<3> -> i32
    // CHECK-NEXT: %[[QUIET:.+]] = rocdl.readfirstlane %[[BEFORE]]
    // CHECK: rocdl.s.barrier
    // CHECK: llvm.load {{.*}} atomic
    // CHECK: %[[FAILED:.+]] = arith.xori %[[QUIET]], %c1_i32
    // CHECK-NEXT: llvm.store volatile %[[FAILED]], %[[TILE]] {{.*}} : i32, !llvm.ptr<3>
    // CHECK: rocdl.s.barrier
    // CHECK: %[[AFTER:.+]] = llvm.load volatile %[[TILE]] {{.*}} : !llvm.ptr<3> -> i32
    // CHECK-NEXT: %[[STATUS:.+]] = rocdl.readfirstlane %[[AFTER]]
    // CHECK: rocdl.s.barrier
    // CHECK: %[[LEAVES:.+]] = arith.cmpi ne, %[[STATUS]], %[[QUIET]]
    // CHECK-NEXT: cf.cond_br %[[LEAVES]]
    iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @barrier
  gpu.func @barrier(%ctx: !iris.ctx, %state: memref<?xi32, #iris.symmetric>,
                    %v: i32) kernel {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    llvm.store %v, %tile : i32, !llvm.ptr<3>
    gpu.barrier
    // CHECK: gpu.barrier
    // CHECK: llvm.load volatile
    // CHECK: rocdl.s.barrier
    // CHECK: llvm.store volatile
    // CHECK: rocdl.s.barrier
    // CHECK: llvm.load volatile
    // CHECK: rocdl.s.barrier
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

// Two programs fit a compute unit only with a borrowed word; smaller programs
// have LDS to spare.
// LARGER: __iris_sync_slots
// CHECK: llvm.mlir.global internal @__iris_sync_slots
gpu.module @kernels {
  llvm.mlir.global internal @half() {addr_space = 3 : i32} : !llvm.array<32768 x i8>
  llvm.mlir.global internal @small() {addr_space = 3 : i32} : !llvm.array<4096 x i8>
  // CHECK-LABEL: gpu.func @two_programs
  // CHECK-NOT: __iris_sync_slots
  // CHECK: llvm.load volatile
  gpu.func @two_programs(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                         %v: i32, %i: index) kernel {
    %tile = llvm.mlir.addressof @half : !llvm.ptr<3>
    llvm.store %v, %tile : i32, !llvm.ptr<3>
    gpu.barrier
    iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @many_programs
  // CHECK: llvm.mlir.addressof @__iris_sync_slots
  // CHECK-NOT: llvm.load volatile
  gpu.func @many_programs(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                          %v: i32, %i: index) kernel {
    %tile = llvm.mlir.addressof @small : !llvm.ptr<3>
    llvm.store %v, %tile : i32, !llvm.ptr<3>
    iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

// The value that a wait has seen has no word of its own either.
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<65528 x i8>
  gpu.func @seen(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %v: i32,
                 %i: index) kernel {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    // expected-error @below {{'iris.wait' op needs 16 bytes of workgroup memory in addition to the 65528 of the program's tiles; expected at most 65536 in all}}
    %seen = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    llvm.store %seen, %tile : i32, !llvm.ptr<3>
    gpu.return
  }
}

// -----

// A thread that times out in a wait for its packet may report this at any time.
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<65528 x i8>
  gpu.func @packets(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %v: i32,
                    %p: !llvm.ptr<1>, %o: i32) kernel {
    %c0 = arith.constant 0 : index
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    llvm.store %v, %tile : i32, !llvm.ptr<3>
    gpu.barrier
    // expected-error @below {{'iris.read_packets' op needs 16 bytes of workgroup memory in addition to the 65528 of the program's tiles; expected at most 65536 in all}}
    %w = iris.read_packets %ctx, %p[%o] flag(%v) : !llvm.ptr<1> -> vector<1xi32>
    iris.wait %ctx, %f[%c0] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
