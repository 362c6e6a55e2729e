// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unsigned loops, and loops that end next to the limit of their type. The
// expected values are worked out by hand.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 --device=emulated:gfx942 %s
// RUN: iris-run -n 1 --device=emulated:gfx1201 %s
//
// MLIR still has the defect that the guard is for.
// RUN: sed '/^ *.. ENDLESS-BEGIN/,/^ *.. ENDLESS-END/d' %s > %t.mlir
// RUN: iris-compile %t.mlir --disable-guards=loop-bounds -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: checks failed

gpu.module @kernels {
  // n is -5 in the bounds [-10, 10]: 4294967291 as an unsigned number. The loop
  // has 0, 2147483647 and 4294967294 no more: two numbers, one below 10.
  gpu.func @ranges(%ctx: !iris.ctx, %n: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ten = arith.constant 10 : i32
    %least = arith.constant -10 : i32
    %step = arith.constant 2147483647 : i32
    %limited = arith.minsi %n, %ten : i32
    %upper = arith.maxsi %limited, %least : i32
    %sum = scf.for unsigned %i = %zero to %upper step %step
        iter_args(%s = %zero) -> i32 : i32 {
      %is_low = arith.cmpi slt, %i, %ten : i32
      %value = arith.select %is_low, %one, %ten : i32
      %next = arith.addi %s, %value : i32
      scf.yield %next : i32
    }
    %want = arith.constant 11 : i32
    iris.expect_eq %sum, %want, "upper bound above 2^31" : i32

    // 0 and 2^31, which is below 0 as a signed number.
    %half = arith.constant -2147483648 : i32
    %signs = scf.for unsigned %i = %zero to %n step %half
        iter_args(%s = %zero) -> i32 : i32 {
      %is_low = arith.cmpi slt, %i, %zero : i32
      %value = arith.select %is_low, %one, %ten : i32
      %next = arith.addi %s, %value : i32
      scf.yield %next : i32
    }
    iris.expect_eq %signs, %want, "step of 2^31" : i32
    gpu.return
  }

  // 7 to 3000000007 by 1000000000, without unsigned overflow.
  gpu.func @counts(%ctx: !iris.ctx, %x: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %far = arith.constant -1294967296 : i32
    %step = arith.constant 1000000000 : i32
    %upper = arith.addi %x, %far overflow<nuw> : i32
    %count = scf.for unsigned %i = %x to %upper step %step
        iter_args(%s = %zero) -> i32 : i32 {
      %next = arith.addi %s, %one : i32
      scf.yield %next : i32
    }
    iris.expect_eq %count, %three, "three unsigned numbers" : i32

    // The same of a tile.
    %ones = arith.constant dense<1> : tensor<64xi32>
    %zeros = arith.constant dense<0> : tensor<64xi32>
    %tile = scf.for unsigned %i = %x to %upper step %step
        iter_args(%s = %zeros) -> tensor<64xi32> : i32 {
      %next = arith.addi %s, %ones : tensor<64xi32>
      scf.yield %next : tensor<64xi32>
    }
    %sum = tile.reduce sum %tile dim 0 : tensor<64xi32> -> i32
    %all = arith.constant 192 : i32
    iris.expect_eq %sum, %all, "three unsigned numbers, a tile" : i32

    // None: 7 is above 6.
    %six = arith.constant 6 : i32
    %none = scf.for unsigned %i = %x to %six step %one
        iter_args(%s = %zero) -> i32 : i32 {
      %next = arith.addi %s, %one : i32
      scf.yield %next : i32
    }
    iris.expect_eq %none, %zero, "no unsigned number" : i32
    gpu.return
  }

  // x is -16 as a signed number: 16 below 2^64. By 5: three numbers.
  gpu.func @wide(%ctx: !iris.ctx, %x: i64, %i: index) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i64
    %most = arith.constant -1 : i64
    %five = arith.constant 5 : i64
    %sum = scf.for unsigned %k = %x to %most step %five
        iter_args(%s = %zero) -> i64 : i64 {
      %next = arith.addi %s, %k : i64
      scf.yield %next : i64
    }
    // -16 - 11 - 6; -1 is not below.
    %want = arith.constant -33 : i64
    iris.expect_eq %sum, %want, "unsigned i64 to its limit" : i64

    %zero_index = arith.constant 0 : index
    %one = arith.constant 1 : index
    %half = arith.constant -9223372036854775808 : index
    %far = arith.constant -1 : index
    %count = scf.for unsigned %k = %i to %far step %half
        iter_args(%s = %zero_index) -> index {
      %next = arith.addi %s, %one : index
      scf.yield %next : index
    }
    %two = arith.constant 2 : index
    iris.expect_eq %count, %two, "index, step of 2^63" : index
    gpu.return
  }

  // Loops that end next to the limit of signed numbers.
  // ENDLESS-BEGIN: without the guard.
  gpu.func @limits(%ctx: !iris.ctx, %x: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i32
    %lower = arith.constant 9223372036854775800 : index
    %upper = arith.constant 9223372036854775807 : index
    %step = arith.constant 5 : index
    %two = arith.constant 2 : i32
    %one = arith.constant 1 : i32
    %count = scf.for %i = %lower to %upper step %step
        iter_args(%s = %zero) -> i32 {
      %next = arith.addi %s, %x : i32
      scf.yield %next : i32
    }
    iris.expect_eq %count, %two, "index" : i32
    %affine = affine.for %i = 9223372036854775800 to 9223372036854775807 step 5
        iter_args(%s = %zero) -> i32 {
      %next = arith.addi %s, %x : i32
      affine.yield %next : i32
    }
    iris.expect_eq %affine, %two, "affine.for" : i32
    %low = arith.constant -100 : i8
    %high = arith.constant 127 : i8
    %by = arith.constant 100 : i8
    %sum = scf.for %i = %low to %high step %by
        iter_args(%s = %zero) -> i32 : i8 {
      %number = arith.extsi %i : i8 to i32
      %next = arith.addi %s, %number : i32
      scf.yield %next : i32
    }
    iris.expect_eq %sum, %zero, "i8: -100, 0, 100" : i32
    gpu.return
  }

  // ENDLESS-END
  gpu.func @check(%ctx: !iris.ctx, %got: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %want = arith.constant 3 : i32
    iris.expect_eq %got, %want, "@main" : i32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %n = arith.constant -5 : i32
  iris.launch @kernels::@ranges programs(%one) args(%ctx, %n : !iris.ctx, i32)
  %x = arith.constant 7 : i32
  iris.launch @kernels::@counts programs(%one) args(%ctx, %x : !iris.ctx, i32)
  %wide = arith.constant -16 : i64
  %i = arith.constant 3 : index
  iris.launch @kernels::@wide programs(%one) args(%ctx, %wide, %i : !iris.ctx, i64, index)
  %unit = arith.constant 1 : i32
  // ENDLESS-BEGIN
  iris.launch @kernels::@limits programs(%one) args(%ctx, %unit : !iris.ctx, i32)
  // ENDLESS-END

  %zero = arith.constant 0 : i32
  %far = arith.constant -1294967296 : i32
  %step = arith.constant 1000000000 : i32
  %upper = arith.addi %x, %far overflow<nuw> : i32
  %count = scf.for unsigned %k = %x to %upper step %step
      iter_args(%s = %zero) -> i32 : i32 {
    %next = arith.addi %s, %unit : i32
    scf.yield %next : i32
  }
  iris.launch @kernels::@check programs(%one) args(%ctx, %count : !iris.ctx, i32)
  iris.sync %ctx
  return
}
