// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s

// A pinned layout is respected: 2, 4 and 8 f16 per thread are one access of 4,
// 8 and 16 bytes.

#two = #tile.blocked<size_per_thread = [2], threads_per_warp = [32], warps_per_cta = [8], order = [0]>
#four = #tile.blocked<size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [8], order = [0]>
#eight = #tile.blocked<size_per_thread = [8], threads_per_warp = [32], warps_per_cta = [8], order = [0]>

// CHECK-LABEL: .entry two(
// CHECK: ld.global.b32
// CHECK-NOT: ld.global
// CHECK: st.global.b32
// CHECK-NOT: st.global

// CHECK-LABEL: .entry four(
// CHECK: ld.global.v2.b32
// CHECK-NOT: ld.global
// CHECK: st.global.v2.b32
// CHECK-NOT: st.global

// CHECK-LABEL: .entry eight(
// CHECK: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global
gpu.module @kernels {
  gpu.func @two(%a: memref<512xf16> {iris.divisibility = 16 : i32},
                %b: memref<512xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<512xf16> -> tensor<512xf16, #two>
    tile.store %v, %b[%c0] : tensor<512xf16, #two>, memref<512xf16>
    gpu.return
  }
  gpu.func @four(%a: memref<1024xf16> {iris.divisibility = 16 : i32},
                 %b: memref<1024xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<1024xf16> -> tensor<1024xf16, #four>
    tile.store %v, %b[%c0] : tensor<1024xf16, #four>, memref<1024xf16>
    gpu.return
  }
  gpu.func @eight(%a: memref<2048xf16> {iris.divisibility = 16 : i32},
                  %b: memref<2048xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<2048xf16> -> tensor<2048xf16, #eight>
    tile.store %v, %b[%c0] : tensor<2048xf16, #eight>, memref<2048xf16>
    gpu.return
  }
}
