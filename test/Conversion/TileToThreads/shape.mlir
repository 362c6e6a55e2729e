// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --convert-tile-to-threads \
// RUN:   --canonicalize --cse | FileCheck %s

#row = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>

// A tile becomes the vector of one thread's elements; elementwise ops stay.
// CHECK-LABEL: @elementwise
// CHECK-SAME: %[[S:.+]]: f32
// CHECK: %[[V:.+]] = vector.broadcast %[[S]] : f32 to vector<8xf32>
// CHECK: %[[W:.+]] = math.exp %[[V]] fastmath<nnan> : vector<8xf32>
// CHECK: %[[C:.+]] = arith.cmpf olt, %[[W]], %[[V]] : vector<8xf32>
// CHECK: arith.select %[[C]], %[[V]], %[[W]] : vector<8xi1>, vector<8xf32>
func.func @elementwise(%s: f32, %b: memref<8x256xf32>) {
  %c0 = arith.constant 0 : index
  %v = tensor.splat %s : tensor<8x256xf32, #row>
  %w = math.exp %v fastmath<nnan> : tensor<8x256xf32, #row>
  %c = arith.cmpf olt, %w, %v : tensor<8x256xf32, #row>
  %r = arith.select %c, %v, %w : tensor<8x256xi1, #row>, tensor<8x256xf32, #row>
  tile.store %r, %b[%c0, %c0] : tensor<8x256xf32, #row>, memref<8x256xf32>
  return
}

// -----

#row = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>

// Coordinates: the thread's base, and a constant per register.
// CHECK-LABEL: @range
// CHECK-DAG: %[[COL:.+]] = arith.constant dense<[0, 1, 2, 3, 0, 1, 2, 3]> : vector<8xi32>
// CHECK-DAG: arith.shli %{{.+}}, %c2_i32 : i32
// CHECK: %[[B:.+]] = vector.broadcast %{{.+}} : i32 to vector<8xi32>
// CHECK: arith.xori %[[B]], %[[COL]]
func.func @range(%b: memref<8x256xi32>) {
  %c0 = arith.constant 0 : index
  %r = tile.range dim 1 : tensor<8x256xi32, #row>
  tile.store %r, %b[%c0, %c0] : tensor<8x256xi32, #row>, memref<8x256xi32>
  return
}

// -----

#row = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>

// Two registers per row are repeated four times: no exchange between threads.
// CHECK-LABEL: @broadcast
// CHECK: %[[R:.+]] = scf.if {{.*}} -> (vector<2xf32>)
// CHECK: vector.shuffle %[[R]], %[[R]] [0, 0, 0, 0, 1, 1, 1, 1] : vector<2xf32>, vector<2xf32>
// CHECK-NOT: gpu.barrier
func.func @broadcast(%a: memref<?xf32>, %b: memref<8x256xf32>) {
  %c0 = arith.constant 0 : index
  %r = tile.load %a[%c0] : memref<?xf32> -> tensor<8xf32, #tile.slice<dim = 1, parent = #row>>
  %e = tile.expand_dims %r dim 1 : tensor<8xf32, #tile.slice<dim = 1, parent = #row>> -> tensor<8x1xf32, #row>
  %f = tile.broadcast %e : tensor<8x1xf32, #row> -> tensor<8x256xf32, #row>
  tile.store %f, %b[%c0, %c0] : tensor<8x256xf32, #row>, memref<8x256xf32>
  return
}

// -----

#a = #tile.linear<register = [[0, 1], [0, 2], [1, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[2, 0], [4, 0]]>
#b = #tile.linear<register = [[1, 0], [0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[2, 0], [4, 0]]>

// Registers in another order.
// CHECK-LABEL: @renumber
// CHECK: vector.shuffle {{.*}} [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK-NOT: gpu.barrier
func.func @renumber(%b: memref<8x256xf32>, %c: memref<8x256xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %b[%c0, %c0] : memref<8x256xf32> -> tensor<8x256xf32, #a>
  %w = tile.convert_layout %v : tensor<8x256xf32, #a> -> tensor<8x256xf32, #b>
  tile.store %w, %c[%c0, %c0] : tensor<8x256xf32, #b>, memref<8x256xf32>
  return
}

// -----

#row = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>
#col = #tile.blocked<size_per_thread = [8, 1], threads_per_warp = [1, 64], warps_per_cta = [1, 4], order = [0, 1]>

// Elements of other threads are exchanged through shared memory: one buffer per
// kernel, and a barrier before and after it is written.
// CHECK: llvm.mlir.global internal @exchange__scratch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8192 x i8>
// CHECK-LABEL: func.func @exchange(
// CHECK: %[[S:.+]] = llvm.mlir.addressof @exchange__scratch : !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> f32
func.func @exchange(%b: memref<8x256xf32>, %c: memref<8x256xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %b[%c0, %c0] : memref<8x256xf32> -> tensor<8x256xf32, #row>
  %w = tile.convert_layout %v : tensor<8x256xf32, #row> -> tensor<8x256xf32, #col>
  tile.store %w, %c[%c0, %c0] : tensor<8x256xf32, #col>, memref<8x256xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Control flow carries registers.
// CHECK-LABEL: @control_flow
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<1xf32>)
// CHECK: arith.select {{.*}} : vector<1xf32>
// CHECK: scf.while {{.*}} : (vector<1xf32>) -> vector<1xf32>
func.func @control_flow(%b: memref<256xf32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = tile.load %b[%c0] : memref<256xf32> -> tensor<256xf32, #l>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %v) -> tensor<256xf32, #l> {
    %t = arith.addf %a, %v : tensor<256xf32, #l>
    scf.yield %t : tensor<256xf32, #l>
  }
  %i = scf.if %c -> tensor<256xf32, #l> {
    scf.yield %s : tensor<256xf32, #l>
  } else {
    scf.yield %v : tensor<256xf32, #l>
  }
  %w = scf.while (%x = %i) : (tensor<256xf32, #l>) -> tensor<256xf32, #l> {
    %m = tile.reduce max %x dim 0 : tensor<256xf32, #l> -> f32
    %lim = arith.constant 10.0 : f32
    %go = arith.cmpf olt, %m, %lim : f32
    scf.condition(%go) %x : tensor<256xf32, #l>
  } do {
  ^bb0(%x: tensor<256xf32, #l>):
    %y = arith.addf %x, %x : tensor<256xf32, #l>
    scf.yield %y : tensor<256xf32, #l>
  }
  tile.store %w, %b[%c0] : tensor<256xf32, #l>, memref<256xf32>
  return
}
