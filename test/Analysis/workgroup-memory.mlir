// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-diagnostics --test-print-workgroup-memory

gpu.module @kernels {
  // Each buffer is padded to 16 bytes: 112 and 16.
  // expected-remark @+1 {{declares 128 bytes of workgroup memory}}
  gpu.func @two() workgroup(%a: memref<50xf16, #gpu.address_space<workgroup>>, %b: memref<3xi32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
  // expected-remark @+1 {{declares 0 bytes of workgroup memory}}
  func.func @none() { return }
}
