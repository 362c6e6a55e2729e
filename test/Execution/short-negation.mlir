// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Negations and absolute values of i16, -32768 among them, that are divided,
// compared, shifted and widened afterwards: what i32 gives that is cut to 16 bits.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

!short = memref<?xi16, #iris.symmetric>
!tile = tensor<256xi16>
!wide = tensor<256xi32>

gpu.module @kernels {
  // x[i] = (i + rank) * 256 of 16 bits, which is -32768 for one i; y[i] is neither
  // 0 nor -1, and of either sign.
  gpu.func @fill(%ctx: !iris.ctx, %x: !short, %y: !short) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %r = arith.index_cast %rank : index to i32
    %ranks = tensor.splat %r : !wide
    %range = tile.range : !wide
    %i = arith.addi %range, %ranks : !wide
    %c256 = arith.constant dense<256> : !wide
    %x32 = arith.muli %i, %c256 : !wide
    %x16 = arith.trunci %x32 : !wide to !tile
    tile.store %x16, %x[%c0] : !tile, !short
    %one = arith.constant dense<1> : !wide
    %five = arith.constant dense<5> : !wide
    %two = arith.constant dense<2> : !wide
    %rest = arith.remui %i, %five : !wide
    %size = arith.addi %rest, %two : !wide
    %odd = arith.andi %i, %one : !wide
    %twice = arith.muli %odd, %two : !wide
    %sign = arith.subi %one, %twice : !wide
    %y32 = arith.muli %size, %sign : !wide
    %y16 = arith.trunci %y32 : !wide to !tile
    tile.store %y16, %y[%c0] : !tile, !short
    gpu.return
  }

  // The value of 16 bits that i32 arithmetic on `value` cuts to.
  func.func @cut(%value: !wide) -> !wide {
    %bits = arith.constant dense<16> : !wide
    %upper = arith.shli %value, %bits : !wide
    %result = arith.shrsi %upper, %bits : !wide
    return %result : !wide
  }

  gpu.func @check(%ctx: !iris.ctx, %xs: !short, %ys: !short) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : !tile
    %three = arith.constant dense<3> : !tile
    %zero32 = arith.constant dense<0> : !wide
    %three32 = arith.constant dense<3> : !wide
    %x = tile.load %xs[%c0] : !short -> !tile
    %y = tile.load %ys[%c0] : !short -> !tile
    %x32 = arith.extsi %x : !tile to !wide
    %y32 = arith.extsi %y : !tile to !wide

    %negative = arith.subi %zero, %x : !tile
    %long = arith.subi %zero32, %x32 : !wide
    %negative32 = func.call @cut(%long) : (!wide) -> !wide
    %absolute = math.absi %x : !tile
    %isLess = arith.cmpi slt, %x32, %zero32 : !wide
    %size = arith.select %isLess, %long, %x32 : tensor<256xi1>, !wide
    %absolute32 = func.call @cut(%size) : (!wide) -> !wide

    %q = arith.divsi %negative, %y : !tile
    %got0 = arith.extsi %q : !tile to !wide
    %want0 = arith.divsi %negative32, %y32 : !wide
    iris.expect_eq %got0, %want0, "-x / y" : !wide
    %p = arith.remsi %absolute, %y : !tile
    %got1 = arith.extsi %p : !tile to !wide
    %want1 = arith.remsi %absolute32, %y32 : !wide
    iris.expect_eq %got1, %want1, "|x| mod y" : !wide
    %s = arith.shrsi %negative, %three : !tile
    %got2 = arith.extsi %s : !tile to !wide
    %want2 = arith.shrsi %negative32, %three32 : !wide
    iris.expect_eq %got2, %want2, "-x >> 3" : !wide
    %m = arith.maxsi %absolute, %y : !tile
    %got3 = arith.extsi %m : !tile to !wide
    %want3 = arith.maxsi %absolute32, %y32 : !wide
    iris.expect_eq %got3, %want3, "max(|x|, y)" : !wide
    %got4 = arith.extsi %negative : !tile to !wide
    iris.expect_eq %got4, %negative32, "-x" : !wide
    %got5 = arith.extsi %absolute : !tile to !wide
    iris.expect_eq %got5, %absolute32, "|x|" : !wide
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %size = arith.constant 256 : index
  %one = arith.constant 1 : index
  %x = iris.alloc(%size) : !short
  %y = iris.alloc(%size) : !short
  iris.launch @kernels::@fill programs(%one) args(%ctx, %x, %y
      : !iris.ctx, !short, !short)
  iris.launch @kernels::@check programs(%one) args(%ctx, %x, %y
      : !iris.ctx, !short, !short)
  iris.sync %ctx
  return
}
