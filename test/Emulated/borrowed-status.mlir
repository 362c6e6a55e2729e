// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: emulator
// A matmul that uses all LDS of gfx942 leaves no word for the wait status: a
// word that holds data is borrowed. See borrowed_status.py.
// RUN: iris-compile %s --target=gfx942 --emit=obj -o %t
// RUN: %python %S/borrowed_status.py %t
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// CHECK: .amdhsa_group_segment_fixed_size 65536

!matrix = memref<?x?xf16, #iris.symmetric>
!flags = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @multiply(%ctx: !iris.ctx, %a: !matrix, %b: !matrix, %c: !matrix,
                     %flags: !flags, %state: !flags, %done: !flags)
      kernel attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %epoch = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %other = arith.subi %c1, %rank : index
    %size = memref.dim %a, %c1 : !matrix
    // LDS is still uninitialized.
    iris.barrier %ctx, %state : !flags
    // After a matmul, whose last block other waves may still be reading.
    %first = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%size) block(64)
        : !matrix, !matrix -> tensor<256x256xf32>
    iris.wait %ctx, %flags[%c0] ge %epoch owed_by(%other) : i32, !flags
    // Between the k-blocks of a matmul.
    %sum = tile.matmul %a[%c0, %c0], %b[%c0, %c0] k(%size) block(64) init(%first) {
    ^bb0(%block: index):
      %number = arith.addi %block, %c1 : index
      %flag = arith.muli %number, %c32 : index
      iris.wait %ctx, %flags[%flag] ge %epoch owed_by(%other) : i32, !flags
      tile.yield
    } : !matrix, !matrix -> tensor<256x256xf32>
    %result = arith.truncf %sum : tensor<256x256xf32> to tensor<256x256xf16>
    tile.store %result, %c[%c0, %c0] : tensor<256x256xf16>, !matrix
    iris.signal set %ctx, %epoch, %done[%c0] to %other : i32, !flags
    gpu.return
  }
}
