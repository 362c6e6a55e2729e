// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: emulator
// Threads that received their part of a packet publish nothing if another
// thread of the program did not. See packet_status.py.
// RUN: iris-compile %s --target=gfx942 --emit=obj -o %t.gfx942
// RUN: %python %S/packet_status.py %t.gfx942
// RUN: iris-compile %s --target=gfx950 --emit=obj -o %t.gfx950
// RUN: %python %S/packet_status.py %t.gfx950

gpu.module @kernels {
  gpu.func @forward(%ctx: !iris.ctx, %box: memref<?xi32, #iris.symmetric>,
                    %sent: memref<?xi32, #iris.symmetric>,
                    %out: memref<?xbf16, #iris.symmetric>,
                    %flag: memref<?xi32, #iris.symmetric>,
                    %peer: index, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = iris.packet_load %ctx, %box[%c0] flag(%epoch) owed_by(%peer)
        : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    iris.packet_store %ctx, %t, %sent[%c0] to %peer flag(%epoch)
        : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    iris.store %ctx, %t, %out[%c0] to %peer
        : tensor<2048xbf16>, memref<?xbf16, #iris.symmetric>
    iris.signal set %ctx, %epoch, %flag[%c0] to %peer
        : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
