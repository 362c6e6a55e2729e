// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matmuls in more warps than their results have parts: some warps have copies,
// which stores, atomics, reductions and transposes take once.
//
// RUN: iris-run -n 1 --compare=reference %s
// RUN: %if emulator %{ iris-run -n 1 --heap=1M --device=emulated:gfx942 --compare=reference %s %}
// RUN: %if emulator %{ iris-run -n 1 --heap=1M --device=emulated:gfx1100 --compare=reference %s %}
// RUN: %if emulator %{ iris-run -n 1 --heap=1M --device=emulated:gfx1201 --compare=reference %s %}
// RUN: iris-compile %s --ptxas=none -o %t.iris \
// RUN:   --target=gfx90a,gfx950,gfx1250,sm_80,sm_86,sm_89,sm_90a,sm_100a,sm_103a,sm_120

!half = memref<?x?xf16, #iris.symmetric>
!float = memref<?x?xf32, #iris.symmetric>

gpu.module @kernels {
  // -3 .. 3.
  gpu.func @fill(%ctx: !iris.ctx, %m: !half, %salt: i32)
      kernel attributes {iris.num_warps = 1 : i32} {
    %z = arith.constant 0 : index
    %rows = tile.range dim 0 : tensor<32x128xi32>
    %columns = tile.range dim 1 : tensor<32x128xi32>
    %p = arith.constant dense<1009> : tensor<32x128xi32>
    %q = arith.constant dense<-1640531535> : tensor<32x128xi32>
    %shift = arith.constant dense<13> : tensor<32x128xi32>
    %c7 = arith.constant dense<7> : tensor<32x128xi32>
    %c3 = arith.constant dense<3> : tensor<32x128xi32>
    %salts = tensor.splat %salt : tensor<32x128xi32>
    %0 = arith.muli %rows, %p : tensor<32x128xi32>
    %1 = arith.addi %0, %columns : tensor<32x128xi32>
    %2 = arith.addi %1, %salts : tensor<32x128xi32>
    %3 = arith.muli %2, %q : tensor<32x128xi32>
    %4 = arith.shrui %3, %shift : tensor<32x128xi32>
    %5 = arith.remui %4, %c7 : tensor<32x128xi32>
    %6 = arith.subi %5, %c3 : tensor<32x128xi32>
    %f = arith.sitofp %6 : tensor<32x128xi32> to tensor<32x128xf16>
    tile.store %f, %m[%z, %z] : tensor<32x128xf16>, !half
    // The other half of b.
    %c32 = arith.constant 32 : index
    tile.store %f, %m[%c32, %z] : tensor<32x128xf16>, !half
    gpu.return
  }

  gpu.func @k16x16_4(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !float,
      %d: !float, %n: memref<?xf32, #iris.symmetric>, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %z = arith.constant 0 : index
    %one = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32)
        : !half, !half -> tensor<16x16xf32>
    %two = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32) init(%one)
        : !half, !half -> tensor<16x16xf32>
    tile.store %two, %c[%z, %z] : tensor<16x16xf32>, !float
    %t = tile.transpose %two [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    tile.store %t, %d[%z, %z] : tensor<16x16xf32>, !float
    %m = tile.reduce max %two dim 1 : tensor<16x16xf32> -> tensor<16xf32>
    tile.store %m, %n[%z] : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    %s = tile.reduce sum %two dim 0 : tensor<16x16xf32> -> tensor<16xf32>
    %at = arith.constant 32 : index
    tile.store %s, %n[%at] : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    // Each element once, and what was there before in all copies.
    %old = iris.atomic_rmw add %ctx, %two, %d[%at, %z] sem(relaxed) scope(gpu)
        : tensor<16x16xf32>, !float
    %sum = arith.addf %old, %two : tensor<16x16xf32>
    tile.store %sum, %c[%at, %z] : tensor<16x16xf32>, !float
    %all = tile.reduce sum %s dim 0 : tensor<16xf32> -> f32
    %last = arith.constant 64 : index
    memref.store %all, %n[%last] : memref<?xf32, #iris.symmetric>
    gpu.return
  }

  gpu.func @k16x16_16(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !float,
      %d: !float, %n: memref<?xf32, #iris.symmetric>, %k: index)
      kernel attributes {iris.num_warps = 16 : i32} {
    %z = arith.constant 0 : index
    %one = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32)
        : !half, !half -> tensor<16x16xf32>
    %two = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32) init(%one)
        : !half, !half -> tensor<16x16xf32>
    tile.store %two, %c[%z, %z] : tensor<16x16xf32>, !float
    %t = tile.transpose %two [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    tile.store %t, %d[%z, %z] : tensor<16x16xf32>, !float
    %m = tile.reduce max %two dim 1 : tensor<16x16xf32> -> tensor<16xf32>
    tile.store %m, %n[%z] : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    %s = tile.reduce sum %two dim 0 : tensor<16x16xf32> -> tensor<16xf32>
    %at = arith.constant 32 : index
    tile.store %s, %n[%at] : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    // Each element once, and what was there before in all copies.
    %old = iris.atomic_rmw add %ctx, %two, %d[%at, %z] sem(relaxed) scope(gpu)
        : tensor<16x16xf32>, !float
    %sum = arith.addf %old, %two : tensor<16x16xf32>
    tile.store %sum, %c[%at, %z] : tensor<16x16xf32>, !float
    %all = tile.reduce sum %s dim 0 : tensor<16xf32> -> f32
    %last = arith.constant 64 : index
    memref.store %all, %n[%last] : memref<?xf32, #iris.symmetric>
    gpu.return
  }

  gpu.func @k16x32_4(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !float,
      %d: !float, %n: memref<?xf32, #iris.symmetric>, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %z = arith.constant 0 : index
    %one = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32)
        : !half, !half -> tensor<16x32xf32>
    %two = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32) init(%one)
        : !half, !half -> tensor<16x32xf32>
    tile.store %two, %c[%z, %z] : tensor<16x32xf32>, !float
    %t = tile.transpose %two [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
    tile.store %t, %d[%z, %z] : tensor<32x16xf32>, !float
    %m = tile.reduce max %two dim 1 : tensor<16x32xf32> -> tensor<16xf32>
    tile.store %m, %n[%z] : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    %s = tile.reduce sum %two dim 0 : tensor<16x32xf32> -> tensor<32xf32>
    %at = arith.constant 32 : index
    tile.store %s, %n[%at] : tensor<32xf32>, memref<?xf32, #iris.symmetric>
    // Each element once, and what was there before in all copies.
    %old = iris.atomic_rmw add %ctx, %two, %d[%at, %z] sem(relaxed) scope(gpu)
        : tensor<16x32xf32>, !float
    %sum = arith.addf %old, %two : tensor<16x32xf32>
    tile.store %sum, %c[%at, %z] : tensor<16x32xf32>, !float
    %all = tile.reduce sum %s dim 0 : tensor<32xf32> -> f32
    %last = arith.constant 64 : index
    memref.store %all, %n[%last] : memref<?xf32, #iris.symmetric>
    gpu.return
  }

  gpu.func @k32x16_8(%ctx: !iris.ctx, %a: !half, %b: !half, %c: !float,
      %d: !float, %n: memref<?xf32, #iris.symmetric>, %k: index)
      kernel attributes {iris.num_warps = 8 : i32} {
    %z = arith.constant 0 : index
    %one = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32)
        : !half, !half -> tensor<32x16xf32>
    %two = tile.matmul %a[%z, %z], %b[%z, %z] k(%k) block(32) init(%one)
        : !half, !half -> tensor<32x16xf32>
    tile.store %two, %c[%z, %z] : tensor<32x16xf32>, !float
    %t = tile.transpose %two [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
    tile.store %t, %d[%z, %z] : tensor<16x32xf32>, !float
    %m = tile.reduce max %two dim 1 : tensor<32x16xf32> -> tensor<32xf32>
    tile.store %m, %n[%z] : tensor<32xf32>, memref<?xf32, #iris.symmetric>
    %s = tile.reduce sum %two dim 0 : tensor<32x16xf32> -> tensor<16xf32>
    %at = arith.constant 32 : index
    tile.store %s, %n[%at] : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    // Each element once, and what was there before in all copies.
    %old = iris.atomic_rmw add %ctx, %two, %d[%at, %z] sem(relaxed) scope(gpu)
        : tensor<32x16xf32>, !float
    %sum = arith.addf %old, %two : tensor<32x16xf32>
    tile.store %sum, %c[%at, %z] : tensor<32x16xf32>, !float
    %all = tile.reduce sum %s dim 0 : tensor<16xf32> -> f32
    %last = arith.constant 64 : index
    memref.store %all, %n[%last] : memref<?xf32, #iris.symmetric>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %k = arith.constant 56 : index
  %salt = arith.constant 5 : i32
  %other = arith.constant 77 : i32
  %a = iris.alloc(%c64, %c128) : !half
  %b = iris.alloc(%c64, %c128) : !half
  %c = iris.alloc(%c64, %c32) : !float
  %d = iris.alloc(%c64, %c32) : !float
  %n = iris.alloc(%c128) : memref<?xf32, #iris.symmetric>
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %a, %salt : !iris.ctx, !half, i32)
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b, %other : !iris.ctx, !half, i32)
  iris.launch @kernels::@k16x16_4 programs(%c1) args(%ctx, %a, %b, %c, %d, %n, %k
      : !iris.ctx, !half, !half, !float, !float, memref<?xf32, #iris.symmetric>, index)
  iris.sync %ctx
  iris.launch @kernels::@k16x16_16 programs(%c1) args(%ctx, %a, %b, %c, %d, %n, %k
      : !iris.ctx, !half, !half, !float, !float, memref<?xf32, #iris.symmetric>, index)
  iris.sync %ctx
  iris.launch @kernels::@k16x32_4 programs(%c1) args(%ctx, %a, %b, %c, %d, %n, %k
      : !iris.ctx, !half, !half, !float, !float, memref<?xf32, #iris.symmetric>, index)
  iris.sync %ctx
  iris.launch @kernels::@k32x16_8 programs(%c1) args(%ctx, %a, %b, %c, %d, %n, %k
      : !iris.ctx, !half, !half, !float, !float, memref<?xf32, #iris.symmetric>, index)
  iris.sync %ctx
  return
}
