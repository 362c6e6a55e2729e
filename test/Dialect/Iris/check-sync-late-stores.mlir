// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// In one kernel.
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
    // expected-warning @below {{'iris.signal' op comes before a store that it announces; signal after the store}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-note @below {{the store}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{another rank waits for the signal}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    // expected-note @below {{and reads what is stored}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
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

// Of two stores, the signal announces one.
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
    iris.store %ctx, %v, %data[%c64] to %next : tensor<64xi32>, !words
    // expected-warning @below {{'iris.signal' op comes before a store that it announces; signal after the store}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-note @below {{the store}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{another rank waits for the signal}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    %got1 = tile.load %data[%c64] : !words -> tensor<64xi32>
    // expected-note @below {{and reads what is stored}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
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

// Right: the store is for the next launch, which comes after a sync.
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
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    iris.barrier %ctx, %state : !words
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
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
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %two : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: a second signal announces the store.
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
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c1] to %next : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
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
