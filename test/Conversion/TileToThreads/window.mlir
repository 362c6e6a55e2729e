// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --tile-assign-layouts \
// RUN:   --convert-tile-to-threads --canonicalize --cse | FileCheck %s

// Nothing is known: one uniform condition selects one 16-byte access or eight
// guarded ones.
// CHECK-LABEL: @dynamic
// CHECK-SAME: (%[[B:.+]]: memref<?x?xf16>, %[[I:.+]]: index, %[[J:.+]]: index)
// CHECK-DAG: %[[P:.+]] = memref.extract_aligned_pointer_as_index %[[B]]
// CHECK-DAG: {{.*}}, %{{.+}}, %[[SIZES:.+]]:2, %[[STRIDES:.+]]:2 = memref.extract_strided_metadata %[[B]]
// Conditions that do not depend on the window come first: the row pitch and the
// pointer are multiples of 16 bytes, offsets fit 31 bits.
// CHECK: arith.andi %[[STRIDES]]#0, %c7
// CHECK: arith.andi %[[P]], %c15
// CHECK: arith.cmpi ule, %[[STRIDES]]#0, %c153391652
// CHECK: arith.andi %[[J]], %c7
// CHECK: arith.cmpi sge, %[[I]], %c0
// CHECK: arith.cmpi sge, %[[J]], %c0
// CHECK: arith.addi %[[SIZES]]#0, %c-8
// CHECK: arith.cmpi sle, %[[I]]
// CHECK: arith.addi %[[SIZES]]#1, %c-256
// CHECK: arith.cmpi sle, %[[J]]
// CHECK: %[[FAST:.+]] = arith.andi
// CHECK-NEXT: %[[V:.+]] = scf.if %[[FAST]] -> (vector<8xf16>)
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK: arith.cmpi ult, %{{.+}}, %[[SIZES]]#0
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
// CHECK: vector.from_elements
// CHECK: scf.if %[[FAST]] {
// CHECK: llvm.store %[[V]], {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
// CHECK-NEXT: } else {
// CHECK-COUNT-8: llvm.store {{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<1>
func.func @dynamic(%b: memref<?x?xf16>, %i: index, %j: index) {
  %v = tile.load %b[%i, %j] : memref<?x?xf16> -> tensor<8x256xf16>
  tile.store %v, %b[%i, %j] : tensor<8x256xf16>, memref<?x?xf16>
  return
}

// -----

// Everything is static: no condition at all.
// CHECK-LABEL: @static
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
func.func @static(%b: memref<64x64xf32> {iris.divisibility = 16 : i32},
                  %o: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %v = tile.load %b[%c32, %c0] : memref<64x64xf32> -> tensor<32x64xf32>
  tile.store %v, %o[%c0, %c0] : tensor<32x64xf32>, memref<?x?xf32>
  return
}

// -----

// Divisible arguments: only the bounds are checked.
// CHECK-LABEL: @divisible
// CHECK-NOT: arith.cmpi eq
// CHECK: scf.if
// CHECK: llvm.load {{.*}} {alignment = 16 : i64}
func.func @divisible(
    %b: memref<?x?xf16> {iris.divisibility = {pointer = 16 : i32,
                                              sizes = [1 : i32, 8 : i32]}},
    %t: index) {
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %i = arith.muli %t, %c8 : index
  %j = arith.muli %t, %c256 : index
  %v = tile.load %b[%i, %j] : memref<?x?xf16> -> tensor<8x256xf16>
  tile.store %v, %b[%i, %j] : tensor<8x256xf16>, memref<?x?xf16>
  return
}

// -----

// A peer's buffer has the extents, strides and alignment of the local one, so
// the condition is the same for all ranks and is hoisted out of loops over
// them.
// CHECK-LABEL: @peer
// CHECK-SAME: %[[B:[^:]+]]: memref<?xf16, #iris.symmetric>
// CHECK-DAG: memref.extract_strided_metadata %[[B]]
// CHECK-DAG: %[[OWN:.+]] = memref.extract_aligned_pointer_as_index %[[B]]
// CHECK-DAG: %[[T:.+]] = iris.translate
// CHECK-DAG: %[[PEER:.+]] = memref.extract_aligned_pointer_as_index %[[T]]
// CHECK-DAG: %[[INT:.+]] = arith.index_cast %[[PEER]]
// CHECK-DAG: %[[BASE:.+]] = llvm.inttoptr %[[INT]] : i64 to !llvm.ptr<1>
// CHECK: arith.andi %[[OWN]], %c15
// CHECK: scf.if
// CHECK: llvm.getelementptr %[[BASE]]
func.func @peer(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
                %i: index, %r: index) {
  %p = iris.translate %ctx, %b to %r
      : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
  %v = tile.load %p[%i] : memref<?xf16, #iris.peer> -> tensor<2048xf16>
  tile.store %v, %b[%i] : tensor<2048xf16>, memref<?xf16, #iris.symmetric>
  return
}

// -----

// The offset of a thread is unsigned and 32 bits wide, added to a uniform base:
// the form of AMD's scalar-base addressing. Constant differences between a
// thread's registers come last.
// CHECK-LABEL: @addresses
// CHECK: %[[WINDOW:.+]] = llvm.getelementptr %{{.+}}[%{{.+}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK: %[[OFFSET:.+]] = arith.extui %{{.+}} : i32 to i64
// CHECK-NEXT: %[[P:.+]] = llvm.getelementptr %[[WINDOW]][%[[OFFSET]]]
// CHECK-NEXT: llvm.load %[[P]]
// CHECK: %[[Q:.+]] = llvm.getelementptr %[[P]][4096] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK-NEXT: llvm.load %[[Q]]
func.func @addresses(%b: memref<1048576xf32> {iris.divisibility = 16 : i32},
                     %o: memref<?xf32>, %t: index) {
  %v = tile.load %b[%t] : memref<1048576xf32> -> tensor<2048xf32>
  tile.store %v, %o[%t] : tensor<2048xf32>, memref<?xf32>
  return
}

// -----

// Rows may be gigabytes apart: 64-bit offsets per thread.
// CHECK-LABEL: @wide
// CHECK: arith.extui %{{.+}} : i32 to i64
// CHECK: arith.muli %{{.+}}, %c1073741824_i64 : i64
// CHECK: llvm.load {{.*}} {alignment = 16 : i64}
func.func @wide(
    %b: memref<16x256xf16, strided<[536870912, 1]>> {iris.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : index
  %v = tile.load %b[%c0, %c0]
      : memref<16x256xf16, strided<[536870912, 1]>> -> tensor<8x256xf16>
  tile.store %v, %b[%c0, %c0]
      : tensor<8x256xf16>, memref<16x256xf16, strided<[536870912, 1]>>
  return
}

// -----

// A window that never fits has no form without checks. Groups of adjacent
// elements are checked as one if the pointer is aligned, since no row ends
// within a group.
// CHECK-LABEL: @never_inside
// CHECK-NOT: llvm.store
// CHECK: arith.andi %{{.+}}, %c15
// CHECK: %[[ALIGNED:.+]] = arith.cmpi eq
// CHECK: scf.if %[[ALIGNED]]
// CHECK: arith.cmpi ult, %{{.+}}, %c4 : index
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-NOT: vector<8xf16>, !llvm.ptr
// CHECK: llvm.store {{.*}} : f16, !llvm.ptr<1>
func.func @never_inside(%b: memref<4x256xf16>) {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.0> : tensor<8x256xf16>
  tile.store %v, %b[%c0, %c0] : tensor<8x256xf16>, memref<4x256xf16>
  return
}

// -----

// A tile smaller than the workgroup: several threads load an element, one
// stores it.
// CHECK-LABEL: @duplicates
// CHECK-DAG: %[[TID:.+]] = gpu.thread_id x upper_bound 256
// CHECK-DAG: %[[ID:.+]] = arith.index_castui %[[TID]]
// CHECK-DAG: %[[LANE:.+]] = arith.andi %[[ID]], %c63_i32
// CHECK-DAG: %[[WARP:.+]] = arith.shrui %[[ID]], %c6_i32
// CHECK: arith.andi %[[LANE]], %c48_i32
// CHECK: arith.andi %[[WARP]], %c3_i32
// CHECK: %[[OWNER:.+]] = arith.andi
// CHECK: scf.if %[[OWNER]] {
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<1>
func.func @duplicates(%b: memref<16xi32>) {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1> : tensor<16xi32>
  tile.store %v, %b[%c0] : tensor<16xi32>, memref<16xi32>
  return
}

// -----

// The value outside of the buffer.
// CHECK-LABEL: @else
// CHECK-SAME: %[[PAD:[^:]+]]: f32
// CHECK: } else {
// CHECK: llvm.load {{.*}} -> f32
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[PAD]] : f32
func.func @else(%pad: f32, %b: memref<?xf32>, %i: index) {
  %v = tile.load %b[%i] else %pad : memref<?xf32> -> tensor<1024xf32>
  tile.store %v, %b[%i] : tensor<1024xf32>, memref<?xf32>
  return
}

// -----

// Cache modifiers and volatile.
// CHECK-LABEL: @cache
// CHECK: llvm.load volatile {{.*}} -> vector<4xf32>
// CHECK: llvm.load volatile {{.*}} -> f32
// CHECK: llvm.store volatile {{.*}} : vector<4xf32>
// CHECK: llvm.store {{.*}} nontemporal} : vector<4xf32>
// CHECK: llvm.store volatile {{.*}} : vector<4xf32>
func.func @cache(%b: memref<?xf32>, %i: index) {
  %v = tile.load %b[%i] cache(cv) : memref<?xf32> -> tensor<1024xf32>
  tile.store %v, %b[%i] cache(wt) : tensor<1024xf32>, memref<?xf32>
  tile.store %v, %b[%i] cache(cs) : tensor<1024xf32>, memref<?xf32>
  tile.store %v, %b[%i] volatile : tensor<1024xf32>, memref<?xf32>
  return
}

// -----

// A thread with many elements moves single ones in a loop of 16 at a time, so
// that the code does not grow with the tile.
#many = #tile.blocked<size_per_thread = [64], threads_per_warp = [64], warps_per_cta = [1], order = [0]>

// CHECK-LABEL: @many_elements
// CHECK: scf.if
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<16xi8>
// CHECK: } else {
// Vectors that are inside or outside as a whole,
// CHECK: scf.if
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<1> -> vector<16xi8>
// or single elements: the latest come last.
// CHECK: } else {
// CHECK: scf.for %[[TURN:.+]] = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%[[OLD:.+]] = %{{.+}}) -> (vector<64xi8>)
// CHECK: arith.shli %[[TURN]], %c4_i32
// CHECK-COUNT-16: llvm.load {{.*}} : !llvm.ptr<1> -> i8
// CHECK-NOT: llvm.load
// CHECK: } {iris.element_loop, llvm.loop_annotation = {{.+}}}
// CHECK: } {iris.checked_form}
// Stores are the same.
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xi8>, !llvm.ptr<1>
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xi8>, !llvm.ptr<1>
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-16: llvm.store {{.*}} : i8, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: } {iris.element_loop, llvm.loop_annotation = {{.+}}}
gpu.module @m {
  gpu.func @many_elements(%a: memref<?xi8>, %b: memref<?xi8>, %i: index) kernel attributes {iris.num_warps = 1 : i32} {
    %v = tile.load %a[%i] : memref<?xi8> -> tensor<4096xi8, #many>
    tile.store %v, %b[%i] : tensor<4096xi8, #many>, memref<?xi8>
    gpu.return
  }
}
