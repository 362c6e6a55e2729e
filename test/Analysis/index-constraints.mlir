// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-diagnostics --test-print-index-constraints

// The counters of nested loops, and conditions around the question.
func.func @loops(%n: index, %m: index, %x: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-remark @+1 {{always true}}
    %below = arith.cmpi slt, %i, %n {test.ask} : index
    // expected-remark @+1 {{never true}}
    %negative = arith.cmpi slt, %i, %c0 {test.ask} : index
    // expected-remark @+1 {{not known}}
    %other = arith.cmpi slt, %i, %m {test.ask} : index
    %j0 = arith.addi %i, %c1 : index
    scf.for %j = %j0 to %n step %c1 {
      // expected-remark @+1 {{never true}}
      %same = arith.cmpi eq, %i, %j {test.ask} : index
      // expected-remark @+1 {{always true}}
      %apart = arith.cmpi ne, %i, %j {test.ask} : index
    }
  }
  %small = arith.cmpi slt, %x, %c8 : index
  scf.if %small {
    %y = arith.addi %x, %c1 : index
    // expected-remark @+1 {{always true}}
    %sum = arith.cmpi sle, %y, %c8 {test.ask} : index
  } else {
    // expected-remark @+1 {{always true}}
    %large = arith.cmpi sge, %x, %c8 {test.ask} : index
  }
  // expected-remark @+1 {{not known}}
  %outside = arith.cmpi slt, %x, %c8 {test.ask} : index
  return
}

// The largest multiple of eight that is not above a number.
func.func @multiple(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %i, %c8 : index
    %p = arith.muli %q, %c8 : index
    // expected-remark @+1 {{always true}}
    %floor = arith.cmpi sle, %p, %i {test.ask} : index
    %next = arith.addi %p, %c8 : index
    // expected-remark @+1 {{never true}}
    %above = arith.cmpi sle, %next, %i {test.ask} : index
  }
  return
}
