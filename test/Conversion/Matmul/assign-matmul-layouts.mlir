// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --tile-assign-matmul-layouts=target=gfx942 --tile-assign-layouts \
// RUN:   | FileCheck %s --check-prefixes=CHECK,MFMA
// RUN: iris-opt %s --tile-assign-matmul-layouts=target=gfx1100 --tile-assign-layouts=warp-size=32 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,WMMA

// A lane holds 8 adjacent elements of a row: 4 of one instruction and 4 of
// another (MFMA), or 8 of one (WMMA). The epilogue uses the same layout: no
// conversion.
// MFMA: #[[L:.+]] = #tile.linear<register = {{\[\[}}0, 1], [0, 2], [0, 4], [16, 0]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], warp = {{\[\[}}0, 32], [32, 0]]>
// WMMA: #[[L:.+]] = #tile.linear<register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 16], [16, 0]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 8]], warp = {{\[\[}}0, 32], [32, 0]]>
// CHECK: #[[S:.+]] = #tile.slice<dim = 0, parent = #[[L]]>
// CHECK-LABEL: @epilogue
// CHECK: tile.matmul {{.*}} {tile.result_layout = #[[L]]} {{.*}} -> tensor<64x64xf32, #[[L]]>
// CHECK-NEXT: tile.load {{.*}} -> tensor<64xf32, #[[S]]>
// CHECK-NEXT: tile.expand_dims
// CHECK-NEXT: tile.broadcast
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: tile.store {{.*}} : tensor<64x64xf16, #[[L]]>
func.func @epilogue(%a: memref<?x?xf16>, %c: memref<?x?xf16>,
                    %bias: memref<?xf32>, %i: index, %j: index, %k: index) {
  %z = arith.constant 0 : index
  %sum = tile.matmul %a[%i, %z], %a[%z, %j] k(%k) block(32)
      : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
  %v = tile.load %bias[%j] : memref<?xf32> -> tensor<64xf32>
  %e = tile.expand_dims %v dim 0 : tensor<64xf32> -> tensor<1x64xf32>
  %w = tile.broadcast %e : tensor<1x64xf32> -> tensor<64x64xf32>
  %s = arith.addf %sum, %w : tensor<64x64xf32>
  %r = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %r, %c[%i, %j] : tensor<64x64xf16>, memref<?x?xf16>
  return
}

// Values carried from one matmul to the next need no conversion either.
// CHECK-LABEL: @init
// CHECK: %[[C:.+]] = tile.load {{.*}} -> tensor<64x64xf32, #[[L]]>
// CHECK-NEXT: scf.for {{.*}} iter_args(%[[ACC:.+]] = %[[C]])
// CHECK-NEXT: tile.matmul {{.*}} init(%[[ACC]])
// CHECK-NOT: convert_layout
// CHECK: tile.store
func.func @init(%a: memref<?x?xf16>, %c: memref<?x?xf32>, %i: index, %k: index) {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %first = tile.load %c[%i, %i] : memref<?x?xf32> -> tensor<64x64xf32>
  %last = scf.for %n = %z to %k step %one iter_args(%acc = %first) -> tensor<64x64xf32> {
    %next = tile.matmul %a[%n, %z], %a[%z, %n] k(%k) block(32) init(%acc)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tile.store %last, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
  return
}
