// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The negatives of rounded floats that are selected as integers, two for each
// thread of gfx9 (guard negated-vectors).
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
//
// DEFINE: %{chip} = gfx942
// DEFINE: %{guarded} = iris-run -n 1 --device=emulated:%{chip} %s
// DEFINE: %{defect} = iris-compile %s --target=%{chip} --disable-guards=negated-vectors -o %t.iris && not iris-run -n 1 --device=emulated:%{chip} %t.iris 2>&1 | FileCheck %s
// CHECK: 512 of 1024 checks failed{{.*}}negatives of f16
// RUN: %{guarded}
// RUN: %{defect}
// REDEFINE: %{chip} = gfx950
// RUN: %{guarded}
// RUN: %{defect}

!i = memref<512xi32, #iris.symmetric>
!h = memref<512xf16, #iris.symmetric>
!b = memref<512xbf16, #iris.symmetric>
!t = tensor<512xi32>
!u = tensor<512xf32>
!th = tensor<512xf16>
!tb = tensor<512xbf16>

gpu.module @kernels {
  // 128 in every second word, else the bits of 2.0.
  gpu.func @fill(%words: !i) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !t
    %two = arith.constant dense<0x40000000> : !t
    %zero = arith.constant dense<0> : !t
    %k128 = arith.constant dense<128> : !t
    %number = tile.range : !t
    %low = arith.andi %number, %one : !t
    %even = arith.cmpi eq, %low, %zero : !t
    %word = arith.select %even, %two, %k128 : tensor<512xi1>, !t
    tile.store %word, %words[%c0] : !t, !i
    gpu.return
  }
  // -4.0 for 128, whose product with 0x810000 is 4.0, else -2.0.
  gpu.func @round_to_f16(%words: !i, %out: !h) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %k128 = arith.constant dense<128> : !t
    %factor = arith.constant dense<0x810000> : !t
    %word = tile.load %words[%c0] : !i -> !t
    %is = arith.cmpi ule, %word, %k128 : !t
    %four = arith.muli %word, %factor : !t
    %selected = arith.select %is, %four, %word : tensor<512xi1>, !t
    %float = arith.bitcast %selected : !t to !u
    %rounded = arith.truncf %float : !u to !th
    %negative = arith.negf %rounded : !th
    tile.store %negative, %out[%c0] : !th, !h
    gpu.return
  }
  // The same of bf16.
  gpu.func @round_to_bf16(%words: !i, %out: !b) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %k128 = arith.constant dense<128> : !t
    %factor = arith.constant dense<0x810000> : !t
    %word = tile.load %words[%c0] : !i -> !t
    %is = arith.cmpi ule, %word, %k128 : !t
    %four = arith.muli %word, %factor : !t
    %selected = arith.select %is, %four, %word : tensor<512xi1>, !t
    %float = arith.bitcast %selected : !t to !u
    %rounded = arith.truncf %float : !u to !tb
    %negative = arith.negf %rounded : !tb
    tile.store %negative, %out[%c0] : !tb, !b
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %halves: !h, %brains: !b)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1> : !t
    %zero = arith.constant dense<0> : !t
    %number = tile.range : !t
    %low = arith.andi %number, %one : !t
    %even = arith.cmpi eq, %low, %zero : !t
    %half_evens = arith.constant dense<-2.0> : !th
    %half_odds = arith.constant dense<-4.0> : !th
    %want_half = arith.select %even, %half_evens, %half_odds : tensor<512xi1>, !th
    %half = tile.load %halves[%c0] : !h -> !th
    iris.expect_eq %half, %want_half, "negatives of f16" : !th
    %brain_evens = arith.constant dense<-2.0> : !tb
    %brain_odds = arith.constant dense<-4.0> : !tb
    %want_brain = arith.select %even, %brain_evens, %brain_odds : tensor<512xi1>, !tb
    %brain = tile.load %brains[%c0] : !b -> !tb
    iris.expect_eq %brain, %want_brain, "negatives of bf16" : !tb
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %words = iris.alloc() : !i
  %halves = iris.alloc() : !h
  %brains = iris.alloc() : !b
  iris.launch @kernels::@fill programs(%one) args(%words : !i)
  iris.launch @kernels::@round_to_f16 programs(%one) args(%words, %halves : !i, !h)
  iris.launch @kernels::@round_to_bf16 programs(%one) args(%words, %brains : !i, !b)
  iris.launch @kernels::@check programs(%one) args(%ctx, %halves, %brains : !iris.ctx, !h, !b)
  iris.sync %ctx
  return
}
