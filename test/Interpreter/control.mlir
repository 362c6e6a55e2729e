// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow in the interpreter, in kernels and in `@main`: results are the
// values that the definitions give. A list of digits is a number: 10 n + digit.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 34 checks passed

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  func.func private @twice(%x: index) -> index {
    %sum = arith.addi %x, %x : index
    func.return %sum : index
  }

  gpu.func @k(%ctx: !iris.ctx) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c10 = arith.constant 10 : index
    %true = arith.constant true
    %false = arith.constant false

    // 1, 4 and 7 are less than 8.
    %c8 = arith.constant 8 : index
    %digits = scf.for %i = %c1 to %c8 step %c3 iter_args(%n = %c0) -> index {
      %tens = arith.muli %n, %c10 : index
      %next = arith.addi %tens, %i : index
      scf.yield %next : index
    }
    %digits.want = arith.constant 147 : index
    iris.expect_eq %digits, %digits.want, "for" : index
    %none = scf.for %i = %c8 to %c1 step %c3 iter_args(%n = %c7) -> index {
      scf.yield %c0 : index
    }
    iris.expect_eq %none, %c7, "for without iterations" : index
    // Bounds of i8 are signed: from -2 to 1 there are three.
    %least = arith.constant -2 : i8
    %most = arith.constant 1 : i8
    %step = arith.constant 1 : i8
    %count = scf.for %i = %least to %most step %step iter_args(%n = %c0) -> index : i8 {
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    iris.expect_eq %count, %c3, "signed bounds" : index
    // -128 to 127 has 255 iterations; the end does not wrap.
    %min = arith.constant -128 : i8
    %max = arith.constant 127 : i8
    %all = scf.for %i = %min to %max step %step iter_args(%n = %c0) -> index : i8 {
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    %255 = arith.constant 255 : index
    iris.expect_eq %all, %255, "the whole range" : index
    // An unsigned comparison: 254 to 255.
    %last = arith.constant -1 : i8
    %unsigned = scf.for unsigned %i = %least to %last step %step iter_args(%n = %c0)
        -> index : i8 {
      %next = arith.addi %n, %c1 : index
      scf.yield %next : index
    }
    iris.expect_eq %unsigned, %c1, "unsigned bounds" : index
    // Iterations carry values in parallel: Fibonacci numbers.
    %fib:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %c0, %b = %c1)
        -> (index, index) {
      %sum = arith.addi %a, %b : index
      scf.yield %b, %sum : index, index
    }
    %55 = arith.constant 55 : index
    iris.expect_eq %fib#0, %55, "two carried values" : index

    %then = scf.if %true -> index {
      scf.yield %c1 : index
    } else {
      scf.yield %c2 : index
    }
    iris.expect_eq %then, %c1, "if, true" : index
    %else:2 = scf.if %false -> (index, index) {
      scf.yield %c1, %c2 : index, index
    } else {
      scf.yield %c2, %c3 : index, index
    }
    iris.expect_eq %else#0, %c2, "if, false" : index
    iris.expect_eq %else#1, %c3, "if, the second result" : index
    %memory = memref.alloca() : memref<1xi32>
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    memref.store %one, %memory[%c0] : memref<1xi32>
    scf.if %false {
      memref.store %two, %memory[%c0] : memref<1xi32>
    }
    %kept = memref.load %memory[%c0] : memref<1xi32>
    iris.expect_eq %kept, %one, "if without else" : i32

    // Doubles until it is at least 7: the values before are passed on.
    %while:2 = scf.while (%x = %c1, %n = %c0) : (index, index) -> (index, index) {
      %less = arith.cmpi slt, %x, %c7 : index
      scf.condition(%less) %n, %x : index, index
    } do {
    ^bb0(%n: index, %x: index):
      %doubled = arith.addi %x, %x : index
      %next = arith.addi %n, %c1 : index
      scf.yield %doubled, %next : index, index
    }
    iris.expect_eq %while#0, %c3, "while, iterations" : index
    iris.expect_eq %while#1, %c8, "while, the last value" : index

    %case = scf.index_switch %c7 -> index
    case 1 {
      scf.yield %c1 : index
    }
    case 7 {
      scf.yield %c2 : index
    }
    default {
      scf.yield %c3 : index
    }
    iris.expect_eq %case, %c2, "index_switch, a case" : index
    %default = scf.index_switch %c2 -> index
    case 1 {
      scf.yield %c1 : index
    }
    default {
      scf.yield %c3 : index
    }
    iris.expect_eq %default, %c3, "index_switch, the default" : index
    %region = scf.execute_region -> index {
      %sum = arith.addi %c1, %c2 : index
      scf.yield %sum : index
    }
    iris.expect_eq %region, %c3, "execute_region" : index

    %called = func.call @twice(%c7) : (index) -> index
    %again = func.call @twice(%called) : (index) -> index
    %28 = arith.constant 28 : index
    iris.expect_eq %again, %28, "call" : index
    gpu.return
  }

  // Each program of a grid of 2 x 3 x 2 checks and stores its number; all have
  // the same extents. A barrier of one program changes nothing.
  gpu.func @grid(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %z = gpu.block_id z
    %nx = gpu.grid_dim x
    %ny = gpu.grid_dim y
    %nz = gpu.grid_dim z
    %plane = arith.muli %nx, %ny : index
    %programs = arith.muli %plane, %nz : index
    %12 = arith.constant 12 : index
    iris.expect_eq %programs, %12, "grid_dim" : index
    gpu.barrier
    %zy = arith.muli %z, %ny : index
    %zy1 = arith.addi %zy, %y : index
    %zyx = arith.muli %zy1, %nx : index
    %n = arith.addi %zyx, %x : index
    %v = arith.index_cast %n : index to i32
    memref.store %v, %b[%n] : !buffer
    gpu.return
  }
  gpu.func @stored(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %got = tile.load %b[%c0] : !buffer -> tensor<16xi32>
    %sum = tile.reduce sum %got dim 0 : tensor<16xi32> -> i32
    %66 = arith.constant 66 : i32
    iris.expect_eq %sum, %66, "block_id" : i32
    gpu.return
  }
  gpu.func @add(%b: !buffer, %at: index, %v: i32) kernel {
    %old = memref.load %b[%at] : !buffer
    %ten = arith.constant 10 : i32
    %tens = arith.muli %old, %ten : i32
    %new = arith.addi %tens, %v : i32
    memref.store %new, %b[%at] : !buffer
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %b: !buffer, %at: index, %want: i32) kernel {
    %got = memref.load %b[%at] : !buffer
    iris.expect_eq %got, %want, "digits of @main" : i32
    gpu.return
  }
}

func.func private @append(%ctx: !iris.ctx, %b: !buffer, %at: index, %i: index) {
  %c1 = arith.constant 1 : index
  %v = arith.index_cast %i : index to i32
  iris.launch @kernels::@add programs(%c1) args(%b, %at, %v : !buffer, index, i32)
  func.return
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  iris.launch @kernels::@k programs(%c1) args(%ctx : !iris.ctx)
  %numbers = iris.alloc(%c16) : !buffer
  iris.launch @kernels::@grid programs(%c2, %c3, %c2)
      args(%ctx, %numbers : !iris.ctx, !buffer)
  iris.launch @kernels::@stored programs(%c1) args(%ctx, %numbers : !iris.ctx, !buffer)

  %b = iris.alloc(%c16) : !buffer
  // Iterations are one after the other, the last dimension first: 01, 02, 11, 12.
  scf.parallel (%i, %j) = (%c0, %c1) to (%c2, %c3) step (%c1, %c1) {
    func.call @append(%ctx, %b, %c0, %i) : (!iris.ctx, !buffer, index, index) -> ()
    func.call @append(%ctx, %b, %c0, %j) : (!iris.ctx, !buffer, index, index) -> ()
  }
  scf.forall (%i) in (%c3) {
    func.call @append(%ctx, %b, %c1, %i) : (!iris.ctx, !buffer, index, index) -> ()
  }
  %last = scf.while (%i = %c1) : (index) -> index {
    %more = arith.cmpi slt, %i, %c4 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    func.call @append(%ctx, %b, %c2, %i) : (!iris.ctx, !buffer, index, index) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  scf.index_switch %last
  case 4 {
    func.call @append(%ctx, %b, %c2, %c5) : (!iris.ctx, !buffer, index, index) -> ()
    scf.yield
  }
  default {
  }
  %is = arith.cmpi eq, %last, %c4 : index
  scf.if %is {
    func.call @append(%ctx, %b, %c3, %c1) : (!iris.ctx, !buffer, index, index) -> ()
  } else {
    func.call @append(%ctx, %b, %c3, %c2) : (!iris.ctx, !buffer, index, index) -> ()
  }
  %six = scf.execute_region -> index {
    %sum = arith.addi %c4, %c2 : index
    scf.yield %sum : index
  }
  scf.for %i = %c4 to %six step %c1 {
    func.call @append(%ctx, %b, %c3, %i) : (!iris.ctx, !buffer, index, index) -> ()
  }
  // Branches: a loop of 3 iterations, and one case of a switch.
  cf.br ^loop(%c0 : index)
^loop(%i: index):
  func.call @append(%ctx, %b, %c4, %i) : (!iris.ctx, !buffer, index, index) -> ()
  %next = arith.addi %i, %c1 : index
  %again = arith.cmpi ult, %next, %c3 : index
  cf.cond_br %again, ^loop(%next : index), ^choose(%next : index)
^choose(%n: index):
  %flag = arith.index_cast %n : index to i32
  cf.switch %flag : i32, [
    default: ^end(%c1 : index),
    2: ^end(%c2 : index),
    3: ^end(%c5 : index)
  ]
^end(%digit: index):
  func.call @append(%ctx, %b, %c4, %digit) : (!iris.ctx, !buffer, index, index) -> ()
  %parallel = arith.constant 1021112 : i32
  %forall = arith.constant 12 : i32
  %while = arith.constant 1235 : i32
  %for = arith.constant 145 : i32
  %branch = arith.constant 125 : i32
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %c0, %parallel : !iris.ctx, !buffer, index, i32)
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %c1, %forall : !iris.ctx, !buffer, index, i32)
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %c2, %while : !iris.ctx, !buffer, index, i32)
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %c3, %for : !iris.ctx, !buffer, index, i32)
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %b, %c4, %branch : !iris.ctx, !buffer, index, i32)
  iris.sync %ctx
  return
}
