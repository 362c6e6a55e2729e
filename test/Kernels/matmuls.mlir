// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of ops in generated matmul kernels: barriers, flags, matmuls,
// stores. docs/internals/fused-matmuls.md explains it.
//
// RUN: iris-opt %s --iris-expand-matmuls --canonicalize --cse | FileCheck %s

!half = memref<?x?xf16, #iris.symmetric>

// CHECK-LABEL: gpu.func @alone
// CHECK-SAME: %{{[a-z0-9]+}}: !iris.ctx, %[[A:[a-z0-9]+]]: memref<?x?xf16, #iris.symmetric>, %[[B:[a-z0-9]+]]: memref<?x?xf16, strided<[1, ?]>, #iris.symmetric>, %[[C:[a-z0-9]+]]: memref<?x?xbf16, #iris.symmetric>, %[[BIAS:[a-z0-9]+]]: memref<?xbf16, #iris.symmetric>, %[[SCALE:[a-z0-9]+]]: f32)
// CHECK-SAME: matmul = "matmul"
// CHECK-SAME: iris.num_warps = 8 : i32
// CHECK-NOT: iris.barrier
// CHECK: scf.for
// CHECK:   %[[SUM:.+]] = tile.matmul %[[A]]{{.*}}, %[[B]]{{.*}} block(32) :
// CHECK:   %[[F:.+]] = tensor.splat %[[SCALE]]
// CHECK:   %[[X:.+]] = arith.mulf %[[SUM]], %[[F]]
// CHECK:   tile.load %[[BIAS]]
// CHECK:   tile.expand_dims %{{.+}} dim 1
// CHECK:   arith.addf %[[X]]
// CHECK:   math.erf
// CHECK:   arith.truncf
// CHECK:   tile.store %{{.+}}, %[[C]]
iris.matmul_kernel @alone matmul f16 -> bf16
    {tile_m = 64, tile_n = 32, tile_k = 32, warps = 8, b = "column",
     bias = "row", scale = true, activation = "gelu"}

// Tile extents that are not a multiple of the instruction shape bound the
// accesses.
// CHECK-LABEL: gpu.func @narrow
// CHECK:   %[[SUM:.+]] = tile.matmul {{.*}} block(64) columns(96) : {{.*}} -> tensor<128x128xf32>
// CHECK:   %[[PART:.+]] = memref.subview %arg3[0, 0] [%{{.+}}, %{{.+}}] [1, 1]
// CHECK:   %[[CAST:.+]] = memref.cast %[[PART]]
// CHECK:   tile.store %{{.+}}, %[[CAST]]
iris.matmul_kernel @narrow matmul f16 -> f16 {tile_n = 96}

// Remote reads are between two barriers; reads of the local chunk need no peer.
// CHECK-LABEL: gpu.func @pull
// CHECK: iris.barrier %{{.+}} group
// CHECK: scf.for
// CHECK:   scf.if
// CHECK:     %[[OWN:.+]] = tile.matmul %arg1
// CHECK:     tile.matmul {{.*}} init(%[[OWN]]) {
// CHECK:       iris.translate
// CHECK:       tile.yield {{.*}} : memref<?x?xf16, #iris.peer>, memref<?x?xf16, #iris.symmetric>
// CHECK:     tile.store
// CHECK:   } else {
// CHECK:     scf.for
// CHECK:       tile.matmul
// CHECK:     tile.store
// CHECK: iris.barrier %{{.+}} group
// CHECK-NEXT: gpu.return
iris.matmul_kernel @pull all_gather_matmul f16 -> f16 size 4

// Fetch programs: barrier, units and their flags, barrier; compute programs:
// waits.
// CHECK-LABEL: gpu.func @fetch
// CHECK-SAME: %[[STAGING:[a-z0-9]+]]: memref<?x?xf16, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?xi8, #iris.symmetric>)
// CHECK: scf.if
// CHECK:   iris.barrier %{{.+}} group
// CHECK:   scf.for
// CHECK:     iris.load {{.*}} from
// CHECK:     tile.store
// CHECK:     iris.signal set {{.*}} scope(gpu)
// CHECK:   iris.barrier %{{.+}} group
// CHECK: scf.for
// CHECK:     tile.matmul %arg1
// CHECK:     tile.matmul %[[STAGING]]
// CHECK:       scf.if
// CHECK-NEXT:    arith.divui
// CHECK:         iris.wait {{.*}} ge {{.*}} scope(gpu)
// CHECK:       tile.yield %[[STAGING]]
// CHECK: tile.scatter
// CHECK-NEXT: gpu.return
iris.matmul_kernel @fetch all_gather_matmul f16 -> f16
    {variant = "hbm_buffer", k_per_flag = 2}

// Push: flags of the peers, and no barrier at the end.
// CHECK-LABEL: gpu.func @push
// CHECK: iris.barrier %{{.+}} group
// CHECK: iris.store {{.*}} to
// CHECK: iris.signal set {{.*}} to
// CHECK-NOT: iris.barrier
// CHECK: tile.matmul
// CHECK: iris.wait {{.*}} ge
// CHECK-NOT: iris.barrier
// CHECK: gpu.return
iris.matmul_kernel @push all_gather_matmul f16 -> f16 {variant = "push"}

// Partial sums have the accumulator's type.
// CHECK-LABEL: gpu.func @reduce_scatter
// CHECK-SAME: memref<?x?xf16, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?x?xf32, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?xi8, #iris.symmetric>)
// CHECK: iris.barrier %{{.+}} group
// CHECK: scf.for
// CHECK:   %[[SHARE:.+]] = tile.matmul
// CHECK:   iris.store %{{.+}}, %[[SHARE]]
// CHECK:   iris.signal set
// CHECK: scf.for
// CHECK:   iris.wait
// CHECK:   tile.load
// CHECK:   arith.addf
// CHECK:   arith.truncf
// CHECK:   tile.store
// CHECK-NOT: iris.barrier
iris.matmul_kernel @reduce_scatter matmul_reduce_scatter f16 -> f16 size 2

// CHECK-LABEL: gpu.func @atomic
// CHECK: tile.store
// CHECK: iris.barrier %{{.+}} group
// CHECK: tile.matmul
// CHECK: iris.atomic_rmw add {{.*}} sem(relaxed)
// CHECK: iris.barrier %{{.+}} group
iris.matmul_kernel @atomic matmul_all_reduce bf16 -> f32 {variant = "atomic"}

// A call becomes a launch; calls on the same matrices share staging buffer and
// workspace, which are allocated with the matrices.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.+]] = iris.alloc
// CHECK: %[[B:.+]] = iris.alloc
// CHECK: %[[C:.+]] = iris.alloc
// CHECK: %[[S:.+]] = iris.alloc({{.*}}) workspace : memref<?x?xf32, #iris.symmetric>
// CHECK: %[[W:.+]] = iris.alloc({{.*}}) workspace : memref<?xi8, #iris.symmetric>
// CHECK: scf.for
// CHECK:   iris.launch @matmul_all_reduce::@matmul_all_reduce programs(%{{.+}}) args(%{{.+}}, %[[A]], %[[B]], %[[C]], %[[S]], %[[W]] :
// CHECK: iris.launch @matmul_all_reduce::@matmul_all_reduce programs(%{{.+}}) args(%{{.+}}, %[[A]], %[[B]], %[[C]], %[[S]], %[[W]] :
// CHECK-NOT: iris.alloc
func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %a = iris.alloc(%n, %n) : !half
  %b = iris.alloc(%n, %n) : !half
  %c = iris.alloc(%n, %n) : !half
  scf.for %i = %c0 to %n step %c1 {
    iris.matmul_all_reduce %ctx, %a, %b, %c : !half, !half, !half
  }
  iris.matmul_all_reduce %ctx, %a, %b, %c : !half, !half, !half
  return
}

// All chunks are available: one loop over them, or one loop per chunk where a
// chunk ends within a k-block; no waits.
// CHECK-LABEL: gpu.func @gathered
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf16, #iris.symmetric>, %[[B:[a-z0-9]+]]: memref<?x?xf16, #iris.symmetric>, %[[C:[a-z0-9]+]]: memref<?x?xf16, #iris.symmetric>) kernel
// CHECK-NOT: iris.barrier
// CHECK-NOT: iris.wait
// CHECK: scf.if
// CHECK:   tile.matmul %[[A]]
// CHECK:     tile.yield %[[A]]{{.*}}, %[[B]]
// CHECK:   tile.store
// CHECK: } else {
// CHECK:   scf.for
// CHECK:     tile.matmul %[[A]]
// CHECK:   tile.store
// CHECK-NOT: iris.barrier
// CHECK: gpu.return
iris.matmul_kernel @gathered all_gather_matmul f16 -> f16 size 4
    {variant = "gathered"}

// The caller copies the chunks: the kernel waits for a group of rows of tiles
// before its first k-block; no barrier and no epoch.
// CHECK-LABEL: gpu.func @copied
// CHECK-NOT: iris.barrier
// CHECK: tile.matmul
// CHECK: tile.matmul
// CHECK:   scf.if
// CHECK:     iris.wait %{{.+}} ge %c1_i32 owed_by
// CHECK:   tile.yield
// CHECK: tile.store
// CHECK-NOT: iris.barrier
// CHECK: gpu.return
iris.matmul_kernel @copied all_gather_matmul f16 -> f16 size 4
    {variant = "copy_engine", shard = "m", group_m = 4}

// Partial sums for the peer's chunk come first, then the local tiles, which add
// the received partial sums: one matmul with two epilogues. The program of the
// first tile then enters a barrier with its peer programs.
// CHECK-LABEL: gpu.func @copied_sum
// CHECK-SAME: %{{[a-z0-9]+}}: memref<?x?xf16, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?x?xf16, #iris.symmetric>, %[[C:[a-z0-9]+]]: memref<?x?xf16, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?x?xf16, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?xi8, #iris.symmetric>) kernel
// CHECK-NOT: iris.barrier
// CHECK: %[[SUM:.+]] = tile.matmul
// CHECK: scf.if
// CHECK:   %[[ALL:.+]] = arith.index_cast
// CHECK:   iris.wait %{{.+}} ge %[[ALL]] owed_by
// CHECK:   tile.load
// CHECK:   arith.addf
// CHECK:   tile.store %{{.+}}, %[[C]]
// CHECK: } else {
// CHECK:   %[[SHARE:.+]] = arith.truncf %[[SUM]]
// CHECK:   tile.store %[[SHARE]]
// CHECK:   iris.signal add %{{.+}}, %c1_i32{{.*}} sem(relaxed)
// CHECK:   iris.signal add %{{.+}}, %c-1_i32
// CHECK: }
// CHECK: scf.if
// CHECK:   iris.barrier
// CHECK:   iris.signal add %{{.+}}, %c-1_i32
// CHECK-NOT: tile.matmul
// CHECK: gpu.return
iris.matmul_kernel @copied_sum matmul_reduce_scatter f16 -> f16 size 2
    {variant = "copy_engine", partial_type = "result"}

// In an all-reduce, finished sums are copied as well.
// CHECK-LABEL: gpu.func @copied_all_reduce
// CHECK: tile.matmul
// CHECK: scf.if
// CHECK:   iris.wait
// CHECK:   tile.store
// CHECK:   iris.signal add %{{.+}}, %c-1_i32
// CHECK: } else {
// CHECK:   tile.store
// CHECK:   iris.signal add %{{.+}}, %c1_i32
// CHECK:   iris.signal add %{{.+}}, %c-1_i32
// CHECK: iris.barrier
iris.matmul_kernel @copied_all_reduce matmul_all_reduce f16 -> f16 size 2
    {variant = "copy_engine", partial_type = "result"}

// Results are copied group by group.
// CHECK-LABEL: gpu.func @copied_results
// CHECK-NOT: iris.barrier
// CHECK: tile.matmul
// CHECK: tile.store
// CHECK: iris.signal add %{{.+}}, %c-1_i32
// CHECK: scf.if
// CHECK:   iris.barrier
// CHECK:   iris.signal add %{{.+}}, %c-1_i32
// CHECK: gpu.return
iris.matmul_kernel @copied_results matmul_all_gather f16 -> f16 size 2
    {variant = "copy_engine"}

// Split-k: the program that stores the last partial sum of a tile adds all of
// them.
// CHECK-LABEL: gpu.func @split
// CHECK-SAME: %[[STAGING:[a-z0-9]+]]: memref<?x?xf32, #iris.symmetric>, %{{[a-z0-9]+}}: memref<?xi8, #iris.symmetric>) kernel
// CHECK: %[[PARTIAL:.+]] = tile.matmul
// CHECK: tile.store %[[PARTIAL]]
// CHECK: %[[COUNT:.+]] = iris.atomic_rmw add %{{.+}}, %c1_i32{{.*}} scope(gpu)
// CHECK: %[[LAST:.+]] = arith.andi %[[COUNT]], %c3_i32
// CHECK: %[[IS_LAST:.+]] = arith.cmpi eq, %[[LAST]], %c3_i32
// CHECK: scf.if %[[IS_LAST]]
// CHECK-COUNT-4: tile.load
// CHECK:   tile.store
// CHECK-NOT: iris.wait
// CHECK: gpu.return
iris.matmul_kernel @split matmul f16 -> f16 {split_k = 4}
