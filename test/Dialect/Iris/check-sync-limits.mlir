// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the checks stop, a remark says so.
// RUN: iris-opt %s --iris-check-sync --remarks-filter=iris-check-sync --remark-format=emitRemark \
// RUN:   --split-input-file --verify-diagnostics -o /dev/null
// RUN: iris-opt %s --iris-check-sync=max-ops=4 --split-input-file -o /dev/null \
// RUN:   --remarks-filter=iris-check-sync --remark-format=emitRemark 2>&1 | FileCheck %s
// CHECK: the program executes too many ops
// CHECK: the program executes too many ops
// CHECK: the program executes too many ops

!words = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @packets(%ctx: !iris.ctx, %b: memref<128xi32, #iris.symmetric>, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %epoch = memref.load %epochs[%c0] : !words
    %v = tensor.splat %epoch : tensor<64xi32>
    gpu.barrier
    // expected-remark @below {{'iris.packet_store' op is not followed by the checks of synchronization: its offset or flag is not known}}
    iris.packet_store %ctx, %v, %b[%c0] flag(%epoch) : tensor<64xi32>, memref<128xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Packets that do not fit are not stored.
gpu.module @kernels {
  gpu.func @packets(%ctx: !iris.ctx, %b: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %v = tensor.splat %epoch : tensor<64xi32>
    gpu.barrier
    gpu.barrier
    // expected-remark @below {{'iris.packet_store' op is not followed by the checks of synchronization: the size of its buffer is not known}}
    iris.packet_store %ctx, %v, %b[%c0] flag(%epoch) : tensor<64xi32>, !words
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @memory(%ctx: !iris.ctx, %b: !words, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %w = memref.load %b[%c0] : !words
    %isSet = arith.cmpi eq, %w, %epoch : i32
    gpu.barrier
    scf.if %isSet {
      // expected-remark @below {{'iris.wait' op is not followed by the checks of synchronization: whether, or how often, it is executed is not known}}
      %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    }
    gpu.return
  }
}
