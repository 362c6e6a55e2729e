// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 3: an all-gather, by a kernel and by one op.

!buffer = memref<?xi32, #iris.symmetric>
!chunk = memref<?xi32, strided<[1], offset: ?>, #iris.symmetric>

gpu.module @kernels {
  // [kernel]
  // %in is this rank's chunk; %out holds the chunks of all ranks.
  gpu.func @push(%ctx: !iris.ctx, %in: !buffer, %out: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %n = memref.dim %in, %c0 : !buffer
    %offset = arith.muli %rank, %n : index
    %chunk = memref.subview %out[%offset] [%n] [1] : !buffer to !chunk

    // Programs take tiles in turn: tile pid, pid + programs, ...
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %first = arith.muli %pid, %c1024 : index
    %step = arith.muli %programs, %c1024 : index
    scf.for %i = %first to %n step %step {
      %v = tile.load %in[%i] : !buffer -> tensor<1024xi32>
      scf.for %k = %c0 to %ranks step %c1 {
        // Rank r begins with rank r: no two ranks store to one at a time.
        %s = arith.addi %rank, %k : index
        %peer = arith.remui %s, %ranks : index
        iris.store %ctx, %v, %chunk[%i] to %peer : tensor<1024xi32>, !chunk
      }
    }
    gpu.return
  }
  // [/kernel]

  // Fills a chunk with 1000000 * rank + i.
  gpu.func @fill(%ctx: !iris.ctx, %in: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %rank = iris.rank %ctx : index
    %n = memref.dim %in, %c0 : !buffer
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %first = arith.muli %pid, %c1024 : index
    %step = arith.muli %programs, %c1024 : index
    scf.for %i = %first to %n step %step {
      %v = func.call @values(%rank, %i) : (index, index) -> tensor<1024xi32>
      tile.store %v, %in[%i] : tensor<1024xi32>, !buffer
    }
    gpu.return
  }

  // Compares every chunk of %out with what its rank filled in. The last tile
  // of a chunk reaches beyond its end, where a load gives 0.
  gpu.func @check(%ctx: !iris.ctx, %in: !buffer, %out: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %zeros = arith.constant dense<0> : tensor<1024xi32>
    %ranks = iris.num_ranks %ctx : index
    %n = memref.dim %in, %c0 : !buffer
    %ends = tensor.splat %n : tensor<1024xindex>
    %lane = tile.range : tensor<1024xindex>
    scf.for %source = %c0 to %ranks step %c1 {
      %offset = arith.muli %source, %n : index
      %chunk = memref.subview %out[%offset] [%n] [1] : !buffer to !chunk
      scf.for %i = %c0 to %n step %c1024 {
        %v = func.call @values(%source, %i) : (index, index) -> tensor<1024xi32>
        %start = tensor.splat %i : tensor<1024xindex>
        %index = arith.addi %start, %lane : tensor<1024xindex>
        %inside = arith.cmpi slt, %index, %ends : tensor<1024xindex>
        %want = arith.select %inside, %v, %zeros
            : tensor<1024xi1>, tensor<1024xi32>
        %got = tile.load %chunk[%i] : !chunk -> tensor<1024xi32>
        iris.expect_eq %got, %want, "gathered" : tensor<1024xi32>
      }
    }
    gpu.return
  }

  // 1000000 * rank + i, ..., for 1024 elements from element %i.
  func.func @values(%rank: index, %i: index) -> tensor<1024xi32> {
    %million = arith.constant 1000000 : index
    %x = arith.muli %rank, %million : index
    %y = arith.addi %x, %i : index
    %base = arith.index_cast %y : index to i32
    %bases = tensor.splat %base : tensor<1024xi32>
    %lane = tile.range : tensor<1024xi32>
    %v = arith.addi %bases, %lane : tensor<1024xi32>
    return %v : tensor<1024xi32>
  }
}

// [main]
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %programs = arith.constant 4 : index
  %n = arith.constant 10007 : index
  %ranks = iris.num_ranks %ctx : index
  %all = arith.muli %ranks, %n : index
  %in = iris.alloc(%n) : !buffer
  %out = iris.alloc(%all) : !buffer
  %again = iris.alloc(%all) : !buffer
  iris.launch @kernels::@fill programs(%programs)
      args(%ctx, %in : !iris.ctx, !buffer)

  iris.launch @kernels::@push programs(%programs)
      args(%ctx, %in, %out : !iris.ctx, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %in, %out : !iris.ctx, !buffer, !buffer)

  iris.all_gather %ctx, %in, %again : !buffer, !buffer
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %in, %again : !iris.ctx, !buffer, !buffer)
  return
}
// [/main]
