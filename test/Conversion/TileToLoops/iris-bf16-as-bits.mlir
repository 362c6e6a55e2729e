// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-bf16-as-bits))' --split-input-file --verify-diagnostics | FileCheck %s

gpu.module @kernels {
  // A bf16 that lives across blocks.
  // CHECK-LABEL: llvm.func @move
  // CHECK-NOT: bf16
  // CHECK: llvm.mlir.constant(16256 : i16) : i16
  // CHECK: llvm.load %{{.+}} : !llvm.ptr -> i16
  // CHECK: ^{{.+}}(%[[V:.+]]: i16):
  // CHECK: llvm.store %[[V]], %{{.+}} : i16, !llvm.ptr
  llvm.func @move(%p: !llvm.ptr, %c: i1) {
    %one = llvm.mlir.constant(1.0 : bf16) : bf16
    %v = llvm.load %p : !llvm.ptr -> bf16
    %bits = llvm.bitcast %v : bf16 to i16
    %w = llvm.bitcast %bits : i16 to bf16
    llvm.cond_br %c, ^bb1(%w : bf16), ^bb1(%one : bf16)
  ^bb1(%x: bf16):
    llvm.store %x, %p : bf16, !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @compute(%p: !llvm.ptr) {
    %v = llvm.load %p : !llvm.ptr -> bf16
    // expected-error @below {{'llvm.fadd' op computes in bf16; expected f32 or integers after iris-legalize-host-floats}}
    %w = llvm.fadd %v, %v : bf16
    llvm.return
  }
}
