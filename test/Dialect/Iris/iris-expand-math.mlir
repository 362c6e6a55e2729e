// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remaining ops have an instruction on every target.
//
// RUN: iris-opt %s --iris-expand-math | FileCheck %s

// CHECK-LABEL: func.func @polynomials
func.func @polynomials(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.exp2 %0 : f32
  %2 = math.expm1 %1 : f32
  %3 = math.log %2 : f32
  %4 = math.log2 %3 : f32
  %5 = math.log1p %4 : f32
  %6 = math.tanh %5 : f32
  %7 = math.sin %6 : f32
  %8 = math.cos %7 : f32
  %9 = math.atan %8 : f32
  %10 = math.atan2 %9, %x : f32
  %11 = math.erf %10 : f32
  %12 = math.erfc %11 : f32
  %13 = math.asin %12 : f32
  %14 = math.acos %13 : f32
  %15 = math.cbrt %14 : f32
  %16 = math.powf %15, %x : f32
  // CHECK-NOT: math.{{exp|log|tanh|sin|cos|atan|erf|asin|acos|cbrt|powf}}
  // CHECK: return
  return %16 : f32
}

// f16 in f32, rounded once.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf %{{.+}} : vector<8xf16> to vector<8xf32>
// CHECK: arith.truncf %{{.+}} : vector<8xf32> to vector<8xf16>
// CHECK-NOT: arith.truncf
func.func @narrow(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = math.exp %x : vector<8xf16>
  return %0 : vector<8xf16>
}

// Not an instruction of every target; upstream uses it for vectors of 8.
// CHECK-LABEL: func.func @reciprocal_root
// CHECK-SAME: %[[X:.+]]: vector<8xf32>
// CHECK: %[[ROOT:.+]] = math.sqrt %[[X]] : vector<8xf32>
// CHECK: %[[Y:.+]] = arith.divf %{{.+}}, %[[ROOT]] : vector<8xf32>
// CHECK: return %[[Y]]
func.func @reciprocal_root(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.rsqrt %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// MLIR lowers vector.fma to fmuladd, which may round twice.
// CHECK-LABEL: func.func @vector_fma
// CHECK: math.fma %{{.+}}, %{{.+}}, %{{.+}} : vector<2xf64>
func.func @vector_fma(%x: vector<2xf64>, %y: vector<2xf64>, %z: vector<2xf64>)
    -> vector<2xf64> {
  %0 = vector.fma %x, %y, %z : vector<2xf64>
  return %0 : vector<2xf64>
}
