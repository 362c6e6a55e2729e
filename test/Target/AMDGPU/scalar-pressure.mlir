// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with many accesses keep their loop-invariant conditions in few scalar
// registers: in one word, or recomputed at their use. Otherwise, two matmuls
// and an element-wise epilogue spill 46 to 52 registers, the kernels of the
// example 4 each, three matmuls in one module 10.
//
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %iris_src_root/examples/04-matmul/matmul.mlir --target=gfx942 --emit=asm -o - \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: iris-compile %S/matmul-several.mlir --target=gfx942 --emit=asm -o - \
// RUN:   | FileCheck %s --check-prefix=NONE
//
// CHECK: .sgpr_spill_count: {{(1?[0-9])$}}
// NONE-NOT: .sgpr_spill_count: {{[1-9]}}
// NONE: .sgpr_spill_count: 0
// NONE-NOT: .sgpr_spill_count: {{[1-9]}}

// All-gather of the rows of a, two matmuls and silu(gate) * up, by one kernel.
gpu.module @kernels {
  gpu.func @gather_swiglu(%ctx: !iris.ctx,
                          %shard: memref<?x?xf16, #iris.symmetric>,
                          %a: memref<?x?xf16, #iris.symmetric>,
                          %gate: memref<?x?xf16, #iris.symmetric>,
                          %up: memref<?x?xf16, #iris.symmetric>,
                          %c: memref<?x?xf16, #iris.symmetric>,
                          %flags: memref<?xi32, #iris.symmetric>, %epoch: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %rows = memref.dim %shard, %c0 : memref<?x?xf16, #iris.symmetric>
    %k = memref.dim %shard, %c1 : memref<?x?xf16, #iris.symmetric>
    %n = memref.dim %c, %c1 : memref<?x?xf16, #iris.symmetric>
    %m = memref.dim %c, %c0 : memref<?x?xf16, #iris.symmetric>
    %mine = arith.muli %rank, %rows : index
    %first8 = arith.muli %pid, %c8 : index
    %step8 = arith.muli %programs, %c8 : index
    scf.for %i = %first8 to %rows step %step8 {
      scf.for %j = %c0 to %k step %c256 {
        %v = tile.load %shard[%i, %j] : memref<?x?xf16, #iris.symmetric> -> tensor<8x256xf16>
        %at = arith.addi %mine, %i : index
        scf.for %to = %c0 to %ranks step %c1 {
          iris.store %ctx, %v, %a[%at, %j] to %to : tensor<8x256xf16>, memref<?x?xf16, #iris.symmetric>
        }
      }
    }
    scf.for %to = %c0 to %ranks step %c1 {
      iris.signal add %ctx, %one, %flags[%rank] to %to : i32, memref<?xi32, #iris.symmetric>
    }
    scf.for %from = %c0 to %ranks step %c1 {
      %seen = iris.wait %ctx, %flags[%from] ge %epoch : i32, memref<?xi32, #iris.symmetric>
    }
    %first = arith.muli %pid, %c64 : index
    %step = arith.muli %programs, %c64 : index
    scf.for %i = %first to %m step %step {
      scf.for %j = %c0 to %n step %c64 {
        %g = tile.matmul %a[%i, %c0], %gate[%c0, %j] k(%k) block(32)
            : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric> -> tensor<64x64xf32>
        %u = tile.matmul %a[%i, %c0], %up[%c0, %j] k(%k) block(32)
            : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric> -> tensor<64x64xf32>
        %neg = arith.negf %g : tensor<64x64xf32>
        %e = math.exp %neg : tensor<64x64xf32>
        %ones = arith.constant dense<1.0> : tensor<64x64xf32>
        %d = arith.addf %e, %ones : tensor<64x64xf32>
        %silu = arith.divf %g, %d : tensor<64x64xf32>
        %h = arith.mulf %silu, %u : tensor<64x64xf32>
        %v = arith.truncf %h : tensor<64x64xf32> to tensor<64x64xf16>
        tile.store %v, %c[%i, %j] : tensor<64x64xf16>, memref<?x?xf16, #iris.symmetric>
      }
    }
    gpu.return
  }
}
