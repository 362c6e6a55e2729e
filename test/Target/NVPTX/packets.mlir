// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packets: relaxed accesses of two 64-bit elements, no fence; the load is in the
// loop.
// RUN: iris-compile %s --target=sm_80 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_100a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s --check-prefix=FENCES
// FENCES-NOT: fence
// FENCES-NOT: membar

#narrow = #tile.blocked<size_per_thread = [2], threads_per_warp = [32], warps_per_cta = [4], order = [0]>
gpu.module @kernels {
  // 16 bytes per thread: two accesses, with only arithmetic between them.
  // CHECK-LABEL: .entry store(
  // CHECK: st.relaxed.sys.global.v2.b64 [{{.*}}], {lo, hi}
  // CHECK-NOT: {{bar\.|ld\.}}
  // CHECK: st.relaxed.sys.global.v2.b64 [{{.*}}], {lo, hi}
  // CHECK-NOT: {{bar\.|st\.}}
  // CHECK: ret;
  gpu.func @store(%ctx: !iris.ctx, %in: memref<?xf16>, %buf: memref<?xi32, #iris.symmetric>,
                  %r: index, %i: index, %e: i32) kernel {
    %t = tile.load %in[%i] : memref<?xf16> -> tensor<1024xf16>
    iris.packet_store %ctx, %t, %buf[%i] to %r flag(%e) : tensor<1024xf16>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Both loads before the first comparison; the clock is read in the loop,
  // which has no sleep. The wait status is unused, so there is no barrier.
  // CHECK-LABEL: .entry load(
  // CHECK: ld.relaxed.sys.global.v2.b64 {lo, hi}
  // CHECK-NOT: setp
  // CHECK: ld.relaxed.sys.global.v2.b64 {lo, hi}
  // CHECK: setp
  // CHECK-NOT: nanosleep
  // CHECK: %globaltimer
  // CHECK-NOT: bar.
  // CHECK: End function
  gpu.func @load(%ctx: !iris.ctx, %out: memref<?xf16>, %buf: memref<?xi32, #iris.symmetric>,
                 %r: index, %i: index, %e: i32) kernel {
    %t = iris.packet_load %ctx, %buf[%i] flag(%e) owed_by(%r) : memref<?xi32, #iris.symmetric> -> tensor<1024xf16>
    tile.store %t, %out[%i] : tensor<1024xf16>, memref<?xf16>
    gpu.return
  }

  // Something is published afterwards: a barrier comes first.
  // CHECK-LABEL: .entry forward(
  // CHECK-NOT: st.relaxed.sys
  // CHECK: bar.sync
  // CHECK: bar.sync
  // CHECK: st.relaxed.sys.global.v2.b64
  gpu.func @forward(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>,
                    %r: index, %i: index, %e: i32) kernel {
    %t = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<1024xf16>
    iris.packet_store %ctx, %t, %buf[%i] to %r flag(%e) : tensor<1024xf16>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // 4 bytes per thread: one access of 8.
  // CHECK-LABEL: .entry narrow(
  // CHECK: st.relaxed.sys.global.b64
  // CHECK-NOT: v2.b64
  // CHECK: ret;
  gpu.func @narrow(%ctx: !iris.ctx, %in: memref<?xf16>, %buf: memref<?xi32, #iris.symmetric>,
                   %i: index, %e: i32) kernel {
    %t = tile.load %in[%i] : memref<?xf16> -> tensor<256xf16, #narrow>
    iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<256xf16, #narrow>, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
