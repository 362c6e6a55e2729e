// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx942},canonicalize))' | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=sm_90a},canonicalize))' | FileCheck %s --check-prefixes=CHECK,GPU

// The wait sites, and the attributes that the launch needs.
gpu.module @kernels {
  // GPU: llvm.mlir.global internal @__iris_sync_slots() {addr_space = 3
  // CHECK-LABEL: gpu.func @wait
  // CHECK-SAME: iris.coresident
  // CHECK-SAME: iris.shared_bytes = 16
  // CHECK-SAME: iris.sites = [{element = "i32", loc = "{{.*}}wait.mlir:[[# @LINE + 4]]:{{[0-9]+}}", op = "iris.wait", what = ""},
  // CHECK-SAME: {element = "i64", loc = "{{.*}}", op = "iris.wait", what = ""}]
  gpu.func @wait(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>, %g: memref<?xi64, #iris.symmetric>,
                 %v: i32, %w: i64, %i: index) kernel {
    %a = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %b = iris.wait %ctx, %g[%i] eq %w owed_by(%i) : i64, memref<?xi64, #iris.symmetric>
    // The failing thread informs the other threads through a word; all return,
    // and nothing traps.
    // CHECK: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
    // CHECK-NOT: trap
    // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
    // CHECK: gpu.return
    gpu.return
  }

  // Comparisons other than eq and ne test the sign of the difference, so that
  // epochs may wrap.
  // CHECK-LABEL: gpu.func @comparisons
  // CHECK-SAME: %[[V:[a-z0-9]+]]: i32
  gpu.func @comparisons(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                        %v: i32, %i: index) kernel {
    // CHECK: %[[SEEN:.+]] = llvm.load {{.*}} atomic
    // CHECK-NEXT: arith.cmpi eq, %[[SEEN]],
    %0 = iris.wait %ctx, %f[%i] eq %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: llvm.load {{.*}} atomic
    // CHECK-NEXT: arith.cmpi ne,
    %1 = iris.wait %ctx, %f[%i] ne %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: %[[BY:.+]] = arith.subi %{{[0-9]+}}, %[[V]] : i32
    // CHECK-NEXT: arith.cmpi sge, %[[BY]],
    %2 = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: %[[BY:.+]] = arith.subi %{{[0-9]+}}, %[[V]] : i32
    // CHECK-NEXT: arith.cmpi sgt, %[[BY]],
    %3 = iris.wait %ctx, %f[%i] gt %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: %[[BY:.+]] = arith.subi %{{[0-9]+}}, %[[V]] : i32
    // CHECK-NEXT: arith.cmpi sle, %[[BY]],
    %4 = iris.wait %ctx, %f[%i] le %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: %[[BY:.+]] = arith.subi %{{[0-9]+}}, %[[V]] : i32
    // CHECK-NEXT: arith.cmpi slt, %[[BY]],
    %5 = iris.wait %ctx, %f[%i] lt %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
