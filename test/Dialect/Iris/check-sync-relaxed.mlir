// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// The wait.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %data: !words, %flags: !words, %state: !words,
              %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %epoch : tensor<64xi32>
    // expected-note @below {{this store is not ordered with the read}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-warning @below {{'iris.wait' op is relaxed: it does not order the accesses after it; expected sem(acquire), or a fence after it}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch sem(relaxed) : i32, !words
    // expected-note @below {{the read, on another rank}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    iris.barrier %ctx, %state : !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %data = iris.alloc(%c128) : !words
  %flags = iris.alloc(%c128) : !words
  %state = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %one : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// The signal. Without @main, all ranks launch the kernel with the same arguments.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %data: !words, %flags: !words, %state: !words,
              %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %epoch : tensor<64xi32>
    // expected-note @below {{this store is not ordered with the read}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-warning @below {{'iris.signal' op is relaxed: it does not order the accesses before it; expected sem(release), or a fence before it}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next sem(relaxed) : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    // expected-note @below {{the read, on another rank}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    iris.barrier %ctx, %state : !words
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: fences; a relaxed op that something else makes good; one that guards no data.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %data: !words, %flags: !words, %state: !words,
              %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %epoch : tensor<64xi32>
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.fence release
    iris.signal set %ctx, %epoch, %flags[%c0] to %next sem(relaxed) : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch sem(relaxed) : i32, !words
    iris.fence acquire
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    iris.barrier %ctx, %state : !words
    iris.store %ctx, %v, %data[%c64] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c1] to %next sem(relaxed) : i32, !words
    %seen1 = iris.wait %ctx, %flags[%c1] ge %epoch sem(relaxed) : i32, !words
    iris.barrier %ctx, %state : !words
    %got1 = tile.load %data[%c64] : !words -> tensor<64xi32>
    iris.signal set %ctx, %epoch, %flags[%c64] to %next sem(relaxed) : i32, !words
    %seen2 = iris.wait %ctx, %flags[%c64] ge %epoch sem(relaxed) : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %data = iris.alloc(%c128) : !words
  %flags = iris.alloc(%c128) : !words
  %state = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %one : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: the next wait acquires what a relaxed one has seen.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %data: !words, %flags: !words, %state: !words,
              %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %epoch : tensor<64xi32>
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    iris.signal set %ctx, %epoch, %flags[%c1] to %next : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch sem(relaxed) : i32, !words
    %seen1 = iris.wait %ctx, %flags[%c1] ge %epoch : i32, !words
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    iris.barrier %ctx, %state : !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %data = iris.alloc(%c128) : !words
  %flags = iris.alloc(%c128) : !words
  %state = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %one : !iris.ctx, !words, !words, !words, i32)
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %two : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}
