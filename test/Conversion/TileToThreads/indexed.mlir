// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --convert-tile-to-threads \
// RUN:   --canonicalize --cse | FileCheck %s

#l = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Every element has its own coordinates, bounds and mask.
// CHECK-LABEL: @gather
// CHECK-SAME: %[[B:[^:]+]]: memref<?x?xf32>, %[[O:[^:]+]]: memref<512xf32>, %[[ROW:[^:]+]]: index, %[[M:[^:]+]]: i1, %[[PAD:[^:]+]]: f32
// CHECK: %[[ROW_IN:.+]] = arith.cmpi ult, %[[ROW]], %{{.+}}#0
// CHECK: %[[COL_IN:.+]] = arith.cmpi ult, %{{.+}}, %{{.+}}#1
// CHECK: %[[IN:.+]] = arith.andi %[[ROW_IN]], %[[COL_IN]]
// CHECK: %[[C:.+]] = arith.andi %[[IN]], %[[M]]
// CHECK: scf.if %[[C]] -> (f32) {
// CHECK: llvm.load
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[PAD]]
func.func @gather(%b: memref<?x?xf32>, %o: memref<512xf32>, %row: index,
                  %m: i1, %pad: f32) {
  %c0 = arith.constant 0 : index
  %rows = tensor.splat %row : tensor<512xindex, #l>
  %cols = tile.range : tensor<512xindex, #l>
  %mask = tensor.splat %m : tensor<512xi1, #l>
  %v = tile.gather %b[%rows, %cols] mask %mask else %pad
      : memref<?x?xf32>, tensor<512xindex, #l>, tensor<512xindex, #l>
      -> tensor<512xf32, #l>
  tile.store %v, %o[%c0] : tensor<512xf32, #l>, memref<512xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Only one of the threads that hold an element stores it.
// CHECK-LABEL: @scatter_duplicates
// CHECK: scf.if %{{.+}} {
// CHECK: scf.if %{{.+}} {
// CHECK: llvm.store volatile {{.*}} : i32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
func.func @scatter_duplicates(%b: memref<?xi32>, %v: i32) {
  %i = tile.range : tensor<16xindex, #l>
  %t = tensor.splat %v : tensor<16xi32, #l>
  tile.scatter %t, %b[%i] cache(wt)
      : tensor<16xi32, #l>, memref<?xi32>, tensor<16xindex, #l>
  return
}
