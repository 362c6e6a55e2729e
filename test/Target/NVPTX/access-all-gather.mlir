// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s

// The all-gather on NVIDIA: 128-bit accesses to global memory on full tiles
// and, with a check, at edges that do not cut a vector; accesses of words where
// the buffer is aligned to words only, and of single elements elsewhere. No
// generic, local or read-only ones.

// CHECK-LABEL: .entry all_gather(
// CHECK-NOT: {{(ld|st)\.(local|b|v|volatile)|ld\.global\.nc|global\.(v2|b32|b64)}}
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: {{(ld|st)\.(local|b|v|volatile)|ld\.global\.nc|st\.global|global\.(v2|v4|b64)}}
// CHECK-COUNT-8: ld.global.b32
// CHECK-NOT: {{(ld|st)\.(local|b|v|volatile)|ld\.global\.nc|global\.(v2|v4|b32|b64)}}
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: {{(ld|st)\.(local|b|v|volatile)|ld\.global\.(nc|v4)|global\.(v2|b32|b64)}}
// The loop over the peers may be unrolled.
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-NOT: {{(ld|st)\.(local|b|v|volatile)|ld\.global\.(nc|v4)|global\.(v2|b32|b64)}}
// CHECK-COUNT-8: st.global.b32
// CHECK-NOT: {{(ld|st)\.(local|b|v|volatile)|ld\.global\.(nc|v4)|global\.(v2|b32|b64)}}

!shard = memref<?x?xf16, #iris.symmetric>

gpu.module @kernels {
  gpu.func @all_gather(%ctx: !iris.ctx, %in: !shard, %out: !shard)
      kernel attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %m = memref.dim %in, %c0 : !shard
    %n = memref.dim %in, %c1 : !shard
    %first = arith.muli %rank, %m : index
    %tilesM = arith.ceildivui %m, %c8 : index
    %tilesN = arith.ceildivui %n, %c256 : index
    %tiles = arith.muli %tilesM, %tilesN : index
    scf.for %t = %pid to %tiles step %programs {
      %ti = arith.divui %t, %tilesN : index
      %tj = arith.remui %t, %tilesN : index
      %i = arith.muli %ti, %c8 : index
      %j = arith.muli %tj, %c256 : index
      %row = arith.addi %first, %i : index
      %v = tile.load %in[%i, %j] : !shard -> tensor<8x256xf16>
      scf.for %k = %c0 to %ranks step %c1 {
        %s = arith.addi %rank, %k : index
        %peer = arith.remui %s, %ranks : index
        iris.store %ctx, %v, %out[%row, %j] to %peer : tensor<8x256xf16>, !shard
      }
    }
    gpu.return
  }
}
