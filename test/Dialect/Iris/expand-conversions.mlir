// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-expand-conversions | FileCheck %s
// RUN: iris-opt %s --iris-expand-conversions=fma-bf16 | FileCheck %s --check-prefix=FMA

// CHECK-LABEL: func.func @signed(
// CHECK-SAME: %[[X:.+]]: i32
// CHECK-NOT: to bf16
// CHECK: %[[N:.+]] = arith.cmpi slt, %[[X]], {{.*}} : i32
// CHECK: %[[M:.+]] = arith.select %[[N]], {{.*}}, %[[X]] : i32
// CHECK: %[[Z:.+]] = math.ctlz %[[M]] : i32
// CHECK: %[[K:.+]] = arith.shrui %[[M]], %[[S:.+]] : i32
// CHECK: %[[B:.+]] = arith.shli %[[K]], %[[S]] : i32
// CHECK: %[[L:.+]] = arith.cmpi ne, %[[B]], %[[M]] : i32
// CHECK: %[[T:.+]] = arith.extui %[[L]] : i1 to i32
// CHECK: %[[O:.+]] = arith.ori %[[K]], %[[T]] : i32
// CHECK: arith.uitofp %[[O]] : i32 to f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @signed(%x: i32) -> bf16 {
  %0 = arith.sitofp %x : i32 to bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @vector(
// CHECK-NOT: to vector<4xbf16>
// CHECK: math.ctlz {{.*}} : vector<4xi64>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xbf16>
func.func @vector(%x: vector<4xi64>) -> vector<4xbf16> {
  %0 = arith.uitofp %x : vector<4xi64> to vector<4xbf16>
  return %0 : vector<4xbf16>
}

// f32 holds the integer, or the target rounds once.
// CHECK-LABEL: func.func @exact(
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.uitofp
// CHECK-NEXT: arith.sitofp
func.func @exact(%x: i16, %y: i64, %z: i8) -> (bf16, f32, f16) {
  %0 = arith.sitofp %x : i16 to bf16
  %1 = arith.uitofp %y : i64 to f32
  %2 = arith.sitofp %z : i8 to f16
  return %0, %1, %2 : bf16, f32, f16
}

// Integers that may overflow f16 are clamped, directly or by way of f64.
// CHECK-LABEL: func.func @overflow(
// CHECK-SAME: %[[X:.+]]: i32
// CHECK: %[[F:.+]] = arith.sitofp %[[X]] : i32 to f32
// CHECK: %[[L:.+]] = arith.minimumf %[[F]], {{.*}} : f32
// CHECK: %[[C:.+]] = arith.maximumf %[[L]], {{.*}} : f32
// CHECK: arith.truncf %[[C]] : f32 to f16
// CHECK: %[[D:.+]] = arith.uitofp %[[X]] : i32 to f64
// CHECK: arith.minimumf %[[D]], {{.*}} : f64
// CHECK: arith.truncf {{.*}} : f64 to f16
func.func @overflow(%x: i32) -> (f16, f16) {
  %0 = arith.sitofp %x : i32 to f16
  %1 = arith.uitofp %x : i32 to f64
  %2 = arith.truncf %1 : f64 to f16
  return %0, %2 : f16, f16
}

// With the option, fma of bf16 rounds once.
// FMA-LABEL: func.func @fma(
// FMA: arith.mulf {{.*}} : f64
// FMA-NOT: math.fma
// FMA: arith.truncf {{.*}} : f32 to bf16
func.func @fma(%x: bf16) -> bf16 {
  %0 = math.fma %x, %x, %x : bf16
  return %0 : bf16
}
