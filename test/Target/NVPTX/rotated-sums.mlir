// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas makes a rotation of the difference of two shifts of an i64 that have no
// bit in common, and of the sum with an arithmetic shift: their complements are
// subtracted (docs/internals/guards.md).
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=rotated-sums | FileCheck %s --check-prefix=DEFECT

!v = memref<1xi64>

gpu.module @kernels {
  // CHECK-LABEL: .entry difference(
  // CHECK: not.b64 [[NOT:%rd[0-9]+]],
  // CHECK: add.s64 [[SUM:%rd[0-9]+]], {{.*}}[[NOT]]
  // CHECK: not.b64 {{.*}}, [[SUM]];
  // DEFECT-LABEL: .entry difference(
  // DEFECT-NOT: not.b64
  // DEFECT: sub.s64
  gpu.func @difference(%v: !v) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i64
    %c60 = arith.constant 60 : i64
    %x = memref.load %v[%c0] : !v
    %up = arith.shli %x, %c4 : i64
    %down = arith.shrui %x, %c60 : i64
    %r = arith.subi %down, %up : i64
    memref.store %r, %v[%c0] : !v
    gpu.return
  }

  // CHECK-LABEL: .entry sum(
  // CHECK: not.b64 [[NOT:%rd[0-9]+]],
  // CHECK: sub.s64 [[SUM:%rd[0-9]+]], [[NOT]],
  // CHECK: not.b64 {{.*}}, [[SUM]];
  // DEFECT-LABEL: .entry sum(
  // DEFECT-NOT: not.b64
  // DEFECT: add.s64
  gpu.func @sum(%v: !v) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i64
    %c60 = arith.constant 60 : i64
    %x = memref.load %v[%c0] : !v
    %up = arith.shli %x, %c4 : i64
    %down = arith.shrsi %x, %c60 : i64
    %r = arith.addi %up, %down : i64
    memref.store %r, %v[%c0] : !v
    gpu.return
  }

  // A rotation stays one.
  // CHECK-LABEL: .entry rotation(
  // CHECK-NOT: not.b64
  // CHECK: ret;
  gpu.func @rotation(%v: !v) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i64
    %c60 = arith.constant 60 : i64
    %x = memref.load %v[%c0] : !v
    %up = arith.shli %x, %c4 : i64
    %down = arith.shrui %x, %c60 : i64
    %r = arith.addi %up, %down : i64
    memref.store %r, %v[%c0] : !v
    gpu.return
  }
}
