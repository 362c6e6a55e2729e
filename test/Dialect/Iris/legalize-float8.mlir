// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8 values become their bits; conversions become integer arithmetic.
//
// RUN: iris-opt %s --iris-legalize-float8 | FileCheck %s

// CHECK-LABEL: gpu.func @round_trip
// CHECK-NOT: f8E
// CHECK: arith.shli {{.*}} : tensor<64xi32>
// CHECK: arith.mulf {{.*}} : tensor<64xf32>
// CHECK: arith.minui {{.*}} : tensor<64xi32>
// CHECK: tile.store {{.*}} : tensor<64xi8>
// CHECK-NOT: f8E
gpu.module @kernels {
  gpu.func @round_trip(%b: memref<?xi8>, %i: index, %c: i1) kernel {
    %0 = tile.load %b[%i] : memref<?xi8> -> tensor<64xi8>
    %1 = arith.bitcast %0 : tensor<64xi8> to tensor<64xf8E4M3FN>
    %2 = arith.extf %1 : tensor<64xf8E4M3FN> to tensor<64xf32>
    %3 = arith.truncf %2 : tensor<64xf32> to tensor<64xf8E5M2>
    %4 = arith.constant dense<1.0> : tensor<64xf8E5M2>
    %5 = scf.if %c -> tensor<64xf8E5M2> {
      scf.yield %3 : tensor<64xf8E5M2>
    } else {
      scf.yield %4 : tensor<64xf8E5M2>
    }
    %6 = arith.select %c, %5, %3 : tensor<64xf8E5M2>
    %7 = arith.bitcast %6 : tensor<64xf8E5M2> to tensor<64xi8>
    tile.store %7, %b[%i] : tensor<64xi8>, memref<?xi8>
    gpu.return
  }
}
