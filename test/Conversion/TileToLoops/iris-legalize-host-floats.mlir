// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-legalize-host-floats | FileCheck %s

// Rounded to bf16 after every operation, by its bits.
// CHECK-LABEL: func.func @bf16
// CHECK-NOT: bf16 to f32
// CHECK: arith.addf %{{.+}}, %{{.+}} : f32
// CHECK: arith.bitcast %{{.+}} : i16 to bf16
// CHECK: arith.mulf %{{.+}}, %{{.+}} : f32
func.func @bf16(%a: bf16, %b: bf16) -> bf16 {
  %s = arith.addf %a, %b : bf16
  %p = arith.mulf %s, %b : bf16
  return %p : bf16
}

// CHECK-LABEL: func.func @f16
// CHECK: arith.extf %{{.+}} : f16 to f32
// CHECK: %[[S:.+]] = arith.addf %{{.+}}, %{{.+}} : f32
// CHECK: arith.truncf %[[S]] : f32 to f16
func.func @f16(%a: f16, %b: f16) -> f16 {
  %s = arith.addf %a, %b : f16
  return %s : f16
}

// Rounded once, through an intermediate value that is rounded to odd.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME: %[[X:.+]]: f64
// CHECK: %[[NEAR:.+]] = arith.truncf %[[X]] : f64 to f32
// CHECK: %[[BACK:.+]] = arith.extf %[[NEAR]] : f32 to f64
// CHECK: arith.cmpf one, %[[BACK]], %[[X]]
// CHECK: %[[ODD:.+]] = arith.bitcast %{{.+}} : i32 to f32
// CHECK: arith.truncf %[[ODD]] : f32 to f16
func.func @narrow(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}

// fma rounds once as well: f64 represents the product of two f16 exactly, and
// the sum is rounded to odd.
// CHECK-LABEL: func.func @fma
// CHECK: %[[P:.+]] = arith.mulf %{{.+}}, %{{.+}} : f64
// CHECK: %[[S:.+]] = arith.addf %[[P]], %{{.+}} : f64
// CHECK: %[[E:.+]] = arith.addf {{.+}} : f64
// CHECK: arith.cmpf one, %[[E]], {{.+}} : f64
func.func @fma(%a: f16, %b: f16, %c: f16) -> f16 {
  %y = math.fma %a, %b, %c : f16
  return %y : f16
}

// LLVM would round the product of vectors of f16, too.
// CHECK-LABEL: func.func @vector_fma
// CHECK-NOT: math.fma
// CHECK: %[[P:.+]] = arith.mulf %{{.+}}, %{{.+}} : vector<8xf64>
// CHECK: %[[S:.+]] = arith.addf %[[P]], %{{.+}} : vector<8xf64>
// CHECK-NOT: math.fma
// CHECK: return
func.func @vector_fma(%a: vector<8xf16>, %b: vector<8xf16>, %c: vector<8xf16>)
    -> vector<8xf16> {
  %y = math.fma %a, %b, %c : vector<8xf16>
  return %y : vector<8xf16>
}
