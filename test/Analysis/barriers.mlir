// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --test-print-barriers

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Straight code: one barrier orders all that is pending.
func.func @windows(%b: memref<?xf32>, %other: memref<?xf32>, %i: index, %j: index, %v: tensor<256xf32, #l>) {
  // expected-note @+2 {{'tile.store' writes a window of shape 256 of a buffer, in the threads that hold the elements: their arguments or allocations differ}}
  // expected-note @+1 {{'tile.store' writes a window of shape 256 of a buffer, in the threads that hold the elements}}
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  // expected-remark @+1 {{no barrier before 'tile.load'}}
  %w = tile.load %other[%j] : memref<?xf32> -> tensor<256xf32, #l>
  // expected-remark @+1 {{barrier before 'tile.load', which reads a window of shape 256 of a buffer, in the threads that hold the elements}}
  %x = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Windows of one grid in nested loops are equal or disjoint; in the inner loop
// they are disjoint.
func.func @grid(%b: memref<?xf32>, %n: index, %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %t = %c0 to %n step %c1 {
    scf.for %u = %c0 to %n step %c1 {
      %s = arith.addi %t, %u : index
      %i = arith.muli %s, %c256 : index
      // expected-remark @+3 {{no barrier before 'tile.store'}}
      // expected-note @+2 {{in an earlier iteration of 'scf.for': they touch no common element}}
      // expected-note @+1 {{in an earlier iteration of 'scf.for': each common element is one thread's}}
      tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The condition says that the windows are apart.
func.func @condition(%b: memref<?xf32>, %i: index, %j: index, %v: tensor<256xf32, #l>) {
  %c256 = arith.constant 256 : index
  %end = arith.addi %i, %c256 : index
  %apart = arith.cmpi sle, %end, %j : index
  // expected-note @+1 {{'tile.store' writes a window of shape 256 of a buffer, in the threads that hold the elements: they touch no common element}}
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  scf.if %apart {
    // expected-remark @+1 {{no barrier before 'tile.load'}}
    %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Two halves of one buffer, as views.
func.func @views(%b: memref<1024xf32>, %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %low = memref.subview %b[0] [512] [1] : memref<1024xf32> to memref<512xf32, strided<[1]>>
  %high = memref.subview %b[512] [512] [1] : memref<1024xf32> to memref<512xf32, strided<[1], offset: 512>>
  // expected-note @+2 {{: they touch no common element}}
  // expected-note @+1 {{'tile.store' writes a window of shape 256 of a buffer}}
  tile.store %v, %low[%c0] : tensor<256xf32, #l>, memref<512xf32, strided<[1]>>
  // expected-remark @+1 {{no barrier before 'tile.load'}}
  %w = tile.load %high[%c0] : memref<512xf32, strided<[1], offset: 512>> -> tensor<256xf32, #l>
  // expected-remark @+1 {{barrier before 'tile.load', which reads a window}}
  %x = tile.load %low[%c128] : memref<512xf32, strided<[1]>> -> tensor<256xf32, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A rank's copy is another rank's element, unless the ranks may be equal.
func.func @ranks(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>, %i: index, %j: index, %r: index, %v: tensor<256xf32, #l>) {
  %c1 = arith.constant 1 : index
  %me = iris.rank %ctx : index
  %next = arith.addi %me, %c1 : index
  %there = iris.translate %ctx, %b to %next : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
  %any = iris.translate %ctx, %b to %r : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
  // expected-note @+2 {{'tile.store' writes a window of shape 256 of a buffer, in the threads that hold the elements: they touch no common element}}
  // expected-note @+1 {{'tile.store' writes a window of shape 256 of a buffer, in the threads that hold the elements}}
  tile.store %v, %there[%i] : tensor<256xf32, #l>, memref<?xf32, #iris.peer>
  // expected-remark @+1 {{no barrier before 'tile.load'}}
  %w = tile.load %b[%j] : memref<?xf32, #iris.symmetric> -> tensor<256xf32, #l>
  // expected-remark @+1 {{barrier before 'tile.load', which reads a window}}
  %x = tile.load %any[%j] : memref<?xf32, #iris.peer> -> tensor<256xf32, #l>
  return
}

// -----

// Scalar atomics are thread 0's; packets are ordered by their flags.
#p = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
func.func @kinds(%ctx: !iris.ctx, %b: memref<?xi32>, %q: memref<?xi32>, %i: index, %e: i32, %v: tensor<1024xbf16, #p>) {
  // expected-note @+1 {{'iris.atomic_rmw' updates one element of a buffer, in thread 0: thread 0 makes both}}
  %0 = iris.atomic_rmw add %ctx, %e, %b[%i] sem(relaxed) : i32, memref<?xi32>
  // expected-remark @+1 {{no barrier before 'iris.atomic_rmw'}}
  %1 = iris.atomic_rmw add %ctx, %e, %b[%i] sem(relaxed) : i32, memref<?xi32>
  gpu.barrier
  // expected-note @+1 {{'iris.packet_store' writes packets of any element of a buffer, in every thread: the flags of packets order them}}
  iris.packet_store %ctx, %v, %q[%i] flag(%e) : tensor<1024xbf16, #p>, memref<?xi32>
  // expected-remark @+1 {{no barrier before 'iris.packet_load'}}
  %2 = iris.packet_load %ctx, %q[%i] flag(%e) : memref<?xi32> -> tensor<1024xbf16, #p>
  return
}
