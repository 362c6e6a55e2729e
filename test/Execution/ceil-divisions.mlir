// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signed divisions that round up, of the least number of a type: MLIR's
// analysis of ranges takes them for positive (docs/internals/guards.md). The
// expected values are worked out by hand.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
//
// MLIR still has the defect.
// RUN: iris-compile %s --target=host --disable-guards=ceil-divisions -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: 4 of 71 checks failed

gpu.module @kernels {
  gpu.func @constants(%ctx: !iris.ctx) kernel attributes {iris.num_warps = 1 : i32} {
    %least8 = arith.constant -128 : i8
    %y8 = arith.constant 127 : i8
    %q8 = arith.ceildivsi %least8, %y8 : i8
    %e8 = arith.constant -1 : i8
    iris.expect_eq %q8, %e8, "-128 / 127" : i8

    %least32 = arith.constant -2147483648 : i32
    %y32 = arith.constant 32770 : i32
    %q32 = arith.ceildivsi %least32, %y32 : i32
    %e32 = arith.constant -65532 : i32
    iris.expect_eq %q32, %e32, "-2^31 / 32770" : i32

    %least64 = arith.constant -9223372036854775808 : i64
    %y64 = arith.constant 2 : i64
    %q64 = arith.ceildivsi %least64, %y64 : i64
    %e64 = arith.constant -4611686018427387904 : i64
    iris.expect_eq %q64, %e64, "-2^63 / 2" : i64

    %minus8 = arith.constant -7 : i8
    %negative = arith.ceildivsi %least8, %minus8 : i8
    %e19 = arith.constant 19 : i8
    iris.expect_eq %negative, %e19, "-128 / -7" : i8

    %above8 = arith.constant -127 : i8
    %q = arith.ceildivsi %above8, %y8 : i8
    iris.expect_eq %q, %e8, "-127 / 127" : i8
    gpu.return
  }

  // All numbers: only the least one has a quotient that no other has.
  gpu.func @ranges(%ctx: !iris.ctx, %x: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %two = arith.constant 2 : i32
    %half = arith.ceildivsi %x, %two : i32
    %expected = arith.constant -1073741824 : i32
    iris.expect_eq %half, %expected, "-2^31 / 2" : i32
    %bound = arith.constant -1073741823 : i32
    %is_below = arith.cmpi slt, %half, %bound : i32
    %true = arith.constant true
    iris.expect_eq %is_below, %true, "-2^31 / 2 < 1 - 2^30" : i1

    // As tiles.
    %xs = tensor.splat %x : tensor<64xi32>
    %twos = arith.constant dense<2> : tensor<64xi32>
    %halves = arith.ceildivsi %xs, %twos : tensor<64xi32>
    %wants = arith.constant dense<-1073741824> : tensor<64xi32>
    iris.expect_eq %halves, %wants, "tiles of -2^31 / 2" : tensor<64xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %least = arith.constant -2147483648 : i32
  iris.launch @kernels::@constants programs(%one) args(%ctx : !iris.ctx)
  iris.launch @kernels::@ranges programs(%one) args(%ctx, %least : !iris.ctx, i32)
  iris.sync %ctx
  return
}
