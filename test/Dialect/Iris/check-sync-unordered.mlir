// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// The next launch overwrites what a slow peer still reads.
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
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them; expected a wait or barrier in between, or another buffer}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !words
    // expected-note @below {{the read}}
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
      args(%ctx, %data, %flags, %state, %two : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// No synchronization at all.
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
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them; expected a wait or barrier in between, or another buffer}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the read}}
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

// Right: a barrier after the read.
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

// -----

!words = memref<?xi32, #iris.symmetric>

// Right: a sync between the launches.
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

// Right: two slots that alternate, and a barrier.
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
    %two = arith.constant 2 : i32
    %parity = arith.remui %epoch, %two : i32
    %number = arith.index_cast %parity : i32 to index
    %slot = arith.muli %number, %c64 : index
    iris.store %ctx, %v, %data[%slot] to %next : tensor<64xi32>, !words
    iris.barrier %ctx, %state : !words
    %got = tile.load %data[%slot] : !words -> tensor<64xi32>
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

// -----

!words = memref<?xi32, #iris.symmetric>

// A loop that polls orders accesses if it acquires.
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
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    %zero = arith.constant 0 : i32
    scf.while : () -> () {
      %old = iris.atomic_cas %ctx, %epoch, %zero, %flags[%c0] sem(relaxed) : i32, !words
      %again = arith.cmpi ne, %old, %epoch : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    // expected-note @below {{the read}}
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

// Right: it acquires.
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
    %zero = arith.constant 0 : i32
    scf.while : () -> () {
      %old = iris.atomic_cas %ctx, %epoch, %zero, %flags[%c0] sem(acquire) : i32, !words
      %again = arith.cmpi ne, %old, %epoch : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
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

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a loop that polls by volatile loads.
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
    scf.while : () -> () {
      %f = tile.load %flags[%c0] volatile : !words -> tensor<1xi32>
      %w = memref.load %flags[%c0] : !words
      %again = arith.cmpi ne, %w, %epoch : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    iris.fence acquire
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

// Not decided: a volatile access.
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
    %got = tile.load %data[%c0] volatile : !words -> tensor<64xi32>
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

// Not decided: a single rank may launch the kernel.
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
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    gpu.return
  }
}
