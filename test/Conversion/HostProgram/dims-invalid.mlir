// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions that a buffer does not have, also if only inlining reveals them.
//
// RUN: iris-opt %s --iris-main-pipeline --split-input-file --verify-diagnostics

!buffer = memref<?xf32, #iris.symmetric>

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  %m1 = arith.constant -1 : index
  %b = iris.alloc(%c4) : !buffer
  // expected-error @below {{'memref.dim' op has dimension -1; expected 0}}
  %n = memref.dim %b, %m1 : !buffer
  %c = iris.alloc(%n) : !buffer
  return
}

// -----

!buffer = memref<?xf32, #iris.symmetric>

func.func private @copy(%b: !buffer, %dim: index) {
  // expected-error @below {{'memref.dim' op has dimension -1; expected 0}}
  %n = memref.dim %b, %dim : !buffer
  %c = iris.alloc(%n) : !buffer
  return
}

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  %m1 = arith.constant -1 : index
  %b = iris.alloc(%c4) : !buffer
  func.call @copy(%b, %m1) : (!buffer, index) -> ()
  return
}
