// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-rocdl-gather-stores | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @rounded
  // CHECK: %[[R:.+]] = llvm.fptrunc
  // CHECK: %[[A:.+]] = llvm.shufflevector %[[R]]
  // CHECK: %[[NEXT:.+]] = llvm.getelementptr
  // CHECK: %[[B:.+]] = llvm.shufflevector %[[R]]
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: llvm.store %[[A]], %arg1
  // CHECK-NEXT: llvm.store %[[B]], %[[NEXT]]
  // CHECK-NEXT: llvm.return
  llvm.func @rounded(%sums: vector<16xf32>, %p: !llvm.ptr<1>) {
    %r = llvm.fptrunc %sums : vector<16xf32> to vector<16xf16>
    %a = llvm.shufflevector %r, %r [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf16>
    llvm.store %a, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    %next = llvm.getelementptr %p[1024] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %b = llvm.shufflevector %r, %r [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf16>
    llvm.store %b, %next {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    llvm.return
  }

  // A loaded value is stored as soon as it is available.
  // CHECK-LABEL: llvm.func @copied
  // CHECK-NOT: sched.barrier
  // CHECK: llvm.store
  // CHECK: llvm.shufflevector
  // CHECK: llvm.store
  llvm.func @copied(%q: !llvm.ptr<1>, %p: !llvm.ptr<1>) {
    %r = llvm.load %q : !llvm.ptr<1> -> vector<16xf16>
    %a = llvm.shufflevector %r, %r [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf16>
    llvm.store %a, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    %b = llvm.shufflevector %r, %r [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf16>
    llvm.store %b, %q {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    llvm.return
  }

  // A load, or a store of 8 bytes, splits a run: nothing moves across memory
  // accesses.
  // CHECK-LABEL: llvm.func @parted
  // CHECK-NOT: sched.barrier
  // CHECK: llvm.store %{{.+}}, %arg1
  // CHECK: llvm.load
  // CHECK: llvm.store %{{.+}}, %arg2
  // CHECK: llvm.store %{{.+}} : vector<4xf16>
  // CHECK: llvm.fmul
  // CHECK: llvm.store %{{.+}}, %arg1
  // CHECK: llvm.return
  llvm.func @parted(%sums: vector<8xf32>, %p: !llvm.ptr<1>, %q: !llvm.ptr<1>) -> i32 {
    %a = llvm.fptrunc %sums : vector<8xf32> to vector<8xf16>
    llvm.store %a, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    %x = llvm.load %q : !llvm.ptr<1> -> i32
    %b = llvm.fadd %a, %a : vector<8xf16>
    llvm.store %b, %q {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    %c = llvm.shufflevector %b, %b [0, 1, 2, 3] : vector<8xf16>
    llvm.store %c, %p {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<1>
    %d = llvm.fmul %b, %b : vector<8xf16>
    llvm.store %d, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    llvm.return %x : i32
  }
}
