// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --convert-tile-to-threads \
// RUN:   --canonicalize --cse | FileCheck %s

#l = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// The ordering of a tile atomic is that of the program: fences around all
// elements, which are relaxed. Elements outside the buffer are unchanged.
// CHECK-LABEL: @rmw
// CHECK: iris.fence release
// CHECK-COUNT-2: iris.element_rmw add {{.*}} : i32
// CHECK-NOT: iris.element_rmw
// CHECK: iris.fence acquire
func.func @rmw(%ctx: !iris.ctx, %v: i32, %b: memref<?xi32>, %i: index,
               %o: memref<512xi32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.splat %v : tensor<512xi32, #l>
  %old = iris.atomic_rmw add %ctx, %t, %b[%i] : tensor<512xi32, #l>, memref<?xi32>
  tile.store %old, %o[%c0] : tensor<512xi32, #l>, memref<512xi32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Relaxed: no fences. One of the threads that hold an element updates it; the
// other threads get the old value from it.
// CHECK-LABEL: @cas_duplicates
// CHECK-NOT: iris.fence
// CHECK: scf.if
// CHECK: iris.element_cas {{.*}} scope(gpu) : f32
// CHECK-NOT: iris.fence
// CHECK: gpu.barrier
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
func.func @cas_duplicates(%ctx: !iris.ctx, %v: f32, %b: memref<?xf32>,
                          %i: index) -> f32 {
  %t = tensor.splat %v : tensor<16xf32, #l>
  %old = iris.atomic_cas %ctx, %t, %t, %b[%i] sem(relaxed) scope(gpu)
      : tensor<16xf32, #l>, memref<?xf32>
  %m = tile.reduce max %old dim 0 : tensor<16xf32, #l> -> f32
  return %m : f32
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Masked-out elements are unchanged.
// CHECK-LABEL: @masked
// CHECK-SAME: %[[M:[^:]+]]: i1
// CHECK: arith.andi %{{.+}}, %[[M]] : i1
// CHECK: iris.element_rmw xchg
func.func @masked(%ctx: !iris.ctx, %m: i1, %v: i32, %b: memref<?xi32>,
                  %i: index) {
  %t = tensor.splat %v : tensor<256xi32, #l>
  %mask = tensor.splat %m : tensor<256xi1, #l>
  %old = iris.atomic_rmw xchg %ctx, %t, %b[%i] mask %mask
      : tensor<256xi32, #l>, memref<?xi32>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Each element has its own coordinates and bounds check.
// CHECK-LABEL: @coordinates
// CHECK: arith.cmpi ult, %[[I:.+]], %{{.+}} : index
// CHECK: arith.muli %[[I]]
// CHECK: iris.element_rmw add
// CHECK: arith.cmpi ult, %[[J:.+]], %{{.+}} : index
// CHECK: arith.muli %[[J]]
// CHECK: iris.element_rmw add
// CHECK-NOT: iris.element_rmw
func.func @coordinates(%v: i32, %ctx: !iris.ctx, %b: memref<?xi32>) {
  %t = tensor.splat %v : tensor<512xi32, #l>
  %r = tile.range : tensor<512xindex, #l>
  %at = arith.muli %r, %r : tensor<512xindex, #l>
  %old = iris.atomic_rmw add %ctx, %t, %b[%at] sem(relaxed)
      : tensor<512xi32, #l>, memref<?xi32>, tensor<512xindex, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Each thread counts its own elements and reports its first mismatch.
// CHECK-LABEL: @expect
// CHECK-SAME: %[[CTX:[^:]+]]: !iris.ctx
// CHECK: iris.record_expect %[[CTX]], %c2_i64, {{.*}} "x" i32
func.func @expect(%ctx: !iris.ctx, %v: i32, %w: i32) {
  %t = tensor.splat %v : tensor<512xi32, #l>
  %u = tensor.splat %w : tensor<512xi32, #l>
  iris.expect_eq %t, %u, "x" : tensor<512xi32, #l>
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// With a tolerance: the difference is within it, or the bits are equal, or both
// are NaN.
// CHECK-LABEL: @tolerance
// CHECK: arith.cmpi ne
// CHECK-COUNT-2: arith.cmpf uno
// CHECK: arith.subf {{.*}} : f32
// CHECK: arith.cmpf ole
// CHECK: arith.cmpf oge
// CHECK: iris.record_expect
func.func @tolerance(%ctx: !iris.ctx, %v: f16, %w: f16) {
  %t = tensor.splat %v : tensor<256xf16, #l>
  %u = tensor.splat %w : tensor<256xf16, #l>
  iris.expect_eq %t, %u, "x" tol(1.0e-3) : tensor<256xf16, #l>
  return
}
