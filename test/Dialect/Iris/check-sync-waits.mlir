// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// The flag of another index is signaled.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    // expected-note @below {{another flag of the buffer, or of another rank, is signaled here}}
    iris.signal set %ctx, %epoch, %flags[%c1] to %next : i32, !words
    // expected-warning @below {{'iris.wait' op never ends: no signal of the module sets its flag; signal it, or remove the wait}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags, %one : !iris.ctx, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// The flag of another rank is signaled.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-note @below {{another flag of the buffer, or of another rank, is signaled here}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %c0 : i32, !words
    // expected-warning @below {{'iris.wait' op never ends: no signal of the module sets its flag}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags, %one : !iris.ctx, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// A value that is not signaled.
gpu.module @kernels {
  gpu.func @set(%ctx: !iris.ctx, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %two = arith.constant 2 : i32
    // expected-note @below {{its flag is signaled here, with another value}}
    iris.signal set %ctx, %two, %flags[%c0] to %c0 : i32, !words
    gpu.return
  }
  gpu.func @wait(%ctx: !iris.ctx, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %three = arith.constant 3 : i32
    // expected-warning @below {{'iris.wait' op never ends: no signal makes its flag ge 3; wait for a value that is signaled}}
    %seen = iris.wait %ctx, %flags[%c0] ge %three from %c0 : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@set programs(%c1) args(%ctx, %flags : !iris.ctx, !words)
  iris.launch @kernels::@wait programs(%c1) args(%ctx, %flags : !iris.ctx, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Every rank waits before it signals.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    // expected-warning @below {{'iris.wait' op never ends: the signal that would end it comes after a wait that needs this program to go on; signal before waiting}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    // expected-note @below {{the signal}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags, %one : !iris.ctx, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: rank 0 signals first, and the others pass it on.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %isFirst = arith.cmpi eq, %rank, %c0 : index
    scf.if %isFirst {
      iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    }
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    scf.if %isFirst {
    } else {
      iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    }
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags, %one : !iris.ctx, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: epochs that wrap, a flag that a plain store sets, one that several ranks
// add to, and a wait that is never executed.
gpu.module @kernels {
  gpu.func @first(%ctx: !iris.ctx, %flags: !words) kernel {
    %c1 = arith.constant 1 : index
    %most = arith.constant 2147483647 : i32
    memref.store %most, %flags[%c1] : !words
    gpu.return
  }
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %never: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %one = arith.constant 1 : i32
    %least = arith.constant -2147483648 : i32
    %ranks = iris.num_ranks %ctx : index
    %all = arith.index_cast %ranks : index to i32
    scf.for %r = %c0 to %ranks step %c1 {
      iris.signal add %ctx, %one, %flags[%c0] to %r : i32, !words
    }
    %a = iris.wait %ctx, %flags[%c0] ge %all : i32, !words
    iris.signal add %ctx, %one, %flags[%c1] : i32, !words
    %b = iris.wait %ctx, %flags[%c1] ge %least : i32, !words
    scf.if %never {
      %c = iris.wait %ctx, %flags[%c2] ge %one : i32, !words
    }
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %false = arith.constant false
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@first programs(%c1) args(%ctx, %flags : !iris.ctx, !words)
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags, %false : !iris.ctx, !words, i1)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: other modules may launch what signals.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: the flag's value depends on memory, and so does what is executed.
gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %data: !words) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1> : tensor<64xi32>
    tile.store %v, %data[%c0] : tensor<64xi32>, !words
    gpu.return
  }
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %data: !words) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %v = memref.load %data[%c0] : !words
    %isSet = arith.cmpi ne, %v, %zero : i32
    scf.if %isSet {
      memref.store %one, %flags[%c0] : !words
    }
    %seen = iris.wait %ctx, %flags[%c0] ge %one : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %flags = iris.alloc(%c64) : !words
  %data = iris.alloc(%c64) : !words
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %data : !iris.ctx, !words)
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags, %data : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right for 4 ranks, which the program is made for: others have no rank 3.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %isSender = arith.cmpi eq, %rank, %c3 : index
    scf.if %isSender {
      scf.for %r = %c0 to %c3 step %c2 {
        iris.signal set %ctx, %one, %flags[%c0] to %r : i32, !words
      }
    }
    %isWaiting = arith.cmpi ult, %rank, %c3 : index
    %bit = arith.remui %rank, %c2 : index
    %isEven = arith.cmpi eq, %bit, %c0 : index
    %waits = arith.andi %isWaiting, %isEven : i1
    scf.if %waits {
      %seen = iris.wait %ctx, %flags[%c0] ge %one : i32, !words
    }
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %flags = iris.alloc(%c64) : !words
  iris.launch @kernels::@k programs(%c1) args(%ctx, %flags : !iris.ctx, !words)
  iris.sync %ctx
  return
}
