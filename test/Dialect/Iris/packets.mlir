// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packets round-trip, and survive passes that merge, hoist and remove ops.
// RUN: iris-opt %s | iris-opt | FileCheck %s
// RUN: iris-opt %s --mlir-print-op-generic | iris-opt | FileCheck %s
// RUN: iris-opt %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s --check-prefix=KEPT
// RUN: iris-opt %s --iris-translate-pointers | FileCheck %s --check-prefix=MOVED

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @spelling
  // MOVED-LABEL: gpu.func @spelling
  gpu.func @spelling(%ctx: !iris.ctx, %t: tensor<2048xbf16>, %u: tensor<4x2xf64>,
                     %buf: memref<?xi32, #iris.symmetric>, %own: memref<64xi32>,
                     %peer: memref<?xi32, #iris.peer>, %i: index, %r: index, %e: i32) {
    // CHECK: iris.packet_store %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] to %{{.*}} flag(%{{.*}}) : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    // MOVED: %[[PEER:.+]] = iris.translate
    // MOVED: iris.packet_store %{{.*}}, %{{.*}}, %[[PEER]][%{{.*}}] flag(%{{.*}}) : tensor<2048xbf16>, memref<?xi32, #iris.peer>
    iris.packet_store %ctx, %t, %buf[%i] to %r flag(%e) : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    // CHECK: iris.packet_store %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] flag(%{{.*}}) : tensor<4x2xf64>, memref<64xi32>
    iris.packet_store %ctx, %u, %own[%i] flag(%e) : tensor<4x2xf64>, memref<64xi32>
    // CHECK: iris.packet_store {{.*}} : tensor<2048xbf16>, memref<?xi32, #iris.peer>
    iris.packet_store %ctx, %t, %peer[%i] flag(%e) : tensor<2048xbf16>, memref<?xi32, #iris.peer>
    // CHECK: iris.packet_load %{{.*}}, %{{.*}}[%{{.*}}] flag(%{{.*}}) owed_by(%{{.*}}) : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    %a = iris.packet_load %ctx, %buf[%i] flag(%e) owed_by(%r) : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    // CHECK: iris.packet_load %{{.*}}, %{{.*}}[%{{.*}}] flag(%{{.*}}) : memref<64xi32> -> tensor<16xi8>
    %b = iris.packet_load %ctx, %own[%i] flag(%e) : memref<64xi32> -> tensor<16xi8>
    // CHECK: iris.packet_load %{{.*}}, %{{.*}}[%{{.*}}] flag(%{{.*}}) owed_by_members(8) : memref<?xi32, #iris.symmetric> -> tensor<8x64xbf16>
    %c = iris.packet_load %ctx, %buf[%i] flag(%e) owed_by_members(8) : memref<?xi32, #iris.symmetric> -> tensor<8x64xbf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @threads
  gpu.func @threads(%ctx: !iris.ctx, %w: vector<4xi32>, %p: !llvm.ptr<1>, %o: i32, %r: index, %e: i32) {
    // CHECK: iris.write_packets %{{.*}} flag(%{{.*}}), %{{.*}}[%{{.*}}, %{{.*}}] : vector<4xi32>, !llvm.ptr<1>
    iris.write_packets %w flag(%e), %p[%o, %o] : vector<4xi32>, !llvm.ptr<1>
    // CHECK: iris.read_packets %{{.*}}, %{{.*}}[%{{.*}}] flag(%{{.*}}) owed_by(%{{.*}}) : !llvm.ptr<1> -> vector<1xi32>
    %x = iris.read_packets %ctx, %p[%o] flag(%e) owed_by(%r) : !llvm.ptr<1> -> vector<1xi32>
    // CHECK: iris.read_packets %{{.*}}, %{{.*}}[%{{.*}}] flag(%{{.*}}) member_bytes 512 : !llvm.ptr<1> -> vector<1xi32>
    %y = iris.read_packets %ctx, %p[%o] flag(%e) member_bytes 512 : !llvm.ptr<1> -> vector<1xi32>
    // CHECK: iris.leave_if_failed
    iris.leave_if_failed
    gpu.return
  }

  // A wait for a packet is kept although its data are unused, and two equal
  // ones are not merged: the packet may have changed.
  // KEPT-LABEL: gpu.func @waits
  // KEPT: iris.packet_load
  // KEPT: iris.packet_load
  // KEPT: gpu.return
  gpu.func @waits(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) kernel {
    %a = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    %b = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    gpu.return
  }

  // Neither is hoisted out of a loop that may not run, or whose iterations wait
  // for peers.
  // KEPT-LABEL: gpu.func @loop
  // KEPT: scf.for
  // KEPT-NEXT: iris.packet_store
  // KEPT-NEXT: iris.packet_load
  // KEPT-NEXT: iris.packet_store
  // KEPT-NEXT: }
  gpu.func @loop(%ctx: !iris.ctx, %v: memref<?xf32>, %buf: memref<?xi32, #iris.symmetric>,
                 %n: index, %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tile.load %v[%i] : memref<?xf32> -> tensor<64xf32>
    scf.for %k = %c0 to %n step %c1 {
      iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<64xf32>, memref<?xi32, #iris.symmetric>
      %a = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
      iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<64xf32>, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }

  // Loads on both sides of a packet stay: a peer may have published new data.
  // KEPT-LABEL: gpu.func @across
  // KEPT: tile.load
  // KEPT: iris.packet_load
  // KEPT: tile.load
  gpu.func @across(%ctx: !iris.ctx, %v: memref<?xf32>, %buf: memref<?xi32, #iris.symmetric>,
                   %i: index, %e: i32) kernel {
    %a = tile.load %v[%i] : memref<?xf32> -> tensor<64xf32>
    %p = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<64xf32>
    %b = tile.load %v[%i] : memref<?xf32> -> tensor<64xf32>
    %c = arith.addf %a, %b : tensor<64xf32>
    tile.store %c, %v[%i] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }
}
