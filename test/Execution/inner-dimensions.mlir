// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of buffers of which another dimension than the last is contiguous:
// inside, over the edges, and where accesses are not aligned.
//
// RUN: iris-run -n 1 --compare=reference %s
// RUN: %if emulator %{ iris-run -n 1 --heap=1M --device=emulated:gfx942 --compare=reference %s %}
// RUN: %if emulator %{ iris-run -n 1 --heap=1M --device=emulated:gfx1201 --compare=reference %s %}

!rows = memref<48x72xf32, #iris.symmetric>
!columns = memref<72x48xf32, strided<[1, 72]>, #iris.symmetric>
!any = memref<?x?xf32, strided<[1, ?]>, #iris.symmetric>
!cube = memref<4x48x72xi16, #iris.symmetric>
!turned = memref<72x4x48xi16, strided<[1, 3456, 72]>, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %a: !rows, %c: !cube) kernel {
    %z = arith.constant 0 : index
    %i = tile.range dim 0 : tensor<64x128xi32>
    %j = tile.range dim 1 : tensor<64x128xi32>
    %p = arith.constant dense<100> : tensor<64x128xi32>
    %0 = arith.muli %i, %p : tensor<64x128xi32>
    %1 = arith.addi %0, %j : tensor<64x128xi32>
    %f = arith.sitofp %1 : tensor<64x128xi32> to tensor<64x128xf32>
    tile.store %f, %a[%z, %z] : tensor<64x128xf32>, !rows
    %k = tile.range dim 0 : tensor<4x64x128xi32>
    %l = tile.range dim 1 : tensor<4x64x128xi32>
    %m = tile.range dim 2 : tensor<4x64x128xi32>
    %q = arith.constant dense<77> : tensor<4x64x128xi32>
    %2 = arith.muli %k, %q : tensor<4x64x128xi32>
    %3 = arith.addi %2, %l : tensor<4x64x128xi32>
    %4 = arith.muli %3, %q : tensor<4x64x128xi32>
    %5 = arith.addi %4, %m : tensor<4x64x128xi32>
    %6 = arith.trunci %5 : tensor<4x64x128xi32> to tensor<4x64x128xi16>
    tile.store %6, %c[%z, %z, %z] : tensor<4x64x128xi16>, !cube
    gpu.return
  }

  // Of 72 x 48, from (%i, %j) on, and stored at (%j, %i): some of them are
  // outside.
  gpu.func @copy(%ctx: !iris.ctx, %from: !rows, %to: !rows, %sums: memref<64xf32, #iris.symmetric>,
                 %i: index, %j: index) kernel {
    %z = arith.constant 0 : index
    %a = memref.transpose %from (i, j) -> (j, i) : !rows to !columns
    %b = memref.transpose %to (i, j) -> (j, i) : !rows to !columns
    %c = memref.cast %b : !columns to !any
    %v = tile.load %a[%i, %j] : !columns -> tensor<64x32xf32>
    %w = arith.addf %v, %v : tensor<64x32xf32>
    tile.store %w, %c[%j, %i] : tensor<64x32xf32>, !any
    %s = tile.reduce sum %w dim 1 : tensor<64x32xf32> -> tensor<64xf32>
    tile.store %s, %sums[%z] : tensor<64xf32>, memref<64xf32, #iris.symmetric>
    gpu.return
  }

  gpu.func @turn(%ctx: !iris.ctx, %from: !cube, %to: !cube, %i: index) kernel {
    %z = arith.constant 0 : index
    %a = memref.transpose %from (i, j, k) -> (k, i, j) : !cube to !turned
    %b = memref.transpose %to (i, j, k) -> (k, i, j) : !cube to !turned
    %v = tile.load %a[%i, %z, %i] : !turned -> tensor<64x4x32xi16>
    tile.store %v, %b[%i, %z, %z] : tensor<64x4x32xi16>, !turned
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %a = iris.alloc() : !rows
  %b = iris.alloc() : !rows
  %c = iris.alloc() : !cube
  %d = iris.alloc() : !cube
  %s = iris.alloc() : memref<64xf32, #iris.symmetric>
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %a, %c : !iris.ctx, !rows, !cube)
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %minus = arith.constant -4 : index
  iris.launch @kernels::@copy programs(%c1) args(%ctx, %a, %b, %s, %c0, %c0
      : !iris.ctx, !rows, !rows, memref<64xf32, #iris.symmetric>, index, index)
  iris.sync %ctx
  iris.launch @kernels::@copy programs(%c1) args(%ctx, %a, %b, %s, %c8, %c16
      : !iris.ctx, !rows, !rows, memref<64xf32, #iris.symmetric>, index, index)
  iris.sync %ctx
  iris.launch @kernels::@copy programs(%c1) args(%ctx, %a, %b, %s, %c3, %minus
      : !iris.ctx, !rows, !rows, memref<64xf32, #iris.symmetric>, index, index)
  iris.launch @kernels::@turn programs(%c1) args(%ctx, %c, %d, %c8
      : !iris.ctx, !cube, !cube, index)
  iris.sync %ctx
  iris.launch @kernels::@turn programs(%c1) args(%ctx, %c, %d, %c3
      : !iris.ctx, !cube, !cube, index)
  iris.sync %ctx
  return
}
