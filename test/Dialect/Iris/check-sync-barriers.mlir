// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// Also without @main: it concerns all launches.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %state: !words) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %isFirst = arith.cmpi eq, %rank, %c0 : index
    // expected-note @below {{ranks differ in what they execute here}}
    scf.if %isFirst {
      // expected-warning @below {{'iris.barrier' op never ends: not all ranks execute it, or equally often; move it to where all of them do}}
      iris.barrier %ctx, %state : !words
    }
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Rank r executes r barriers.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %state: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    // expected-note @below {{ranks differ in what they execute here}}
    scf.for %i = %c0 to %rank step %c1 {
      // expected-warning @below {{'iris.barrier' op never ends}}
      iris.barrier %ctx, %state : !words
    }
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c2 = arith.constant 2 : index
  %c4096 = arith.constant 4096 : index
  %state = iris.alloc(%c4096) : !words
  iris.launch @kernels::@k programs(%c2) args(%ctx, %state : !iris.ctx, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Only one rank launches it.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %state: !words) kernel {
    // expected-warning @below {{'iris.barrier' op never ends}}
    iris.barrier %ctx, %state : !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %state = iris.alloc(%c4096) : !words
  %rank = iris.rank %ctx : index
  %isFirst = arith.cmpi eq, %rank, %c0 : index
  scf.if %isFirst {
    // expected-note @below {{not all ranks launch as many of its programs}}
    iris.launch @kernels::@k programs(%c1) args(%ctx, %state : !iris.ctx, !words)
  }
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: each branch has one; peer programs agree on the block index; all ranks
// agree on their number; the group is the launch's.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %state: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %pid = gpu.block_id x
    %isFirst = arith.cmpi eq, %rank, %c0 : index
    scf.if %isFirst {
      iris.barrier %ctx, %state : !words
    } else {
      iris.barrier %ctx, %state : !words
    }
    %isFirstProgram = arith.cmpi eq, %pid, %c0 : index
    scf.if %isFirstProgram {
      iris.barrier %ctx, %state : !words
    }
    scf.for %i = %c0 to %ranks step %c1 {
      iris.barrier %ctx, %state : !words
    }
    %isInside = arith.cmpi ult, %rank, %ranks : index
    scf.if %isInside {
      iris.barrier %ctx, %state : !words
    }
    gpu.return
  }
  gpu.func @pair(%ctx: !iris.ctx, %state: !words) kernel {
    iris.barrier %ctx, %state group : !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4096 = arith.constant 4096 : index
  %state = iris.alloc(%c4096) : !words
  %other = iris.alloc(%c4096) : !words
  iris.launch @kernels::@k programs(%c2) args(%ctx, %state : !iris.ctx, !words)
  iris.launch @kernels::@pair programs(%c1) group([0, 1]) args(%ctx, %other : !iris.ctx, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: the argument may be the same on all ranks.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %state: !words, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      iris.barrier %ctx, %state : !words
    }
    gpu.return
  }
}
