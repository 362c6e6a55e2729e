// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of f32 rounded to bf16 with numbers of 2^127 and more: LLVM compares
// what is not rounded, with a wrong number (docs/internals/guards.md). Expected is
// the comparison of the bits, which have the order of the numbers.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s

!floats = memref<?xf32, #iris.symmetric>
!tile = tensor<256xf32>
!halves = tensor<256xbf16>
!words = tensor<256xi32>
!truths = tensor<256xi1>

gpu.module @kernels {
  // Bits in steps of 2^15, half of a step of bf16, around 2^127; odd ones are
  // negative.
  gpu.func @fill(%ctx: !iris.ctx, %x: !floats) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : !words
    %one = arith.constant dense<1> : !words
    %start = arith.constant dense<0x7EFC0000> : !words
    %c15 = arith.constant dense<15> : !words
    %c31 = arith.constant dense<31> : !words
    %half = arith.shrui %i, %one : !words
    %step = arith.shli %half, %c15 : !words
    %bits = arith.addi %start, %step : !words
    %sign = arith.shli %i, %c31 : !words
    %signed = arith.ori %bits, %sign : !words
    %f = arith.bitcast %signed : !words to !tile
    tile.store %f, %x[%c0] : !tile, !floats
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %xs: !floats) kernel {
    %c0 = arith.constant 0 : index
    %x = tile.load %xs[%c0] : !floats -> !tile
    %t = arith.truncf %x : !tile to !halves
    // A number's bits as an integer of the same order.
    %raw = arith.bitcast %t : !halves to tensor<256xi16>
    %wide = arith.extsi %raw : tensor<256xi16> to !words
    %zero = arith.constant dense<0> : !words
    %most = arith.constant dense<0x7FFF> : !words
    %magnitude = arith.andi %wide, %most : !words
    %negated = arith.subi %zero, %magnitude : !words
    %isNegative = arith.cmpi slt, %wide, %zero : !words
    %order = arith.select %isNegative, %negated, %magnitude : !truths, !words

    %k = arith.constant dense<0x7F00> : !halves
    %kOrder = arith.constant dense<0x7F00> : !words
    %minusK = arith.constant dense<0xFF00> : !halves
    %minusKOrder = arith.constant dense<-32512> : !words

    %a = arith.cmpf oge, %t, %minusK : !halves
    %wantA = arith.cmpi sge, %order, %minusKOrder : !words
    iris.expect_eq %a, %wantA, "x >= -2^127" : !truths
    %b = arith.cmpf ogt, %t, %minusK : !halves
    %wantB = arith.cmpi sgt, %order, %minusKOrder : !words
    iris.expect_eq %b, %wantB, "x > -2^127" : !truths
    %c = arith.cmpf ole, %t, %k : !halves
    %wantC = arith.cmpi sle, %order, %kOrder : !words
    iris.expect_eq %c, %wantC, "x <= 2^127" : !truths
    %d = arith.cmpf olt, %t, %k : !halves
    %wantD = arith.cmpi slt, %order, %kOrder : !words
    iris.expect_eq %d, %wantD, "x < 2^127" : !truths
    // Extended again.
    %e = arith.extf %t : !halves to !tile
    %kWide = arith.constant dense<0x7F010000> : !tile
    %kWideOrder = arith.constant dense<0x7F01> : !words
    %f = arith.cmpf ole, %e, %kWide : !tile
    %wantF = arith.cmpi sle, %order, %kWideOrder : !words
    iris.expect_eq %f, %wantF, "x <= 2^127 + 2^120" : !truths

    // An arm of a selection, up to numbers that are rounded to infinity.
    %i = tile.range : !words
    %c2 = arith.constant dense<2> : !words
    %pairs = arith.andi %i, %c2 : !words
    %isChosen = arith.cmpi eq, %pairs, %c2 : !words
    %bits = arith.bitcast %x : !tile to !words
    %up = arith.constant dense<0x440000> : !words
    %above = arith.addi %bits, %up : !words
    %y = arith.bitcast %above : !words to !tile
    %u = arith.truncf %y : !tile to !halves
    %infinity = arith.constant dense<0x7F80> : !halves
    %chosen = arith.select %isChosen, %u, %infinity : !truths, !halves
    %largest = arith.constant dense<0x7F7F> : !halves
    %g = arith.cmpf ult, %chosen, %largest : !halves
    // The tie, 0x7F7E8000, is rounded down, to the even neighbour.
    %limit = arith.constant dense<0x7F7E8000> : !words
    %isLess = arith.cmpi sle, %above, %limit : !words
    %wantG = arith.andi %isLess, %isChosen : !truths
    iris.expect_eq %g, %wantG, "an arm less than the largest number" : !truths
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %n = arith.constant 256 : index
  %x = iris.alloc(%n) : !floats
  iris.launch @kernels::@fill programs(%one) args(%ctx, %x : !iris.ctx, !floats)
  iris.launch @kernels::@check programs(%one) args(%ctx, %x : !iris.ctx, !floats)
  iris.sync %ctx
  return
}
