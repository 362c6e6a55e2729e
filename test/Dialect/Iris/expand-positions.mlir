// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-expand-positions | FileCheck %s
// No target lacks what is left.
// RUN: iris-compile %s --target=gfx942,sm_90a,host --emit=package -o %t

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @positions
  // CHECK-SAME: %[[I:[a-z0-9]+]]: index
  gpu.func @positions(%b: memref<?xf16>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: %[[V:.*]] = vector.load
    %v = vector.load %b[%c0] : memref<?xf16>, vector<2xf16>
    // CHECK: %[[E0:.*]] = vector.extract %[[V]][0]
    // CHECK: %[[E1:.*]] = vector.extract %[[V]][1]
    // CHECK: %[[IS1:.*]] = arith.cmpi eq, %[[I]], %c1
    // CHECK: %[[E:.*]] = arith.select %[[IS1]], %[[E1]], %[[E0]] : f16
    %e = vector.extract %v[%i] : f16 from vector<2xf16>
    %x = arith.addf %e, %e : f16
    // CHECK: %[[X:.*]] = arith.addf %[[E]], %[[E]]
    // CHECK: %[[F0:.*]] = vector.extract %[[V]][0]
    // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[I]], %c0
    // CHECK: %[[G0:.*]] = arith.select %[[IS]], %[[X]], %[[F0]]
    // CHECK: %[[F1:.*]] = vector.extract %[[V]][1]
    // CHECK: %[[G1:.*]] = arith.select %{{.*}}, %[[X]], %[[F1]]
    // CHECK: %[[W:.*]] = vector.from_elements %[[G0]], %[[G1]] : vector<2xf16>
    %w = vector.insert %x, %v [%i] : f16 into vector<2xf16>
    // A constant position stays.
    // CHECK: %[[U:.*]] = vector.insert %[[X]], %[[W]] [1]
    %u = vector.insert %x, %w [1] : f16 into vector<2xf16>
    // CHECK: vector.store %[[U]]
    vector.store %u, %b[%c0] : memref<?xf16>, vector<2xf16>
    gpu.return
  }
}
