// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tiles need a buffer.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // A chain with one consumer is computed in the consumer's loop, also where
  // one value is used twice.
  // CHECK-LABEL: func.func @chain
  // CHECK-COUNT-1: memref.alloc
  // CHECK-NOT: memref.alloc
  // CHECK: %[[X:.+]] = memref.load
  // CHECK: %[[D:.+]] = arith.addf %[[X]], %[[X]]
  // CHECK: %[[S:.+]] = arith.mulf %[[D]], %[[D]]
  // CHECK: llvm.store %[[S]]
  gpu.func @chain(%buf: memref<?xf32>, %i: index) kernel {
    %v = tile.load %buf[%i] : memref<?xf32> -> tensor<256xf32>
    %d = arith.addf %v, %v : tensor<256xf32>
    %s = arith.mulf %d, %d : tensor<256xf32>
    tile.store %s, %buf[%i] : tensor<256xf32>, memref<?xf32>
    gpu.return
  }

  // Two consumers: computed once, into a buffer.
  // CHECK-LABEL: func.func @two_consumers
  // CHECK-COUNT-2: memref.alloc
  // CHECK-NOT: memref.alloc
  // CHECK-COUNT-1: arith.divf
  // CHECK-NOT: arith.divf
  gpu.func @two_consumers(%a: memref<?xf32>, %b: memref<?xf32>, %x: f32,
                          %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf32> -> tensor<256xf32>
    %s = tensor.splat %x : tensor<256xf32>
    %d = arith.divf %v, %s : tensor<256xf32>
    tile.store %d, %a[%i] : tensor<256xf32>, memref<?xf32>
    tile.store %d, %b[%i] : tensor<256xf32>, memref<?xf32>
    gpu.return
  }

  // A value that a broadcast would recompute many times gets a buffer.
  // CHECK-LABEL: func.func @broadcast
  // CHECK: memref.alloc() : memref<8xf32>
  // CHECK: memref.alloc() : memref<8xf32>
  // CHECK: scf.for
  // CHECK:   arith.divf
  // CHECK:   memref.store
  // CHECK-NOT: arith.divf
  gpu.func @broadcast(%a: memref<?xf32>, %b: memref<?x?xf32>, %x: f32,
                      %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf32> -> tensor<8xf32>
    %s = tensor.splat %x : tensor<8xf32>
    %d = arith.divf %v, %s : tensor<8xf32>
    %c = tile.expand_dims %d dim 1 : tensor<8xf32> -> tensor<8x1xf32>
    %w = tile.broadcast %c : tensor<8x1xf32> -> tensor<8x64xf32>
    tile.store %w, %b[%i, %i] : tensor<8x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // A loaded tile is a copy: the second store does not see the first one.
  // CHECK-LABEL: func.func @load_is_a_copy
  // CHECK: %[[TILE:.+]] = memref.alloc
  // CHECK: memref.extract_aligned_pointer_as_index %[[TILE]]
  // CHECK: llvm.store
  // CHECK: memref.extract_aligned_pointer_as_index %[[TILE]]
  gpu.func @load_is_a_copy(%a: memref<?xf32>, %b: memref<?xf32>, %i: index)
      kernel {
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    %v = tile.load %a[%i] : memref<?xf32> -> tensor<16xf32>
    tile.store %zero, %a[%i] : tensor<16xf32>, memref<?xf32>
    tile.store %v, %b[%i] : tensor<16xf32>, memref<?xf32>
    gpu.return
  }

  // Layouts are dropped, and so are conversions between them.
  // CHECK-LABEL: func.func @layouts
  // CHECK-COUNT-1: memref.alloc
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: tile.
  gpu.func @layouts(%a: memref<?xf32>, %i: index) kernel {
    %one = arith.constant dense<1.0> : tensor<256xf32, #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>>
    %v = tile.load %a[%i] : memref<?xf32> -> tensor<256xf32>
    %w = tile.convert_layout %v : tensor<256xf32> -> tensor<256xf32, #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>>
    %s = arith.addf %w, %one : tensor<256xf32, #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>>
    tile.store %s, %a[%i] : tensor<256xf32, #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>>, memref<?xf32>
    gpu.return
  }
}
