// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --tile-assign-layouts | FileCheck %s

// Sixteen bytes of a row per thread, lanes along the row, then waves.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-LABEL: @default
// CHECK: tile.load {{.*}} -> tensor<8x256xf16, #[[L]]>
// CHECK-NEXT: tile.store {{.*}} : tensor<8x256xf16, #[[L]]>
func.func @default(%b: memref<?x?xf16>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<8x256xf16>
  tile.store %v, %b[%i, %i] : tensor<8x256xf16>, memref<?x?xf16>
  return
}

// -----

// The widest element that is moved decides.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [8], order = [0]>
// CHECK-LABEL: @widest_element
// CHECK: tile.load {{.*}} -> tensor<4096xf16, #[[L]]>
// CHECK: arith.extf {{.*}} : tensor<4096xf16, #[[L]]> to tensor<4096xf32, #[[L]]>
func.func @widest_element(%a: memref<?xf16>, %b: memref<?xf32>, %i: index)
    attributes {iris.num_warps = 8 : i32} {
  %v = tile.load %a[%i] : memref<?xf16> -> tensor<4096xf16>
  %w = arith.extf %v : tensor<4096xf16> to tensor<4096xf32>
  tile.store %w, %b[%i] : tensor<4096xf32>, memref<?xf32>
  return
}

// -----

// All threads are used before any of them gets more elements.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
// CHECK-LABEL: @small
// CHECK: tile.load {{.*}} -> tensor<512xf16, #[[L]]>
func.func @small(%b: memref<?xf16>, %i: index) {
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<512xf16>
  tile.store %v, %b[%i] : tensor<512xf16>, memref<?xf16>
  return
}

// -----

// A tile smaller than the workgroup is replicated.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
// CHECK-LABEL: @tiny
// CHECK: tile.load {{.*}} -> tensor<16xi32, #[[L]]>
func.func @tiny(%b: memref<?xi32>, %i: index) {
  %v = tile.load %b[%i] : memref<?xi32> -> tensor<16xi32>
  tile.store %v, %b[%i] : tensor<16xi32>, memref<?xi32>
  return
}

// -----

// A loop-carried tile has one layout; a constant gets the layout of its use.
// CHECK-LABEL: @loop
// CHECK: %[[INIT:.+]] = arith.constant dense<0.000000e+00> : tensor<8x256xf32, #[[L:.+]]>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (tensor<8x256xf32, #[[L]]>)
// CHECK: scf.yield %{{.*}} : tensor<8x256xf32, #[[L]]>
// CHECK-NOT: tile.convert_layout
func.func @loop(%b: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1
      iter_args(%acc = %zero) -> tensor<8x256xf32> {
    %v = tile.load %b[%k, %c0] : memref<?x?xf32> -> tensor<8x256xf32>
    %s = arith.addf %acc, %v : tensor<8x256xf32>
    scf.yield %s : tensor<8x256xf32>
  }
  tile.store %sum, %b[%c0, %c0] : tensor<8x256xf32>, memref<?x?xf32>
  return
}

// -----

// A reduction yields a slice layout, which matches the tile it is subtracted
// from.
// CHECK: #[[L:.+]] = #tile.blocked
// CHECK: #[[S:.+]] = #tile.slice<dim = 1, parent = #[[L]]>
// CHECK-LABEL: @slice
// CHECK: tile.reduce max {{.*}} : tensor<8x256xf32, #[[L]]> -> tensor<8xf32, #[[S]]>
// CHECK: tile.expand_dims {{.*}} -> tensor<8x1xf32, #[[L]]>
// CHECK: tile.broadcast {{.*}} -> tensor<8x256xf32, #[[L]]>
// CHECK-NOT: tile.convert_layout
func.func @slice(%b: memref<?x?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf32> -> tensor<8x256xf32>
  %m = tile.reduce max %v dim 1 : tensor<8x256xf32> -> tensor<8xf32>
  %e = tile.expand_dims %m dim 1 : tensor<8xf32> -> tensor<8x1xf32>
  %f = tile.broadcast %e : tensor<8x1xf32> -> tensor<8x256xf32>
  %d = arith.subf %v, %f : tensor<8x256xf32>
  tile.store %d, %b[%i, %i] : tensor<8x256xf32>, memref<?x?xf32>
  return
}

// -----

// Sums of floats add neighbours first, so a thread gets consecutive rows: 16 of
// them. For a maximum, the rows of the warps alternate, as without a reduction.
// CHECK-DAG: #[[ROWS:.+]] = #tile.blocked<size_per_thread = [16, 4], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-DAG: #[[ANY:.+]] = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-LABEL: @columns
// CHECK: tile.reduce sum {{.*}} : tensor<128x128xf32, #[[ROWS]]>
// CHECK-LABEL: @columns_in_any_order
// CHECK: tile.reduce max {{.*}} : tensor<128x128xf32, #[[ANY]]>
func.func @columns(%b: memref<?x?xf32>, %o: memref<?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf32> -> tensor<128x128xf32>
  %s = tile.reduce sum %v dim 0 : tensor<128x128xf32> -> tensor<128xf32>
  tile.store %s, %o[%i] : tensor<128xf32>, memref<?xf32>
  return
}
func.func @columns_in_any_order(%b: memref<?x?xf32>, %o: memref<?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf32> -> tensor<128x128xf32>
  %s = tile.reduce max %v dim 0 : tensor<128x128xf32> -> tensor<128xf32>
  tile.store %s, %o[%i] : tensor<128xf32>, memref<?xf32>
  return
}

// -----

// The stored side of a transpose keeps wide accesses: threads exchange the
// tile.
// CHECK-LABEL: @transpose
// CHECK: %[[T:.+]] = tile.transpose {{.*}} -> tensor<256x8xf16, #[[T_LAYOUT:.+]]>
// CHECK: tile.convert_layout %[[T]] : tensor<256x8xf16, #[[T_LAYOUT]]> -> tensor<256x8xf16, #[[S_LAYOUT:.+]]>
// CHECK: tile.store {{.*}} : tensor<256x8xf16, #[[S_LAYOUT]]>
func.func @transpose(%b: memref<?x?xf16>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<8x256xf16>
  %t = tile.transpose %v [1, 0] : tensor<8x256xf16> -> tensor<256x8xf16>
  tile.store %t, %b[%i, %i] : tensor<256x8xf16>, memref<?x?xf16>
  return
}

// -----

#pin = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A pinned layout is respected, here by all tiles that are connected to it.
// CHECK: #[[PIN:.+]] = #tile.blocked<size_per_thread = [2], {{.*}}>
// CHECK-LABEL: @pinned
// CHECK: tile.load {{.*}} -> tensor<4096xf16, #[[PIN]]>
// CHECK: scf.if {{.*}} -> (tensor<4096xf16, #[[PIN]]>)
// CHECK: tile.gather {{.*}}, tensor<4096xindex, #[[PIN]]> -> tensor<4096xf16, #[[PIN]]>
func.func @pinned(%b: memref<?xf16>, %i: index, %c: i1) {
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<4096xf16, #pin>
  %w = scf.if %c -> tensor<4096xf16, #pin> {
    scf.yield %v : tensor<4096xf16, #pin>
  } else {
    %r = tile.range : tensor<4096xindex, #pin>
    %g = tile.gather %b[%r]
        : memref<?xf16>, tensor<4096xindex, #pin> -> tensor<4096xf16, #pin>
    scf.yield %g : tensor<4096xf16, #pin>
  }
  tile.store %w, %b[%i] : tensor<4096xf16, #pin>, memref<?xf16>
  return
}

// -----

#row = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
#col = #tile.blocked<size_per_thread = [8, 1], threads_per_warp = [1, 64], warps_per_cta = [1, 4], order = [0, 1]>

// Where two pinned layouts conflict, both are respected.
// CHECK-LABEL: @two_pins
// CHECK: %[[E:.+]] = tile.expand_dims
// CHECK-SAME: tensor<8x1xf32, #[[ROW:.+]]>
// CHECK: %[[C:.+]] = tile.convert_layout %[[E]] : tensor<8x1xf32, #[[ROW]]> -> tensor<8x1xf32, #[[COL:.+]]>
// CHECK: tile.broadcast %[[C]] : tensor<8x1xf32, #[[COL]]> -> tensor<8x256xf32, #[[COL]]>
func.func @two_pins(%b: memref<?x?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : memref<?x?xf32> -> tensor<8x256xf32, #row>
  %m = tile.reduce max %v dim 1 : tensor<8x256xf32, #row> -> tensor<8xf32>
  %e = tile.expand_dims %m dim 1 : tensor<8xf32> -> tensor<8x1xf32, #row>
  %f = tile.broadcast %e : tensor<8x1xf32, #row> -> tensor<8x256xf32, #col>
  tile.store %f, %b[%i, %i] : tensor<8x256xf32, #col>, memref<?x?xf32>
  return
}

// -----

// Gathers and scatters access element by element: neighbours are those of
// neighbouring threads.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
// CHECK-LABEL: @indexed
// CHECK: tile.gather {{.*}} -> tensor<1024xf32, #[[L]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.scatter {{.*}} : tensor<1024xf32, #[[L]]>
func.func @indexed(%b: memref<?xf32>, %n: index) {
  %i = tile.range dim 0 : tensor<1024xindex>
  %limit = tensor.splat %n : tensor<1024xindex>
  %m = arith.cmpi slt, %i, %limit : tensor<1024xindex>
  %v = tile.gather %b[%i] mask %m
      : memref<?xf32>, tensor<1024xindex> -> tensor<1024xf32>
  %w = arith.addf %v, %v : tensor<1024xf32>
  tile.scatter %w, %b[%i] mask %m
      : tensor<1024xf32>, memref<?xf32>, tensor<1024xindex>
  return
}

// -----

// Windows that are accessed too have their way.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
// CHECK-LABEL: @indexed_window
// CHECK: tile.gather {{.*}} -> tensor<1024xf32, #[[L]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.store {{.*}} : tensor<1024xf32, #[[L]]>
func.func @indexed_window(%b: memref<?xf32>, %n: index) {
  %i = tile.range dim 0 : tensor<1024xindex>
  %v = tile.gather %b[%i] : memref<?xf32>, tensor<1024xindex> -> tensor<1024xf32>
  tile.store %v, %b[%n] : tensor<1024xf32>, memref<?xf32>
  return
}

// -----

// Sums of floats add neighbours first: a thread gets them even of a gather.
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [4, 16], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-LABEL: @indexed_sums
// CHECK: tile.gather {{.*}} -> tensor<64x64xf32, #[[L]]>
// CHECK-NEXT: tile.reduce sum
func.func @indexed_sums(%b: memref<?x?xf32>, %o: memref<?xf32>, %n: index) {
  %i = tile.range dim 0 : tensor<64x64xindex>
  %j = tile.range dim 1 : tensor<64x64xindex>
  %v = tile.gather %b[%j, %i] : memref<?x?xf32>, tensor<64x64xindex>,
      tensor<64x64xindex> -> tensor<64x64xf32>
  %s = tile.reduce sum %v dim 1 : tensor<64x64xf32> -> tensor<64xf32>
  tile.store %s, %o[%n] : tensor<64xf32>, memref<?xf32>
  return
}

// -----

// Sixteen bytes of a column where the columns of all buffers are contiguous.
!columns = memref<?x?xf16, strided<[1, ?]>>
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [8, 1], threads_per_warp = [32, 2], warps_per_cta = [1, 4], order = [0, 1]>
// CHECK-LABEL: @column_major
// CHECK: tile.load {{.*}} -> tensor<256x8xf16, #[[L]]>
// CHECK-NEXT: tile.store {{.*}} : tensor<256x8xf16, #[[L]]>
func.func @column_major(%b: !columns, %i: index) {
  %v = tile.load %b[%i, %i] : !columns -> tensor<256x8xf16>
  tile.store %v, %b[%i, %i] : tensor<256x8xf16>, !columns
  return
}

// -----

// The dimension in the middle.
!middle = memref<?x?x?xf32, strided<[?, 1, ?]>>
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1, 4, 1], threads_per_warp = [2, 8, 4], warps_per_cta = [4, 1, 1], order = [1, 2, 0]>
// CHECK-LABEL: @middle
// CHECK: tile.load {{.*}} -> tensor<8x32x4xf32, #[[L]]>
func.func @middle(%b: !middle, %i: index) {
  %v = tile.load %b[%i, %i, %i] : !middle -> tensor<8x32x4xf32>
  return
}

// -----

// A thread has consecutive columns where their sums add neighbours first.
!columns = memref<?x?xf32, strided<[1, ?]>>
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [4, 16], threads_per_warp = [32, 2], warps_per_cta = [1, 4], order = [0, 1]>
// CHECK-LABEL: @column_major_sums
// CHECK: tile.reduce sum {{.*}} : tensor<128x128xf32, #[[L]]>
func.func @column_major_sums(%b: !columns, %o: memref<?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : !columns -> tensor<128x128xf32>
  %s = tile.reduce sum %v dim 1 : tensor<128x128xf32> -> tensor<128xf32>
  tile.store %s, %o[%i] : tensor<128xf32>, memref<?xf32>
  return
}

// -----

// Rows where a buffer has those, or strides that are not known.
!columns = memref<?x?xf32, strided<[1, ?]>>
!unknown = memref<?x?xf32, strided<[?, ?]>>
// CHECK: #[[L:.+]] = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-LABEL: @both
// CHECK: tile.load {{.*}} -> tensor<8x128xf32, #[[L]]>
// CHECK: tile.store {{.*}} : tensor<8x128xf32, #[[L]]>
// CHECK-LABEL: @unknown
// CHECK: tile.load {{.*}} -> tensor<8x128xf32, #[[L]]>
func.func @both(%b: !columns, %o: memref<?x?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : !columns -> tensor<8x128xf32>
  tile.store %v, %o[%i, %i] : tensor<8x128xf32>, memref<?x?xf32>
  return
}
func.func @unknown(%b: !unknown, %i: index) {
  %v = tile.load %b[%i, %i] : !unknown -> tensor<8x128xf32>
  return
}

// -----

// What is loaded by columns and stored transposed, by rows, stays in its thread.
!columns = memref<?x?xf32, strided<[1, ?]>>
// CHECK-DAG: #[[C:.+]] = #tile.blocked<size_per_thread = [4, 1], threads_per_warp = [16, 4], warps_per_cta = [1, 4], order = [0, 1]>
// CHECK-DAG: #[[R:.+]] = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [4, 16], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-LABEL: @transposed_columns
// CHECK: tile.transpose {{.*}} : tensor<64x64xf32, #[[C]]> -> tensor<64x64xf32, #[[R]]>
// CHECK-NEXT: tile.store {{.*}} : tensor<64x64xf32, #[[R]]>
func.func @transposed_columns(%b: !columns, %o: memref<?x?xf32>, %i: index) {
  %v = tile.load %b[%i, %i] : !columns -> tensor<64x64xf32>
  %t = tile.transpose %v [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %t, %o[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
  return
}
