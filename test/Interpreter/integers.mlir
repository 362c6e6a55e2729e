// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of integer ops in the interpreter, with expected values from
// their definitions.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 30 checks passed

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx) kernel {
    %a = arith.constant -7 : i8
    %b = arith.constant 2 : i8
    %least = arith.constant -128 : i8
    %ones = arith.constant -1 : i8
    %zero = arith.constant 0 : i8

    // Sums wrap.
    %sum = arith.addi %least, %ones : i8
    %sum.want = arith.constant 127 : i8
    iris.expect_eq %sum, %sum.want, "addi" : i8
    %mul = arith.muli %least, %ones : i8
    iris.expect_eq %mul, %least, "muli" : i8

    // Quotients are rounded to 0, up or down; remainders have the dividend's
    // sign.
    %div = arith.divsi %a, %b : i8
    %div.want = arith.constant -3 : i8
    iris.expect_eq %div, %div.want, "divsi" : i8
    %floor = arith.floordivsi %a, %b : i8
    %floor.want = arith.constant -4 : i8
    iris.expect_eq %floor, %floor.want, "floordivsi" : i8
    %ceil = arith.ceildivsi %a, %b : i8
    iris.expect_eq %ceil, %div.want, "ceildivsi" : i8
    %rem = arith.remsi %a, %b : i8
    iris.expect_eq %rem, %ones, "remsi" : i8
    // 249 / 2.
    %divu = arith.divui %a, %b : i8
    %divu.want = arith.constant 124 : i8
    iris.expect_eq %divu, %divu.want, "divui" : i8
    %ceilu = arith.ceildivui %a, %b : i8
    %ceilu.want = arith.constant 125 : i8
    iris.expect_eq %ceilu, %ceilu.want, "ceildivui" : i8
    %remu = arith.remui %a, %b : i8
    %one = arith.constant 1 : i8
    iris.expect_eq %remu, %one, "remui" : i8

    %shrs = arith.shrsi %a, %b : i8
    %shrs.want = arith.constant -2 : i8
    iris.expect_eq %shrs, %shrs.want, "shrsi" : i8
    %shru = arith.shrui %a, %b : i8
    %shru.want = arith.constant 62 : i8
    iris.expect_eq %shru, %shru.want, "shrui" : i8
    %shl = arith.shli %a, %b : i8
    %shl.want = arith.constant -28 : i8
    iris.expect_eq %shl, %shl.want, "shli" : i8

    %max = arith.maxsi %a, %b : i8
    iris.expect_eq %max, %b, "maxsi" : i8
    %maxu = arith.maxui %a, %b : i8
    iris.expect_eq %maxu, %a, "maxui" : i8
    %lt = arith.cmpi slt, %a, %b : i8
    %true = arith.constant true
    iris.expect_eq %lt, %true, "slt" : i1
    %ugt = arith.cmpi ugt, %a, %b : i8
    iris.expect_eq %ugt, %true, "ugt" : i1

    // 200 + 100 = 1 * 256 + 44.
    %x = arith.constant 200 : i8
    %y = arith.constant 100 : i8
    %low, %carry = arith.addui_extended %x, %y : i8, i1
    %low.want = arith.constant 44 : i8
    iris.expect_eq %low, %low.want, "addui_extended" : i8
    iris.expect_eq %carry, %true, "the carry" : i1
    // -56 * 100 = -22 * 256 + 32.
    %slow, %shigh = arith.mulsi_extended %x, %y : i8
    %slow.want = arith.constant 32 : i8
    %shigh.want = arith.constant -22 : i8
    iris.expect_eq %slow, %slow.want, "mulsi_extended" : i8
    iris.expect_eq %shigh, %shigh.want, "its upper half" : i8
    // 200 * 100 = 78 * 256 + 32.
    %ulow, %uhigh = arith.mului_extended %x, %y : i8
    %uhigh.want = arith.constant 78 : i8
    iris.expect_eq %ulow, %slow.want, "mului_extended" : i8
    iris.expect_eq %uhigh, %uhigh.want, "its upper half" : i8

    %wide = arith.extsi %a : i8 to i32
    %wide.want = arith.constant -7 : i32
    iris.expect_eq %wide, %wide.want, "extsi" : i32
    %wideu = arith.extui %a : i8 to i32
    %wideu.want = arith.constant 249 : i32
    iris.expect_eq %wideu, %wideu.want, "extui" : i32
    %narrow = arith.trunci %wideu : i32 to i8
    iris.expect_eq %narrow, %a, "trunci" : i8
    %index = arith.index_cast %a : i8 to index
    %index.want = arith.constant -7 : index
    iris.expect_eq %index, %index.want, "index_cast" : index

    %abs = math.absi %a : i8
    %seven = arith.constant 7 : i8
    iris.expect_eq %abs, %seven, "absi" : i8
    %clz = math.ctlz %seven : i8
    %five = arith.constant 5 : i8
    iris.expect_eq %clz, %five, "ctlz" : i8
    %ctz = math.cttz %zero : i8
    %eight = arith.constant 8 : i8
    iris.expect_eq %ctz, %eight, "cttz" : i8
    %pop = math.ctpop %seven : i8
    %three = arith.constant 3 : i8
    iris.expect_eq %pop, %three, "ctpop" : i8
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  iris.launch @kernels::@k programs(%c1) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
