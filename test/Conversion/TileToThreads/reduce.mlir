// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --convert-tile-to-threads \
// RUN:   --canonicalize --cse | FileCheck %s

#l = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Registers in order, then lanes by halving shuffles, then warps through shared
// memory, in order again. Narrow floats accumulate in f32 and are rounded once.
// CHECK: llvm.mlir.global internal @all__scratch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x i8>
// CHECK-LABEL: func.func @all(
// CHECK-SAME: %[[V:.+]]: f16
// CHECK: %[[E:.+]] = arith.extf %[[V]] : f16 to f32
// CHECK: arith.addf %[[E]], %[[E]] : f32
// CHECK-COUNT-2: arith.addf %{{.+}}, %[[E]] : f32
// CHECK-NOT: arith.addf
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32, %c64_i32 : i32
// CHECK: gpu.shuffle xor %{{.+}}, %c32_i32, %c64_i32 : i32
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store
// CHECK: gpu.barrier
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[R:.+]] = arith.truncf %{{.+}} : f32 to f16
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
