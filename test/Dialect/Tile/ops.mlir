// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-roundtrip | FileCheck %s

#blocked = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
#rows = #tile.slice<dim = 1, parent = #blocked>
#linear = #tile.linear<register = [[1], [2]], lane = [[4], [8]], warp = []>

// CHECK-DAG: #[[BLOCKED:.*]] = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], warps_per_cta = [4, 1], order = [1, 0]>
// CHECK-DAG: #[[LINEAR:.*]] = #tile.linear<register = {{.*}}1], [2]], lane = {{.*}}4], [8]], warp = []>
// CHECK-DAG: #[[ROWS:.*]] = #tile.slice<dim = 1, parent = {{.*}}>

// CHECK-LABEL: func.func @memory
func.func @memory(%b: memref<?x?xf16>, %i: index, %pad: f16) {
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16> -> tensor<8x256xf16, #[[BLOCKED]]>
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<8x256xf16, #blocked>
  // CHECK: tile.load {{.*}} else %{{.*}} cache(cg) volatile :
  %w = tile.load %b[%i, %i] else %pad cache(cg) volatile : memref<?x?xf16> -> tensor<8x256xf16, #blocked>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] cache(cs) :
  tile.store %v, %b[%i, %i] cache(cs) : tensor<8x256xf16, #blocked>, memref<?x?xf16>
  %x = tile.range : tensor<16xindex, #linear>
  return
}

// CHECK-LABEL: func.func @elements
func.func @elements(%b: memref<?x?xf16>, %x: tensor<16xindex>, %m: tensor<16xi1>, %pad: f16) {
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} else %{{.*}} : memref<?x?xf16>, tensor<16xindex>, tensor<16xindex> -> tensor<16xf16>
  %v = tile.gather %b[%x, %x] mask %m else %pad : memref<?x?xf16>, tensor<16xindex>, tensor<16xindex> -> tensor<16xf16>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} : tensor<16xf16>, memref<?x?xf16>, tensor<16xindex>, tensor<16xindex>
  tile.scatter %v, %b[%x, %x] mask %m : tensor<16xf16>, memref<?x?xf16>, tensor<16xindex>, tensor<16xindex>
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%v: tensor<8xf32, #rows>, %t: tensor<8x256xf16>) {
  // CHECK: tile.range : tensor<256xi32>
  %r = tile.range : tensor<256xi32>
  // CHECK: tile.expand_dims %{{.*}} dim 1 : tensor<8xf32, #[[ROWS]]> -> tensor<8x1xf32, #[[BLOCKED]]>
  %e = tile.expand_dims %v dim 1 : tensor<8xf32, #rows> -> tensor<8x1xf32, #blocked>
  // CHECK: tile.broadcast %{{.*}} : tensor<8x1xf32, #[[BLOCKED]]> -> tensor<8x256xf32, #[[BLOCKED]]>
  %b = tile.broadcast %e : tensor<8x1xf32, #blocked> -> tensor<8x256xf32, #blocked>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<8x256xf16> -> tensor<256x8xf16>
  %s = tile.transpose %t [1, 0] : tensor<8x256xf16> -> tensor<256x8xf16>
  // CHECK: tile.convert_layout %{{.*}} : tensor<8x256xf16> -> tensor<8x256xf16, #[[BLOCKED]]>
  %c = tile.convert_layout %t : tensor<8x256xf16> -> tensor<8x256xf16, #blocked>
  // CHECK: tile.reduce sum %{{.*}} dim 1 : tensor<8x256xf16> -> tensor<8xf32>
  %q = tile.reduce sum %t dim 1 : tensor<8x256xf16> -> tensor<8xf32>
  // CHECK: tile.reduce umax %{{.*}} dim 0 : tensor<256xi32> -> i32
  %m = tile.reduce umax %r dim 0 : tensor<256xi32> -> i32
  return
}
