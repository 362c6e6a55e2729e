// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule of each op: which accesses before it, of itself, and after it are
// ordered. docs/internals/memory-model.md has the table.
// RUN: iris-opt %s --split-input-file --tile-insert-barriers | FileCheck %s
// RUN: iris-opt %s --split-input-file --tile-insert-barriers \
// RUN:   --test-verify-barriers -o /dev/null

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A release orders the accesses before it, not its own access.
// CHECK-LABEL: @release
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.signal
// CHECK-NEXT: tile.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.atomic_rmw
// CHECK-NEXT: tile.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
// CHECK-NEXT: return
func.func @release(%ctx: !iris.ctx, %f: memref<?xi32>, %b: memref<?xf32>, %o: memref<?xf32>,
                   %e: i32, %i: index, %j: index, %v: tensor<256xf32, #l>)
    -> (i32, i32, tensor<256xf32, #l>, tensor<256xf32, #l>) {
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  iris.signal set %ctx, %e, %f[%i] : i32, memref<?xi32>
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  %0 = memref.load %f[%i] : memref<?xi32>
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %1 = iris.atomic_rmw add %ctx, %e, %f[%i] sem(release) : i32, memref<?xi32>
  %x = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  %2 = memref.load %f[%j] : memref<?xi32>
  return %0, %2, %w, %x : i32, i32, tensor<256xf32, #l>, tensor<256xf32, #l>
}

// -----

// Signals in a row share the release of the first one: the second does not
// order the first one's access.
// CHECK-LABEL: @row_of_signals
// CHECK-NEXT: iris.signal
// CHECK-NEXT: iris.signal
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
func.func @row_of_signals(%ctx: !iris.ctx, %f: memref<?xi32>, %g: memref<?xi32>, %e: i32, %i: index) -> i32 {
  iris.signal set %ctx, %e, %f[%i] : i32, memref<?xi32>
  iris.signal set %ctx, %e, %g[%i] : i32, memref<?xi32>
  %0 = memref.load %f[%i] : memref<?xi32>
  return %0 : i32
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// An acquire orders the accesses after it, and its own access is like any
// other.
// CHECK-LABEL: @acquire
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.atomic_rmw
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.atomic_cas
// CHECK-NEXT: memref.load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.atomic_cas
// CHECK-NEXT: memref.load
// CHECK-NEXT: return
func.func @acquire(%ctx: !iris.ctx, %b: memref<?xi32>, %e: i32, %v: tensor<256xi32, #l>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c200 = arith.constant 200 : index
  tile.store %v, %b[%c0] : tensor<256xi32, #l>, memref<?xi32>
  %0 = iris.atomic_rmw add %ctx, %e, %b[%c200] sem(acquire) : i32, memref<?xi32>
  tile.store %v, %b[%c0] : tensor<256xi32, #l>, memref<?xi32>
  %1 = iris.atomic_cas %ctx, %e, %e, %b[%c200] sem(acquire) : i32, memref<?xi32>
  %2 = memref.load %b[%c200] : memref<?xi32>
  // A release follows these by itself.
  tile.store %v, %b[%c0] : tensor<256xi32, #l>, memref<?xi32>
  %3 = iris.atomic_cas %ctx, %e, %e, %b[%c200] : i32, memref<?xi32>
  %4 = memref.load %b[%c200] : memref<?xi32>
  return %2, %4 : i32, i32
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A tile that is stored next to the flag does not matter to it.
// CHECK-LABEL: @apart
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @apart(%ctx: !iris.ctx, %b: memref<?xi32>, %e: i32, %n: index, %v: tensor<256xi32, #l>) -> i32 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  tile.store %v, %b[%c0] : tensor<256xi32, #l>, memref<?xi32>
  %0 = iris.atomic_rmw add %ctx, %e, %b[%c256] sem(acquire) : i32, memref<?xi32>
  tile.store %v, %b[%c0] : tensor<256xi32, #l>, memref<?xi32>
  scf.for %i = %c256 to %c512 step %c2 {
    %seen = iris.wait %ctx, %b[%i] ge %e : i32, memref<?xi32>
    iris.signal set %ctx, %e, %b[%i] sem(relaxed) : i32, memref<?xi32>
    tile.store %v, %b[%c0] : tensor<256xi32, #l>, memref<?xi32>
  }
  return %0 : i32
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A wait acquires, and reads its flag after the program's own stores.
// CHECK-LABEL: @waits
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.wait
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.wait
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.wait
// CHECK-NEXT: tile.load
// CHECK-NEXT: return
func.func @waits(%ctx: !iris.ctx, %f: memref<?xi32>, %b: memref<?xi32>, %e: i32, %i: index, %j: index,
                 %v: tensor<256xi32, #l>) -> (tensor<256xi32, #l>, tensor<256xi32, #l>) {
  tile.store %v, %b[%i] : tensor<256xi32, #l>, memref<?xi32>
  %0 = iris.wait %ctx, %b[%j] ge %e : i32, memref<?xi32>
  %w = tile.load %b[%j] : memref<?xi32> -> tensor<256xi32, #l>
  tile.store %v, %b[%j] : tensor<256xi32, #l>, memref<?xi32>
  // Waits in a row share the acquire of the last one: the first orders nothing
  // before the second one's read.
  %1 = iris.wait %ctx, %f[%j] ge %e : i32, memref<?xi32>
  %2 = iris.wait %ctx, %b[%i] ge %e : i32, memref<?xi32>
  %x = tile.load %b[%i] : memref<?xi32> -> tensor<256xi32, #l>
  return %w, %x : tensor<256xi32, #l>, tensor<256xi32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Relaxed ops order nothing.
// CHECK-LABEL: @relaxed
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.wait
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: iris.signal
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.atomic_rmw
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: iris.fence relaxed
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: iris.fence release
// CHECK-NEXT: tile.load
// CHECK-NEXT: iris.fence acquire
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: iris.expect_eq
// CHECK-NEXT: tile.load
// CHECK-NEXT: return
func.func @relaxed(%ctx: !iris.ctx, %f: memref<?xi32>, %b: memref<?xf32>, %e: i32, %i: index, %j: index,
                   %v: tensor<256xf32, #l>)
    -> (tensor<256xf32, #l>, tensor<256xf32, #l>, tensor<256xf32, #l>, tensor<256xf32, #l>) {
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %0 = iris.wait %ctx, %f[%i] ge %e sem(relaxed) : i32, memref<?xi32>
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  iris.signal set %ctx, %e, %f[%i] sem(relaxed) : i32, memref<?xi32>
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %1 = iris.atomic_rmw add %ctx, %e, %f[%i] sem(relaxed) : i32, memref<?xi32>
  %x = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  iris.fence relaxed
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  iris.fence release
  %y = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  iris.fence acquire
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  gpu.barrier
  iris.expect_eq %e, %e, "same" : i32
  %z = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  return %w, %x, %y, %z : tensor<256xf32, #l>, tensor<256xf32, #l>, tensor<256xf32, #l>, tensor<256xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// A flag of this rank, set through its address on some rank.
// CHECK-LABEL: @own_rank
// CHECK: iris.signal
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load
// CHECK: tile.store %{{.+}} memref<?xi32, #iris.peer>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: return
func.func @own_rank(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %e: i32, %r: index, %i: index,
                    %j: index, %v: tensor<256xi32, #l>) -> (i32, tensor<256xi32, #l>) {
  %p = iris.translate %ctx, %f to %r : memref<?xi32, #iris.symmetric> -> memref<?xi32, #iris.peer>
  iris.signal set %ctx, %e, %p[%i] : i32, memref<?xi32, #iris.peer>
  %0 = memref.load %f[%i] : memref<?xi32, #iris.symmetric>
  // The same window is each thread's own, on whichever rank.
  %w = tile.load %f[%i] : memref<?xi32, #iris.symmetric> -> tensor<256xi32, #l>
  tile.store %v, %p[%i] : tensor<256xi32, #l>, memref<?xi32, #iris.peer>
  %x = tile.load %f[%j] : memref<?xi32, #iris.symmetric> -> tensor<256xi32, #l>
  return %0, %x : i32, tensor<256xi32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Views of one buffer are disjoint where their bytes are.
// CHECK-LABEL: @bytes
// CHECK: iris.signal
// CHECK-NEXT: tile.load
// CHECK-NEXT: iris.signal
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: return
func.func @bytes(%ctx: !iris.ctx, %w: memref<?xi8>, %n: index, %e: i32, %i: index)
    -> (tensor<256xf32, #l>, tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  %odd = arith.andi %n, %c1 : index
  %half = arith.muli %odd, %c4096 : index
  %shift = arith.addi %half, %c256 : index
  %flags = memref.view %w[%c0][%c64] : memref<?xi8> to memref<?xi32>
  %more = memref.view %w[%c0][%c256] : memref<?xi8> to memref<?xi32>
  %data = memref.view %w[%shift][%n] : memref<?xi8> to memref<?xf32>
  iris.signal set %ctx, %e, %flags[%i] : i32, memref<?xi32>
  %v = tile.load %data[%i] : memref<?xf32> -> tensor<256xf32, #l>
  iris.signal set %ctx, %e, %more[%i] : i32, memref<?xi32>
  %x = tile.load %data[%c0] : memref<?xf32> -> tensor<256xf32, #l>
  return %v, %x : tensor<256xf32, #l>, tensor<256xf32, #l>
}
