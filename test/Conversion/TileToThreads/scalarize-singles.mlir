// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-scalarize-singles | FileCheck %s

// Only the element is passed from op to op.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[V:.+]]: vector<1xf64>
// CHECK: %[[X:.+]] = vector.extract %[[V]][0] : f64 from vector<1xf64>
// CHECK: %[[SIGNED:.+]] = math.copysign %{{.+}}, %[[X]] fastmath<nnan> : f64
// CHECK: %[[ROUNDED:.+]] = arith.truncf %[[SIGNED]] : f64 to f32
// CHECK: %[[R:.+]] = vector.broadcast %[[ROUNDED]] : f32 to vector<1xf32>
// CHECK: return %[[R]]
func.func @chain(%v: vector<1xf64>) -> vector<1xf32> {
  %one = arith.constant dense<1.0> : vector<1xf64>
  %s = math.copysign %one, %v fastmath<nnan> : vector<1xf64>
  %r = arith.truncf %s : vector<1xf64> to vector<1xf32>
  return %r : vector<1xf32>
}

// CHECK-LABEL: func.func @select
// CHECK: arith.select %{{.+}}, %{{.+}}, %{{.+}} : i32
func.func @select(%p: i1, %a: vector<1x1xi32>, %b: vector<1x1xi32>)
    -> vector<1x1xi32> {
  %r = arith.select %p, %a, %b : vector<1x1xi32>
  return %r : vector<1x1xi32>
}

// CHECK-LABEL: func.func @others
// CHECK: arith.addf %{{.+}}, %{{.+}} : vector<2xf32>
// CHECK: arith.addf %{{.+}}, %{{.+}} : vector<[1]xf32>
func.func @others(%a: vector<2xf32>, %b: vector<[1]xf32>)
    -> (vector<2xf32>, vector<[1]xf32>) {
  %0 = arith.addf %a, %a : vector<2xf32>
  %1 = arith.addf %b, %b : vector<[1]xf32>
  return %0, %1 : vector<2xf32>, vector<[1]xf32>
}
