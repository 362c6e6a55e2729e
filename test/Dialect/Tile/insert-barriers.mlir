// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --tile-insert-barriers | FileCheck %s
// RUN: iris-opt %s --split-input-file --tile-insert-barriers \
// RUN:   --test-verify-barriers -o /dev/null

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Another window of the same buffer: other threads' elements.
// CHECK-LABEL: @read_after_write
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @read_after_write(%b: memref<?xf32>, %i: index, %j: index,
                            %v: tensor<256xf32, #l>) -> tensor<256xf32, #l> {
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A load must complete before another thread overwrites its elements.
// CHECK-LABEL: @write_after_read
// CHECK: tile.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
func.func @write_after_read(%b: memref<?xf32>, %i: index, %j: index) {
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %w, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The same window in the same layout: every thread has its own elements.
// CHECK-LABEL: @same_window
// CHECK-NOT: gpu.barrier
func.func @same_window(%b: memref<?xf32>, %i: index) {
  %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
  %w = arith.addf %v, %v : tensor<256xf32, #l>
  tile.store %w, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %x = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %x, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#m = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// In another layout the elements belong to other threads.
// CHECK-LABEL: @other_layout
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @other_layout(%b: memref<?xf32>, %i: index, %v: tensor<512xf32, #l>)
    -> tensor<512xf32, #m> {
  tile.store %v, %b[%i] : tensor<512xf32, #l>, memref<?xf32>
  %w = tile.load %b[%i] : memref<?xf32> -> tensor<512xf32, #m>
  return %w : tensor<512xf32, #m>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A tile smaller than the workgroup: only some of the threads that load also
// store.
// CHECK-LABEL: @duplicates
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @duplicates(%b: memref<?xf32>, %i: index, %v: tensor<16xf32, #l>)
    -> tensor<16xf32, #l> {
  tile.store %v, %b[%i] : tensor<16xf32, #l>, memref<?xf32>
  %w = tile.load %b[%i] : memref<?xf32> -> tensor<16xf32, #l>
  return %w : tensor<16xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Different arguments; synchronization that orders the program.
// CHECK-LABEL: @no_conflict
// CHECK-NOT: gpu.barrier
func.func @no_conflict(%ctx: !iris.ctx, %a: memref<?xf32>, %b: memref<?xf32>,
                       %s: memref<?xi32, #iris.symmetric>, %i: index,
                       %j: index) {
  %v = tile.load %a[%i] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %v, %b[%j] : tensor<256xf32, #l>, memref<?xf32>
  iris.barrier %ctx, %s : memref<?xi32, #iris.symmetric>
  %w = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %w, %a[%j] : tensor<256xf32, #l>, memref<?xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The windows of a tile loop are on a grid: equal or disjoint.
// CHECK-LABEL: @grid
// CHECK-NOT: gpu.barrier
func.func @grid(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
                %n: index, %ranks: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %t = %c0 to %n step %c1 {
    %i = arith.muli %t, %c256 : index
    %v = tile.load %b[%i] : memref<?xf32, #iris.symmetric> -> tensor<256xf32, #l>
    scf.for %r = %c0 to %ranks step %c1 {
      %p = iris.translate %ctx, %b to %r
          : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
      tile.store %v, %p[%i] : tensor<256xf32, #l>, memref<?xf32, #iris.peer>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Windows that overlap from one iteration to the next.
// CHECK-LABEL: @carried
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NOT: gpu.barrier
func.func @carried(%b: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %v = tile.load %b[%t] : memref<?xf32> -> tensor<256xf32, #l>
    %u = arith.addi %t, %c1 : index
    tile.store %v, %b[%u] : tensor<256xf32, #l>, memref<?xf32>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The accesses of one branch count after it.
// CHECK-LABEL: @branch
// CHECK: scf.if
// CHECK: tile.store
// CHECK-NEXT: }
// CHECK: gpu.barrier
// CHECK-NEXT: tile.load
func.func @branch(%b: memref<?xf32>, %c: i1, %i: index, %j: index,
                  %v: tensor<256xf32, #l>) -> tensor<256xf32, #l> {
  scf.if %c {
    tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  }
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Scalars are read by every thread and written by every thread.
// CHECK-LABEL: @scalars
// CHECK: memref.load
// CHECK: gpu.barrier
// CHECK-NEXT: memref.store
func.func @scalars(%b: memref<?xi32>, %i: index) {
  %c1 = arith.constant 1 : i32
  %v = memref.load %b[%i] : memref<?xi32>
  %w = arith.addi %v, %c1 : i32
  memref.store %w, %b[%i] : memref<?xi32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// One thread executes all scalar atomics; those of a tile are windows like any
// other. Plain accesses are not ordered with them.
// CHECK-LABEL: @atomics
// CHECK: iris.atomic_rmw add
// CHECK-NEXT: iris.atomic_rmw xor
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.atomic_rmw max
// CHECK-NEXT: iris.atomic_rmw min
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
func.func @atomics(%ctx: !iris.ctx, %b: memref<?xi32>, %i: index, %j: index,
                   %v: i32, %t: tensor<256xi32, #l>) -> i32 {
  %0 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(relaxed) : i32, memref<?xi32>
  %1 = iris.atomic_rmw xor %ctx, %v, %b[%j] sem(relaxed) : i32, memref<?xi32>
  %2 = iris.atomic_rmw max %ctx, %t, %b[%i] sem(relaxed) : tensor<256xi32, #l>, memref<?xi32>
  %3 = iris.atomic_rmw min %ctx, %t, %b[%i] sem(relaxed) : tensor<256xi32, #l>, memref<?xi32>
  %4 = memref.load %b[%j] : memref<?xi32>
  return %4 : i32
}

// -----

#l = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Packets are ordered by their flags; only plain accesses to a packet's words
// need a barrier.
// CHECK-LABEL: @packets
// CHECK-NEXT: iris.packet_store
// CHECK-NEXT: iris.packet_load
// CHECK-NEXT: iris.packet_store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: iris.packet_load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.packet_load
func.func @packets(%ctx: !iris.ctx, %b: memref<?xi32>, %i: index, %e: i32, %f: i32, %v: tensor<1024xbf16, #l>) {
  iris.packet_store %ctx, %v, %b[%i] flag(%e) : tensor<1024xbf16, #l>, memref<?xi32>
  %0 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32> -> tensor<1024xbf16, #l>
  iris.packet_store %ctx, %0, %b[%i] flag(%f) : tensor<1024xbf16, #l>, memref<?xi32>
  %1 = tile.load %b[%i] : memref<?xi32> -> tensor<1024xi32, #l>
  %2 = iris.packet_load %ctx, %b[%i] flag(%f) : memref<?xi32> -> tensor<1024xbf16, #l>
  tile.store %1, %b[%i] : tensor<1024xi32, #l>, memref<?xi32>
  %3 = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32> -> tensor<1024xbf16, #l>
  return
}

// -----

// A matmul reads both operand tiles: other threads' earlier stores precede it,
// and their next stores follow it.
// CHECK-LABEL: @matmul
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.matmul
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: return
func.func @matmul(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %i: index, %v: tensor<64x64xf16, #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [8, 8], warps_per_cta = [4, 1], order = [1, 0]>>) {
  tile.store %v, %b[%i, %i] : tensor<64x64xf16, #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [8, 8], warps_per_cta = [4, 1], order = [1, 0]>>, memref<?x?xf16>
  %c = tile.matmul %a[%i, %i], %b[%i, %i] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
  tile.store %v, %a[%i, %i] : tensor<64x64xf16, #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [8, 8], warps_per_cta = [4, 1], order = [1, 0]>>, memref<?x?xf16>
  return
}

// -----

// The same holds for the operands that its region yields and for the region's
// loads: one barrier before the op, none in its loop.
// CHECK-LABEL: @matmul_region
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.matmul
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @matmul_region(%a: memref<?x?xf16>, %s: memref<?x?xf16>, %n: memref<?xindex>, %i: index, %v: tensor<64x64xf16, #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [8, 8], warps_per_cta = [4, 1], order = [1, 0]>>) {
  tile.store %v, %s[%i, %i] : tensor<64x64xf16, #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [8, 8], warps_per_cta = [4, 1], order = [1, 0]>>, memref<?x?xf16>
  %c = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block(64) {
  ^bb0(%kb: index):
    %k = memref.load %n[%kb] : memref<?xindex>
    tile.yield %s[%i, %k] : memref<?x?xf16>
  } : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A grid with an arbitrary start: windows differ by multiples of their extent,
// also if the offsets were narrowed to 32 bits.
// CHECK-LABEL: @shifted_grid
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @shifted_grid(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
                        %first: index, %n: i32, %ranks: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  scf.for %t = %c0_i32 to %n step %c1_i32 : i32 {
    %i = arith.muli %t, %c256 : i32
    %index = arith.index_castui %i : i32 to index
    %at = arith.addi %first, %index : index
    %v = tile.load %b[%at] : memref<?xf32, #iris.symmetric> -> tensor<256xf32, #l>
    scf.for %r = %c0 to %ranks step %c1 {
      %p = iris.translate %ctx, %b to %r
          : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
      tile.store %v, %p[%at] : tensor<256xf32, #l>, memref<?xf32, #iris.peer>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The grid starts elsewhere in every iteration.
// CHECK-LABEL: @moving_grid
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: tile.load
func.func @moving_grid(%b: memref<?xf32>, %starts: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  scf.for %t = %c0 to %n step %c1 {
    %first = memref.load %starts[%t] : memref<?xindex>
    %i = arith.muli %t, %c256 : index
    %at = arith.addi %first, %i : index
    %v = tile.load %b[%at] : memref<?xf32> -> tensor<256xf32, #l>
    tile.store %v, %b[%at] : tensor<256xf32, #l>, memref<?xf32>
  }
  return
}
