// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A collective's kernel records its tiles with their bytes: 77 elements in
// tiles of 32, the last of which is partial, by two programs.
//
// RUN: iris-run -n 3 --trace=%t.json %s | FileCheck %s
//
// CHECK: 0  barrier                  4        2
// CHECK: 0  tiles                    2        2 {{.*}} 308{{$}}
// CHECK: 2  tiles                    2        2 {{.*}} 308{{$}}
// CHECK: 0  exposed                  4        2 {{.*}} 308{{$}}
// CHECK: events, 0 dropped
// CHECK: all 693 checks passed

!data = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // A hash of an element's index and rank.
  func.func @number(%i: index, %rank: index) -> i32 {
    %prime = arith.constant 40503 : i32
    %shift = arith.constant 7 : i32
    %index = arith.index_cast %i : index to i32
    %who = arith.index_cast %rank : index to i32
    %h0 = arith.muli %index, %prime : i32
    %h1 = arith.addi %h0, %who : i32
    %h2 = arith.shrui %h1, %shift : i32
    %h3 = arith.xori %h1, %h2 : i32
    return %h3 : i32
  }
  gpu.func @fill(%ctx: !iris.ctx, %in: !data, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    scf.for %i = %c0 to %n step %c1 {
      %v = func.call @number(%i, %rank) : (index, index) -> i32
      memref.store %v, %in[%i] : !data
    }
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %out: !data, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ranks = iris.num_ranks %ctx : index
    scf.for %r = %c0 to %ranks step %c1 {
      %first = arith.muli %r, %n : index
      scf.for %i = %c0 to %n step %c1 {
        %want = func.call @number(%i, %r) : (index, index) -> i32
        %index = arith.addi %first, %i : index
        %got = memref.load %out[%index] : !data
        iris.expect_eq %got, %want, "gathered" : i32
      }
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %n = arith.constant 77 : index
  %ranks = iris.num_ranks %ctx : index
  %all = arith.muli %n, %ranks : index
  %in = iris.alloc(%n) : !data
  %out = iris.alloc(%all) : !data
  iris.launch @kernels::@fill programs(%c1)
      args(%ctx, %in, %n : !iris.ctx, !data, index)
  iris.all_gather %ctx, %in, %out {variant = "push", tile = 32, programs = 2}
      : !data, !data
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %out, %n : !iris.ctx, !data, index)
  iris.sync %ctx
  return
}
