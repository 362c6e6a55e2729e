// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-main-pipeline --split-input-file | FileCheck %s

// The kernels are gone; the runtime finds them by name.
// CHECK-NOT: gpu.module
// CHECK-DAG: llvm.mlir.global internal constant @[[NAME:.+]]("kernels::k\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[POSITION:.+]]("{{.+}}:{{[0-9]+}}:8\00")
// CHECK: llvm.func @irisrtIR_main(%[[API:.+]]: !llvm.ptr) -> i32 {
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %b: memref<?x?xf16, #iris.symmetric>, %x: f32,
              %n: index) kernel {
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  // CHECK-DAG: %[[OK:.+]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-DAG: %[[INVALID:.+]] = llvm.mlir.constant(1 : i32) : i32
  // CHECK-DAG: %[[SITE:.+]] = llvm.mlir.addressof @[[POSITION]]
  // One slot per argument: three of 120 bytes after the context's.
  // CHECK-DAG: %[[ARGS_BYTES:.+]] = llvm.mlir.constant(480 : i64) : i64
  // CHECK-DAG: %[[ARGS:.+]] = llvm.alloca %[[ARGS_BYTES]] x i8

  // IrisRtHostApi.numRanks.
  // CHECK: %[[AT:.+]] = llvm.getelementptr %[[API]][12]
  // CHECK: %[[N32:.+]] = llvm.load %[[AT]] : !llvm.ptr -> i32
  // CHECK: %[[N:.+]] = llvm.zext %[[N32]] : i32 to i64
  %n = iris.num_ranks %ctx : index
  %m = arith.constant 8 : index

  // Negative or overflowing sizes end the program; all error exits share one
  // block.
  // CHECK: llvm.icmp "slt"
  // CHECK: "llvm.intr.smul.with.overflow"
  // CHECK: llvm.cond_br %{{.+}}, ^[[EXIT:.+]](%[[INVALID]] : i32), ^
  // IrisRtHostApi.allocAt, with the line and without `workspace`.
  // CHECK: %[[ALLOC_AT:.+]] = llvm.getelementptr %[[API]][64]
  // CHECK: %[[ALLOC:.+]] = llvm.load %[[ALLOC_AT]] : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[S0:.+]] = llvm.call %[[ALLOC]](%{{.+}}, %{{.+}}, %{{.+}}, %[[SITE]], %[[OK]])
  // CHECK: %[[F0:.+]] = llvm.icmp "ne" %[[S0]], %[[OK]]
  // CHECK: llvm.cond_br %[[F0]], ^[[EXIT]](%[[S0]] : i32), ^
  %b = iris.alloc(%m, %n) : memref<?x?xf16, #iris.symmetric>

  // CHECK: llvm.getelementptr %[[API]][40]
  // CHECK: llvm.call %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}, %[[ARGS]], %{{.+}})
  %x = arith.constant 1.5 : f32
  iris.launch @kernels::@k programs(%m)
      args(%ctx, %b, %x, %n : !iris.ctx, memref<?x?xf16, #iris.symmetric>, f32,
           index)
  // CHECK: llvm.getelementptr %[[API]][48]
  iris.sync %ctx
  // CHECK: llvm.getelementptr %[[API]][32]
  iris.dealloc %b : memref<?x?xf16, #iris.symmetric>
  // CHECK: llvm.return %[[OK]] : i32
  // CHECK: ^[[EXIT]](%[[STATUS:.+]]: i32):
  // CHECK-NEXT: llvm.return %[[STATUS]] : i32
  // CHECK-NOT: llvm.return
  return
}

// -----

// Loops and functions: a failing call returns from @main.
// CHECK: llvm.func @irisrtIR_main
// CHECK-NOT: @once
func.func private @once(%ctx: !iris.ctx) {
  iris.sync %ctx
  return
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = iris.num_ranks %ctx : index
  // CHECK: llvm.br ^[[HEAD:.+]](
  // CHECK: %[[S:.+]] = llvm.call
  // CHECK: llvm.cond_br %{{.+}}, ^[[LEAVE:.+]](%[[S]] : i32), ^
  // CHECK: llvm.br ^[[HEAD]](
  // CHECK: ^[[LEAVE]](%[[STATUS:.+]]: i32):
  // CHECK-NEXT: llvm.return %[[STATUS]] : i32
  scf.for %i = %c0 to %n step %c1 {
    func.call @once(%ctx) : (!iris.ctx) -> ()
  }
  return
}

// -----

// A view is an address: rows from %i on.
// CHECK: llvm.func @irisrtIR_main
// CHECK: %[[OFFSET:.+]] = llvm.mul %[[FIRST:.+]], %[[PITCH:.+]] overflow<nsw>
// CHECK: llvm.mul %[[OFFSET]]
func.func @main(%ctx: !iris.ctx) {
  %n = iris.num_ranks %ctx : index
  %i = iris.rank %ctx : index
  %c4 = arith.constant 4 : index
  %b = iris.alloc(%n, %n) : memref<?x?xi32, #iris.symmetric>
  %s = memref.subview %b[%i, 0] [1, %n] [1, 1]
      : memref<?x?xi32, #iris.symmetric>
        to memref<1x?xi32, strided<[?, 1], offset: ?>, #iris.symmetric>
  iris.launch @kernels::@k programs(%c4)
      args(%s : memref<1x?xi32, strided<[?, 1], offset: ?>, #iris.symmetric>)
  return
}
