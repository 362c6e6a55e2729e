// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on i64 and index values that fit in 32 bits as unsigned or as
// signed numbers only. The expected values are worked out by hand.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
//
// MLIR still has the defects that the guard is for.
// RUN: iris-compile %s --disable-guards=narrowing -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// RUN: iris-compile %s --disable-guards=index-casts -o %t.casts.iris
// RUN: not iris-run -n 1 %t.casts.iris 2>&1 | FileCheck %s
// CHECK: checks failed

gpu.module @kernels {
  // %a = 2^32 - 1 and %b = 7, unsigned.
  gpu.func @unsigned(%ctx: !iris.ctx, %a: i32, %b: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %x = arith.index_castui %a : i32 to index
    %y = arith.index_castui %b : i32 to index
    %false = arith.constant false
    %true = arith.constant true
    %c7 = arith.constant 7 : index
    %max = arith.constant 4294967295 : index
    %lt = arith.cmpi slt, %x, %y : index
    iris.expect_eq %lt, %false, "4294967295 < 7" : i1
    %ge = arith.cmpi sge, %x, %y : index
    iris.expect_eq %ge, %true, "4294967295 >= 7" : i1
    %least = arith.minsi %x, %y : index
    iris.expect_eq %least, %c7, "min(4294967295, 7)" : index
    %most = arith.maxsi %x, %y : index
    iris.expect_eq %most, %max, "max(4294967295, 7)" : index
    %quotient = arith.divsi %x, %y : index
    %q = arith.constant 613566756 : index
    iris.expect_eq %quotient, %q, "4294967295 / 7" : index
    %rest = arith.remsi %x, %y : index
    %r = arith.constant 3 : index
    iris.expect_eq %rest, %r, "4294967295 % 7" : index
    %half = arith.shrsi %x, %y : index
    %h = arith.constant 33554431 : index
    iris.expect_eq %half, %h, "4294967295 >> 7" : index
    gpu.return
  }

  // %a = -760451118 and %b = -2^31, signed.
  gpu.func @signed(%ctx: !iris.ctx, %a: i32, %b: i32, %one: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %x = arith.extsi %a : i32 to i64
    %c135 = arith.constant 135 : i64
    %c73 = arith.constant 73 : i64
    %rest = arith.remui %x, %c135 : i64
    iris.expect_eq %rest, %c73, "0xffffffffd2ac6fd2 % 135" : i64
    %quotient = arith.divui %x, %c135 : i64
    %q = arith.constant 136642548688511855 : i64
    iris.expect_eq %quotient, %q, "0xffffffffd2ac6fd2 / 135" : i64
    %y = arith.extsi %b : i32 to i64
    %n = arith.extsi %one : i32 to i64
    %negated = arith.divsi %y, %n : i64
    %large = arith.constant 2147483648 : i64
    iris.expect_eq %negated, %large, "-2147483648 / -1" : i64
    %c0 = arith.constant 0 : i64
    %zero = arith.remsi %y, %n : i64
    iris.expect_eq %zero, %c0, "-2147483648 % -1" : i64
    gpu.return
  }

  // %a = -1, %s = 33, %h = -2^15.
  gpu.func @shifts(%ctx: !iris.ctx, %a: i32, %s: i32, %h: i16) kernel
      attributes {iris.num_warps = 1 : i32} {
    %x = arith.extsi %a : i32 to i64
    %c63 = arith.constant 63 : i64
    %c40 = arith.constant 40 : i64
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %sign = arith.shrui %x, %c63 : i64
    iris.expect_eq %sign, %c1, "-1 >>> 63" : i64
    %top = arith.shrui %x, %c40 : i64
    %ones = arith.constant 16777215 : i64
    iris.expect_eq %top, %ones, "-1 >>> 40" : i64
    %same = arith.shrsi %x, %c40 : i64
    iris.expect_eq %same, %x, "-1 >> 40" : i64
    %m = arith.constant 63 : i32
    %masked = arith.andi %s, %m : i32
    %amount = arith.extui %masked : i32 to i64
    %u = arith.extui %h : i16 to i64
    %none = arith.shrui %u, %amount : i64
    iris.expect_eq %none, %c0, "32768 >>> 33" : i64
    %up = arith.shli %u, %amount : i64
    %power = arith.constant 281474976710656 : i64
    iris.expect_eq %up, %power, "32768 << 33" : i64
    gpu.return
  }

  // Ten steps to 3 * 10^9, two that pass 2^31, and none to a negative number.
  gpu.func @loops(%ctx: !iris.ctx, %far: i32, %start: i32, %back: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %step = arith.constant 300000000 : index
    %end = arith.index_castui %far : i32 to index
    %ten = scf.for %i = %c0 to %end step %step
        iter_args(%n = %c0) -> (index) {
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    %c10 = arith.constant 10 : index
    iris.expect_eq %ten, %c10, "steps to 3000000000" : index
    %from = arith.index_castui %start : i32 to index
    %last = arith.constant 2147483647 : index
    %two = scf.for %i = %from to %last step %step
        iter_args(%n = %c0) -> (index) {
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    %c2 = arith.constant 2 : index
    iris.expect_eq %two, %c2, "steps from 1600000000 to 2147483647" : index
    %below = arith.index_cast %back : i32 to index
    %none = scf.for %i = %c0 to %below step %c1
        iter_args(%n = %c0) -> (index) {
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    iris.expect_eq %none, %c0, "steps from 0 to -5" : index
    gpu.return
  }

  // %a = 2^32 + 2^31 + 5: index to i32 and back.
  gpu.func @casts(%ctx: !iris.ctx, %a: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %x = arith.index_cast %a : i64 to index
    %s = arith.index_cast %x : index to i32
    %t = arith.index_cast %s : i32 to index
    %low = arith.constant -2147483643 : index
    iris.expect_eq %t, %low, "index_cast to i32 and back" : index
    %u = arith.index_castui %x : index to i32
    %v = arith.index_castui %u : i32 to index
    %high = arith.constant 2147483653 : index
    iris.expect_eq %v, %high, "index_castui to i32 and back" : index
    gpu.return
  }

  // The same in tiles, whose values are loaded.
  gpu.func @tiles(%ctx: !iris.ctx, %buffer: memref<64xi32, #iris.symmetric>)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %range = tile.range : tensor<64xi32>
    %minus = arith.constant dense<-1> : tensor<64xi32>
    %down = arith.subi %minus, %range : tensor<64xi32>
    tile.store %down, %buffer[%c0] : tensor<64xi32>, memref<64xi32, #iris.symmetric>
    %v = tile.load %buffer[%c0] volatile : memref<64xi32, #iris.symmetric> -> tensor<64xi32>
    %x = arith.extui %v : tensor<64xi32> to tensor<64xi64>
    %i = arith.extui %range : tensor<64xi32> to tensor<64xi64>
    %least = arith.minsi %x, %i : tensor<64xi64>
    iris.expect_eq %least, %i, "min(4294967295 - i, i)" : tensor<64xi64>
    %s = arith.extsi %v : tensor<64xi32> to tensor<64xi64>
    %c32 = arith.constant dense<32> : tensor<64xi64>
    %top = arith.shrui %s, %c32 : tensor<64xi64>
    %ones = arith.constant dense<4294967295> : tensor<64xi64>
    iris.expect_eq %top, %ones, "(-1 - i) >>> 32" : tensor<64xi64>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %minus1 = arith.constant -1 : i32
  %seven = arith.constant 7 : i32
  %s = arith.constant -760451118 : i32
  %least = arith.constant -2147483648 : i32
  %c33 = arith.constant 33 : i32
  %h = arith.constant -32768 : i16
  %far = arith.constant 3000000000 : i32
  %start = arith.constant 1600000000 : i32
  %back = arith.constant -5 : i32
  %buffer = iris.alloc() : memref<64xi32, #iris.symmetric>
  iris.launch @kernels::@unsigned programs(%one) args(%ctx, %minus1, %seven : !iris.ctx, i32, i32)
  iris.launch @kernels::@signed programs(%one) args(%ctx, %s, %least, %minus1 : !iris.ctx, i32, i32, i32)
  iris.launch @kernels::@shifts programs(%one) args(%ctx, %minus1, %c33, %h : !iris.ctx, i32, i32, i16)
  iris.launch @kernels::@loops programs(%one) args(%ctx, %far, %start, %back : !iris.ctx, i32, i32, i32)
  %wide = arith.constant 6442450949 : i64
  iris.launch @kernels::@casts programs(%one) args(%ctx, %wide : !iris.ctx, i64)
  iris.launch @kernels::@tiles programs(%one) args(%ctx, %buffer : !iris.ctx, memref<64xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
