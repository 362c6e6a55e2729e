// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of constant vectors at the counter of a loop: MLIR's propagation of
// constants takes the first iteration's for all (docs/internals/guards.md).
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
//
// MLIR still has the defect.
// RUN: iris-compile %s --target=host --disable-guards=vector-positions -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: {{[0-9]+}} of {{[0-9]+}} checks failed

gpu.module @kernels {
  gpu.func @extracted(%ctx: !iris.ctx) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : i32
    %three = arith.constant 3 : i32
    %fives = arith.constant dense<[5, 8, 11, 14]> : vector<4xi32>
    scf.while (%i = %c0) : (index) -> index {
      %e = vector.extract %fives[%i] : i32 from vector<4xi32>
      // 5 + 3 * i
      %n = arith.index_cast %i : index to i32
      %m = arith.muli %n, %three : i32
      %expected = arith.addi %m, %c5 : i32
      iris.expect_eq %e, %expected, "element of a constant" : i32
      %next = arith.addi %i, %c1 : index
      %goes = arith.cmpi ult, %next, %c4 : index
      scf.condition(%goes) %next : index
    } do {
    ^bb0(%i: index):
      scf.yield %i : index
    }
    gpu.return
  }

  gpu.func @inserted(%ctx: !iris.ctx) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i8
    %x = arith.constant 85 : i8
    %zeros = arith.constant dense<0> : vector<4xi8>
    scf.while (%i = %c0) : (index) -> index {
      %v = vector.insert %x, %zeros [%i] : i8 into vector<4xi8>
      %first = vector.extract %v[0] : i8 from vector<4xi8>
      %third = vector.extract %v[2] : i8 from vector<4xi8>
      %isFirst = arith.cmpi eq, %i, %c0 : index
      %expectedFirst = arith.select %isFirst, %x, %zero : i8
      iris.expect_eq %first, %expectedFirst, "inserted, or left alone" : i8
      %c2 = arith.constant 2 : index
      %isThird = arith.cmpi eq, %i, %c2 : index
      %expectedThird = arith.select %isThird, %x, %zero : i8
      iris.expect_eq %third, %expectedThird, "inserted later" : i8
      %next = arith.addi %i, %c1 : index
      %goes = arith.cmpi ult, %next, %c4 : index
      scf.condition(%goes) %next : index
    } do {
    ^bb0(%i: index):
      scf.yield %i : index
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  iris.launch @kernels::@extracted programs(%one) args(%ctx : !iris.ctx)
  iris.launch @kernels::@inserted programs(%one) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
