// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics \
// RUN:   --tile-assign-layouts --convert-tile-to-threads \
// RUN:   --remarks-filter=tile-vectorize-access --remark-format=emitRemark

func.func @dynamic(%b: memref<?x?xf16>, %i: index) {
  // expected-remark @+1 {{[Passed] access | Category:tile-vectorize-access | bytesPerAccess=16, runtimeCheck=true}}
  %v = tile.load %b[%i, %i] : memref<?x?xf16> -> tensor<8x256xf16>
  return
}

// -----

func.func @static(%b: memref<8x256xf16> {iris.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{[Passed] access | Category:tile-vectorize-access | bytesPerAccess=16, runtimeCheck=false}}
  %v = tile.load %b[%c0, %c0] : memref<8x256xf16> -> tensor<8x256xf16>
  return
}

// -----

// The pointer's alignment is not known.
func.func @static_pointer(%b: memref<8x256xf16>) {
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{bytesPerAccess=16, runtimeCheck=true}}
  %v = tile.load %b[%c0, %c0] : memref<8x256xf16> -> tensor<8x256xf16>
  return
}

// -----

func.func @inner_stride(%b: memref<?x?xf16, strided<[?, ?]>>, %i: index) {
  // expected-remark @+1 {{[Missed] access | Category:tile-vectorize-access | Reason="inner stride not known to be 1", bytesPerAccess=2, runtimeCheck=true}}
  %v = tile.load %b[%i, %i]
      : memref<?x?xf16, strided<[?, ?]>> -> tensor<8x256xf16>
  return
}

// -----

func.func @row_pitch(%b: memref<?x508xf16>, %i: index) {
  // expected-remark @+1 {{Reason="row pitch is not a multiple of the access", bytesPerAccess=8}}
  %v = tile.load %b[%i, %i] : memref<?x508xf16> -> tensor<8x256xf16>
  return
}

// -----

// For a single row, only its start matters, not the row pitch.
func.func @one_row(%b: memref<4x4092xf16> {iris.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-remark @+1 {{[Passed] access | Category:tile-vectorize-access | bytesPerAccess=16, runtimeCheck=false}}
  %v = tile.load %b[%c2, %c0] : memref<4x4092xf16> -> tensor<1x2048xf16>
  return
}

// -----

func.func @shifted(%b: memref<8x512xf16>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-remark @+1 {{Reason="offset of the window is not a multiple of the access", bytesPerAccess=4}}
  %v = tile.load %b[%c0, %c2] : memref<8x512xf16> -> tensor<8x256xf16>
  return
}

// -----

func.func @shifted_view(%b: memref<8x512xf16, strided<[512, 1], offset: 4>>) {
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{Reason="offset of the buffer is not a multiple of the access", bytesPerAccess=8}}
  %v = tile.load %b[%c0, %c0]
      : memref<8x512xf16, strided<[512, 1], offset: 4>> -> tensor<8x256xf16>
  return
}

// -----

func.func @never(%b: memref<4x256xf16>) {
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{Reason="the window is never inside the buffer", bytesPerAccess=2}}
  %v = tile.load %b[%c0, %c0] : memref<4x256xf16> -> tensor<8x256xf16>
  return
}

// -----

#two = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @pinned(%b: memref<2048xf16>) {
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{Reason="the layout gives a thread fewer consecutive elements of the last dimension", bytesPerAccess=4}}
  %v = tile.load %b[%c0] : memref<2048xf16> -> tensor<2048xf16, #two>
  return
}

// -----

// Divisors propagate through arithmetic, loops and selects.
func.func @divisors(%b: memref<?xf16> {iris.divisibility = 32 : i32},
                    %n: index {iris.divisibility = 64 : i32}, %c: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  scf.for %k = %c16 to %n step %c24 {
    %x = arith.muli %k, %n : index
    %y = arith.addi %x, %c24 : index
    %z = arith.select %c, %y, %k : index
    // expected-remark @+1 {{bytesPerAccess=16, runtimeCheck=true}}
    %v = tile.load %b[%z] : memref<?xf16> -> tensor<2048xf16>
  }
  return
}

// -----

// Columns that are contiguous.
func.func @columns(%b: memref<?x?xf16, strided<[1, ?]>>, %i: index) {
  // expected-remark @+1 {{[Passed] access | Category:tile-vectorize-access | bytesPerAccess=16, runtimeCheck=true}}
  %v = tile.load %b[%i, %i]
      : memref<?x?xf16, strided<[1, ?]>> -> tensor<256x8xf16>
  return
}

// -----

func.func @column_pitch(%b: memref<?x?xf16, strided<[1, 508]>>, %i: index) {
  // expected-remark @+1 {{Reason="row pitch is not a multiple of the access", bytesPerAccess=8}}
  %v = tile.load %b[%i, %i]
      : memref<?x?xf16, strided<[1, 508]>> -> tensor<256x8xf16>
  return
}

// -----

// A tile has one layout, that of the rows.
func.func @rows_and_columns(%b: memref<?x?xf16, strided<[1, ?]>>,
                            %o: memref<?x?xf16>, %i: index) {
  // expected-remark @+1 {{Reason="the layout gives a thread fewer consecutive elements of the dimension with stride 1", bytesPerAccess=2}}
  %v = tile.load %b[%i, %i]
      : memref<?x?xf16, strided<[1, ?]>> -> tensor<8x256xf16>
  // expected-remark @+1 {{bytesPerAccess=16, runtimeCheck=true}}
  tile.store %v, %o[%i, %i] : tensor<8x256xf16>, memref<?x?xf16>
  return
}

// -----

func.func @indexed(%b: memref<?xi16>) {
  %i = tile.range dim 0 : tensor<2048xindex>
  // expected-remark @+1 {{[Missed] access | Category:tile-vectorize-access | Reason="each element has coordinates of its own; expected a window (tile.load, tile.store)", bytesPerAccess=2, runtimeCheck=true}}
  %v = tile.gather %b[%i] : memref<?xi16>, tensor<2048xindex> -> tensor<2048xi16>
  // expected-remark @+1 {{each element has coordinates of its own}}
  tile.scatter %v, %b[%i] : tensor<2048xi16>, memref<?xi16>, tensor<2048xindex>
  return
}
