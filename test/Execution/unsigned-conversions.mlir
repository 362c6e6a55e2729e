// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Negative integers, converted to floats as unsigned ones: 2^64 - 51200 and 2^64 - 1 are
// 2^64 in f32, and 2^32 - 13 is 2^32.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 2 --device=reference %s
// CHECK: all 68 checks passed
//
// LLVM still has the defects that the guard is for.
// RUN: iris-compile %s --disable-guards=unsigned-conversions -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: 68 of 68 checks failed

!halves = memref<?xf16, #iris.symmetric>
!bytes = memref<?xi8, #iris.symmetric>
!words = memref<?xi32, #iris.symmetric>
!results = memref<?xf64, #iris.symmetric>
!singles = memref<?xf32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%halves: !halves, %bytes: !bytes) kernel {
    %zero = arith.constant 0 : index
    %half = arith.constant dense<-51200.0> : tensor<32xf16>
    %byte = arith.constant dense<1> : tensor<32xi8>
    tile.store %half, %halves[%zero] : tensor<32xf16>, !halves
    tile.store %byte, %bytes[%zero] : tensor<32xi8>, !bytes
    gpu.return
  }
  // InstCombine takes the conversions of integers for exact.
  gpu.func @exact(%halves: !halves, %long: !results, %short: !results) kernel {
    %zero = arith.constant 0 : index
    %x = tile.load %halves[%zero] : !halves -> tensor<32xf16>
    %i = arith.fptosi %x : tensor<32xf16> to tensor<32xi64>
    %f = arith.uitofp %i : tensor<32xi64> to tensor<32xf32>
    %d = arith.extf %f : tensor<32xf32> to tensor<32xf64>
    tile.store %d, %long[%zero] : tensor<32xf64>, !results
    %k = arith.constant dense<0x6B45> : tensor<32xf16>
    %y = arith.divf %x, %k : tensor<32xf16>
    %j = arith.fptosi %y : tensor<32xf16> to tensor<32xi32>
    %g = arith.uitofp %j : tensor<32xi32> to tensor<32xf32>
    %e = arith.extf %g : tensor<32xf32> to tensor<32xf64>
    tile.store %e, %short[%zero] : tensor<32xf64>, !results
    gpu.return
  }
  // The SLP vectorizer drops the extensions to i64.
  gpu.func @extended(%bytes: !bytes, %results: !singles) kernel {
    %two = arith.constant 2 : i32
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %x0 = memref.load %bytes[%i0] : !bytes
    %x1 = memref.load %bytes[%i1] : !bytes
    %x2 = memref.load %bytes[%i2] : !bytes
    %x3 = memref.load %bytes[%i3] : !bytes
    %w0 = arith.extui %x0 : i8 to i32
    %s0 = arith.subi %w0, %two : i32
    %l0 = arith.extsi %s0 : i32 to i64
    %f0 = arith.uitofp %l0 : i64 to f32
    %w1 = arith.extui %x1 : i8 to i32
    %s1 = arith.subi %w1, %two : i32
    %l1 = arith.extsi %s1 : i32 to i64
    %f1 = arith.uitofp %l1 : i64 to f32
    %w2 = arith.extui %x2 : i8 to i32
    %s2 = arith.subi %w2, %two : i32
    %l2 = arith.extsi %s2 : i32 to i64
    %f2 = arith.uitofp %l2 : i64 to f32
    %w3 = arith.extui %x3 : i8 to i32
    %s3 = arith.subi %w3, %two : i32
    %l3 = arith.extsi %s3 : i32 to i64
    %f3 = arith.uitofp %l3 : i64 to f32
    memref.store %f0, %results[%i0] : !singles
    memref.store %f1, %results[%i1] : !singles
    memref.store %f2, %results[%i2] : !singles
    memref.store %f3, %results[%i3] : !singles
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %long: !results, %short: !results, %results: !singles) kernel {
    %zero = arith.constant 0 : index
    %a = tile.load %long[%zero] : !results -> tensor<32xf64>
    %b = tile.load %short[%zero] : !results -> tensor<32xf64>
    %c = tile.load %results[%zero] : !singles -> tensor<4xf32>
    %x = arith.constant dense<0x43F0000000000000> : tensor<32xf64>
    %y = arith.constant dense<0x41F0000000000000> : tensor<32xf64>
    %z = arith.constant dense<0x5F800000> : tensor<4xf32>
    iris.expect_eq %a, %x, "of f16 by i64" : tensor<32xf64>
    iris.expect_eq %b, %y, "of f16 by i32" : tensor<32xf64>
    iris.expect_eq %c, %z, "of i8 by i64" : tensor<4xf32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %n = arith.constant 32 : index
  %halves = iris.alloc(%n) : !halves
  %bytes = iris.alloc(%n) : !bytes
  %long = iris.alloc(%n) : !results
  %short = iris.alloc(%n) : !results
  %results = iris.alloc(%n) : !singles
  iris.launch @kernels::@fill programs(%one) args(%halves, %bytes : !halves, !bytes)
  iris.launch @kernels::@exact programs(%one) args(%halves, %long, %short : !halves, !results, !results)
  iris.launch @kernels::@extended programs(%one) args(%bytes, %results : !bytes, !singles)
  iris.launch @kernels::@check programs(%one) args(%ctx, %long, %short, %results
      : !iris.ctx, !results, !results, !singles)
  iris.sync %ctx
  return
}
