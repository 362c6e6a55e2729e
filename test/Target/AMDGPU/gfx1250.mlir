// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx1250 --emit=asm -o - | FileCheck %s

// What gfx1250 does otherwise than gfx1201: workgroups share a cache, so that a
// barrier of the program invalidates none, and matrix instructions take twice
// the k. No emulator executes it: these checks hold the orderings.

gpu.module @kernels {
  // Every wave waits for its stores, then a barrier; then one thread writes back,
  // waits for that, and publishes.
  // CHECK-LABEL: {{^}}release:
  // CHECK: global_store_b32
  // CHECK: s_wait_storecnt 0x0
  // CHECK: s_barrier_signal -1
  // CHECK: s_barrier_wait -1
  // CHECK: global_wb scope:SCOPE_SYS
  // CHECK: s_wait_storecnt{{(_dscnt)?}} 0x0
  // CHECK: global_store_b32 {{.*}} scope:SCOPE_SYS
  // CHECK: s_endpgm
  gpu.func @release(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>,
                    %flag: memref<?xi32, #iris.symmetric>, %x: i32, %r: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %t = tensor.splat %x : tensor<128xi32>
    %p = iris.translate %ctx, %buf to %r : memref<?xi32, #iris.symmetric> -> memref<?xi32, #iris.peer>
    %f = iris.translate %ctx, %flag to %r : memref<?xi32, #iris.symmetric> -> memref<?xi32, #iris.peer>
    tile.store %t, %p[%c0] : tensor<128xi32>, memref<?xi32, #iris.peer>
    iris.signal set %ctx, %x, %f[%c0] : i32, memref<?xi32, #iris.peer>
    gpu.return
  }

  // The leader polls at system scope and invalidates; no thread loads before.
  // CHECK-LABEL: {{^}}acquire:
  // CHECK: global_load_b32 {{.*}} scope:SCOPE_SYS
  // CHECK: global_inv scope:SCOPE_SYS
  // CHECK: s_barrier_wait -1
  // CHECK: global_load_b32
  // CHECK: s_endpgm
  gpu.func @acquire(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>,
                    %flag: memref<?xi32, #iris.symmetric>, %o: memref<?xi32>, %e: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %seen = iris.wait %ctx, %flag[%c0] ge %e : i32, memref<?xi32, #iris.symmetric>
    %t = tile.load %buf[%c0] : memref<?xi32, #iris.symmetric> -> tensor<128xi32>
    tile.store %t, %o[%c0] : tensor<128xi32>, memref<?xi32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}f16:
  // CHECK: v_wmma_f32_16x16x32_f16
  gpu.func @f16(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>,
                %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %r = tile.matmul %a[%i, %k], %b[%k, %i] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<64x64xf32>
    tile.store %r, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}bf16:
  // CHECK: v_wmma_f32_16x16x32_bf16
  gpu.func @bf16(%a: memref<?x?xbf16>, %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %r = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(64)
        : memref<?x?xbf16>, memref<?x?xbf16> -> tensor<64x64xf32>
    tile.store %r, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}f32:
  // CHECK: v_wmma_f32_16x16x4_f32
  gpu.func @f32(%a: memref<?x?xf32>, %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %r = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(32)
        : memref<?x?xf32>, memref<?x?xf32> -> tensor<64x64xf32>
    tile.store %r, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}i8:
  // CHECK: v_wmma_i32_16x16x64_iu8 {{.*}} neg_lo:[1,1,0]
  gpu.func @i8(%a: memref<?x?xi8>, %c: memref<?x?xi32>, %i: index, %k: index) kernel {
    %r = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(64)
        : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xi32>
    tile.store %r, %c[%i, %i] : tensor<64x64xi32>, memref<?x?xi32>
    gpu.return
  }

  // The first operand of the instruction is b.
  // CHECK-LABEL: {{^}}f8:
  // CHECK: v_wmma_f32_16x16x64_bf8_fp8
  gpu.func @f8(%a: memref<?x?xi8>, %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %r = tile.matmul %a[%i, %k], %a[%k, %i] k(%k) block(64) as(f8E4M3FN, f8E5M2)
        : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xf32>
    tile.store %r, %c[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
