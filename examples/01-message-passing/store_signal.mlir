// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Producer and consumer: one remote store per block, then a signal. The
// consumer waits for the flag of each block and doubles the values.
//
//   iris-run -n 2 examples/01-message-passing/store_signal.mlir

!data = memref<?xf32, #iris.symmetric>
!flags = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // One program per block of 256 values: loads it, stores it to the consumer's
  // %target, and sets that block's flag there. The signal is a release: the
  // stores of all threads are visible before it. Flags are 32 words apart, so
  // no two share a cache line.
  gpu.func @producer(%ctx: !iris.ctx, %source: !data, %target: !data,
                     %flags: !flags, %consumer: index)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %epoch = arith.constant 1 : i32
    %pid = gpu.block_id x
    %start = arith.muli %pid, %c256 : index
    %flag = arith.muli %pid, %c32 : index
    %v = tile.load %source[%start] : !data -> tensor<256xf32>
    iris.store %ctx, %v, %target[%start] to %consumer
        : tensor<256xf32>, !data
    iris.signal set %ctx, %epoch, %flags[%flag] to %consumer : i32, !flags
    gpu.return
  }

  // One program per block: waits for its block, at most for the world's time
  // limit, and doubles the values. The wait is an acquire: the loads of all
  // threads come after it.
  gpu.func @consumer(%ctx: !iris.ctx, %target: !data, %flags: !flags,
                     %producer: index)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %epoch = arith.constant 1 : i32
    %pid = gpu.block_id x
    %start = arith.muli %pid, %c256 : index
    %flag = arith.muli %pid, %c32 : index
    %seen = iris.wait %ctx, %flags[%flag] ge %epoch owed_by(%producer)
        : i32, !flags
    %v = tile.load %target[%start] : !data -> tensor<256xf32>
    %doubled = arith.addf %v, %v : tensor<256xf32>
    tile.store %doubled, %target[%start] : tensor<256xf32>, !data
    gpu.return
  }

  // Element i of the message: 23 bits of a hash of i. f32 represents the value
  // and its double exactly.
  gpu.func @fill(%ctx: !iris.ctx, %source: !data)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c256 = arith.constant 256 : index
    %mul1 = arith.constant dense<-1640531527> : tensor<256xi32>
    %mul2 = arith.constant dense<739982445> : tensor<256xi32>
    %shift1 = arith.constant dense<15> : tensor<256xi32>
    %shift2 = arith.constant dense<9> : tensor<256xi32>
    %salt = arith.constant dense<-2048144789> : tensor<256xi32>
    %pid = gpu.block_id x
    %start = arith.muli %pid, %c256 : index
    %start32 = arith.index_cast %start : index to i32
    %starts = tensor.splat %start32 : tensor<256xi32>
    %range = tile.range : tensor<256xi32>
    %i = arith.addi %starts, %range : tensor<256xi32>
    %h0 = arith.muli %i, %mul1 : tensor<256xi32>
    %h1 = arith.addi %h0, %salt : tensor<256xi32>
    %h2 = arith.shrui %h1, %shift1 : tensor<256xi32>
    %h3 = arith.xori %h1, %h2 : tensor<256xi32>
    %h4 = arith.muli %h3, %mul2 : tensor<256xi32>
    %h5 = arith.shrui %h4, %shift2 : tensor<256xi32>
    %v = arith.sitofp %h5 : tensor<256xi32> to tensor<256xf32>
    tile.store %v, %source[%start] : tensor<256xf32>, !data
    gpu.return
  }

  // Compares a buffer with the message times %factor. The last tile extends
  // past the end of the buffer, where loads return 0.
  gpu.func @check(%ctx: !iris.ctx, %buffer: !data, %factor: f32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %mul1 = arith.constant dense<-1640531527> : tensor<256xi32>
    %mul2 = arith.constant dense<739982445> : tensor<256xi32>
    %shift1 = arith.constant dense<15> : tensor<256xi32>
    %shift2 = arith.constant dense<9> : tensor<256xi32>
    %salt = arith.constant dense<-2048144789> : tensor<256xi32>
    %nothing = arith.constant dense<0.0> : tensor<256xf32>
    %pid = gpu.block_id x
    %start = arith.muli %pid, %c256 : index
    %start32 = arith.index_cast %start : index to i32
    %starts = tensor.splat %start32 : tensor<256xi32>
    %range = tile.range : tensor<256xi32>
    %i = arith.addi %starts, %range : tensor<256xi32>
    %h0 = arith.muli %i, %mul1 : tensor<256xi32>
    %h1 = arith.addi %h0, %salt : tensor<256xi32>
    %h2 = arith.shrui %h1, %shift1 : tensor<256xi32>
    %h3 = arith.xori %h1, %h2 : tensor<256xi32>
    %h4 = arith.muli %h3, %mul2 : tensor<256xi32>
    %h5 = arith.shrui %h4, %shift2 : tensor<256xi32>
    %v = arith.sitofp %h5 : tensor<256xi32> to tensor<256xf32>
    %factors = tensor.splat %factor : tensor<256xf32>
    %scaled = arith.mulf %v, %factors : tensor<256xf32>
    %size = memref.dim %buffer, %c0 : !data
    %size32 = arith.index_cast %size : index to i32
    %sizes = tensor.splat %size32 : tensor<256xi32>
    %inside = arith.cmpi slt, %i, %sizes : tensor<256xi32>
    %want = arith.select %inside, %scaled, %nothing
        : tensor<256xi1>, tensor<256xf32>
    %got = tile.load %buffer[%start] : !data -> tensor<256xf32>
    iris.expect_eq %got, %want, "message" : tensor<256xf32>
    gpu.return
  }
}

// Every rank runs this. Rank 0 produces, rank 1 consumes; all other ranks only
// take part in allocations and syncs. In a world of one rank, the rank is both
// producer and consumer.
func.func @main(%ctx: !iris.ctx) {
  %size = arith.constant 1000 : index
  %blocks = arith.constant 4 : index
  %words = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %producer = arith.constant 0 : index
  %ranks = iris.num_ranks %ctx : index
  %consumer = arith.remui %c1, %ranks : index
  %source = iris.alloc(%size) : !data
  %target = iris.alloc(%size) : !data
  %flags = iris.alloc(%words) : !flags

  %rank = iris.rank %ctx : index
  %produces = arith.cmpi eq, %rank, %producer : index
  scf.if %produces {
    iris.launch @kernels::@fill programs(%blocks)
        args(%ctx, %source : !iris.ctx, !data)
    iris.launch @kernels::@producer programs(%blocks)
        args(%ctx, %source, %target, %flags, %consumer
            : !iris.ctx, !data, !data, !flags, index)
  }
  %consumes = arith.cmpi eq, %rank, %consumer : index
  scf.if %consumes {
    iris.launch @kernels::@consumer programs(%blocks)
        args(%ctx, %target, %flags, %producer
            : !iris.ctx, !data, !flags, index)
  }
  iris.sync %ctx
  scf.if %produces {
    iris.launch @kernels::@check programs(%blocks)
        args(%ctx, %source, %one : !iris.ctx, !data, f32)
  }
  scf.if %consumes {
    iris.launch @kernels::@check programs(%blocks)
        args(%ctx, %target, %two : !iris.ctx, !data, f32)
  }
  iris.sync %ctx
  iris.dealloc %flags : !flags
  iris.dealloc %target : !data
  iris.dealloc %source : !data
  return
}
