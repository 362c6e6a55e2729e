// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=sm_100a --emit=asm -o - | FileCheck %s

// ptxas lets the lower half of add.s16x2 overflow into the upper one: short
// integers are added one by one.

// CHECK-NOT: add.s16x2
// CHECK: add.s16
// CHECK-NOT: add.s16x2

#columns = #tile.blocked<size_per_thread = [2, 1], threads_per_warp = [1, 32],
                         warps_per_cta = [1, 2], order = [1, 0]>

gpu.module @kernels {
  gpu.func @shorts(%ctx: !iris.ctx, %a: memref<?xi32, #iris.symmetric>,
                   %b: memref<?x?xi16, #iris.symmetric>) kernel
      attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %s = memref.load %a[%c0] : memref<?xi32, #iris.symmetric>
    %range = tile.range dim 0 : tensor<16x32xi32, #columns>
    %splat = tensor.splat %s : tensor<16x32xi32, #columns>
    %sum = arith.addi %range, %splat : tensor<16x32xi32, #columns>
    %short = arith.trunci %sum
        : tensor<16x32xi32, #columns> to tensor<16x32xi16, #columns>
    tile.store %short, %b[%c0, %c0]
        : tensor<16x32xi16, #columns>, memref<?x?xi16, #iris.symmetric>
    gpu.return
  }
}
