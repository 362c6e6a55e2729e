// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and truncations that do not overflow, as they are written,
// and would if two of them were one.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 --device=emulated:gfx942 %s
//
// MLIR still has the defect that the guard is for.
// RUN: iris-compile %s --disable-guards=overflow-flags -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: checks failed

gpu.module @kernels {
  gpu.func @sums(%ctx: !iris.ctx, %least: i32, %twenty: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %true = arith.constant true
    // -2^31 + 2e9 + 2e9
    %k = arith.constant 2000000000 : i32
    %a = arith.addi %least, %k overflow<nsw> : i32
    %b = arith.addi %a, %k overflow<nsw> : i32
    %is_above = arith.cmpi sgt, %b, %least : i32
    iris.expect_eq %is_above, %true, "x + 2e9 + 2e9 > x" : i1
    // 20 - 10 + 5
    %c5 = arith.constant 5 : i32
    %c10 = arith.constant 10 : i32
    %c = arith.subi %twenty, %c10 overflow<nuw> : i32
    %d = arith.addi %c, %c5 overflow<nuw> : i32
    %is_below = arith.cmpi ult, %d, %twenty : i32
    iris.expect_eq %is_below, %true, "20 - 10 + 5 < 20" : i1
    gpu.return
  }

  // x is 2^32 + 5, y -20000000, which is -306 * 2^16 + 53,216.
  gpu.func @truncations(%ctx: !iris.ctx, %x: i64, %y: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %five = arith.constant 5 : i64
    %word = arith.trunci %x : i64 to i32
    %signed = arith.trunci %word overflow<nsw> : i32 to i16
    %signed_wide = arith.extsi %signed : i16 to i64
    iris.expect_eq %signed_wide, %five, "5, signed" : i64
    %unsigned = arith.trunci %word overflow<nuw> : i32 to i16
    %unsigned_wide = arith.extui %unsigned : i16 to i64
    iris.expect_eq %unsigned_wide, %five, "5, unsigned" : i64

    %c16 = arith.constant 16 : i32
    %upper = arith.shrsi %y, %c16 : i32
    %short = arith.trunci %upper overflow<nsw> : i32 to i16
    %zero = arith.constant 0 : i16
    %true = arith.constant true
    %is_negative = arith.cmpi slt, %short, %zero : i16
    iris.expect_eq %is_negative, %true, "-306 < 0" : i1
    %want = arith.constant -306 : i64
    %short_wide = arith.extsi %short : i16 to i64
    iris.expect_eq %short_wide, %want, "-306" : i64
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %got: i1) kernel
      attributes {iris.num_warps = 1 : i32} {
    %true = arith.constant true
    iris.expect_eq %got, %true, "@main" : i1
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %least = arith.constant -2147483648 : i32
  %twenty = arith.constant 20 : i32
  iris.launch @kernels::@sums programs(%one) args(%ctx, %least, %twenty : !iris.ctx, i32, i32)
  %x = arith.constant 4294967301 : i64
  %y = arith.constant -20000000 : i32
  iris.launch @kernels::@truncations programs(%one) args(%ctx, %x, %y : !iris.ctx, i64, i32)

  // At most 2^30 ranks.
  %ranks = iris.num_ranks %ctx : index
  %small = arith.index_cast %ranks : index to i32
  %k = arith.constant 2000000000 : i32
  %start = arith.subi %small, %k overflow<nsw> : i32
  %low = arith.minsi %start, %k : i32
  %a = arith.addi %low, %k overflow<nsw> : i32
  %b = arith.addi %a, %k overflow<nsw> : i32
  %is_above = arith.cmpi sgt, %b, %low : i32
  iris.launch @kernels::@check programs(%one) args(%ctx, %is_above : !iris.ctx, i1)
  iris.sync %ctx
  return
}
