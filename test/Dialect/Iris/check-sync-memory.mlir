// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that a rank's programs keep in memory. Each @probe waits for one more
// than it loads, which nothing signals: that is found if the integer is known.
// RUN: iris-opt %s --iris-check-sync --split-input-file --verify-diagnostics -o /dev/null

!words = memref<?xi32, #iris.symmetric>

// An epoch that each launch counts up. The wait is for the last one, so that in the
// second launch it orders nothing.
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %data: !words, %flags: !words, %epochs: !words) kernel {
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
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, !words
    iris.wait %ctx, %flags[%c0] ge %last : i32, !words
    // expected-note @below {{the read}}
    %got = tile.load %data[%c0] : !words -> tensor<64xi32>
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %data = iris.alloc(%c128) : !words
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %epochs : !iris.ctx, !words, !words, !words)
  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %data, %flags, %epochs : !iris.ctx, !words, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Neighbours, each of one program: none changes what another one reads.
gpu.module @kernels {
  gpu.func @count(%ctx: !iris.ctx, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    memref.store %epoch, %epochs[%pid] : !words
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    // expected-warning @below {{'iris.wait' op never ends}}
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@count programs(%c2) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@count programs(%c2) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c2) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>
!bytes = memref<?xi8, #iris.symmetric>

// The same of bytes.
gpu.module @kernels {
  gpu.func @count(%ctx: !iris.ctx, %epochs: !bytes) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i8
    %last = memref.load %epochs[%pid] : !bytes
    %epoch = arith.addi %last, %one : i8
    memref.store %epoch, %epochs[%pid] : !bytes
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !bytes) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !bytes
    %wide = arith.extsi %last : i8 to i32
    %epoch = arith.addi %wide, %one : i32
    // expected-warning @below {{'iris.wait' op never ends}}
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !bytes
  iris.launch @kernels::@count programs(%c2) args(%ctx, %epochs : !iris.ctx, !bytes)
  iris.launch @kernels::@count programs(%c2) args(%ctx, %epochs : !iris.ctx, !bytes)
  iris.launch @kernels::@probe programs(%c2) args(%ctx, %flags, %epochs : !iris.ctx, !words, !bytes)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>
!bytes = memref<?xi8, #iris.symmetric>

// Not decided: one program stores to the last byte of what another one reads.
gpu.module @kernels {
  gpu.func @count(%ctx: !iris.ctx, %epochs: !bytes) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1 : i8
    %pid = gpu.block_id x
    %words = memref.view %epochs[%c0][] : !bytes to memref<32xi32, #iris.symmetric>
    %isFirst = arith.cmpi eq, %pid, %c0 : index
    scf.if %isFirst {
      %word = memref.load %words[%c0] : memref<32xi32, #iris.symmetric>
      memref.store %word, %words[%c1] : memref<32xi32, #iris.symmetric>
    } else {
      memref.store %one, %epochs[%c3] : !bytes
    }
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !bytes) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !bytes
    %wide = arith.extsi %last : i8 to i32
    %epoch = arith.addi %wide, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !bytes
  iris.launch @kernels::@count programs(%c2) args(%ctx, %epochs : !iris.ctx, !bytes)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !bytes)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>
!bytes = memref<?xi8, #iris.symmetric>

// Not decided: the bytes were stored as another type.
gpu.module @kernels {
  gpu.func @store(%ctx: !iris.ctx, %epochs: !bytes) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %words = memref.view %epochs[%c0][] : !bytes to memref<32xi32, #iris.symmetric>
    memref.store %one, %words[%c0] : memref<32xi32, #iris.symmetric>
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !bytes) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !bytes
    %wide = arith.extsi %last : i8 to i32
    %epoch = arith.addi %wide, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !bytes
  iris.launch @kernels::@store programs(%c1) args(%ctx, %epochs : !iris.ctx, !bytes)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !bytes)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Every second element from a program's own on.
gpu.module @kernels {
  gpu.func @scatter(%ctx: !iris.ctx, %epochs: !words) kernel {
    %programs = gpu.grid_dim x
    %pid = gpu.block_id x
    %i = tile.range : tensor<8xindex>
    %grid = tensor.splat %programs : tensor<8xindex>
    %first = tensor.splat %pid : tensor<8xindex>
    %strided = arith.muli %i, %grid : tensor<8xindex>
    %indices = arith.addi %strided, %first : tensor<8xindex>
    %last = memref.load %epochs[%pid] : !words
    %one = arith.constant 1 : i32
    %epoch = arith.addi %last, %one : i32
    %all = tensor.splat %epoch : tensor<8xi32>
    tile.scatter %all, %epochs[%indices] : tensor<8xi32>, !words, tensor<8xindex>
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    // expected-warning @below {{'iris.wait' op never ends}}
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@scatter programs(%c2) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@scatter programs(%c2) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c2) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: two stores to an element.
gpu.module @kernels {
  gpu.func @scatter(%ctx: !iris.ctx, %epochs: !words) kernel {
    %programs = gpu.grid_dim x
    %pid = gpu.block_id x
    %i = tile.range : tensor<8xindex>
    %grid = tensor.splat %programs : tensor<8xindex>
    %first = tensor.splat %pid : tensor<8xindex>
    %strided = arith.divui %i, %grid : tensor<8xindex>
    %indices = arith.addi %strided, %first : tensor<8xindex>
    %last = memref.load %epochs[%pid] : !words
    %one = arith.constant 1 : i32
    %epoch = arith.addi %last, %one : i32
    %all = tensor.splat %epoch : tensor<8xi32>
    tile.scatter %all, %epochs[%indices] : tensor<8xi32>, !words, tensor<8xindex>
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@scatter programs(%c2) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c2) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: what a mask from memory leaves out.
gpu.module @kernels {
  gpu.func @scatter(%ctx: !iris.ctx, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %i = tile.range : tensor<8xindex>
    %v = tile.load %epochs[%c0] : !words -> tensor<8xi32>
    %mask = arith.cmpi slt, %v, %v : tensor<8xi32>
    tile.scatter %v, %epochs[%i] mask %mask : tensor<8xi32>, !words, tensor<8xindex>
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@scatter programs(%c1) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: two programs share an epoch, so one of them may see that of the other.
// The last launch has one program, but the value is not known.
gpu.module @kernels {
  gpu.func @count(%ctx: !iris.ctx, %epochs: !words) kernel {
    %pid = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    memref.store %epoch, %epochs[%pid] : !words
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@count programs(%c2) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@count programs(%c1) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a peer stores to the epoch, too.
gpu.module @kernels {
  gpu.func @notify(%ctx: !iris.ctx, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    iris.signal set %ctx, %one, %epochs[%c0] to %next : i32, !words
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@notify programs(%c1) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// A peer stores to another buffer, of which a program goes on with what it reads: this
// one is still known.
gpu.module @kernels {
  gpu.func @notify(%ctx: !iris.ctx, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    iris.signal set %ctx, %one, %epochs[%c0] to %next : i32, !words
    gpu.return
  }
  gpu.func @count(%ctx: !iris.ctx, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    memref.store %epoch, %epochs[%pid] : !words
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    // expected-warning @below {{'iris.wait' op never ends}}
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  %others = iris.alloc(%c128) : !words
  iris.launch @kernels::@notify programs(%c1) args(%ctx, %others : !iris.ctx, !words)
  iris.launch @kernels::@count programs(%c1) args(%ctx, %others : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: whether an element is stored.
gpu.module @kernels {
  gpu.func @store(%ctx: !iris.ctx, %epochs: !words) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1 : i32
    %v = tile.load %epochs[%c64] : !words -> tensor<8xi32>
    %sum = tile.reduce sum %v dim 0 : tensor<8xi32> -> i32
    %isSet = arith.cmpi ne, %sum, %one : i32
    scf.if %isSet {
      memref.store %one, %epochs[%c0] : !words
    }
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.launch @kernels::@store programs(%c1) args(%ctx, %epochs : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: epochs of a barrier.
gpu.module @kernels {
  gpu.func @meet(%ctx: !iris.ctx, %epochs: !words) kernel {
    iris.barrier %ctx, %epochs : !words
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  %c2048 = arith.constant 2048 : index
  %state = iris.alloc(%c2048) : !words
  iris.launch @kernels::@meet programs(%c1) args(%ctx, %state : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %state : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Its state is a part of a buffer: the rest is known.
gpu.module @kernels {
  gpu.func @meet(%ctx: !iris.ctx, %epochs: !words) kernel {
    %state = memref.subview %epochs[128] [2048] [1] : !words
        to memref<2048xi32, strided<[1], offset: 128>, #iris.symmetric>
    iris.barrier %ctx, %state : memref<2048xi32, strided<[1], offset: 128>, #iris.symmetric>
    gpu.return
  }
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    // expected-warning @below {{'iris.wait' op never ends}}
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  %c4096 = arith.constant 4096 : index
  %all = iris.alloc(%c4096) : !words
  iris.launch @kernels::@meet programs(%c1) args(%ctx, %all : !iris.ctx, !words)
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %all : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}

// -----

!words = memref<?xi32, #iris.symmetric>

// Not decided: a collective stores to the buffer.
gpu.module @kernels {
  gpu.func @probe(%ctx: !iris.ctx, %flags: !words, %epochs: !words) kernel {
    %pid = gpu.block_id x
    %one = arith.constant 1 : i32
    %last = memref.load %epochs[%pid] : !words
    %epoch = arith.addi %last, %one : i32
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, !words
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %flags = iris.alloc(%c128) : !words
  %epochs = iris.alloc(%c128) : !words
  iris.broadcast %ctx, %epochs, %epochs root(%c1) : !words, !words
  iris.launch @kernels::@probe programs(%c1) args(%ctx, %flags, %epochs : !iris.ctx, !words, !words)
  iris.sync %ctx
  return
}
