// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packets (LL protocol): data and flag in one store.
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// Packets order nothing but their payload.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %data: !words, %slots: !words, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %last = memref.load %epochs[%c0] : !words
    %epoch = arith.addi %last, %one : i32
    memref.store %epoch, %epochs[%c0] : !words
    %v = tensor.splat %epoch : tensor<64xi32>
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%epoch) : tensor<64xi32>, !words
    %p = iris.packet_load %ctx, %slots[%c0] flag(%epoch) : !words -> tensor<64xi32>
    // expected-note @below {{the read}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %data = iris.alloc(%c128) : !words
  %slots = iris.alloc(%c1024) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %slots, %epochs : !iris.ctx, !words, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Two programs of each rank, two halves, and epochs that a scatter stores. Right,
// and followed: the race is in the next kernel.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %slots: !words, %epochs: !words) kernel {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %c256 = arith.constant 256 : index
    %c128 = arith.constant 128 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %odd = arith.andi %epoch, %one : i32
    %half = arith.index_cast %odd : i32 to index
    %start = arith.muli %half, %c256 : index
    %own = arith.muli %pid, %c128 : index
    %at = arith.addi %start, %own : index
    %v = tensor.splat %epoch : tensor<64xi32>
    iris.packet_store %ctx, %v, %slots[%at] to %next flag(%epoch) : tensor<64xi32>, !words
    %p = iris.packet_load %ctx, %slots[%at] flag(%epoch) : !words -> tensor<64xi32>
    %i = tile.range : tensor<8xindex>
    %grid = tensor.splat %programs : tensor<8xindex>
    %first = tensor.splat %pid : tensor<8xindex>
    %c8 = arith.constant dense<8> : tensor<8xindex>
    %strided = arith.muli %i, %grid : tensor<8xindex>
    %indices = arith.addi %strided, %first : tensor<8xindex>
    %mask = arith.cmpi ult, %indices, %c8 : tensor<8xindex>
    %all = tensor.splat %epoch : tensor<8xi32>
    tile.scatter %all, %epochs[%indices] mask %mask : tensor<8xi32>, !words, tensor<8xindex>
    gpu.return
  }
  gpu.func @race(%ctx: !iris.ctx, %data: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them}}
    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the read}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %data = iris.alloc(%c128) : !words
  %slots = iris.alloc(%c1024) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@k programs(%c2)
      args(%ctx, %slots, %epochs : !iris.ctx, !words, !words)
  iris.launch @kernels::@k programs(%c2)
      args(%ctx, %slots, %epochs : !iris.ctx, !words, !words)
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %slots, %epochs : !iris.ctx, !words, !words)
  iris.launch @kernels::@k programs(%c2)
      args(%ctx, %slots, %epochs : !iris.ctx, !words, !words)
  iris.launch @kernels::@race programs(%c1)
      args(%ctx, %data : !iris.ctx, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// The packets have the epoch before.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %slots: !words, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %last = memref.load %epochs[%c0] : !words
    %epoch = arith.addi %last, %one : i32
    memref.store %epoch, %epochs[%c0] : !words
    %v = tensor.splat %epoch : tensor<64xi32>
    // expected-note @below {{packets with another flag are stored here}}
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%last) : tensor<64xi32>, !words
    // expected-warning @below {{'iris.packet_load' op never ends: not all of the packets that it waits for are stored with its flag; store them where it reads, with the same flag}}
    %p = iris.packet_load %ctx, %slots[%c0] flag(%epoch) : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %slots, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// They are stored elsewhere.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %slots: !words) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %v = tensor.splat %one : tensor<32xi32>
    iris.packet_store %ctx, %v, %slots[%c0] to %rank flag(%one) : tensor<32xi32>, !words
    %c64 = arith.constant 64 : index
    // expected-warning @below {{'iris.packet_load' op never ends}}
    %p = iris.packet_load %ctx, %slots[%c64] flag(%one) : !words -> tensor<32xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %slots : !iris.ctx, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// A window that is not inside of the buffer is not awaited.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %slots: !words) kernel {
    %one = arith.constant 1 : i32
    %c1000 = arith.constant 1000 : index
    %p = iris.packet_load %ctx, %slots[%c1000] flag(%one) : !words -> tensor<32xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %slots : !iris.ctx, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Half of the packets are missing.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    iris.packet_store %ctx, %half, %slots[%c0] to %next flag(%one) : tensor<32xi32>, !words
    // expected-warning @below {{'iris.packet_load' op never ends: not all of the packets that it waits for are stored with its flag}}
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Two stores, one load: right, and followed.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    %c64 = arith.constant 64 : index
    iris.packet_store %ctx, %half, %slots[%c0] to %next flag(%one) : tensor<32xi32>, !words
    iris.packet_store %ctx, %half, %slots[%c64] to %next flag(%one) : tensor<32xi32>, !words
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them}}
    iris.store %ctx, %v, %flags[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the read}}
    %got = tile.load %flags[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// One store, two loads.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    %c64 = arith.constant 64 : index
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%one) : tensor<64xi32>, !words
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<32xi32>
    %q = iris.packet_load %ctx, %slots[%c64] flag(%one) : !words -> tensor<32xi32>
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them}}
    iris.store %ctx, %v, %flags[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the read}}
    %got = tile.load %flags[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// The second packets overwrite the first ones before a peer has received them.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%one) : tensor<64xi32>, !words
    // expected-note @below {{packets with another flag are stored here}}
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%two) : tensor<64xi32>, !words
    // expected-warning @below {{'iris.packet_load' op never ends: other packets overwrite those that it waits for; store them only after these have been received, or to another half of the buffer}}
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    %q = iris.packet_load %ctx, %slots[%c0] flag(%two) : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Received by this rank says nothing about the peer.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%one) : tensor<64xi32>, !words
    // expected-warning @below {{'iris.packet_load' op never ends: other packets overwrite}}
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    // expected-note @below {{packets with another flag are stored here}}
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%two) : tensor<64xi32>, !words
    %q = iris.packet_load %ctx, %slots[%c0] flag(%two) : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Received in both directions: right, and followed.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%one) : tensor<64xi32>, !words
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    %c512 = arith.constant 512 : index
    %last = arith.addi %rank, %ranks : index
    %before = arith.subi %last, %c1 : index
    %previous = arith.remui %before, %ranks : index
    iris.packet_store %ctx, %v, %slots[%c512] to %previous flag(%one) : tensor<64xi32>, !words
    %ready = iris.packet_load %ctx, %slots[%c512] flag(%one) : !words -> tensor<64xi32>
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%two) : tensor<64xi32>, !words
    %q = iris.packet_load %ctx, %slots[%c0] flag(%two) : !words -> tensor<64xi32>
    // expected-warning @below {{'iris.store' op writes what another rank reads, and nothing orders them}}
    iris.store %ctx, %v, %flags[%c0] to %next : tensor<64xi32>, !words
    // expected-note @below {{the read}}
    %got = tile.load %flags[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// All ranks wait before they store.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    // expected-warning @below {{'iris.packet_load' op never ends: the packets that would end it come after a wait that needs this program to go on; store them before waiting}}
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    // expected-note @below {{the packets}}
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%one) : tensor<64xi32>, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// The wait for packets needs a signal that needs packets.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    // expected-warning @below {{'iris.packet_load' op never ends: the packets that would end it come after a wait that needs this program to go on}}
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    iris.signal set %ctx, %one, %flags[%c0] to %next : i32, !words
    %seen = iris.wait %ctx, %flags[%c0] ge %one : i32, !words
    // expected-note @below {{the packets}}
    iris.packet_store %ctx, %v, %slots[%c0] to %next flag(%one) : tensor<64xi32>, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a plain store may have stored flags.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    %c64 = arith.constant 64 : index
    tile.store %v, %slots[%c0] : tensor<64xi32>, !words
    tile.store %v, %slots[%c64] : tensor<64xi32>, !words
    gpu.return
  }
  gpu.func @k1(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.launch @kernels::@k1 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a plain store that is not executed may store flags.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    tile.store %v, %slots[%c0] : tensor<64xi32>, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a signal may be a flag.
gpu.module @kernels {
  gpu.func @k0(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    iris.signal set %ctx, %one, %slots[%c1] to %next : i32, !words
    gpu.return
  }
  gpu.func @k1(%ctx: !iris.ctx, %slots: !words, %flags: !words) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = tensor.splat %one : tensor<64xi32>
    %half = tensor.splat %one : tensor<32xi32>
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<4xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %slots = iris.alloc(%c1024) : !words
  %flags = iris.alloc(%c1024) : !words
  iris.launch @kernels::@k0 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.launch @kernels::@k1 programs(%c1) args(%ctx, %slots, %flags : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a collective may have stored flags.
gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %source: !words) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1> : tensor<128xi32>
    tile.store %v, %source[%c0] : tensor<128xi32>, !words
    gpu.return
  }
  gpu.func @receive(%ctx: !iris.ctx, %slots: !words) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %p = iris.packet_load %ctx, %slots[%c0] flag(%one) : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %source = iris.alloc(%c128) : !words
  %slots = iris.alloc(%c128) : !words
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %source : !iris.ctx, !words)
  iris.broadcast %ctx, %source, %slots root(%c0) : !words, !words
  iris.launch @kernels::@receive programs(%c1) args(%ctx, %slots : !iris.ctx, !words)
  iris.sync %ctx
  return
}
