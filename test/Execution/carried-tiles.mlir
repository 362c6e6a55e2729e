// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop-carried and branch-carried tiles, expressions of several uses, constants
// with different elements, the order of a reduction.
//
// GPUs do not support constants with different elements.
// RUN: iris-compile %s --target=host --allow-nonportable -o %t.iris
// RUN: iris-run -n 2 %t.iris

gpu.module @kernels {
  // Swaps two tiles an odd number of times.
  gpu.func @swap(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>)
      kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %a = tile.range : tensor<64xi32>
    %hundred = arith.constant dense<100> : tensor<64xi32>
    %b = arith.addi %a, %hundred : tensor<64xi32>
    %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b)
        -> (tensor<64xi32>, tensor<64xi32>) {
      scf.yield %y, %x : tensor<64xi32>, tensor<64xi32>
    }
    iris.expect_eq %r#0, %b, "swapped first" : tensor<64xi32>
    iris.expect_eq %r#1, %a, "swapped second" : tensor<64xi32>
    gpu.return
  }

  // x, y = x + y, x: the yielded values read this iteration's tiles.
  gpu.func @fibonacci(%ctx: !iris.ctx) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %zero = arith.constant dense<0> : tensor<32xi32>
    %one = arith.constant dense<1> : tensor<32xi32>
    %r:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %one, %y = %zero)
        -> (tensor<32xi32>, tensor<32xi32>) {
      %s = arith.addi %x, %y : tensor<32xi32>
      scf.yield %s, %x : tensor<32xi32>, tensor<32xi32>
    }
    %want0 = arith.constant dense<89> : tensor<32xi32>
    %want1 = arith.constant dense<55> : tensor<32xi32>
    iris.expect_eq %r#0, %want0, "fibonacci" : tensor<32xi32>
    iris.expect_eq %r#1, %want1, "one before" : tensor<32xi32>
    gpu.return
  }

  // A carried tile that is read at other positions than it is written; in a
  // branch in a nest of two loops.
  gpu.func @transpose(%ctx: !iris.ctx) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %i = tile.range dim 0 : tensor<8x8xi32>
    %j = tile.range dim 1 : tensor<8x8xi32>
    %ten = arith.constant dense<10> : tensor<8x8xi32>
    %i10 = arith.muli %i, %ten : tensor<8x8xi32>
    %start = arith.addi %i10, %j : tensor<8x8xi32>
    %j10 = arith.muli %j, %ten : tensor<8x8xi32>
    %flipped = arith.addi %j10, %i : tensor<8x8xi32>
    // Transposed where the sum of the counters is even: five times.
    %r = scf.for %a = %c0 to %c3 step %c1 iter_args(%x = %start)
        -> (tensor<8x8xi32>) {
      %inner = scf.for %b = %c0 to %c3 step %c1 iter_args(%y = %x)
          -> (tensor<8x8xi32>) {
        %sum = arith.addi %a, %b : index
        %odd = arith.remui %sum, %c2 : index
        %even = arith.cmpi eq, %odd, %c0 : index
        %z = scf.if %even -> (tensor<8x8xi32>) {
          %t = tile.transpose %y [1, 0] : tensor<8x8xi32> -> tensor<8x8xi32>
          scf.yield %t : tensor<8x8xi32>
        } else {
          scf.yield %y : tensor<8x8xi32>
        }
        scf.yield %z : tensor<8x8xi32>
      }
      scf.yield %inner : tensor<8x8xi32>
    }
    iris.expect_eq %r, %flipped, "transposed" : tensor<8x8xi32>
    gpu.return
  }

  // The trip count is not known in advance.
  gpu.func @while(%ctx: !iris.ctx) kernel {
    %zero = arith.constant 0 : i32
    %limit = arith.constant 100 : i32
    %one = arith.constant dense<1> : tensor<16xi32>
    %r:2 = scf.while (%x = %one, %n = %zero)
        : (tensor<16xi32>, i32) -> (tensor<16xi32>, i32) {
      %double = arith.addi %x, %x : tensor<16xi32>
      %sum = tile.reduce sum %x dim 0 : tensor<16xi32> -> i32
      %more = arith.cmpi slt, %sum, %limit : i32
      scf.condition(%more) %double, %sum : tensor<16xi32>, i32
    } do {
    ^bb0(%x: tensor<16xi32>, %n: i32):
      scf.yield %x, %n : tensor<16xi32>, i32
    }
    %want = arith.constant dense<16> : tensor<16xi32>
    %sum = arith.constant 128 : i32
    iris.expect_eq %r#0, %want, "doubled until large enough" : tensor<16xi32>
    iris.expect_eq %r#1, %sum, "its sum" : i32
    gpu.return
  }

  // A load is a copy: a later store does not change it.
  gpu.func @copies(%ctx: !iris.ctx, %buf: memref<?xi32, #iris.symmetric>)
      kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = tile.range : tensor<64xi32>
    tile.store %a, %buf[%c0] : tensor<64xi32>, memref<?xi32, #iris.symmetric>
    %v = tile.load %buf[%c0] : memref<?xi32, #iris.symmetric> -> tensor<64xi32>
    tile.store %v, %buf[%c1] : tensor<64xi32>, memref<?xi32, #iris.symmetric>
    iris.expect_eq %v, %a, "loaded before the store" : tensor<64xi32>
    %w = tile.load %buf[%c1] : memref<?xi32, #iris.symmetric> -> tensor<64xi32>
    iris.expect_eq %w, %a, "stored one further" : tensor<64xi32>
    gpu.return
  }

  // Sums of f32 depend on their order: x[2i] + x[2i + 1].
  gpu.func @order(%ctx: !iris.ctx) kernel {
    %x = arith.constant dense<[1.0e8, -1.0e8, 1.0, 1.0]> : tensor<4xf32>
    %s = tile.reduce sum %x dim 0 : tensor<4xf32> -> f32
    %want = arith.constant 2.0 : f32
    iris.expect_eq %s, %want, "order of a sum" : f32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %buf = iris.alloc(%c128) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@swap programs(%c1)
      args(%ctx, %buf : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.launch @kernels::@fibonacci programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@transpose programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@while programs(%c1) args(%ctx : !iris.ctx)
  iris.launch @kernels::@copies programs(%c1)
      args(%ctx, %buf : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.launch @kernels::@order programs(%c1) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
