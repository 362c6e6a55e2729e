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
    // expected-note @below {{the store}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the signal that announces it}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-warning @below {{'tile.load' op reads what another rank stores, before the wait that guards it; read after the wait}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    // expected-note @below {{the wait}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
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

// Without @main.
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
    // expected-note @below {{the store}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the signal that announces it}}
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    // expected-warning @below {{'tile.load' op reads what another rank stores, before the wait that guards it; read after the wait}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    // expected-note @below {{the wait}}
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: what is read before the wait is another part, or is ordered by a barrier.
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
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    %got1 = tile.load %data[%c64] : !words -> tensor<64xi32>
    iris.barrier %ctx, %state : !words
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.barrier %ctx, %state : !words
    %got2 = tile.load %data[%c0] : !words -> tensor<64xi32>
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

// Right: the value from before the exchange, which peers overwrite behind a barrier.
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
    iris.barrier %ctx, %state : !words
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
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
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %state, %two : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: the window is clipped to the part that the subview has.
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
    %part = memref.subview %data[64] [32] [1] : !words to memref<32xi32, strided<[1], offset: 64>, #iris.symmetric>
    iris.store %ctx, %v, %part[%c0] to %next : tensor<64xi32>, memref<32xi32, strided<[1], offset: 64>, #iris.symmetric>
    %c96 = arith.constant 96 : index
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %got = tile.load %data[%c96] : !words -> tensor<64xi32>
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
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

// Not decided: where the peer stores depends on memory that peers change.
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
    %at = memref.load %flags[%c0] : !words
    %i = arith.index_cast %at : i32 to index
    iris.store %ctx, %v, %data[%i] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
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
