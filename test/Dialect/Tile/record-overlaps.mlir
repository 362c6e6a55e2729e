// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels rely on with several threads, for the target with one; nothing
// else of them changes.
// RUN: iris-opt %s --split-input-file --tile-record-overlaps --verify-diagnostics | FileCheck %s
// RUN: iris-opt %s --split-input-file --tile-record-overlaps --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT-NOT: remark

// CHECK-LABEL: @elementwise
// CHECK-SAME: iris.argument_overlaps = {same_or_disjoint = {{\[}}[0, 1]]}
// CHECK: tile.load {{.*}} : memref<?xf32> -> tensor<256xf32>
// CHECK-NEXT: tile.store {{.*}} : tensor<256xf32>, memref<?xf32>
func.func @elementwise(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %n step %c256 {
    %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32>
    tile.store %a, %y[%i] : tensor<256xf32>, memref<?xf32>
  }
  return
}

// CHECK-LABEL: @shifted
// CHECK-SAME: iris.argument_overlaps = {disjoint = {{\[}}[0, 1]]}
// The second window of %z needs a barrier on GPUs, and has none here.
// CHECK-NOT: gpu.barrier
// CHECK-NOT: @shifted_
func.func @shifted(%x: memref<?xf32>, %z: memref<?xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  %next = arith.addi %i, %c1 : index
  %a = tile.load %x[%next] : memref<?xf32> -> tensor<256xf32>
  tile.store %a, %z[%i] : tensor<256xf32>, memref<?xf32>
  %b = tile.load %z[%next] : memref<?xf32> -> tensor<256xf32>
  tile.store %b, %z[%i] : tensor<256xf32>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A layout for waves of 64 threads says nothing about waves of 32.
// CHECK-LABEL: @pinned
// CHECK-SAME: iris.argument_overlaps = {same_or_disjoint = {{\[}}[0, 1]]}
func.func @pinned(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %a, %y[%i] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

// CHECK-LABEL: @takes_care
// CHECK-NOT: iris.argument_overlaps
// CHECK: return
func.func @takes_care(%x: memref<?xf32>, %z: memref<?xf32>, %i: index, %j: index) attributes {iris.may_overlap} {
  %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32>
  tile.store %a, %z[%j] : tensor<256xf32>, memref<?xf32>
  return
}

// -----

// CHECK-LABEL: @reads
// CHECK-NOT: iris.argument_overlaps
// CHECK: return
func.func @reads(%x: memref<?xf32>, %z: memref<?xf32>, %i: index, %j: index)
    -> (tensor<256xf32>, tensor<256xf32>) {
  %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32>
  %b = tile.load %z[%j] : memref<?xf32> -> tensor<256xf32>
  return %a, %b : tensor<256xf32>, tensor<256xf32>
}
