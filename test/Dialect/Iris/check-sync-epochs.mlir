// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// The same epoch in each launch.
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
    // expected-note @below {{so this store is not ordered with the read}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the signal}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-warning @below {{'iris.wait' op does not wait again: an earlier signal of the same epoch satisfies it; use another epoch each time}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    // expected-note @below {{the read, on another rank}}
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
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %one : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// In each launch, behind a sync.
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
    // expected-note @below {{so this store is not ordered with the read}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the signal}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-warning @below {{'iris.wait' op does not wait again: an earlier signal of the same epoch satisfies it; use another epoch each time}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    // expected-note @below {{the read, on another rank}}
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
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %one : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// In each iteration.
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
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {
      // expected-note @below {{so this store is not ordered with the read}}
      iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
      // expected-note @below {{the signal}}
      iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
      // expected-warning @below {{'iris.wait' op does not wait again: an earlier signal of the same epoch satisfies it; use another epoch each time}}
      %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
      // expected-note @below {{the read, on another rank}}
      %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    }
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

// Right: the epoch counts up, and a barrier protects the data.
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
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %number = arith.index_cast %i : index to i32
      %e = arith.addi %epoch, %number : i32
      iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
      iris.signal set %ctx, %e, %flags[%c0] to %next : i32, !words
      %seen = iris.wait %ctx, %flags[%c0] ge %e : i32, !words
      %got = tile.load %data[%c0] : !words -> tensor<64xi32>
      iris.barrier %ctx, %state : !words
    }
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

// Right: the flag is cleared between two barriers.
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
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    iris.barrier %ctx, %state : !words
    %zero = arith.constant 0 : i32
    memref.store %zero, %flags[%c0] : !words
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
      args(%ctx, %data, %flags, %state, %one : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: the data is sent once, and read twice.
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
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    %seen1 = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    %got1 = tile.load %data[%c0] : !words -> tensor<64xi32>
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
