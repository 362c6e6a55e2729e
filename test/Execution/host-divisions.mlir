// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions in @main that round up or down, of values that only a run knows.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 2 %s

gpu.module @kernels {
  gpu.func @check(%ctx: !iris.ctx, %up: index, %upNegative: index,
                  %down: index, %downNegative: index, %unsigned: index,
                  %exact: index, %least: i8) kernel {
    %c4 = arith.constant 4 : index
    %n3 = arith.constant -3 : index
    %n4 = arith.constant -4 : index
    // (2^64 - 7) / 2, rounded up.
    %big = arith.constant 0x7ffffffffffffffd : index
    %n64 = arith.constant -64 : i8
    iris.expect_eq %up, %c4, "7 / 2 up" : index
    iris.expect_eq %upNegative, %n3, "-7 / 2 up" : index
    iris.expect_eq %down, %n4, "7 / -2 down" : index
    iris.expect_eq %downNegative, %n4, "-7 / 2 down" : index
    iris.expect_eq %unsigned, %big, "2^64 - 7, by 2, up" : index
    iris.expect_eq %exact, %n4, "-8 / 2 down" : index
    iris.expect_eq %least, %n64, "-128 / 2 up" : i8
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %ranks = iris.num_ranks %ctx : index
  // 1, which the compiler does not know.
  %one = arith.minui %ranks, %c1 : index
  %two = arith.addi %one, %c1 : index
  %minusTwo = arith.subi %c0, %two : index
  %seven = arith.muli %one, %c7 : index
  %minusSeven = arith.subi %c0, %seven : index
  %minusEight = arith.subi %minusSeven, %one : index
  %least = arith.muli %one, %c128 : index
  %least8 = arith.index_cast %least : index to i8
  %two8 = arith.index_cast %two : index to i8

  %up = arith.ceildivsi %seven, %two : index
  %upNegative = arith.ceildivsi %minusSeven, %two : index
  %down = arith.floordivsi %seven, %minusTwo : index
  %downNegative = arith.floordivsi %minusSeven, %two : index
  %unsigned = arith.ceildivui %minusSeven, %two : index
  %exact = arith.floordivsi %minusEight, %two : index
  %eighth = arith.ceildivsi %least8, %two8 : i8
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %up, %upNegative, %down, %downNegative, %unsigned, %exact,
           %eighth : !iris.ctx, index, index, index, index, index, index, i8)
  iris.sync %ctx
  return
}
