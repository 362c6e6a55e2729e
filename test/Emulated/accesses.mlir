// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: emulator
// Loads and stores of 2 to 16 bytes at every address: each thread copies 34
// bytes from `from` + 65 * thread to LDS + 67 * thread, and from there to
// `to` + 67 * thread. See access_copies.py.
//
// RUN: iris-compile %s --allow-nonportable --target=gfx942 --emit=obj -o %t.gfx942
// RUN: %python %S/access_copies.py %t.gfx942
// RUN: iris-compile %s --allow-nonportable --target=gfx950 --emit=obj -o %t.gfx950
// RUN: %python %S/access_copies.py %t.gfx950
// RUN: iris-compile %s --allow-nonportable --target=gfx1100 --emit=obj -o %t.gfx1100
// RUN: %python %S/access_copies.py %t.gfx1100
// RUN: iris-compile %s --allow-nonportable --target=gfx1201 --emit=obj -o %t.gfx1201
// RUN: %python %S/access_copies.py %t.gfx1201

gpu.module @kernels {
  gpu.func @pieces(%from: memref<?xi8>, %to: memref<?xi8>)
      workgroup(%tile: memref<4352xi8, #gpu.address_space<workgroup>>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i64
    %c65 = arith.constant 65 : i64
    %c67 = arith.constant 67 : i64
    %s = arith.muli %t, %c65 : i64
    %d = arith.muli %t, %c67 : i64
    %from_index = memref.extract_aligned_pointer_as_index %from : memref<?xi8> -> index
    %to_index = memref.extract_aligned_pointer_as_index %to : memref<?xi8> -> index
    %tile_index = memref.extract_aligned_pointer_as_index %tile : memref<4352xi8, #gpu.address_space<workgroup>> -> index
    %from_i64 = arith.index_cast %from_index : index to i64
    %to_i64 = arith.index_cast %to_index : index to i64
    %tile_i64 = arith.index_cast %tile_index : index to i64
    %from_ptr = llvm.inttoptr %from_i64 : i64 to !llvm.ptr<1>
    %to_ptr = llvm.inttoptr %to_i64 : i64 to !llvm.ptr<1>
    %tile_ptr = llvm.inttoptr %tile_i64 : i64 to !llvm.ptr<3>
    %f = llvm.getelementptr %from_ptr[%s] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %g = llvm.getelementptr %to_ptr[%d] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %l = llvm.getelementptr %tile_ptr[%d] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
    %f2 = llvm.getelementptr %f[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %f4 = llvm.getelementptr %f[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %f8 = llvm.getelementptr %f[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %f16 = llvm.getelementptr %f[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %f32 = llvm.getelementptr %f[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g4 = llvm.getelementptr %g[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g8 = llvm.getelementptr %g[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g10 = llvm.getelementptr %g[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g12 = llvm.getelementptr %g[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g20 = llvm.getelementptr %g[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g36 = llvm.getelementptr %g[36] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g40 = llvm.getelementptr %g[40] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %g44 = llvm.getelementptr %g[44] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %l2 = llvm.getelementptr %l[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %l4 = llvm.getelementptr %l[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %l6 = llvm.getelementptr %l[6] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %l8 = llvm.getelementptr %l[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %l10 = llvm.getelementptr %l[10] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %l16 = llvm.getelementptr %l[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %c16 = arith.constant 16 : i32
    %one = arith.constant 1 : i32

    // To LDS. The halves of bytes 4 to 7 change places.
    %a = llvm.load %f {alignment = 1 : i64} : !llvm.ptr<1> -> i16
    %b = llvm.load %f2 {alignment = 1 : i64} : !llvm.ptr<1> -> i16
    %w = llvm.load %f4 {alignment = 1 : i64} : !llvm.ptr<1> -> i32
    %x = llvm.load %f8 {alignment = 1 : i64} : !llvm.ptr<1> -> vector<2xi32>
    %y = llvm.load %f16 {alignment = 1 : i64} : !llvm.ptr<1> -> vector<4xi32>
    %w_low = llvm.trunc %w : i32 to i16
    %w_shifted = llvm.lshr %w, %c16 : i32
    %w_high = llvm.trunc %w_shifted : i32 to i16
    llvm.store volatile %a, %l {alignment = 1 : i64} : i16, !llvm.ptr<3>
    llvm.store volatile %b, %l2 {alignment = 1 : i64} : i16, !llvm.ptr<3>
    llvm.store volatile %w_high, %l4 {alignment = 1 : i64} : i16, !llvm.ptr<3>
    llvm.store volatile %w_low, %l6 {alignment = 1 : i64} : i16, !llvm.ptr<3>
    llvm.store volatile %x, %l8 {alignment = 1 : i64} : vector<2xi32>, !llvm.ptr<3>
    llvm.store volatile %y, %l16 {alignment = 1 : i64} : vector<4xi32>, !llvm.ptr<3>

    // And back: bytes 0 and 1 with zeros, bytes 2 and 3 with their sign, the
    // others as they are; then bytes 32 and 33 of `from` as the upper half of a
    // word whose lower half are bytes 4 and 5.
    %la = llvm.load volatile %l {alignment = 1 : i64} : !llvm.ptr<3> -> i16
    %lb = llvm.load volatile %l2 {alignment = 1 : i64} : !llvm.ptr<3> -> i16
    %lw = llvm.load volatile %l4 {alignment = 1 : i64} : !llvm.ptr<3> -> i32
    %lx = llvm.load volatile %l8 {alignment = 1 : i64} : !llvm.ptr<3> -> vector<2xi32>
    %ly = llvm.load volatile %l16 {alignment = 1 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %zero = llvm.zext %la : i16 to i32
    %sign = llvm.sext %lb : i16 to i32
    %lw_low = llvm.trunc %lw : i32 to i16
    %lw_shifted = llvm.lshr %lw, %c16 : i32
    %lw_high = llvm.trunc %lw_shifted : i32 to i16
    llvm.store %zero, %g {alignment = 1 : i64} : i32, !llvm.ptr<1>
    llvm.store %sign, %g4 {alignment = 1 : i64} : i32, !llvm.ptr<1>
    llvm.store volatile %lw_high, %g8 {alignment = 1 : i64} : i16, !llvm.ptr<1>
    llvm.store volatile %lw_low, %g10 {alignment = 1 : i64} : i16, !llvm.ptr<1>
    llvm.store %lx, %g12 {alignment = 1 : i64} : vector<2xi32>, !llvm.ptr<1>
    llvm.store %ly, %g20 {alignment = 1 : i64} : vector<4xi32>, !llvm.ptr<1>
    %pair = llvm.bitcast %w : i32 to vector<2xi16>
    %last = llvm.load %f32 {alignment = 1 : i64} : !llvm.ptr<1> -> i16
    %both = llvm.insertelement %last, %pair[%one : i32] : vector<2xi16>
    llvm.store %both, %g36 {alignment = 1 : i64} : vector<2xi16>, !llvm.ptr<1>

    // From LDS: bytes 8 and 9, then byte 10 with its sign, as the upper half.
    %half = llvm.load %l8 {alignment = 1 : i64} : !llvm.ptr<3> -> i16
    %with_half = llvm.insertelement %half, %pair[%one : i32] : vector<2xi16>
    llvm.store %with_half, %g40 {alignment = 1 : i64} : vector<2xi16>, !llvm.ptr<1>
    %byte = llvm.load %l10 {alignment = 1 : i64} : !llvm.ptr<3> -> i8
    %byte_half = llvm.sext %byte : i8 to i16
    %with_byte = llvm.insertelement %byte_half, %pair[%one : i32] : vector<2xi16>
    llvm.store %with_byte, %g44 {alignment = 1 : i64} : vector<2xi16>, !llvm.ptr<1>
    gpu.return
  }
}
