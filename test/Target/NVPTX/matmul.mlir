// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s

// Tensor maps are parameters by value; after warp specialization, barriers are
// for the consumer warps only; the pipeline state is in registers.
gpu.module @kernels {
  // CHECK: .extern .shared .align 1024 .b8 __iris_matmul_ring[];
  // CHECK-LABEL: .visible .entry matmul(
  // CHECK: .param .u64 matmul_param_28,
  // CHECK-NEXT: .param .align 128 .b8 matmul_param_{{[0-9]+}}[128],
  // CHECK-NEXT: .param .align 128 .b8 matmul_param_{{[0-9]+}}[128]
  // CHECK: .maxntid 384, 1, 1
  // CHECK-NEXT: .minnctapersm 1
  // CHECK-NOT: .local
  // CHECK: mbarrier.init.shared::cta.b64
  // CHECK: bar{{(rier)?}}.{{(cta.)?}}sync{{.*}} 0;
  // CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 40;
  // CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 232;
  // CHECK-DAG: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
  // CHECK-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
  // CHECK-DAG: bar{{(rier)?}}.{{(cta.)?}}sync{{.*}} 1, 256;
  // CHECK-DAG: st.global{{(.b32)?}}.v4
  gpu.func @matmul(%ctx: !iris.ctx, %a: memref<?x?xf16>,
      %b: memref<?x?xf16, strided<[1, ?]>>, %ready: memref<?xi32>,
      %c: memref<?x?xf16> {iris.divisibility = {pointer = 16, sizes = [1, 8]}},
      %epoch: i32, %k: index) kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64) {
    ^bb0(%kb: index):
      %seen = iris.wait %ctx, %ready[%kb] ge %epoch : i32, memref<?xi32>
      tile.yield
    } : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<128x256xf32>
    %h = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xf16>
    tile.store %h, %c[%c0, %c0] : tensor<128x256xf16>, memref<?x?xf16>
    gpu.return
  }
}
