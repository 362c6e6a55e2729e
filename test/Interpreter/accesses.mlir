// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to the memory of other ranks, compare-and-swap and packets in the
// interpreter. Element i of rank r's buffer of 6 elements is 100 r + i at first;
// every rank accesses that of the next one. Expected values follow from that.
//
// RUN: iris-run --device=reference -n 1 %s
// RUN: iris-run --device=reference -n 2 --schedule-seed=1 %s
// RUN: iris-run --device=reference -n 3 --schedule-seed=2 %s | FileCheck %s
// RUN: iris-run --device=reference -n 4 --schedule-seed=3 %s
// RUN: iris-run --device=reference -n 8 --schedule-seed=4 %s
// CHECK: 3 ranks on reference: all 180 checks passed

!buffer = memref<?xi32, #iris.symmetric>
!state = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %r = arith.index_cast %rank : index to i32
    %100 = arith.constant 100 : i32
    %first = arith.muli %r, %100 : i32
    %t = tensor.splat %first : tensor<8xi32>
    %i = tile.range : tensor<8xi32>
    %v = arith.addi %t, %i : tensor<8xi32>
    tile.store %v, %b[%c0] : tensor<8xi32>, !buffer
    gpu.return
  }

  gpu.func @read(%ctx: !iris.ctx, %b: !buffer, %own: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %pad = arith.constant -1 : i32
    %100 = arith.constant 100 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %ranks : index
    %n32 = arith.index_cast %next : index to i32
    %base = arith.muli %n32, %100 : i32
    %i4 = tile.range : tensor<4xi32>
    %bases = tensor.splat %base : tensor<4xi32>
    %two4 = arith.constant dense<2> : tensor<4xi32>
    %from2 = arith.addi %i4, %two4 : tensor<4xi32>
    %want2 = arith.addi %bases, %from2 : tensor<4xi32>

    %l = iris.load %ctx, %b[%c2] from %next : !buffer -> tensor<4xi32>
    iris.expect_eq %l, %want2, "load" : tensor<4xi32>
    // Elements 4 and 5, and two outside.
    %edge = iris.load %ctx, %b[%c4] from %next else %pad : !buffer -> tensor<4xi32>
    %inside = arith.cmpi slt, %i4, %two4 : tensor<4xi32>
    %four4 = arith.constant dense<4> : tensor<4xi32>
    %from4 = arith.addi %i4, %four4 : tensor<4xi32>
    %in4 = arith.addi %bases, %from4 : tensor<4xi32>
    %pads = tensor.splat %pad : tensor<4xi32>
    %edge.want = arith.select %inside, %in4, %pads : tensor<4xi1>, tensor<4xi32>
    iris.expect_eq %edge, %edge.want, "load with else" : tensor<4xi32>

    // Backwards from element 5; the mask drops all but the first two.
    %at = tile.range : tensor<4xindex>
    %five = arith.constant dense<5> : tensor<4xindex>
    %back = arith.subi %five, %at : tensor<4xindex>
    %g = iris.gather %ctx, %b[%back] from %next mask %inside else %pad
        : !buffer, tensor<4xindex> -> tensor<4xi32>
    %five4 = arith.constant dense<5> : tensor<4xi32>
    %down = arith.subi %five4, %i4 : tensor<4xi32>
    %values = arith.addi %bases, %down : tensor<4xi32>
    %g.want = arith.select %inside, %values, %pads : tensor<4xi1>, tensor<4xi32>
    iris.expect_eq %g, %g.want, "gather" : tensor<4xi32>

    // A copy from there to own memory; what is outside there becomes `else`.
    iris.get %ctx, %b[%c2], %own[%c0] from %next shape [4] : !buffer, !buffer
    %got = tile.load %own[%c0] : !buffer -> tensor<4xi32>
    iris.expect_eq %got, %want2, "get" : tensor<4xi32>
    iris.get %ctx, %b[%c4], %own[%c0] from %next shape [4] else %pad
        : !buffer, !buffer
    %padded = tile.load %own[%c0] : !buffer -> tensor<4xi32>
    iris.expect_eq %padded, %edge.want, "get with else" : tensor<4xi32>
    // From the next rank to this one, both by number.
    iris.copy %ctx, %b[%c2], %own[%c3] from %next to %rank shape [4]
        : !buffer, !buffer
    %copied = tile.load %own[%c3] : !buffer -> tensor<4xi32>
    iris.expect_eq %copied, %want2, "copy" : tensor<4xi32>

    iris.fence acq_rel scope(sys)
    iris.trace begin %ctx, "span"
    iris.trace end %ctx, "span" bytes(%c4)
    iris.check %ctx, %rank below %ranks of "iris.load" "names rank $value"
    gpu.return
  }

  // Rank r's elements, written by the rank before it: 0 and 1 by a window from
  // -1 on, 2 and 3 by a scatter, 4 by a put; 5 stays.
  gpu.func @write(%ctx: !iris.ctx, %b: !buffer, %own: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %minus = arith.constant -1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %ranks : index
    %r = arith.index_cast %rank : index to i32
    %1000 = arith.constant 1000 : i32
    %first = arith.muli %r, %1000 : i32
    %two = arith.constant dense<2> : tensor<4xi32>
    %firsts = tensor.splat %first : tensor<4xi32>
    %i4 = tile.range : tensor<4xi32>
    %v = arith.addi %firsts, %i4 : tensor<4xi32>
    // Element 0 of the tile is outside, the others go to 0, 1 and 2.
    iris.store %ctx, %v, %b[%minus] to %next : tensor<4xi32>, !buffer
    // Elements 2 and 3 of the tile go there twice as large.
    %at = tile.range : tensor<4xindex>
    %last = arith.cmpi sge, %i4, %two : tensor<4xi32>
    %twice = arith.muli %v, %two : tensor<4xi32>
    iris.scatter %ctx, %twice, %b[%at] to %next mask %last
        : tensor<4xi32>, !buffer, tensor<4xindex>
    tile.store %v, %own[%c0] : tensor<4xi32>, !buffer
    iris.put %ctx, %own[%c1], %b[%c4] to %next shape [1] : !buffer, !buffer
    gpu.return
  }
  gpu.func @written(%ctx: !iris.ctx, %b: !buffer) kernel {
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %up = arith.addi %rank, %ranks : index
    %down = arith.subi %up, %c1 : index
    %before = arith.remui %down, %ranks : index
    %r = arith.index_cast %before : index to i32
    %1000 = arith.constant 1000 : i32
    %1 = arith.constant 1 : i32
    %2 = arith.constant 2 : i32
    %3 = arith.constant 3 : i32
    %5 = arith.constant 5 : i32
    %100 = arith.constant 100 : i32
    %first = arith.muli %r, %1000 : i32
    %v1 = arith.addi %first, %1 : i32
    %v2 = arith.addi %first, %2 : i32
    %v3 = arith.addi %first, %3 : i32
    %b0 = memref.load %b[%c0] : !buffer
    iris.expect_eq %b0, %v1, "store, first" : i32
    %b1 = memref.load %b[%c1] : !buffer
    iris.expect_eq %b1, %v2, "store" : i32
    %b2 = memref.load %b[%c2] : !buffer
    %s2 = arith.muli %v2, %2 : i32
    iris.expect_eq %b2, %s2, "scatter" : i32
    %b3 = memref.load %b[%c3] : !buffer
    %s3 = arith.muli %v3, %2 : i32
    iris.expect_eq %b3, %s3, "scatter, last" : i32
    %b4 = memref.load %b[%c4] : !buffer
    iris.expect_eq %b4, %v1, "put" : i32
    %b5 = memref.load %b[%c5] : !buffer
    %own = arith.index_cast %rank : index to i32
    %own100 = arith.muli %own, %100 : i32
    %kept = arith.addi %own100, %5 : i32
    iris.expect_eq %b5, %kept, "not written" : i32
    gpu.return
  }

  // The counter is 5 at first. A swap succeeds if the value is the expected one,
  // and gives the old value in either case; a tile does so for each element.
  gpu.func @swap(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %5 = arith.constant 5 : i32
    %6 = arith.constant 6 : i32
    %7 = arith.constant 7 : i32
    memref.store %5, %b[%c0] : !buffer
    %old = iris.atomic_cas %ctx, %5, %6, %b[%c0] : i32, !buffer
    iris.expect_eq %old, %5, "cas" : i32
    %failed = iris.atomic_cas %ctx, %5, %7, %b[%c0] : i32, !buffer
    iris.expect_eq %failed, %6, "cas that fails" : i32
    %kept = memref.load %b[%c0] : !buffer
    iris.expect_eq %kept, %6, "after a cas that fails" : i32
    %i = tile.range : tensor<4xi32>
    tile.store %i, %b[%c1] : tensor<4xi32>, !buffer
    %two = arith.constant dense<2> : tensor<4xi32>
    %nines = arith.constant dense<9> : tensor<4xi32>
    %olds = iris.atomic_cas %ctx, %two, %nines, %b[%c1] : tensor<4xi32>, !buffer
    iris.expect_eq %olds, %i, "cas of a tile" : tensor<4xi32>
    %now = tile.load %b[%c1] : !buffer -> tensor<4xi32>
    %is2 = arith.cmpi eq, %i, %two : tensor<4xi32>
    %now.want = arith.select %is2, %nines, %i : tensor<4xi1>, tensor<4xi32>
    iris.expect_eq %now, %now.want, "after a cas of a tile" : tensor<4xi32>
    gpu.return
  }

  // Each rank sends a tile to the next one: element i is 7 rank + i. The words
  // are at offset 4, each before its flag.
  gpu.func @packets(%ctx: !iris.ctx, %inbox: !buffer, %small: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %flag = arith.constant 3 : i32
    %seven = arith.constant 7 : i16
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %ranks : index
    %up = arith.addi %rank, %ranks : index
    %down = arith.subi %up, %c1 : index
    %before = arith.remui %down, %ranks : index
    %i32s = tile.range : tensor<8xi32>
    %i = arith.trunci %i32s : tensor<8xi32> to tensor<8xi16>
    %r = arith.index_cast %rank : index to i16
    %p = arith.index_cast %before : index to i16
    %r7 = arith.muli %r, %seven : i16
    %p7 = arith.muli %p, %seven : i16
    %mine = tensor.splat %r7 : tensor<8xi16>
    %theirs = tensor.splat %p7 : tensor<8xi16>
    %sent = arith.addi %mine, %i : tensor<8xi16>
    iris.packet_store %ctx, %sent, %inbox[%c4] to %next flag(%flag)
        : tensor<8xi16>, !buffer
    %got = iris.packet_load %ctx, %inbox[%c4] flag(%flag) owed_by(%before)
        : !buffer -> tensor<8xi16>
    %want = arith.addi %theirs, %i : tensor<8xi16>
    iris.expect_eq %got, %want, "packet" : tensor<8xi16>
    // Word 1 has elements 2 (low) and 3.
    %word = memref.load %inbox[%c6] : !buffer
    %p32 = arith.index_cast %before : index to i32
    %k = arith.constant 458759 : i32
    %k0 = arith.constant 196610 : i32
    %scaled = arith.muli %p32, %k : i32
    %word.want = arith.addi %scaled, %k0 : i32
    iris.expect_eq %word, %word.want, "word" : i32
    %seen = memref.load %inbox[%c7] : !buffer
    iris.expect_eq %seen, %flag, "flag" : i32
    // A window that is not inside of the buffer is not written, and reads as 0.
    iris.packet_store %ctx, %sent, %small[%c0] flag(%flag) : tensor<8xi16>, !buffer
    %none = iris.packet_load %ctx, %small[%c0] flag(%flag) : !buffer -> tensor<8xi16>
    %zero = arith.constant dense<0> : tensor<8xi16>
    iris.expect_eq %none, %zero, "packet outside" : tensor<8xi16>
    %first = memref.load %small[%c0] : !buffer
    %zero32 = arith.constant 0 : i32
    iris.expect_eq %first, %zero32, "not written outside" : i32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c16 = arith.constant 16 : index
  %b = iris.alloc(%c6) : !buffer
  %own = iris.alloc(%c7) : !buffer
  %inbox = iris.alloc(%c16) : !buffer
  %small = iris.alloc(%c7) : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@read programs(%c1)
      args(%ctx, %b, %own : !iris.ctx, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@write programs(%c1)
      args(%ctx, %b, %own : !iris.ctx, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@written programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.launch @kernels::@swap programs(%c1) args(%ctx, %own : !iris.ctx, !buffer)
  iris.launch @kernels::@packets programs(%c1)
      args(%ctx, %inbox, %small : !iris.ctx, !buffer, !buffer)
  iris.sync %ctx
  return
}
