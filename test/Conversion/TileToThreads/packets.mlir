// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that a thread writes and waits for, in accesses of 16 bytes if the
// layout allows.
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(tile-assign-layouts{warp-size=64},convert-tile-to-threads{warp-size=64},canonicalize,cse))' --split-input-file --verify-diagnostics | FileCheck %s

#wide = #tile.blocked<size_per_thread = [8], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#narrow = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
gpu.module @kernels {
  // 8 contiguous bytes per thread and access: adjacent threads write adjacent
  // words.
  // CHECK-LABEL: gpu.func @chosen
  // CHECK: scf.if
  // CHECK: iris.write_packets {{.*}}[%{{[0-9]+}}, %{{[0-9]+}}] : vector<4xi32>, !llvm.ptr<1>
  // CHECK: iris.read_packets {{.*}}[%{{[0-9]+}}, %{{[0-9]+}}] flag(%{{.*}}) : !llvm.ptr<1> -> vector<4xi32>
  gpu.func @chosen(%ctx: !iris.ctx, %in: memref<2048xbf16>, %buf: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.load %in[%c0] : memref<2048xbf16> -> tensor<2048xbf16>
    iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    %u = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    tile.store %u, %in[%c0] : tensor<2048xbf16>, memref<2048xbf16>
    gpu.return
  }

  // A small tile: some threads write, all wait.
  // CHECK-LABEL: gpu.func @small
  // CHECK: scf.if
  // CHECK: scf.if
  // CHECK: iris.write_packets {{.*}}[%{{[0-9]+}}] : vector<2xi32>, !llvm.ptr<1>
  gpu.func @small(%ctx: !iris.ctx, %in: memref<16xi8>, %buf: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.load %in[%c0] : memref<16xi8> -> tensor<16xi8>
    iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<16xi8>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Rows of 2 bytes: adjacent in row-major order, over four rows.
  // CHECK-LABEL: gpu.func @rows
  // CHECK: iris.write_packets {{.*}}[%{{[0-9]+}}] : vector<2xi32>, !llvm.ptr<1>
  gpu.func @rows(%ctx: !iris.ctx, %in: memref<1024x2xi8>, %buf: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.load %in[%c0, %c0] : memref<1024x2xi8> -> tensor<1024x2xi8>
    iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<1024x2xi8>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // A pinned layout with 16 bytes: two accesses of 16 bytes; with 4: one of 8.
  // CHECK-LABEL: gpu.func @pinned
  // CHECK: iris.write_packets {{.*}}[%{{[0-9]+}}, %{{[0-9]+}}] : vector<4xi32>, !llvm.ptr<1>
  // CHECK: iris.write_packets {{.*}}[%{{[0-9]+}}] : vector<1xi32>, !llvm.ptr<1>
  gpu.func @pinned(%ctx: !iris.ctx, %a: memref<2048xbf16>, %b: memref<512xbf16>, %buf: memref<?xi32, #iris.symmetric>,
                   %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %t = tile.load %a[%c0] : memref<2048xbf16> -> tensor<2048xbf16, #wide>
    iris.packet_store %ctx, %t, %buf[%i] flag(%e) : tensor<2048xbf16, #wide>, memref<?xi32, #iris.symmetric>
    %u = tile.load %b[%c0] : memref<512xbf16> -> tensor<512xbf16, #narrow>
    iris.packet_store %ctx, %u, %buf[%i] flag(%e) : tensor<512xbf16, #narrow>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // More than 8 accesses: waits are in sequence.
  // CHECK-LABEL: gpu.func @large
  // CHECK-COUNT-2: iris.read_packets {{.*}} -> vector<16xi32>
  // CHECK-NOT: iris.read_packets
  gpu.func @large(%ctx: !iris.ctx, %out: memref<8192xf32>, %buf: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    %u = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<8192xf32>
    tile.store %u, %out[%c0] : tensor<8192xf32>, memref<8192xf32>
    gpu.return
  }
}

// -----

#bytes = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
gpu.module @kernels {
  gpu.func @split(%ctx: !iris.ctx, %out: memref<512xbf16>, %buf: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{gives a thread 2 contiguous bytes; expected at least 4}}
    %u = iris.packet_load %ctx, %buf[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<512xbf16, #bytes>
    tile.store %u, %out[%c0] : tensor<512xbf16, #bytes>, memref<512xbf16>
    gpu.return
  }
}
