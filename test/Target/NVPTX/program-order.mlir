// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s

// On NVIDIA one barrier orders all memory: the test checks that there is one.

gpu.module @kernels {
  // CHECK-LABEL: .entry signal(
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b32
  // CHECK: bar.sync
  // CHECK: ld.global.b32
  // CHECK: st.global
  gpu.func @signal(%ctx: !iris.ctx, %f: memref<64xi32>, %o: memref<256xi32>, %e: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    iris.signal set %ctx, %e, %f[%c0] : i32, memref<64xi32>
    %v = memref.load %f[%c0] : memref<64xi32>
    %t = tensor.splat %v : tensor<256xi32>
    tile.store %t, %o[%c0] : tensor<256xi32>, memref<256xi32>
    gpu.return
  }

  // CHECK-LABEL: .entry acquire(
  // CHECK: st.global
  // CHECK: bar.sync
  // CHECK: atom.acquire.sys.global.add.u32
  // CHECK: bar.sync
  gpu.func @acquire(%ctx: !iris.ctx, %b: memref<256xi32>, %w: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c200 = arith.constant 200 : index
    %v = tensor.splat %w : tensor<256xi32>
    tile.store %v, %b[%c0] : tensor<256xi32>, memref<256xi32>
    iris.atomic_rmw add %ctx, %w, %b[%c200] sem(acquire) : i32, memref<256xi32>
    gpu.return
  }

  // CHECK-LABEL: .entry nested(
  // CHECK: bar.sync
  gpu.func @nested(%b: memref<64x256xf32>, %n: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %t = %c0 to %n step %c1 {
      %v = tile.load %b[%t, %c0] : memref<64x256xf32> -> tensor<2x256xf32>
      scf.for %r = %c0 to %n step %c1 {
        tile.store %v, %b[%t, %c0] : tensor<2x256xf32>, memref<64x256xf32>
      }
    }
    gpu.return
  }
}
