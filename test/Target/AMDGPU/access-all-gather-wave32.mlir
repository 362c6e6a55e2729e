// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx1100 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1250 --emit=asm -o - | FileCheck %s

// As access-all-gather.mlir, in waves of 32 threads: two accesses of 16 bytes
// per thread, and two with a check.

// CHECK-LABEL: {{^}}all_gather:
// CHECK: Loop Header: Depth=1
// CHECK-NOT: {{s_load|flat_(load|store)|scratch_|buffer_|global_load_b32|global_load_b64}}
// CHECK-COUNT-4: global_load_b128
// CHECK-NOT: {{s_load|flat_(load|store)|scratch_|buffer_|global_load_b128}}
// CHECK: Loop Header: Depth=2
// CHECK-NOT: {{s_load|flat_(load|store)|scratch_|buffer_|global_load|global_store_b32|global_store_b64}}
// CHECK-COUNT-4: global_store_b128
// CHECK-NOT: {{s_load|flat_(load|store)|scratch_|buffer_|global_store_b128}}
// CHECK: s_endpgm
// CHECK: .private_segment_fixed_size: 0
// CHECK: .vgpr_spill_count: 0

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
