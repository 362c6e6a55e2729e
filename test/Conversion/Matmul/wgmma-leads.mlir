// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))' | FileCheck %s

// Producer warps repeat the scalar loads that determine the operands of a
// matmul; scalars that the program stored or waited for are loaded after a
// producer fence.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @stored
  // CHECK-SAME: %[[AT:[a-z0-9]+]]: memref<?xindex>
  // CHECK: nvvm.setmaxregister decrease
  // CHECK-NOT: memref.load
  // CHECK: mbarrier.try_wait
  // CHECK: memref.load %[[AT]]
  // CHECK: cp.async.bulk.tensor
  gpu.func @stored(%at: memref<?xindex>, %a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %i: index, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    memref.store %i, %at[%c0] : memref<?xindex>
    %row = memref.load %at[%c0] : memref<?xindex>
    %t = tile.matmul %a[%row, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    tile.store %t, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @awaited
  // CHECK-SAME: %[[AT:[a-z0-9]+]]: memref<?xindex, #iris.symmetric>
  // CHECK: nvvm.setmaxregister decrease
  // CHECK-NOT: memref.load
  // CHECK: mbarrier.try_wait
  // CHECK: memref.load %[[AT]]
  // CHECK: cp.async.bulk.tensor
  gpu.func @awaited(%ctx: !iris.ctx, %at: memref<?xindex, #iris.symmetric>, %flags: memref<?xi32, #iris.symmetric>, %epoch: i32, %a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, memref<?xi32, #iris.symmetric>
    %row = memref.load %at[%c0] : memref<?xindex, #iris.symmetric>
    %t = tile.matmul %a[%row, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    tile.store %t, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }

  // A load of memory that nothing stores to needs no fence.
  // CHECK-LABEL: gpu.func @given
  // CHECK-SAME: %[[AT:[a-z0-9]+]]: memref<?xindex>
  // CHECK: nvvm.setmaxregister decrease
  // CHECK-NOT: mbarrier.try_wait
  // CHECK: memref.load %[[AT]]
  // CHECK: cp.async.bulk.tensor
  gpu.func @given(%at: memref<?xindex>, %a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %row = memref.load %at[%c0] : memref<?xindex>
    %t = tile.matmul %a[%row, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    tile.store %t, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }

  // Producers count in a loop that carries a tile, too, but hold no tile: a
  // reduction among their warps would meet those of the consumers.
  // CHECK-LABEL: gpu.func @counted
  // CHECK: nvvm.setmaxregister decrease
  // CHECK-NOT: tile.
  // CHECK: scf.while
  // CHECK-NOT: tile.reduce
  // CHECK: cp.async.bulk.tensor
  // CHECK: nvvm.setmaxregister increase
  // CHECK: tile.reduce
  gpu.func @counted(%in: memref<?xi32>, %a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %d: memref<?xi32>, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tile.load %in[%c0] : memref<?xi32> -> tensor<64xi32>
    %row, %sums = scf.while (%n = %c0, %u = %t) : (index, tensor<64xi32>) -> (index, tensor<64xi32>) {
      %sum = tile.reduce sum %u dim 0 : tensor<64xi32> -> i32
      %v = tensor.splat %sum : tensor<64xi32>
      %goes = arith.cmpi ult, %n, %k : index
      scf.condition(%goes) %n, %v : index, tensor<64xi32>
    } do {
    ^bb0(%n: index, %u: tensor<64xi32>):
      %next = arith.addi %n, %c1 : index
      scf.yield %next, %u : index, tensor<64xi32>
    }
    tile.store %sums, %d[%c0] : tensor<64xi32>, memref<?xi32>
    %r = tile.matmul %a[%row, %c0], %b[%c0, %c0] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    tile.store %r, %c[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }
}
