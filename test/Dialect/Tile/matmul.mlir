// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-roundtrip | FileCheck %s
// RUN: iris-opt %s --cse --loop-invariant-code-motion --canonicalize=test-convergence=true \
// RUN:   | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: func.func @plain
// KEPT-LABEL: func.func @plain
func.func @plain(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>, %i: index, %k: index) -> tensor<128x64xf32> {
  // CHECK: tile.matmul %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] k(%{{.*}}) block(64) : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<128x64xf32>
  // Two equal matmuls are merged.
  // KEPT-COUNT-1: tile.matmul
  %c = tile.matmul %a[%i, %i], %b[%i, %i] k(%k) block(64)
      : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<128x64xf32>
  %d = tile.matmul %a[%i, %i], %b[%i, %i] k(%k) block(64)
      : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<128x64xf32>
  %e = arith.addf %c, %d : tensor<128x64xf32>
  // KEPT: return
  return %e : tensor<128x64xf32>
}

// CHECK-LABEL: func.func @types
// KEPT-LABEL: func.func @types
func.func @types(%f: memref<?x?xf32>, %q: memref<?x?xi8>, %i: index, %k: index, %z: tensor<32x32xi32>)
    -> (tensor<16x16xf32>, tensor<32x32xi32>, tensor<16x16xf32>) {
  // CHECK: tile.matmul {{.*}} k(%{{.*}}) block(16) precision(tf32) : memref<?x?xf32>
  %c = tile.matmul %f[%i, %i], %f[%i, %i] k(%k) block(16) precision(tf32)
      : memref<?x?xf32>, memref<?x?xf32> -> tensor<16x16xf32>
  // CHECK: tile.matmul {{.*}} block(32) init(%{{.*}}) : memref<?x?xi8>
  %d = tile.matmul %q[%i, %i], %q[%i, %i] k(%k) block(32) init(%z)
      : memref<?x?xi8>, memref<?x?xi8> -> tensor<32x32xi32>
  // CHECK: tile.matmul {{.*}} block(32) as(f8E4M3FN, f8E5M2) : memref<?x?xi8>
  %e = tile.matmul %q[%i, %i], %q[%i, %i] k(%k) block(32) as(f8E4M3FN, f8E5M2)
      : memref<?x?xi8>, memref<?x?xi8> -> tensor<16x16xf32>
  return %c, %d, %e : tensor<16x16xf32>, tensor<32x32xi32>, tensor<16x16xf32>
}

// CHECK-LABEL: func.func @columns
func.func @columns(%a: memref<?x?xf16>, %i: index, %z: tensor<64x256xf32>) -> tensor<64x256xf32> {
  // CHECK: tile.matmul {{.*}} block(64) columns(224) init(%{{.*}}) : memref<?x?xf16>
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) columns(224) init(%z)
      : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x256xf32>
  return %c : tensor<64x256xf32>
}

// A matmul whose region waits is neither merged nor moved nor removed.
// CHECK-LABEL: func.func @waits
// KEPT-LABEL: func.func @waits
func.func @waits(%ctx: !iris.ctx, %a: memref<?x?xf16>, %flags: memref<?xi32>, %i: index, %k: index, %v: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // KEPT: scf.for
  scf.for %t = %c0 to %k step %c1 {
    // KEPT: tile.matmul
    // CHECK: tile.matmul {{.*}} block(64) {
    // CHECK-NEXT: ^bb0(%[[KB:.*]]: index):
    // CHECK: iris.wait
    // CHECK: tile.yield %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16>
    // CHECK-NEXT: } : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    %c = tile.matmul %a[%i, %c0], %a[%c0, %i] k(%k) block(64) {
    ^bb0(%kb: index):
      // KEPT: iris.wait
      %seen = iris.wait %ctx, %flags[%kb] ge %v scope(gpu) : i32, memref<?xi32>
      tile.yield %a[%i, %kb] : memref<?x?xf16>
    } : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    // KEPT: tile.matmul
    %d = tile.matmul %a[%i, %c0], %a[%c0, %i] k(%k) block(64) {
    ^bb0(%kb: index):
      // KEPT: iris.wait
      %seen = iris.wait %ctx, %flags[%kb] ge %v scope(gpu) : i32, memref<?xi32>
      // CHECK: tile.yield %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16>, memref<?x?xf16>
      tile.yield %a[%i, %kb], %a[%kb, %i] : memref<?x?xf16>, memref<?x?xf16>
    } : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    // KEPT: tile.matmul
    %e = tile.matmul %a[%i, %c0], %a[%c0, %i] k(%k) block(64) {
    ^bb0(%kb: index):
      // KEPT: iris.wait
      %seen = iris.wait %ctx, %flags[%kb] ge %v scope(gpu) : i32, memref<?xi32>
      // CHECK: tile.yield{{$}}
      tile.yield
    } : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
  }
  return
}
