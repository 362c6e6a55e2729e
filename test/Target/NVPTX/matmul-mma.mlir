// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matmuls of chips without WGMMA. ptxas must accept what LLVM writes, where
// there is one.
// RUN: iris-compile %s --target=sm_80 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_100a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_80 --emit=obj -o %t.sm_80
// RUN: iris-compile %s --target=sm_100a --emit=obj -o %t.sm_100a
// RUN: %if ptxas %{ llvm-readelf -S %t.sm_80 %t.sm_100a | FileCheck %s --check-prefix=CUBIN %}
// CUBIN-COUNT-2: .text.plain

gpu.module @kernels {
  // CHECK: .extern .shared .align 128 .b8 __iris_matmul_stages[];

  // Three blocks are on their way before the loop. In the loop: wait for the
  // oldest, one barrier, start the next copies, multiply. b is read transposed.
  // CHECK-LABEL: .visible .entry plain(
  // CHECK: .maxntid 256, 1, 1
  // CHECK-NOT: .local
  // CHECK: bar{{(rier)?}}.{{(cta.)?}}sync
  // CHECK: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16, %r{{[0-9]+}};
  // CHECK: cp.async.commit_group;
  // CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
  // CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  // CHECK-DAG: cp.async.wait_group {{(%r[0-9]+|2)}};
  // CHECK-DAG: st.global{{(.b32)?}}.v4
  gpu.func @plain(%a: memref<?x?xf16>, %b: memref<?x?xf16>,
      %c: memref<?x?xf16> {iris.divisibility = {pointer = 16, sizes = [1, 8]}},
      %i: index, %j: index, %k: index) kernel attributes {iris.num_warps = 8 : i32} {
    %z = arith.constant 0 : index
    %sum = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
    tile.store %h, %c[%i, %j] : tensor<128x128xf16>, memref<?x?xf16>
    gpu.return
  }

  // CHECK-LABEL: .visible .entry bf16(
  // CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
  gpu.func @bf16(%a: memref<?x?xbf16>, %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %sum = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(32)
        : memref<?x?xbf16>, memref<?x?xbf16> -> tensor<64x64xf32>
    tile.store %sum, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: .visible .entry tf32(
  // CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
  gpu.func @tf32(%a: memref<?x?xf32>, %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %sum = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(32) precision(tf32)
        : memref<?x?xf32>, memref<?x?xf32> -> tensor<64x64xf32>
    tile.store %sum, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // Exactly, that is without tensor cores.
  // CHECK-LABEL: .visible .entry f32(
  // CHECK-NOT: mma.sync
  // CHECK: fma.rn.f32
  gpu.func @f32(%a: memref<?x?xf32>, %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %sum = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(32)
        : memref<?x?xf32>, memref<?x?xf32> -> tensor<64x64xf32>
    tile.store %sum, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // Sums wrap.
  // CHECK-LABEL: .visible .entry i8(
  // CHECK-NOT: satfinite
  // CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
  gpu.func @i8(%a: memref<?x?xi8>, %b: memref<?x?xi8, strided<[1, ?]>>, %c: memref<?x?xi32>,
      %i: index, %k: index) kernel {
    %sum = tile.matmul %a[%i, %k], %b[%k, %i] k(%k) block(64)
        : memref<?x?xi8>, memref<?x?xi8, strided<[1, ?]>> -> tensor<64x64xi32>
    tile.store %sum, %c[%i, %i] : tensor<64x64xi32>, memref<?x?xi32>
    gpu.return
  }
}
