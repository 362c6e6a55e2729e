// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx1100 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1250 --emit=asm -o - | FileCheck %s

// As access-pinned.mlir, in waves of 32 threads.

#two = #tile.blocked<size_per_thread = [2], threads_per_warp = [32], warps_per_cta = [8], order = [0]>
#four = #tile.blocked<size_per_thread = [4], threads_per_warp = [32], warps_per_cta = [8], order = [0]>
#eight = #tile.blocked<size_per_thread = [8], threads_per_warp = [32], warps_per_cta = [8], order = [0]>

// CHECK-LABEL: {{^}}two:
// CHECK: global_load_b32
// CHECK-NOT: global_load
// CHECK: global_store_b32
// CHECK-NOT: global_store
// CHECK: s_endpgm

// CHECK-LABEL: {{^}}four:
// CHECK: global_load_b64
// CHECK-NOT: global_load
// CHECK: global_store_b64
// CHECK-NOT: global_store
// CHECK: s_endpgm

// CHECK-LABEL: {{^}}eight:
// CHECK: global_load_b128
// CHECK-NOT: global_load
// CHECK: global_store_b128
// CHECK-NOT: global_store
// CHECK: s_endpgm
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
