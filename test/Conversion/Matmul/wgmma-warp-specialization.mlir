// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))' | FileCheck %s

// Producer warps, beyond the kernel's own, load operand tiles and run only the
// ops that the loads need; consumer warps multiply and store.
gpu.module @kernels {
  // CHECK: llvm.mlir.global external @__iris_matmul_ring() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: gpu.func @persistent
  // Four stages of 16 and 32 KiB, and ten barriers.
  // CHECK-SAME: iris.dynamic_shared_bytes = 197712
  // CHECK-SAME: iris.producer_warps = 4
  // CHECK-SAME: nvvm.minctasm = 1
  // CHECK: %[[A:.*]], %[[AMADE:.*]] = iris.tensor_map %{{.*}} contiguous 1 box [64, 128] swizzle 128 : memref<?x?xf16> -> !llvm.ptr
  // CHECK: %[[B:.*]], %[[BMADE:.*]] = iris.tensor_map %{{.*}} contiguous 0 box [64, 256] swizzle 128
  // CHECK: %[[ONE:.*]] = arith.andi %{{.*}}, %[[AMADE]] : i1
  // CHECK: %[[BOTH:.*]] = arith.andi %[[ONE]], %[[BMADE]] : i1
  // CHECK: arith.select %[[BOTH]]
  // CHECK-COUNT-10: mbarrier.init
  // CHECK: fence.mbarrier_init
  // CHECK: nvvm.barrier0
  // CHECK: scf.if
  // CHECK: nvvm.setmaxregister decrease 40
  // Producer warps: the loop over tiles, and the one over k-blocks.
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: mbarrier.try_wait.parity
  // CHECK: mbarrier.arrive.expect_tx
  // CHECK: cp.async.bulk.tensor.3d{{.*}} %{{.*}}, %[[A]],
  // CHECK: cp.async.bulk.tensor.3d{{.*}} %{{.*}}, %[[B]],
  // CHECK-NOT: tile.store
  // CHECK: } else {
  // CHECK: nvvm.setmaxregister increase 232
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: mbarrier.try_wait.parity
  // CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
  // CHECK: wgmma.wait_group.sync.aligned 1
  // CHECK: mbarrier.arrive
  // CHECK: wgmma.wait_group.sync.aligned 0
  // Lanes exchange halves of their pairs, so that each has 16 bytes of a row.
  // CHECK: gpu.shuffle  xor
  // CHECK: tile.store
  // CHECK-NOT: tile.matmul
  gpu.func @persistent(%a: memref<?x?xf16>,
      %b: memref<?x?xf16, strided<[1, ?]>>, %c: memref<?x?xf16>,
      %tiles: index) kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant 128 : index
    %k = memref.dim %a, %c1 : memref<?x?xf16>
    %pid = gpu.block_id x
    %step = gpu.grid_dim x
    scf.for %t = %pid to %tiles step %step {
      %i = arith.muli %t, %rows : index
      %acc = tile.matmul %a[%i, %c0], %b[%c0, %c0] k(%k) block(64)
          : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>
          -> tensor<128x256xf32>
      %h = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xf16>
      tile.store %h, %c[%i, %c0] : tensor<128x256xf16>, memref<?x?xf16>
    }
    gpu.return
  }

  // Unused columns are neither loaded nor multiplied, which leaves room for a
  // fifth stage, of 16 and 28 KiB.
  // CHECK-LABEL: gpu.func @columns
  // CHECK-SAME: iris.dynamic_shared_bytes = 226400
  // CHECK: iris.tensor_map %{{.*}} contiguous 0 box [64, 224] swizzle 128
  // CHECK: wgmma.mma_async.sync.aligned.m64n224k16.f32.f16.f16
  gpu.func @columns(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>,
      %c: memref<?x?xf32>, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64) columns(220)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>
        -> tensor<128x256xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<128x256xf32>, memref<?x?xf32>
    gpu.return
  }

  // Contiguous columns of b stay contiguous: four copies, and the instruction
  // reads the transposed layout.
  // CHECK-LABEL: gpu.func @row_major
  // CHECK: iris.tensor_map %{{.*}} contiguous 1 box [64, 64] swizzle 128
  // CHECK-COUNT-5: cp.async.bulk.tensor.3d
  // CHECK: wgmma.mma_async{{.*}}bf16.bf16{{.*}}, 1, 1, 0, 1;
  gpu.func @row_major(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>,
      %c: memref<?x?xf32>, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xbf16>, memref<?x?xbf16> -> tensor<128x256xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<128x256xf32>, memref<?x?xf32>
    gpu.return
  }

  // Stores of the program, and its waits, come before the loads.
  // CHECK-LABEL: gpu.func @producer_fence
  // CHECK: mbarrier.try_wait.parity
  // CHECK: fence.proxy.async
  // CHECK: cp.async.bulk.tensor.3d
  // CHECK: } else {
  // CHECK: tile.store
  // CHECK: fence.proxy.async
  // CHECK: mbarrier.arrive
  // CHECK: wgmma.mma_async
  gpu.func @producer_fence(%a: memref<?x?xf16>,
      %b: memref<?x?xf16, strided<[1, ?]>>, %c: memref<?x?xf32>,
      %v: f16, %k: index) kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %t = tensor.splat %v : tensor<64x64xf16>
    tile.store %t, %a[%c0, %c0] : tensor<64x64xf16>, memref<?x?xf16>
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>
        -> tensor<64x64xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // The producer warps run a region's waits; one map has a slice for each rank.
  // Consumer warps check for a failed wait before they continue.
  // CHECK-LABEL: gpu.func @region
  // CHECK: iris.tensor_map %{{.*}} contiguous 1 box [64, 64] swizzle 128 ranks
  // CHECK: iris.wait {{.*}} {iris.in_wave}
  // CHECK: bar.warp.sync
  // CHECK: fence.proxy.async.global
  // CHECK: iris.has_failed
  // CHECK: vote.sync.all
  // CHECK: iris.translate
  // CHECK: cp.async.bulk.tensor.3d
  // CHECK: } else {
  // CHECK-NOT: iris.wait
  // CHECK: iris.has_failed
  // CHECK: wgmma.mma_async
  // CHECK: iris.leave_if_failed
  // CHECK: tile.store
  gpu.func @region(%ctx: !iris.ctx, %a: memref<?x?xf16, #iris.symmetric>,
      %b: memref<?x?xf16, strided<[1, ?]>>, %flags: memref<?xi32>,
      %c: memref<?x?xf32>, %epoch: i32, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64) {
    ^bb0(%kb: index):
      %seen = iris.wait %ctx, %flags[%kb] ge %epoch : i32, memref<?xi32>
      %p = iris.translate %ctx, %a to %kb
          : memref<?x?xf16, #iris.symmetric> -> memref<?x?xf16, #iris.peer>
      %kk = arith.muli %kb, %c64 : index
      tile.yield %p[%c0, %kk] : memref<?x?xf16, #iris.peer>
    } : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, strided<[1, ?]>>
        -> tensor<64x64xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // The first producer warp records the region's trace events, marked as its
  // own; the consumer warps record the matmul's.
  // CHECK-LABEL: gpu.func @traced_region
  // CHECK: iris.trace begin %{{.*}}, "wait" {iris.in_wave}
  // CHECK-NEXT: }
  // CHECK: iris.wait
  // CHECK: fence.proxy.async.global
  // CHECK: iris.trace end %{{.*}}, "wait" {iris.in_wave}
  // CHECK-NEXT: }
  // CHECK-NOT: iris.trace
  // CHECK: } else {
  // CHECK-NOT: "wait"
  // CHECK: iris.trace begin %{{.*}}, "gemm"{{$}}
  // CHECK: wgmma.mma_async
  // CHECK: iris.trace end %{{.*}}, "gemm"{{$}}
  gpu.func @traced_region(%ctx: !iris.ctx, %a: memref<?x?xf16>,
      %b: memref<?x?xf16, strided<[1, ?]>>, %flags: memref<?xi32>,
      %c: memref<?x?xf32>, %epoch: i32, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    iris.trace begin %ctx, "gemm"
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(64) {
    ^bb0(%kb: index):
      iris.trace begin %ctx, "wait"
      %seen = iris.wait %ctx, %flags[%kb] ge %epoch : i32, memref<?xi32>
      iris.trace end %ctx, "wait"
      tile.yield
    } : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<64x64xf32>
    iris.trace end %ctx, "gemm"
    tile.store %acc, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // With tensor maps, one lane copies whole blocks. A fence waits for copies in
  // flight: it follows a wait, and does not precede every block; a wait before
  // a loop needs one fence, so that the loads of a tile start during the stores
  // of the previous tile.
  // CHECK-LABEL: gpu.func @rare_waits
  // Producer warps.
  // CHECK: mbarrier.try_wait.parity
  // CHECK: fence.proxy.async.global
  // CHECK: scf.for
  // CHECK-NOT: fence.proxy
  // CHECK: nvvm.elect.sync
  // CHECK: scf.while
  // CHECK: arith.remui
  // CHECK-NEXT: arith.cmpi
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: iris.wait {{.*}} {iris.in_lane, iris.in_wave}
  // CHECK-NOT: bar.warp.sync
  // CHECK: fence.proxy.async.global
  // CHECK-NOT: vote.sync
  // CHECK: }
  // CHECK-NOT: fence.proxy
  // CHECK: mbarrier.try_wait.parity
  // CHECK: mbarrier.arrive.expect_tx
  // CHECK: cp.async.bulk.tensor.3d
  // CHECK: cp.async.bulk.tensor.3d
  // CHECK-NOT: bar.warp.sync
  // CHECK: vote.sync.all
  // The epilogue.
  // CHECK: scf.for
  // CHECK: iris.wait {{.*}} {iris.in_wave}
  // CHECK: bar.warp.sync
  // CHECK: fence.proxy.async.global
  // CHECK: mbarrier.arrive.expect_tx
  // Consumer warps.
  // CHECK: } else {
  // CHECK: iris.barrier
  // CHECK: fence.proxy.async.global
  // CHECK: mbarrier.arrive
  // CHECK: scf.for
  // CHECK-NOT: fence.proxy
  // CHECK: bar.warp.sync
  // CHECK: wgmma.mma_async
  // CHECK: iris.signal
  // CHECK-NOT: fence.proxy
  // CHECK: gpu.return
  gpu.func @rare_waits(%ctx: !iris.ctx, %a: memref<?x?xf16>,
      %b: memref<?x?xf16, strided<[1, ?]>>,
      %state: memref<?xi32, #iris.symmetric>, %flags: memref<?xi32>,
      %c: memref<?x?xf32>, %epoch: i32, %k: index, %tiles: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %pid = gpu.block_id x
    %step = gpu.grid_dim x
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    scf.for %t = %pid to %tiles step %step {
      %i = arith.muli %t, %c64 : index
      %acc = tile.matmul %a[%i, %c0], %b[%c0, %c0] k(%k) block(64) {
      ^bb0(%kb: index):
        %in = arith.remui %kb, %c4 : index
        %first = arith.cmpi eq, %in, %c0 : index
        scf.if %first {
          %seen = iris.wait %ctx, %flags[%kb] ge %epoch : i32, memref<?xi32>
        }
        tile.yield
      } : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>>
          -> tensor<64x64xf32>
      tile.store %acc, %c[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32>
      iris.signal set %ctx, %epoch, %flags[%t] : i32, memref<?xi32>
    }
    gpu.return
  }

  // Dynamic strides: no map, every element is loaded.
  // CHECK-LABEL: gpu.func @any_strides
  // CHECK-NOT: iris.tensor_map
  // CHECK: memref.load
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: fence.proxy.async
  // CHECK: wgmma.mma_async
  gpu.func @any_strides(%a: memref<?x?xf16, strided<[?, ?]>>,
      %c: memref<?x?xf32>, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %acc = tile.matmul %a[%c0, %c0], %a[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16, strided<[?, ?]>>, memref<?x?xf16, strided<[?, ?]>>
        -> tensor<64x64xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // f32 is not rounded unless the kernel allows it: threads multiply.
  // CHECK-LABEL: gpu.func @exact
  // CHECK: iris.tensor_map %{{.*}} contiguous 1 box [32, 64] swizzle 128
  // CHECK-NOT: wgmma
  // CHECK: llvm.load {{.*}} -> vector<4xf32>
  // CHECK: llvm.intr.fma
  // CHECK: mbarrier.arrive
  // CHECK: gpu.return
  gpu.func @exact(%a: memref<?x?xf32>, %b: memref<?x?xf32, strided<[1, ?]>>,
      %c: memref<?x?xf32>, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %acc = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%k) block(32)
        : memref<?x?xf32>, memref<?x?xf32, strided<[1, ?]>>
        -> tensor<64x64xf32>
    tile.store %acc, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
