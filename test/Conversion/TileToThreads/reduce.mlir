// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --convert-tile-to-threads \
// RUN:   --canonicalize --cse | FileCheck %s

#l = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Neighbours first: registers, then lanes, then warps through shared memory.
// Narrow floats accumulate in f32 and are rounded once.
// CHECK: llvm.mlir.global internal @all__scratch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16 x i8>
// CHECK-LABEL: func.func @all(
// CHECK-SAME: %[[V:.+]]: f16
// CHECK: %[[E:.+]] = arith.extf %[[V]] : f16 to f32
// CHECK: %[[P:.+]] = arith.addf %[[E]], %[[E]] : f32
// CHECK: %[[Q:.+]] = arith.addf %[[P]], %[[P]] : f32
// CHECK-NOT: arith.addf
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32, %c64_i32 : i32
// CHECK: gpu.shuffle xor %{{.+}}, %c32_i32, %c64_i32 : i32
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store
// CHECK: gpu.barrier
// CHECK: %[[A:.+]] = llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[B:.+]] = llvm.load
// CHECK: %[[C:.+]] = llvm.load
// CHECK: %[[D:.+]] = llvm.load
// CHECK: %[[AB:.+]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[CD:.+]] = arith.addf %[[C]], %[[D]]
// CHECK: %[[S:.+]] = arith.addf %[[AB]], %[[CD]]
// CHECK: %[[R:.+]] = arith.truncf %[[S]] : f32 to f16
// CHECK: return %[[R]]
func.func @all(%v: f16) -> f16 {
  %t = tensor.splat %v : tensor<1024xf16, #l>
  %s = tile.reduce sum %t dim 0 : tensor<1024xf16, #l> -> f16
  return %s : f16
}

// -----

#l = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>

// Warps hold different rows: no shared memory.
// CHECK-NOT: __scratch
// CHECK-LABEL: @rows
// CHECK-COUNT-6: gpu.shuffle
// CHECK-NOT: gpu.barrier
func.func @rows(%v: i32, %b: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.splat %v : tensor<4x256xi32, #l>
  %s = tile.reduce umax %t dim 1 : tensor<4x256xi32, #l> -> tensor<4xi32, #tile.slice<dim = 1, parent = #l>>
  tile.store %s, %b[%c0] : tensor<4xi32, #tile.slice<dim = 1, parent = #l>>, memref<4xi32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [64, 1], warps_per_cta = [4, 1], order = [1, 0]>

// One thread holds a whole row.
// CHECK-LABEL: @within_thread
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-7: arith.maximumf
func.func @within_thread(%a: memref<256x8xf32>, %b: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %a[%c0, %c0] : memref<256x8xf32> -> tensor<256x8xf32, #l>
  %s = tile.reduce max %v dim 1 : tensor<256x8xf32, #l> -> tensor<256xf32, #tile.slice<dim = 1, parent = #l>>
  tile.store %s, %b[%c0] : tensor<256xf32, #tile.slice<dim = 1, parent = #l>>, memref<256xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Shuffles move 32 bits: an i64 takes two shuffles, an i8 is widened.
// CHECK-LABEL: @widths
// CHECK: arith.trunci %{{.+}} : i64 to i32
// CHECK-COUNT-12: gpu.shuffle xor {{.*}} : i32
// CHECK: arith.extui %{{.+}} : i8 to i32
// CHECK-COUNT-6: gpu.shuffle xor {{.*}} : i32
func.func @widths(%v: i64, %w: i8) -> (i64, i8) {
  %t = tensor.splat %v : tensor<64xi64, #l>
  %s = tile.reduce xor %t dim 0 : tensor<64xi64, #l> -> i64
  %u = tensor.splat %w : tensor<64xi8, #l>
  %x = tile.reduce sum %u dim 0 : tensor<64xi8, #l> -> i8
  return %s, %x : i64, i8
}

// -----

#l = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [1], order = [0]>

// Registers 0 and 1 are neighbours, registers 0 and 2 are 128 elements apart.
// Lanes divide the two sums among them, and add those of the last step: seven
// shuffles in place of twelve.
// CHECK-LABEL: @divided
// CHECK: %[[LOW:.+]] = arith.addf %[[X0:.+]], %[[X1:.+]] : f32
// CHECK: %[[HIGH:.+]] = arith.addf %[[X2:.+]], %[[X3:.+]] : f32
// CHECK: %[[ODD:.+]] = arith.cmpi ne
// CHECK-DAG: %[[SENT:.+]] = arith.select %[[ODD]], %[[LOW]], %[[HIGH]]
// CHECK-DAG: %[[KEPT:.+]] = arith.select %[[ODD]], %[[HIGH]], %[[LOW]]
// CHECK: arith.addf %[[KEPT]], %{{.+}} : f32
// CHECK: gpu.shuffle xor %{{.+}}, %c2_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c32_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK: %[[S:.+]] = arith.addf
// CHECK-NOT: gpu.shuffle
// CHECK: return %[[S]]
func.func @divided(%b: memref<256xf32>) -> f32 attributes {iris.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %b[%c0] : memref<256xf32> -> tensor<256xf32, #l>
  %s = tile.reduce sum %t dim 0 : tensor<256xf32, #l> -> f32
  return %s : f32
}

// Where the order does not matter, all registers come first.
// CHECK-LABEL: @any_order
// CHECK-COUNT-3: arith.maximumf
// CHECK-NOT: arith.select
// CHECK-COUNT-6: gpu.shuffle
// CHECK-NOT: gpu.shuffle
func.func @any_order(%b: memref<256xf32>) -> f32 attributes {iris.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %b[%c0] : memref<256xf32> -> tensor<256xf32, #l>
  %s = tile.reduce max %t dim 0 : tensor<256xf32, #l> -> f32
  return %s : f32
}

// -----

#l = #tile.linear<register = [[3]], lane = [[1], [4], [8], [16], [32], [64]], warp = []>

// The elements of register 1 are not the neighbours of register 0's, nor are
// those of lane 1: threads exchange elements first, if the order matters.
// CHECK-LABEL: @swizzled_sum
// CHECK-COUNT-2: gpu.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK-NOT: gpu.barrier
// CHECK-LABEL: @swizzled_max
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @swizzled_sum(%b: memref<128xf32>) -> f32 attributes {iris.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %b[%c0] : memref<128xf32> -> tensor<128xf32, #l>
  %s = tile.reduce sum %t dim 0 : tensor<128xf32, #l> -> f32
  return %s : f32
}
func.func @swizzled_max(%b: memref<128xf32>) -> f32 attributes {iris.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %b[%c0] : memref<128xf32> -> tensor<128xf32, #l>
  %s = tile.reduce max %t dim 0 : tensor<128xf32, #l> -> f32
  return %s : f32
}

// -----

#l = #tile.blocked<size_per_thread = [1, 4], threads_per_warp = [1, 64], warps_per_cta = [4, 1], order = [1, 0]>

// Neighbours are in different warps: all partial sums of the tile are exchanged,
// 16 KiB at a time.
// CHECK: @rounds__scratch() {{.*}} : !llvm.array<16384 x i8>
// CHECK-LABEL: @rounds(
// CHECK-COUNT-8: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @rounds(%a: memref<64x256xf32>, %b: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %v = tile.load %a[%c0, %c0] : memref<64x256xf32> -> tensor<64x256xf32, #l>
  %s = tile.reduce sum %v dim 0 : tensor<64x256xf32, #l> -> tensor<256xf32, #tile.slice<dim = 0, parent = #l>>
  tile.store %s, %b[%c0] : tensor<256xf32, #tile.slice<dim = 0, parent = #l>>, memref<256xf32>
  return
}
