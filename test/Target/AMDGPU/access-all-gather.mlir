// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx950 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - \
// RUN:   | FileCheck %s --check-prefix=LOADS
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - \
// RUN:   | FileCheck %s --check-prefix=STORES

// The all-gather with nothing known about its buffers: a full tile takes one
// 16-byte load per thread and one 16-byte store per thread and peer, wherever the
// buffer begins; the same with a check at edges that do not cut a vector. Other
// edges use single elements. Address translation loads nothing inside the loops, and no register
// is spilled.

// CHECK-LABEL: {{^}}all_gather:
// CHECK-NOT: {{flat_(load|store)|scratch_|buffer_}}
// CHECK: Loop Header: Depth=1
// CHECK-NOT: {{s_load|flat_(load|store)|scratch_|buffer_|global_(load|store)_dword v|global_(load|store)_dwordx2}}
// CHECK: s_endpgm
// CHECK: .private_segment_fixed_size: 0
// CHECK: .sgpr_spill_count: 0
// CHECK: .vgpr_spill_count: 0
//
// LOADS: Loop Header: Depth=1
// LOADS-COUNT-2: global_load_dwordx4
// LOADS-NOT: global_load_dword
// STORES: Loop Header: Depth=2
// STORES-COUNT-2: global_store_dwordx4
// STORES-NOT: global_store_dword

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
