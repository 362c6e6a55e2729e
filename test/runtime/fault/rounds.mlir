// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program for inject.py: rounds in which every rank signals the round's
// number to the next rank, waits for the previous one, and checks; some rounds
// end with a host-side barrier.
!flags = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @round(%ctx: !iris.ctx, %flags: !flags, %round: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %next = arith.addi %rank, %c1 : index
    %right = arith.remui %next, %ranks : index
    %before = arith.subi %ranks, %c1 : index
    %back = arith.addi %rank, %before : index
    %left = arith.remui %back, %ranks : index
    iris.signal set %ctx, %round, %flags[%c0] to %right : i32, !flags
    %seen = iris.wait %ctx, %flags[%c0] ge %round owed_by(%left) : i32, !flags
    %least = arith.minsi %seen, %round : i32
    iris.expect_eq %least, %round, "the round" : i32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 32 : index
  %rounds = arith.constant 200 : index
  %launches = arith.constant 10 : index
  %flags = iris.alloc(%n) : !flags
  scf.for %i = %c0 to %rounds step %c1 {
    scf.for %j = %c0 to %launches step %c1 {
      %base = arith.muli %i, %launches : index
      %number = arith.addi %base, %j : index
      %next = arith.addi %number, %c1 : index
      %round = arith.index_cast %next : index to i32
      iris.launch @kernels::@round programs(%c1) args(%ctx, %flags, %round
          : !iris.ctx, !flags, i32)
    }
    iris.sync %ctx
  }
  return
}
