// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-expand-slices | FileCheck %s
// No target lacks what is left.
// RUN: iris-compile %s --target=gfx942,sm_90a,host --emit=package -o %t

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @slices
  gpu.func @slices(%b: memref<?xf16>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: %[[V:.*]] = vector.load
    %v = vector.load %b[%c0] : memref<?xf16>, vector<4xf16>
    // CHECK: %[[P:.*]] = vector.shuffle %[[V]], %[[V]] [1, 2]
    %p = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]}
        : vector<4xf16> to vector<2xf16>
    // The slice has the elements 0 and 1, the vector those from 2 on.
    // CHECK: %[[W:.*]] = vector.shuffle %[[P]], %[[V]] [2, 3, 0, 1]
    // CHECK-SAME: vector<2xf16>, vector<4xf16>
    %w = vector.insert_strided_slice %p, %v {offsets = [2], strides = [1]}
        : vector<2xf16> into vector<4xf16>
    // CHECK: vector.store %[[W]]
    vector.store %w, %b[%c0] : memref<?xf16>, vector<4xf16>
    gpu.return
  }
}
