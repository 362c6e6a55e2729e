// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiplications of 128 bits of extended bytes: a guard hides the bytes by a constant of 128 bits,
// for which instruction selection has no readfirstlane.
//
// RUN: iris-run --compare=reference %s
// RUN: iris-run --compare=reference --device=emulated:gfx942 %s
// RUN: iris-run --compare=reference --device=emulated:gfx1201 %s
gpu.module @kernels {
  gpu.func @wide(%ctx: !iris.ctx, %in: memref<?xi8, #iris.symmetric>,
                     %out: memref<?xi64, #iris.symmetric>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = arith.constant 256 : index
    %minus = arith.constant -107 : i8
    scf.for %i = %c0 to %n step %c1 {
      %j = arith.index_cast %i : index to i8
      %y = arith.muli %j, %minus : i8
      memref.store %y, %in[%i] : memref<?xi8, #iris.symmetric>
    }
    %k = arith.constant 32 : i64
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %in[%i] : memref<?xi8, #iris.symmetric>
      %e = arith.extsi %x : i8 to i64
      %low, %high = arith.mulsi_extended %e, %k : i64
      %at = arith.muli %i, %c2 : index
      %next = arith.addi %at, %c1 : index
      memref.store %low, %out[%at] : memref<?xi64, #iris.symmetric>
      memref.store %high, %out[%next] : memref<?xi64, #iris.symmetric>
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 256 : index
  %m = arith.constant 512 : index
  %c1 = arith.constant 1 : index
  %in = iris.alloc(%n) : memref<?xi8, #iris.symmetric>
  %out = iris.alloc(%m) : memref<?xi64, #iris.symmetric>
  iris.launch @kernels::@wide programs(%c1) args(%ctx, %in, %out : !iris.ctx, memref<?xi8, #iris.symmetric>, memref<?xi64, #iris.symmetric>)
  iris.sync %ctx
  return
}
