// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --tile-assign-layouts \
// RUN:   --convert-tile-to-threads --canonicalize --cse | FileCheck %s

// The remaining run-time checks: a remainder (and-ed mask) per unknown divisor.

// CHECK-LABEL: @constants
// CHECK-NOT: arith.andi %{{.+}}, %c7
// CHECK: scf.if
func.func @constants(%b: memref<?xf16> {iris.divisibility = 16 : i32},
                     %t: index) {
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %x = arith.muli %t, %c8 : index
  %y = arith.shli %t, %c3 : index
  %z = arith.addi %x, %y : index
  %v = tile.load %b[%z] : memref<?xf16> -> tensor<2048xf16>
  tile.store %v, %b[%z] : tensor<2048xf16>, memref<?xf16>
  return
}

// -----

// CHECK-LABEL: @unknown
// CHECK-SAME: %[[I:[^:]+]]: index
// CHECK: arith.andi %[[I]], %c7
// CHECK: scf.if
func.func @unknown(%i: index,
                   %b: memref<?xf16> {iris.divisibility = 16 : i32}) {
  %v = tile.load %b[%i] : memref<?xf16> -> tensor<2048xf16>
  tile.store %v, %b[%i] : tensor<2048xf16>, memref<?xf16>
  return
}

// -----

// Divisors from an argument, from a loop's lower bound and step, from extents.
// CHECK-LABEL: @argument
// CHECK-NOT: arith.andi %{{.+}}, %c7
// CHECK: scf.if
func.func @argument(
    %b: memref<?x?xf16> {iris.divisibility = {pointer = 256 : i32,
                                              sizes = [1 : i32, 64 : i32]}},
    %n: index {iris.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %size = memref.dim %b, %c1 : memref<?x?xf16>
  scf.for %k = %n to %size step %c128 {
    %j = arith.subi %size, %k : index
    %v = tile.load %b[%c0, %j] : memref<?x?xf16> -> tensor<8x256xf16>
    tile.store %v, %b[%c0, %k] : tensor<8x256xf16>, memref<?x?xf16>
  }
  return
}

// -----

// Strides of a strided argument; an unknown offset is checked.
// CHECK-LABEL: @strides
// CHECK-SAME: %[[B:[^:]+]]: memref<?x?xf16
// CHECK: %{{.+}}, %[[OFFSET:.+]], %{{.+}}:2, %{{.+}}:2 = memref.extract_strided_metadata %[[B]]
// CHECK: arith.andi %[[OFFSET]], %c7
// CHECK-NEXT: arith.cmpi eq
// CHECK-NOT: arith.cmpi eq
// CHECK: scf.if
func.func @strides(
    %b: memref<?x?xf16, strided<[?, 1], offset: ?>>
        {iris.divisibility = {pointer = 16 : i32, strides = [8 : i32, 1 : i32]}}) {
  %c0 = arith.constant 0 : index
  %v = tile.load %b[%c0, %c0]
      : memref<?x?xf16, strided<[?, 1], offset: ?>> -> tensor<8x256xf16>
  tile.store %v, %b[%c0, %c0]
      : tensor<8x256xf16>, memref<?x?xf16, strided<[?, 1], offset: ?>>
  return
}

// -----

// Heaps are aligned, so a translated pointer keeps its alignment.
// CHECK-LABEL: @translated
// CHECK-NOT: arith.andi %{{.+}}, %c15 : index
// CHECK: scf.if
func.func @translated(
    %ctx: !iris.ctx, %r: index,
    %b: memref<?xf16, #iris.symmetric> {iris.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : index
  %p = iris.translate %ctx, %b to %r
      : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
  %v = tile.load %p[%c0] : memref<?xf16, #iris.peer> -> tensor<2048xf16>
  tile.store %v, %p[%c0] : tensor<2048xf16>, memref<?xf16, #iris.peer>
  return
}
