// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --remarks-filter=tile-lower-matmul --remark-format=emitRemark --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))' | FileCheck %s

// What a matmul depends on may be known to the kernel's own warps alone. Such
// kernels have no producer warps, and multiply by mma.sync; others of the same
// module have.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @atomic
  // CHECK-NOT: iris.producer_warps
  // CHECK-NOT: iris.without_producers
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @atomic(%ctx: !iris.ctx, %a: memref<?x?xf16>, %n: memref<?xi32>, %i: i32, %k: index) kernel {
    %next = iris.atomic_rmw add %ctx, %i, %n[%k] sem(relaxed) scope(gpu) : i32, memref<?xi32>
    %at = arith.index_cast %next : i32 to index
    // expected-remark @+1 {{is multiplied by mma.sync, without producer warps: where it reads, or whether it runs, depends on an access other than memref.load, 'iris.atomic_rmw' at}}
    %c = tile.matmul %a[%at, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @reduced
  // CHECK-NOT: iris.producer_warps
  // CHECK: tile.reduce
  // CHECK: scf.if
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @reduced(%in: memref<?xi32>, %a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %c0 = arith.constant 0 : i32
    %t = tile.load %in[%k] : memref<?xi32> -> tensor<64xi32>
    %sum = tile.reduce sum %t dim 0 : tensor<64xi32> -> i32
    %runs = arith.cmpi sgt, %sum, %c0 : i32
    scf.if %runs {
      // expected-remark @+1 {{depends on a tile, 'tile.reduce' at}}
      %r = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
      tile.store %r, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @vector
  // CHECK-NOT: iris.producer_warps
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @vector(%rows: memref<?xi32>, %a: memref<?x?xf16>, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %both = vector.load %rows[%c0] : memref<?xi32>, vector<2xi32>
    %second = vector.extract %both[1] : i32 from vector<2xi32>
    %at = arith.index_cast %second : i32 to index
    // expected-remark @+1 {{'vector.load' at}}
    %c = tile.matmul %a[%at, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }

  // A branch does not wait for producers: they may read what is written below.
  // CHECK-LABEL: gpu.func @overtaken
  // CHECK-NOT: iris.producer_warps
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @overtaken(%runs: memref<?xi32>, %a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %first = memref.load %runs[%c0] : memref<?xi32>
    %is = arith.cmpi ne, %first, %zero : i32
    scf.if %is {
      // expected-remark @+1 {{depends on what is read before the kernel writes to the buffer, 'memref.load' at}}
      %r = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
      tile.store %r, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
    }
    memref.store %one, %runs[%c0] : memref<?xi32>
    gpu.return
  }

  // A write in the loop of a matmul whose row was loaded before the loop, too.
  // CHECK-LABEL: gpu.func @between
  // CHECK-NOT: iris.producer_warps
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @between(%rows: memref<?xindex>, %a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %row = memref.load %rows[%c0] : memref<?xindex>
    scf.for %i = %c0 to %k step %c1 {
      // expected-remark @+1 {{depends on what is read before the kernel writes to the buffer, 'memref.load' at}}
      %r = tile.matmul %a[%row, %k], %a[%k, %k] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
      tile.store %r, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
      memref.store %i, %rows[%c0] : memref<?xindex>
    }
    gpu.return
  }

  // After its matmul, and before the load of the next iteration, a write is
  // ordered.
  // CHECK-LABEL: gpu.func @ordered
  // CHECK-SAME: iris.producer_warps = 4
  gpu.func @ordered(%rows: memref<?xindex>, %a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %k step %c1 {
      %row = memref.load %rows[%c0] : memref<?xindex>
      %r = tile.matmul %a[%row, %k], %a[%k, %k] k(%i) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
      tile.store %r, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
      memref.store %i, %rows[%c0] : memref<?xindex>
    }
    gpu.return
  }

  // Nor have kernels with too few or too many warps for warpgroups.
  // CHECK-LABEL: gpu.func @two_warps
  // CHECK-NOT: iris.producer_warps
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @two_warps(%a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 2 : i32} {
    // expected-remark @+1 {{is multiplied by mma.sync, without producer warps: the kernel has 2 warps; expected a multiple of 4, which multiply together}}
    %r = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    tile.store %r, %c[%k, %k] : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @most_warps
  // CHECK-NOT: iris.producer_warps
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @most_warps(%a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 32 : i32} {
    // expected-remark @+1 {{the kernel has 32 warps; expected at most 28, which leaves 4 to load operand tiles}}
    %r = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<512x64xf32>
    tile.store %r, %c[%k, %k] : tensor<512x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @four_groups
  // CHECK-NOT: iris.producer_warps
  // CHECK: llvm.nvvm.mma.m16n8k16.row.col.f32.f32
  gpu.func @four_groups(%a: memref<?x?xf16>, %c: memref<?x?xf32>, %k: index) kernel attributes {iris.num_warps = 16 : i32} {
    // expected-remark @+1 {{a result is tensor<16x64xf32>, for 4 groups of 4 warps; expected for each group 64 rows of 8 columns, or 64 columns of 8 rows}}
    %r = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xf16>, memref<?x?xf16> -> tensor<16x64xf32>
    tile.store %r, %c[%k, %k] : tensor<16x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
