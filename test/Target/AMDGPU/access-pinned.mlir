// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx950 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx90a --emit=asm -o - | FileCheck %s

// A pinned layout is respected: 1, 2, 4 and 8 f16 per thread are one access of
// 2, 4, 8 and 16 bytes. All sizes are static, so there is no other path.

#one = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#two = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#four = #tile.blocked<size_per_thread = [4], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#eight = #tile.blocked<size_per_thread = [8], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// CHECK-LABEL: {{^}}one:
// CHECK-NOT: {{(flat|scratch|buffer)_(load|store)}}
// CHECK: global_load_ushort
// CHECK-NOT: global_load
// CHECK: global_store_short
// CHECK-NOT: global_store
// CHECK: s_endpgm

// CHECK-LABEL: {{^}}two:
// CHECK-NOT: {{(flat|scratch|buffer)_(load|store)}}
// CHECK: global_load_dword v
// CHECK-NOT: global_load
// CHECK: global_store_dword v
// CHECK-NOT: global_store
// CHECK: s_endpgm

// CHECK-LABEL: {{^}}four:
// CHECK-NOT: {{(flat|scratch|buffer)_(load|store)}}
// CHECK: global_load_dwordx2 v
// CHECK-NOT: global_load
// CHECK: global_store_dwordx2 v
// CHECK-NOT: global_store
// CHECK: s_endpgm

// CHECK-LABEL: {{^}}eight:
// CHECK-NOT: {{(flat|scratch|buffer)_(load|store)}}
// CHECK: global_load_dwordx4 v[{{[0-9:]+}}], v{{[0-9]+}}, s[
// CHECK-NOT: global_load
// CHECK: global_store_dwordx4 v{{[0-9]+}}, v[{{[0-9:]+}}], s[
// CHECK-NOT: global_store
// CHECK: s_endpgm

// More than 16 bytes per thread: two accesses, a constant apart.
// CHECK-LABEL: {{^}}sixteen:
// CHECK-DAG: global_load_dwordx4 v[{{[0-9:]+}}], [[O:v[0-9]+]], s[{{[0-9:]+}}]{{$}}
// CHECK-DAG: global_load_dwordx4 v[{{[0-9:]+}}], [[O]], s[{{[0-9:]+}}] offset:16
// CHECK-NOT: global_load
// CHECK-COUNT-2: global_store_dwordx4
// CHECK-NOT: global_store
// CHECK: s_endpgm
gpu.module @kernels {
  gpu.func @one(%a: memref<256xf16> {iris.divisibility = 16 : i32},
                %b: memref<256xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<256xf16> -> tensor<256xf16, #one>
    tile.store %v, %b[%c0] : tensor<256xf16, #one>, memref<256xf16>
    gpu.return
  }
  gpu.func @two(%a: memref<512xf16> {iris.divisibility = 16 : i32},
                %b: memref<512xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<512xf16> -> tensor<512xf16, #two>
    tile.store %v, %b[%c0] : tensor<512xf16, #two>, memref<512xf16>
    gpu.return
  }
  gpu.func @four(%a: memref<1024xf16> {iris.divisibility = 16 : i32},
                 %b: memref<1024xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<1024xf16> -> tensor<1024xf16, #four>
    tile.store %v, %b[%c0] : tensor<1024xf16, #four>, memref<1024xf16>
    gpu.return
  }
  gpu.func @eight(%a: memref<2048xf16> {iris.divisibility = 16 : i32},
                  %b: memref<2048xf16> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<2048xf16> -> tensor<2048xf16, #eight>
    tile.store %v, %b[%c0] : tensor<2048xf16, #eight>, memref<2048xf16>
    gpu.return
  }
  gpu.func @sixteen(%a: memref<2048xf32> {iris.divisibility = 16 : i32},
                    %b: memref<2048xf32> {iris.divisibility = 16 : i32})
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %v = tile.load %a[%c0] : memref<2048xf32> -> tensor<2048xf32, #eight>
    tile.store %v, %b[%c0] : tensor<2048xf32, #eight>, memref<2048xf32>
    gpu.return
  }
}
