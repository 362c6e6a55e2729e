// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On the host a packet is one aligned access of 64 bits per word; a wait yields
// through the runtime's callback.
// RUN: iris-opt %s --iris-pipeline='target=host until=sync' | FileCheck %s --check-prefix=SYNC
// RUN: iris-compile %s --target=host --emit=asm -o - | FileCheck %s

gpu.module @kernels {
  // SYNC-LABEL: func.func @exchange
  // SYNC-SAME: iris.coresident
  // SYNC: llvm.store {{.*}} atomic monotonic {alignment = 8 : i64} : i64, !llvm.ptr
  // SYNC: llvm.load {{.*}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
  // SYNC: llvm.call @irisrtIR_yield
  // CHECK-LABEL: {{^}}iris.exchange:
  // CHECK: {{callq[[:space:]]+\*}}
  // CHECK: .size iris.exchange,
  gpu.func @exchange(%ctx: !iris.ctx, %in: memref<?xbf16>, %buf: memref<?xi32, #iris.symmetric>,
                     %r: index, %i: index, %e: i32) kernel {
    %t = tile.load %in[%i] : memref<?xbf16> -> tensor<64xbf16>
    iris.packet_store %ctx, %t, %buf[%i] to %r flag(%e) : tensor<64xbf16>, memref<?xi32, #iris.symmetric>
    %u = iris.packet_load %ctx, %buf[%i] flag(%e) owed_by(%r) : memref<?xi32, #iris.symmetric> -> tensor<64xbf16>
    tile.store %u, %in[%i] : tensor<64xbf16>, memref<?xbf16>
    gpu.return
  }
}
