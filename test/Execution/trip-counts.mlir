// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose bounds are farther apart than their type can count. The expected
// values are worked out by hand.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
//
// MLIR still has the defect that the guard is for.
// RUN: iris-compile %s --disable-guards=trip-counts -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: checks failed

gpu.module @kernels {
  // Three iterations, from 23 bits to 4 and to 1; and two of unsigned numbers.
  gpu.func @unrolled(%ctx: !iris.ctx, %x: i64, %limit: i32, %far: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %lower = arith.constant -2147483648 : i32
    %step = arith.constant 718664639 : i32
    %bits = scf.for %i = %lower to %limit step %step
        iter_args(%s = %x) -> i64 : i32 {
      %count = math.ctpop %s : i64
      scf.yield %count : i64
    }
    %one = arith.constant 1 : i64
    iris.expect_eq %bits, %one, "i32, three iterations" : i64
    %zero = arith.constant 0 : i32
    %quarter = arith.constant 1610612736 : i32
    %few = scf.for unsigned %i = %zero to %far step %quarter
        iter_args(%s = %x) -> i64 : i32 {
      %count = math.ctpop %s : i64
      scf.yield %count : i64
    }
    %four = arith.constant 4 : i64
    iris.expect_eq %few, %four, "unsigned i32, two iterations" : i64
    gpu.return
  }

  // -2147483648 and -1073705076; the next one is 73496.
  gpu.func @narrow(%ctx: !iris.ctx) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i64
    %lower = arith.constant -2147483648 : i32
    %upper = arith.constant 1 : i32
    %step = arith.constant 1073778572 : i32
    %sum = scf.for %i = %lower to %upper step %step
        iter_args(%s = %zero) -> i64 : i32 {
      %wide = arith.extsi %i : i32 to i64
      %next = arith.addi %s, %wide : i64
      scf.yield %next : i64
    }
    %want = arith.constant -3221188724 : i64
    iris.expect_eq %sum, %want, "i32, two iterations" : i64
    gpu.return
  }

  // The same of an index, whose bounds fit in 32 bits.
  gpu.func @index(%ctx: !iris.ctx) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : index
    %lower = arith.constant -2147483648 : index
    %upper = arith.constant 1 : index
    %step = arith.constant 1073778572 : index
    %sum = scf.for %i = %lower to %upper step %step
        iter_args(%s = %zero) -> index {
      %next = arith.addi %s, %i : index
      scf.yield %next : index
    }
    %want = arith.constant -3221188724 : index
    iris.expect_eq %sum, %want, "index, two iterations" : index
    gpu.return
  }

  // -2^63 and -2^62 + 1; the next one is 2.
  gpu.func @wide(%ctx: !iris.ctx) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i64
    %lower = arith.constant -9223372036854775808 : i64
    %upper = arith.constant 1 : i64
    %step = arith.constant 4611686018427387905 : i64
    %bits = scf.for %i = %lower to %upper step %step
        iter_args(%s = %zero) -> i64 : i64 {
      %next = arith.xori %s, %i : i64
      scf.yield %next : i64
    }
    %want = arith.constant 4611686018427387905 : i64
    iris.expect_eq %bits, %want, "i64, two iterations" : i64
    gpu.return
  }

  // One iteration each: -2147483648, and 5 of unsigned numbers.
  gpu.func @single(%ctx: !iris.ctx) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i32
    %lower = arith.constant -2147483648 : i32
    %upper = arith.constant -1 : i32
    %step = arith.constant 2147483647 : i32
    %last = scf.for %i = %lower to %upper step %step
        iter_args(%s = %zero) -> i32 : i32 {
      scf.yield %i : i32
    }
    iris.expect_eq %last, %lower, "i32, one iteration" : i32
    %five = arith.constant 5 : i32
    %most = arith.constant -1 : i32
    %far = arith.constant -6 : i32
    %first = scf.for unsigned %i = %five to %most step %far
        iter_args(%s = %zero) -> i32 : i32 {
      scf.yield %i : i32
    }
    iris.expect_eq %first, %five, "unsigned i32, one iteration" : i32
    // Bounds in the other order: none.
    %none = scf.for %i = %upper to %lower step %step
        iter_args(%s = %five) -> i32 : i32 {
      scf.yield %i : i32
    }
    iris.expect_eq %none, %five, "i32, no iteration" : i32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  iris.launch @kernels::@narrow programs(%one) args(%ctx : !iris.ctx)
  iris.launch @kernels::@index programs(%one) args(%ctx : !iris.ctx)
  iris.launch @kernels::@wide programs(%one) args(%ctx : !iris.ctx)
  iris.launch @kernels::@single programs(%one) args(%ctx : !iris.ctx)
  %x = arith.constant 8388607 : i64
  %limit = arith.constant 8388607 : i32
  %far = arith.constant -1342177280 : i32
  iris.launch @kernels::@unrolled programs(%one) args(%ctx, %x, %limit, %far : !iris.ctx, i64, i32, i32)
  iris.sync %ctx
  return
}
