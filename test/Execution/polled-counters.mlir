// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of a launch that meet at a counter: each polls it by an atomic until all
// have counted themselves, so all have to run, also those for which the host has no
// processor at first.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 2 %s | FileCheck %s
// RUN: iris-run -n 2 --device=reference %s | FileCheck %s
// CHECK: all {{40|80}} checks passed
gpu.module @kernels {
  gpu.func @meet(%ctx: !iris.ctx, %count: memref<1xi32, #iris.symmetric>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %programs = gpu.grid_dim x
    %all = arith.index_cast %programs : index to i32
    %mine = iris.atomic_rmw add %ctx, %one, %count[%c0] scope(gpu) : i32, memref<1xi32, #iris.symmetric>
    %last = scf.while : () -> i32 {
      %seen = iris.atomic_rmw add %ctx, %zero, %count[%c0] sem(acquire) scope(gpu) : i32, memref<1xi32, #iris.symmetric>
      %again = arith.cmpi slt, %seen, %all : i32
      scf.condition(%again) %seen : i32
    } do {
    ^bb0(%seen: i32):
      scf.yield
    }
    iris.expect_eq %last, %all, "all programs have counted themselves" : i32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %programs = arith.constant 40 : index
  %count = iris.alloc() : memref<1xi32, #iris.symmetric>
  iris.launch @kernels::@meet programs(%programs) args(%ctx, %count : !iris.ctx, memref<1xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
