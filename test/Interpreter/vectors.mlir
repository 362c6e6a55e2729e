// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of vector ops in the interpreter, with expected values from their
// definitions. An element of a vector is compared as a scalar.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 23 checks passed

!buffer = memref<?x?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %10 = arith.constant 10 : i32
    %11 = arith.constant 11 : i32
    %12 = arith.constant 12 : i32
    %13 = arith.constant 13 : i32

    %v = vector.from_elements %10, %11, %12, %13 : vector<4xi32>
    %v0 = vector.extract %v[0] : i32 from vector<4xi32>
    iris.expect_eq %v0, %10, "from_elements, first" : i32
    %v3 = vector.extract %v[3] : i32 from vector<4xi32>
    iris.expect_eq %v3, %13, "from_elements, last" : i32
    %v2 = vector.extract %v[%c2] : i32 from vector<4xi32>
    iris.expect_eq %v2, %12, "extract at a dynamic position" : i32

    %same = vector.broadcast %11 : i32 to vector<4xi32>
    %same3 = vector.extract %same[3] : i32 from vector<4xi32>
    iris.expect_eq %same3, %11, "broadcast" : i32

    %put = vector.insert %10, %v [%c1] : i32 into vector<4xi32>
    %put1 = vector.extract %put[1] : i32 from vector<4xi32>
    iris.expect_eq %put1, %10, "insert, the position" : i32
    %put2 = vector.extract %put[2] : i32 from vector<4xi32>
    iris.expect_eq %put2, %12, "insert, another position" : i32
    iris.expect_eq %v2, %12, "insert copies" : i32

    // 13, then the second vector's first element, then 11.
    %mix = vector.shuffle %v, %same [3, 4, 1] : vector<4xi32>, vector<4xi32>
    %mix0 = vector.extract %mix[0] : i32 from vector<3xi32>
    iris.expect_eq %mix0, %13, "shuffle, of the first" : i32
    %mix1 = vector.extract %mix[1] : i32 from vector<3xi32>
    iris.expect_eq %mix1, %11, "shuffle, of the second" : i32
    %mix2 = vector.extract %mix[2] : i32 from vector<3xi32>
    iris.expect_eq %mix2, %11, "shuffle, the last" : i32

    %mid = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]}
        : vector<4xi32> to vector<2xi32>
    %mid0 = vector.extract %mid[0] : i32 from vector<2xi32>
    iris.expect_eq %mid0, %11, "extract_strided_slice, first" : i32
    %mid1 = vector.extract %mid[1] : i32 from vector<2xi32>
    iris.expect_eq %mid1, %12, "extract_strided_slice, last" : i32
    %back = vector.insert_strided_slice %mid, %same {offsets = [2], strides = [1]}
        : vector<2xi32> into vector<4xi32>
    %back1 = vector.extract %back[1] : i32 from vector<4xi32>
    iris.expect_eq %back1, %11, "insert_strided_slice, before" : i32
    %back2 = vector.extract %back[2] : i32 from vector<4xi32>
    iris.expect_eq %back2, %11, "insert_strided_slice, first" : i32
    %back3 = vector.extract %back[3] : i32 from vector<4xi32>
    iris.expect_eq %back3, %12, "insert_strided_slice, last" : i32

    // The elements are beside each other in the last dimension, of length 5.
    vector.store %v, %b[%c1, %c1] : !buffer, vector<4xi32>
    %m11 = memref.load %b[%c1, %c1] : !buffer
    iris.expect_eq %m11, %10, "store, first" : i32
    %c4 = arith.constant 4 : index
    %m14 = memref.load %b[%c1, %c4] : !buffer
    iris.expect_eq %m14, %13, "store, last" : i32
    %zero = arith.constant 0 : i32
    %m10 = memref.load %b[%c1, %c0] : !buffer
    iris.expect_eq %m10, %zero, "store, before" : i32
    %l = vector.load %b[%c1, %c2] : !buffer, vector<3xi32>
    %l0 = vector.extract %l[0] : i32 from vector<3xi32>
    iris.expect_eq %l0, %11, "load, first" : i32
    %l2 = vector.extract %l[2] : i32 from vector<3xi32>
    iris.expect_eq %l2, %13, "load, last" : i32

    // Ops of arith work on each element.
    %sum = arith.addi %v, %same : vector<4xi32>
    %sum1 = vector.extract %sum[1] : i32 from vector<4xi32>
    %22 = arith.constant 22 : i32
    iris.expect_eq %sum1, %22, "addi" : i32

    // One rounding: (1 + 2^-12)^2 - 1 = 2^-11 + 2^-24, which a rounded square
    // of f32 loses. Expected: 2^-11 * (1 + 2^-13).
    %x = arith.constant dense<1.000244140625> : vector<2xf32>
    %minus = arith.constant dense<-1.0> : vector<2xf32>
    %fma = vector.fma %x, %x, %minus : vector<2xf32>
    %fma1 = vector.extract %fma[1] : f32 from vector<2xf32>
    %fma.want = arith.constant 4.883408546447754e-04 : f32
    iris.expect_eq %fma1, %fma.want, "fma" : f32
    %fma0 = vector.extract %fma[0] : f32 from vector<2xf32>
    iris.expect_eq %fma0, %fma.want, "fma, first" : f32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %b = iris.alloc(%c2, %c5) : !buffer
  iris.launch @kernels::@k programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
