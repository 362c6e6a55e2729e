// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks, flags, atomics, barriers and collectives in the interpreter: the
// checks hold in every order of steps.
//
// RUN: iris-run --device=reference -n 1 %s
// RUN: iris-run --device=reference -n 3 %s | FileCheck %s
// RUN: iris-run --device=reference -n 3 --schedule-seed=1 %s | FileCheck %s
// RUN: iris-run --device=reference -n 3 --schedule-seed=2 %s | FileCheck %s
// RUN: iris-run --device=reference -n 8 --schedule-seed=18446744073709551615 %s
// RUN: not iris-run --device=reference -n 12 %s 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not iris-run -n 12 %s 2>&1 | FileCheck %s --check-prefix=LARGE-HOST
// RUN: not iris-run -n 1 --schedule-seed=1 %s 2>&1 | FileCheck %s --check-prefix=SEED
// RUN: not iris-run --device=reference --debug %s 2>&1 | FileCheck %s --check-prefix=DEBUG
// RUN: not iris-run --device=reference %s.iris 2>&1 | FileCheck %s --check-prefix=SOURCE
// CHECK: 3 ranks on reference: all 36 checks passed
// LARGE: 'iris.all_reduce' op has no group in a world of 12 ranks; expected a group, or at most 8 ranks
// LARGE-HOST: all_reduce::all_reduce is a collective of at most 8 ranks, but the world has more; pass a group
// SEED: --schedule-seed orders the steps of the reference; expected --device=reference
// DEBUG: --debug has no meaning for --device=reference
// SOURCE: expected an .mlir file, not

!flags = memref<?xi32, #iris.symmetric>
!state = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // Each of the two programs adds its rank + 1 to a counter of the next rank,
  // and then waits for the peer's signal.
  gpu.func @ring(%ctx: !iris.ctx, %counter: !flags, %flags: !flags, %state: !state) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %next = arith.addi %rank, %c1 : index
    %peer = arith.remui %next, %ranks : index
    %r = arith.index_cast %rank : index to i32
    %mine = arith.addi %r, %one : i32
    %old = iris.atomic_rmw add %ctx, %mine, %counter[%c0] to %peer : i32, !flags
    iris.signal add %ctx, %one, %flags[%c0] to %peer : i32, !flags
    %seen = iris.wait %ctx, %flags[%c0] ge %two : i32, !flags
    iris.expect_eq %seen, %two, "both programs" : i32
    // The rank before this one has added twice: 2 * (that rank + 1).
    %before = arith.addi %rank, %ranks : index
    %b1 = arith.subi %before, %c1 : index
    %previous = arith.remui %b1, %ranks : index
    %p = arith.index_cast %previous : index to i32
    %p1 = arith.addi %p, %one : i32
    %want = arith.muli %p1, %two : i32
    %sum = memref.load %counter[%c0] : !flags
    iris.expect_eq %sum, %want, "counter" : i32

    iris.barrier %ctx, %state : !state
    // After the barrier every rank's counter has its final value.
    %next.counter = iris.load %ctx, %counter[%c0] from %peer : !flags -> tensor<1xi32>
    %mine2 = arith.muli %mine, %two : i32
    %wanted = tensor.splat %mine2 : tensor<1xi32>
    iris.expect_eq %next.counter, %wanted, "the next rank's" : tensor<1xi32>
    gpu.return
  }

  // The sum over the ranks of 2 * (rank + 1), and the gathered counters.
  gpu.func @check(%ctx: !iris.ctx, %sum: !flags, %all: !flags) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %ranks, %c1 : index
    %twice = arith.muli %ranks, %after : index
    %want = arith.index_cast %twice : index to i32
    %got = memref.load %sum[%c0] : !flags
    iris.expect_eq %got, %want, "all_reduce" : i32
    %total = scf.for %i = %c0 to %ranks step %c1 iter_args(%s = %c0) -> index {
      %v = memref.load %all[%i] : !flags
      %index = arith.index_cast %v : i32 to index
      %n = arith.addi %s, %index : index
      scf.yield %n : index
    }
    iris.expect_eq %total, %twice, "all_gather" : index
    %size = iris.group_size %ctx : index
    iris.expect_eq %size, %ranks, "group_size" : index
    %index = iris.group_index %ctx : index
    %rank = iris.rank %ctx : index
    iris.expect_eq %index, %rank, "group_index" : index
    %member = iris.group_member %ctx, %index : index
    iris.expect_eq %member, %rank, "group_member" : index
    %local = iris.translate %ctx, %sum to %rank : !flags -> memref<?xi32, #iris.peer>
    %again = memref.load %local[%c0] : memref<?xi32, #iris.peer>
    iris.expect_eq %again, %got, "translate" : i32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4096 = arith.constant 4096 : index
  %ranks = iris.num_ranks %ctx : index
  %counter = iris.alloc(%c1) : !flags
  %flags = iris.alloc(%c1) : !flags
  %state = iris.alloc(%c4096) : !state
  %sum = iris.alloc(%c1) : !flags
  %all = iris.alloc(%ranks) : !flags
  iris.launch @kernels::@ring programs(%c2)
      args(%ctx, %counter, %flags, %state : !iris.ctx, !flags, !flags, !state)
  iris.all_reduce sum %ctx, %counter, %sum : !flags, !flags
  iris.all_gather %ctx, %counter, %all : !flags, !flags
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %sum, %all : !iris.ctx, !flags, !flags)
  iris.sync %ctx
  iris.dealloc %counter : !flags
  return
}
