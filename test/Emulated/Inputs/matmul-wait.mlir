// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matmul whose region waits for the k-blocks of `a`, which another rank
// stores during the matmul. Run by matmul-wait.test.

!matrix = memref<?x?xf16, #iris.symmetric>
!flags = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // One program per block of 32 columns.
  gpu.func @producer(%ctx: !iris.ctx, %source: !matrix, %staging: !matrix,
                     %flags: !flags, %consumer: index)
      kernel attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %epoch = arith.constant 1 : i32
    %pid = gpu.block_id x
    %k = arith.muli %pid, %c32 : index
    %v = tile.load %source[%c0, %k] : !matrix -> tensor<32x32xf16>
    iris.store %ctx, %v, %staging[%c0, %k] to %consumer : tensor<32x32xf16>, !matrix
    iris.signal set %ctx, %epoch, %flags[%k] to %consumer : i32, !flags
    gpu.return
  }

  gpu.func @consumer(%ctx: !iris.ctx, %staging: !matrix, %b: !matrix,
                     %c: memref<?x?xf32, #iris.symmetric>, %flags: !flags,
                     %producer: index)
      kernel attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %epoch = arith.constant 1 : i32
    %size = memref.dim %staging, %c1 : !matrix
    %r = tile.matmul %staging[%c0, %c0], %b[%c0, %c0] k(%size) block(32) {
    ^bb0(%kb: index):
      %flag = arith.muli %kb, %c32 : index
      %seen = iris.wait %ctx, %flags[%flag] ge %epoch owed_by(%producer)
          : i32, !flags
      tile.yield
    } : !matrix, !matrix -> tensor<32x32xf32>
    tile.store %r, %c[%c0, %c0] : tensor<32x32xf32>, memref<?x?xf32, #iris.symmetric>
    gpu.return
  }

  // The same, but the region yields the operand: no k-block is read before its
  // wait.
  gpu.func @consumer_of_places(%ctx: !iris.ctx, %staging: !matrix, %b: !matrix,
                               %c: memref<?x?xf32, #iris.symmetric>,
                               %flags: !flags, %producer: index)
      kernel attributes {iris.num_warps = 2 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %epoch = arith.constant 1 : i32
    %size = memref.dim %staging, %c1 : !matrix
    %r = tile.matmul %b[%c0, %c0], %b[%c0, %c0] k(%size) block(32) {
    ^bb0(%kb: index):
      %k = arith.muli %kb, %c32 : index
      %seen = iris.wait %ctx, %flags[%k] ge %epoch owed_by(%producer)
          : i32, !flags
      tile.yield %staging[%c0, %k] : !matrix
    } : !matrix, !matrix -> tensor<32x32xf32>
    tile.store %r, %c[%c0, %c0] : tensor<32x32xf32>, memref<?x?xf32, #iris.symmetric>
    gpu.return
  }
}
