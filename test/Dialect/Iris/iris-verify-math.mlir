// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-verify-math --split-input-file --verify-diagnostics

func.func @supported(%x: tensor<8xf16>, %y: f64, %i: i32) {
  %0 = math.exp %x : tensor<8xf16>
  %1 = math.sqrt %y : f64
  %2 = math.fma %y, %y, %y : f64
  %3 = math.absi %i : i32
  return
}

// -----

func.func @no_f64_exp(%x: f64) {
  // expected-error @below {{'math.exp' op works on 'f64'; expected f16, bf16 or f32}}
  %0 = math.exp %x : f64
  return
}

// -----

func.func @no_sinh(%x: tensor<8xf32>) {
  // expected-error @below {{'math.sinh' op is not among the math functions all targets have; see docs/math.md for those}}
  %0 = math.sinh %x : tensor<8xf32>
  return
}

// -----

func.func @no_remf(%x: f32) {
  // expected-error @below {{'arith.remf' op is not available on all targets}}
  %0 = arith.remf %x, %x : f32
  return
}
