// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --test-print-divisibility

// Facts come from attributes of arguments, constants and types.
// expected-remark @+4 {{argument 0: address divisible by 16, sizes by 8 64, strides by 64 1}}
// expected-remark @+3 {{argument 1 is divisible by 32}}
// expected-remark @+2 {{argument 2 is divisible by 1}}
// expected-remark @+1 {{argument 3: address divisible by 1, sizes by 1 1, strides by 1 1}}
func.func @arguments(%a: memref<8x64xf16> {iris.divisibility = 16 : i64},
                     %i: index {iris.divisibility = 32 : i64}, %j: index,
                     %b: memref<?x?xf32>) {
  // expected-remark @+1 {{result 0 is divisible by 8}}
  %c = arith.constant 24 : index
  // expected-remark @+1 {{result 0 is divisible by anything}}
  %zero = arith.constant 0 : index
  // expected-remark @+1 {{result 0 is divisible by 256}}
  %product = arith.muli %i, %c : index
  // expected-remark @+1 {{result 0 is divisible by 8}}
  %sum = arith.addi %product, %c : index
  // expected-remark @+1 {{result 0 is divisible by 1}}
  %unknown = arith.addi %product, %j : index
  return
}

// -----

// What is aligned of an argument is its first element, 6 bytes after its pointer.
// expected-remark @+1 {{argument 0: address divisible by 2, sizes by 8 64, strides by 64 1}}
func.func @offset(%a: memref<8x64xf16, strided<[64, 1], offset: 3>> {iris.divisibility = 16 : i64}) {
  return
}

// -----

// A counter is divisible by what divides its start and its step, also in the
// inner of two loops.
// expected-remark @+2 {{argument 0: address divisible by 1, sizes by 1, strides by 1}}
// expected-remark @+1 {{argument 1 is divisible by 1}}
func.func @loops(%b: memref<?xf32>, %n: index) {
  // expected-remark @+1 {{is divisible by anything}}
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{is divisible by 64}}
  %c64 = arith.constant 64 : index
  // expected-remark @+1 {{is divisible by 256}}
  %c256 = arith.constant 256 : index
  // expected-remark @+1 {{argument 0 is divisible by 256}}
  scf.for %i = %c0 to %n step %c256 {
    // expected-remark @+1 {{argument 0 is divisible by 64}}
    scf.for %j = %i to %n step %c64 {
      // expected-remark @+1 {{result 0 is divisible by 64}}
      %at = arith.addi %i, %j : index
    }
  }
  return
}

// -----

// A condition gives what both sides have. A view starts at the allocation's
// address; its strides are the buffer's. A peer's copy is aligned as this rank's
// one.
// expected-remark @+4 {{argument 1: address divisible by 16, sizes by 1 32, strides by 32 1}}
// expected-remark @+3 {{argument 2 is divisible by 1}}
// expected-remark @+2 {{argument 3 is divisible by 1}}
// expected-remark @+1 {{argument 4 is divisible by 64}}
func.func @views(%ctx: !iris.ctx, %a: memref<?x32xf16, #iris.symmetric> {iris.divisibility = 16 : i64}, %c: i1, %r: index, %i: index {iris.divisibility = 64 : i64}) {
  // expected-remark @+1 {{is divisible by 16}}
  %c16 = arith.constant 16 : index
  // expected-remark @+1 {{result 0 is divisible by 16}}
  %s = arith.select %c, %i, %c16 : index
  // expected-remark @+1 {{result 0: address divisible by 16, sizes by 4 16, strides by 32 1}}
  %v = memref.subview %a[%s, 8] [4, 16] [1, 1] : memref<?x32xf16, #iris.symmetric> to memref<4x16xf16, strided<[32, 1], offset: ?>, #iris.symmetric>
  // expected-remark @+1 {{result 0: address divisible by 16, sizes by 1 32, strides by 32 1}}
  %p = iris.translate %ctx, %a to %r : memref<?x32xf16, #iris.symmetric> -> memref<?x32xf16, #iris.peer>
  return
}
