// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of packet ops: the actual value and the expected one.
// RUN: iris-opt %s --split-input-file --verify-diagnostics

func.func @small(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %t: tensor<4xbf16>, %i: index, %e: i32) {
  // expected-error @+1 {{tile 'tensor<4xbf16>' has 8 bytes; expected a power of two, at least 16}}
  iris.packet_store %ctx, %t, %b[%i] flag(%e) : tensor<4xbf16>, memref<?xi32, #iris.symmetric>
  return
}

// -----

func.func @small_load(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-error @+1 {{tile 'tensor<1xf64>' has 8 bytes; expected a power of two, at least 16}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<1xf64>
  return
}

// -----

func.func @extent(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-error @+1 {{tile extent 12 in dimension 0 of 'tensor<12xf32>' is not a power of two}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<12xf32>
  return
}

// -----

func.func @element(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-error @+1 {{operand #1 must be 1D memref of 32-bit signless integer values}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xf32, #iris.symmetric> -> tensor<16xf32>
  return
}

// -----

func.func @offset(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %e: i32) {
  %c6 = arith.constant 6 : index
  // expected-error @+1 {{offset is 6; expected a multiple of 4}}
  %t = iris.packet_load %ctx, %b[%c6] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<16xf32>
  return
}

// -----

func.func @stride(%ctx: !iris.ctx, %b: memref<?xi32, strided<[2]>>, %i: index, %e: i32) {
  // expected-error @+1 {{buffer 'memref<?xi32, strided<[2]>>' has gaps; expected a stride of 1}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, strided<[2]>> -> tensor<16xf32>
  return
}

// -----

func.func @plain(%ctx: !iris.ctx, %b: memref<?xi32>, %t: tensor<16xf32>, %i: index, %e: i32) {
  // expected-error @+1 {{names a rank, but the buffer 'memref<?xi32>' is not on the symmetric heap; expected memory space #iris.symmetric}}
  iris.packet_store %ctx, %t, %b[%i] to %i flag(%e) : tensor<16xf32>, memref<?xi32>
  return
}

// -----

func.func @twice(%ctx: !iris.ctx, %b: memref<?xi32, #iris.peer>, %t: tensor<16xf32>, %i: index, %e: i32) {
  // expected-error @+2 {{is not on the symmetric heap}}
  // expected-note @+1 {{a buffer in #iris.peer is already translated}}
  iris.packet_store %ctx, %t, %b[%i] to %i flag(%e) : tensor<16xf32>, memref<?xi32, #iris.peer>
  return
}

// -----

func.func @mask(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-error @+1 {{result #0 must be statically shaped tensor of}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) : memref<?xi32, #iris.symmetric> -> tensor<256xi1>
  return
}

// -----

func.func @members(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-error @+1 {{has 8 words owed by 3 members; expected 1 to 16 members that divide them evenly}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) owed_by_members(3) : memref<?xi32, #iris.symmetric> -> tensor<8xi32>
  return
}

// -----

func.func @owed_twice(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-error @+1 {{is owed by members and by a rank; expected one of them}}
  %t = iris.packet_load %ctx, %b[%i] flag(%e) owed_by(%i) owed_by_members(4) : memref<?xi32, #iris.symmetric> -> tensor<8xi32>
  return
}

// -----

func.func @shares(%w: vector<4xi32>, %p: !llvm.ptr<1>, %o: i32, %e: i32) {
  // expected-error @+1 {{has 4 words for 3 offsets; expected one or two for each}}
  iris.write_packets %w flag(%e), %p[%o, %o, %o] : vector<4xi32>, !llvm.ptr<1>
  return
}
