// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assumptions about argument overlap of a kernel that writes arguments: the
// launch checks them.
// RUN: iris-opt %s --split-input-file --tile-insert-barriers | FileCheck %s
// RUN: iris-opt %s --split-input-file --tile-insert-barriers \
// RUN:   --test-verify-barriers -o /dev/null

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// In place, element by element: the same buffer is allowed. Nothing writes %x.
// CHECK-LABEL: @elementwise
// CHECK-SAME: iris.argument_overlaps = {same_or_disjoint = {{\[}}[0, 2], [1, 2]]}
// CHECK-NOT: gpu.barrier
func.func @elementwise(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %n step %c256 {
    %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32, #l>
    %b = tile.load %y[%i] : memref<?xf32> -> tensor<256xf32, #l>
    %c = arith.addf %a, %b : tensor<256xf32, #l>
    tile.store %c, %z[%i] : tensor<256xf32, #l>, memref<?xf32>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Windows at different offsets: %x and %z must not overlap. %y is not read.
// CHECK-LABEL: @shifted
// CHECK-SAME: iris.argument_overlaps = {disjoint = {{\[}}[0, 2]]}
// CHECK-NOT: gpu.barrier
func.func @shifted(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  %next = arith.addi %i, %c1 : index
  %a = tile.load %x[%next] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %a, %z[%i] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Only across iterations; a flag and data.
// CHECK-LABEL: @carried
// CHECK-SAME: iris.argument_overlaps = {disjoint = {{\[}}[1, 2], [1, 3]], same_or_disjoint
// CHECK-SAME: {{\[}}[2, 3]]
func.func @carried(%ctx: !iris.ctx, %f: memref<?xi32>, %x: memref<?xi32>, %z: memref<?xi32>, %n: index, %e: i32) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c300 = arith.constant 300 : index
  scf.for %i = %c0 to %n step %c256 {
    %a = tile.load %x[%i] : memref<?xi32> -> tensor<256xi32, #l>
    tile.store %a, %z[%i] : tensor<256xi32, #l>, memref<?xi32>
    iris.signal set %ctx, %e, %f[%c300] : i32, memref<?xi32>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Corresponding views of two arguments, and ones that do not correspond.
// CHECK-LABEL: @views
// CHECK-SAME: iris.argument_overlaps = {disjoint = {{\[}}[0, 2]], same_or_disjoint = {{\[}}[0, 1]]}
func.func @views(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %i: index, %j: index, %n: index) {
  %c0 = arith.constant 0 : index
  %from = memref.subview %x[%i] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %to = memref.subview %y[%i] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %other = memref.subview %z[%j] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %a = tile.load %from[%c0] : memref<?xf32, strided<[1], offset: ?>> -> tensor<256xf32, #l>
  tile.store %a, %to[%c0] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
  gpu.barrier
  %b = tile.load %from[%c0] : memref<?xf32, strided<[1], offset: ?>> -> tensor<256xf32, #l>
  tile.store %b, %other[%c0] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// No assumption if a barrier orders the accesses, if nothing is written, or if
// the kernel declares that it handles overlap.
// CHECK-LABEL: @ordered
// CHECK-NOT: iris.argument_overlaps
// CHECK: return
func.func @ordered(%x: memref<?xf32>, %z: memref<?xf32>, %i: index, %j: index) {
  %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32, #l>
  gpu.barrier
  tile.store %a, %z[%j] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// CHECK-LABEL: @reads
// CHECK-NOT: iris.argument_overlaps
// CHECK: return
func.func @reads(%x: memref<?xf32>, %z: memref<?xf32>, %i: index, %j: index)
    -> (tensor<256xf32, #l>, tensor<256xf32, #l>) {
  %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32, #l>
  %b = tile.load %z[%j] : memref<?xf32> -> tensor<256xf32, #l>
  return %a, %b : tensor<256xf32, #l>, tensor<256xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// CHECK-LABEL: @takes_care
// CHECK-NOT: iris.argument_overlaps
// CHECK: return
func.func @takes_care(%x: memref<?xf32>, %z: memref<?xf32>, %i: index, %j: index) attributes {iris.may_overlap} {
  %a = tile.load %x[%i] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %a, %z[%j] : tensor<256xf32, #l>, memref<?xf32>
  return
}
