// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch with one buffer twice is refused on every target where the kernel
// relies on two, and allowed where the threads of a GPU keep their elements.
//
// RUN: iris-run -n 1 %s
// RUN: sed '/SHIFT$/s/%a, %b/%a, %a/' %s > %t.mlir
// RUN: not iris-run -n 1 %t.mlir 2>&1 | FileCheck %s
// RUN: not iris-run -n 1 --debug %t.mlir 2>&1 | FileCheck %s
// CHECK: kernel kernels::shift: arguments 1 (memref<1024xi32, symmetric>, 4096 bytes at 0x{{[0-9a-f]+}}) and 2 (memref<1024xi32, symmetric>, 4096 bytes at 0x{{[0-9a-f]+}}) overlap, and the kernel writes to one of them; expected buffers that do not overlap

!buffer = memref<1024xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %a: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %range = tile.range dim 0 : tensor<1024xi32>
    tile.store %range, %a[%c0] : tensor<1024xi32>, !buffer
    gpu.return
  }
  gpu.func @double(%ctx: !iris.ctx, %a: !buffer, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : !buffer -> tensor<1024xi32>
    %y = arith.addi %x, %x : tensor<1024xi32>
    tile.store %y, %b[%c0] : tensor<1024xi32>, !buffer
    gpu.return
  }
  gpu.func @shift(%ctx: !iris.ctx, %a: !buffer, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = tile.load %a[%c1] : !buffer -> tensor<512xi32>
    tile.store %x, %b[%c0] : tensor<512xi32>, !buffer
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %a: !buffer, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %range = tile.range dim 0 : tensor<512xi32>
    %twice = arith.addi %range, %range : tensor<512xi32>
    %x = tile.load %a[%c0] : !buffer -> tensor<512xi32>
    iris.expect_eq %x, %twice, "doubled in place" : tensor<512xi32>
    %two = arith.constant dense<2> : tensor<512xi32>
    %shifted = arith.addi %twice, %two : tensor<512xi32>
    %y = tile.load %b[%c0] : !buffer -> tensor<512xi32>
    iris.expect_eq %y, %shifted, "shifted to another buffer" : tensor<512xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %a = iris.alloc() : !buffer
  %b = iris.alloc() : !buffer
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %a : !iris.ctx, !buffer)
  iris.launch @kernels::@double programs(%c1)
      args(%ctx, %a, %a : !iris.ctx, !buffer, !buffer)
  iris.launch @kernels::@shift programs(%c1)
      args(%ctx, %a, %b : !iris.ctx, !buffer, !buffer) // SHIFT
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %a, %b : !iris.ctx, !buffer, !buffer)
  iris.sync %ctx
  return
}
