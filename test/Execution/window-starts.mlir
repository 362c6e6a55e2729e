// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between windows that begin anywhere: at multiples of 16 bytes, of
// words, of elements only. Threads access each of these differently
// (WindowPatterns.cpp), and source and destination need not agree. Program
// 7 s + d copies from element s of the source to element d of its own row,
// tile by tile and the last tile alone, and then to the row of the next rank.
//
// RUN: sed 's/f32/i8/; s/arith.uitofp/arith.trunci/; s/512/1024/g' %s > %t.i8.mlir
// RUN: sed 's/f32/i16/; s/arith.uitofp/arith.trunci/; s/512/1024/g' %s > %t.i16.mlir
// RUN: sed 's/f32/f64/' %s > %t.f64.mlir
// RUN: iris-run -n 1 %t.i8.mlir | FileCheck %s
// RUN: iris-run -n 3 %s | FileCheck %s
// RUN: iris-run -n 2 --device=reference %t.i16.mlir | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx942 %t.i8.mlir | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx942 %t.i16.mlir | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx942 %s | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx942 %t.f64.mlir | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx1201 %t.i8.mlir | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx1201 %t.i16.mlir | FileCheck %s
// RUN: iris-run -n 2 --device=emulated:gfx1201 %s | FileCheck %s
// CHECK: checks passed

!element = f32
!buffer = memref<?x!element, #iris.symmetric>
!window = memref<?x!element, strided<[1], offset: ?>, #iris.symmetric>
!tile = tensor<512x!element>

gpu.module @kernels {
  // The elements from `start` on: (5 i + 3) mod 127.
  func.func @values(%start: index) -> !tile {
    %i = tile.range : tensor<512xi32>
    %start.i32 = arith.index_cast %start : index to i32
    %starts = tensor.splat %start.i32 : tensor<512xi32>
    %5 = arith.constant dense<5> : tensor<512xi32>
    %3 = arith.constant dense<3> : tensor<512xi32>
    %127 = arith.constant dense<127> : tensor<512xi32>
    %a = arith.addi %i, %starts : tensor<512xi32>
    %b = arith.muli %a, %5 : tensor<512xi32>
    %c = arith.addi %b, %3 : tensor<512xi32>
    %d = arith.remui %c, %127 : tensor<512xi32>
    %e = arith.uitofp %d : tensor<512xi32> to !tile
    return %e : !tile
  }
  // 127, which no element is.
  func.func @none() -> !tile {
    %127 = arith.constant dense<127> : tensor<512xi32>
    %e = arith.uitofp %127 : tensor<512xi32> to !tile
    return %e : !tile
  }

  gpu.func @fill(%ctx: !iris.ctx, %source: !buffer, %own: !buffer, %sent: !buffer)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c4096 = arith.constant 4096 : index
    %step = arith.constant 512 : index
    %row = gpu.block_id x
    %first = arith.muli %row, %c4096 : index
    %mine = memref.subview %own[%first] [%c4096] [1] : !buffer to !window
    %far = memref.subview %sent[%first] [%c4096] [1] : !buffer to !window
    %isFirst = arith.cmpi eq, %row, %c0 : index
    %none = func.call @none() : () -> !tile
    scf.for %i = %c0 to %c4096 step %step {
      %v = func.call @values(%i) : (index) -> !tile
      scf.if %isFirst {
        tile.store %v, %source[%i] : !tile, !buffer
      }
      tile.store %none, %mine[%i] : !tile, !window
      tile.store %none, %far[%i] : !tile, !window
    }
    gpu.return
  }

  // Whole tiles and 37 elements.
  gpu.func @copy(%ctx: !iris.ctx, %source: !buffer, %own: !buffer, %sent: !buffer)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %step = arith.constant 512 : index
    %length = arith.constant 2085 : index
    %row = gpu.block_id x
    %s = arith.divui %row, %c7 : index
    %d = arith.remui %row, %c7 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %ranks : index
    %c4096 = arith.constant 4096 : index
    %first = arith.muli %row, %c4096 : index
    %start = arith.addi %first, %d : index
    %from = memref.subview %source[%s] [%length] [1] : !buffer to !window
    %to = memref.subview %own[%start] [%length] [1] : !buffer to !window
    %far = memref.subview %sent[%start] [%length] [1] : !buffer to !window
    scf.for %i = %c0 to %length step %step {
      %v = tile.load %from[%i] : !window -> !tile
      tile.store %v, %to[%i] : !tile, !window
      iris.store %ctx, %v, %far[%i] to %next : !tile, !window
    }
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %source: !buffer, %own: !buffer, %sent: !buffer)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c7 = arith.constant 7 : index
    %c4096 = arith.constant 4096 : index
    %step = arith.constant 512 : index
    %length = arith.constant 2085 : index
    %row = gpu.block_id x
    %s = arith.divui %row, %c7 : index
    %d = arith.remui %row, %c7 : index
    %shift = arith.subi %s, %d : index
    %d.i32 = arith.index_cast %d : index to i32
    %firsts = tensor.splat %d.i32 : tensor<512xi32>
    %end = arith.addi %d, %length : index
    %end.i32 = arith.index_cast %end : index to i32
    %ends = tensor.splat %end.i32 : tensor<512xi32>
    %first = arith.muli %row, %c4096 : index
    %mine = memref.subview %own[%first] [%c4096] [1] : !buffer to !window
    %far = memref.subview %sent[%first] [%c4096] [1] : !buffer to !window
    %none = func.call @none() : () -> !tile
    scf.for %i = %c0 to %c4096 step %step {
      %start = arith.addi %i, %shift : index
      %v = func.call @values(%start) : (index) -> !tile
      %i.i32 = arith.index_cast %i : index to i32
      %is = tensor.splat %i.i32 : tensor<512xi32>
      %range = tile.range : tensor<512xi32>
      %at = arith.addi %range, %is : tensor<512xi32>
      %isFrom = arith.cmpi sge, %at, %firsts : tensor<512xi32>
      %isTo = arith.cmpi slt, %at, %ends : tensor<512xi32>
      %isInside = arith.andi %isFrom, %isTo : tensor<512xi1>
      %want = arith.select %isInside, %v, %none : tensor<512xi1>, !tile
      %got = tile.load %mine[%i] : !window -> !tile
      iris.expect_eq %got, %want, "own" : !tile
      %came = tile.load %far[%i] : !window -> !tile
      iris.expect_eq %came, %want, "sent" : !tile
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %programs = arith.constant 42 : index
  %c4096 = arith.constant 4096 : index
  %all = arith.muli %programs, %c4096 : index
  %source = iris.alloc(%c4096) : !buffer
  %own = iris.alloc(%all) : !buffer
  %sent = iris.alloc(%all) : !buffer
  iris.launch @kernels::@fill programs(%programs)
      args(%ctx, %source, %own, %sent : !iris.ctx, !buffer, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@copy programs(%programs)
      args(%ctx, %source, %own, %sent : !iris.ctx, !buffer, !buffer, !buffer)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%programs)
      args(%ctx, %source, %own, %sent : !iris.ctx, !buffer, !buffer, !buffer)
  iris.sync %ctx
  return
}
