// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matmul loop: operand tiles and micro-tiles.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func.func @rows
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf16>, %[[B:[a-z0-9]+]]: memref<?x?xf16>, %{{.+}}: memref<?x?xf32>, %[[I:[a-z0-9]+]]: index, %[[K:[a-z0-9]+]]: index
  // CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
  // CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
  // CHECK-DAG: %[[C32:.+]] = arith.constant 32 : index
  // CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
  // CHECK: %[[SUMS:.+]] = memref.alloc() : memref<1024xf32>
  // CHECK: %[[AP:.+]] = memref.alloc() : memref<2048xf32>
  // CHECK: %[[BP:.+]] = memref.alloc() : memref<2048xf32>
  // CHECK: scf.for %[[START:.+]] = %{{.+}} to %[[K]] step %[[C64]] {
  // CHECK:   %[[LEFT:.+]] = arith.subi %[[K]], %[[START]]
  // CHECK:   %[[LENGTH:.+]] = arith.minsi %[[LEFT]], %[[C64]]
  // Whole blocks of row-major matrices are copied as vectors, partial ones by
  // element.
  // CHECK:   scf.if
  // CHECK:     %[[V:.+]] = llvm.load %{{.+}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xf16>
  // CHECK:     %[[W:.+]] = arith.extf %[[V]] : vector<16xf16> to vector<16xf32>
  // CHECK:     vector.store %[[W]], %[[AP]]
  // CHECK:   } else {
  // CHECK:     memref.store %{{.+}}, %[[AP]]
  // CHECK:     %[[E:.+]] = llvm.load %{{.+}} {alignment = 2 : i64} : !llvm.ptr -> f16
  // CHECK:   scf.if
  // CHECK:     vector.store %{{.+}}, %[[BP]]
  // Accumulators stay in registers for a block.
  // CHECK:   scf.for %{{.+}} to %[[C32]] step %[[C16]]
  // CHECK:     scf.for %{{.+}} to %[[C32]] step %[[C4]]
  // CHECK-COUNT-4: vector.load %[[SUMS]]
  // CHECK:       %[[NEXT:.+]]:4 = scf.for %{{.+}} to %[[LENGTH]]
  // CHECK:         vector.load %[[BP]]
  // CHECK:         memref.load %[[AP]]
  // CHECK:         vector.broadcast %{{.+}} : f32 to vector<16xf32>
  // CHECK-COUNT-4: math.fma
  // CHECK-COUNT-4: vector.store %{{.+}}, %[[SUMS]]
  gpu.func @rows(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
                 %i: index, %k: index) kernel {
    %c0 = arith.constant 0 : index
    %s = tile.matmul %a[%i, %c0], %b[%c0, %i] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<32x32xf32>
    tile.store %s, %c[%i, %i] : tensor<32x32xf32>, memref<?x?xf32>
    gpu.return
  }

  // Columns of a are contiguous in memory, and in the operand tile. bf16 is
  // loaded as bits.
  // CHECK-LABEL: func.func @columns
  // CHECK: llvm.load %{{.+}} : !llvm.ptr -> vector<16xi16>
  // CHECK: arith.shli
  // CHECK: arith.bitcast %{{.+}} : vector<16xi32> to vector<16xf32>
  // CHECK: vector.store %{{.+}} : memref<256xf32>, vector<16xf32>
  gpu.func @columns(%a: memref<?x?xbf16, strided<[1, ?]>>, %b: memref<?x?xbf16>,
                    %c: memref<?x?xf32>, %i: index, %k: index) kernel {
    %s = tile.matmul %a[%i, %i], %b[%i, %i] k(%k) block(16)
        : memref<?x?xbf16, strided<[1, ?]>>, memref<?x?xbf16>
          -> tensor<16x16xf32>
    tile.store %s, %c[%i, %i] : tensor<16x16xf32>, memref<?x?xf32>
    gpu.return
  }

  // The region runs before the block's operand tiles are filled, and yields the
  // operands to read. Integers accumulate in i32, starting from the initial
  // value.
  // CHECK-LABEL: func.func @region
  // CHECK: memref.copy %{{.+}}, %[[S:.+]] : memref<256xi32> to memref<256xi32>
  // CHECK: scf.for %[[START:.+]] =
  // CHECK:   %[[KB:.+]] = arith.divui %[[START]]
  // CHECK:   %[[RANK:.+]] = arith.remui %[[KB]]
  // CHECK:   iris.wait %{{.+}}, %{{.+}}[%[[KB]]]
  // CHECK:   %[[PEER:.+]] = iris.translate %{{.+}}, %{{.+}} to %[[RANK]]
  // CHECK:   memref.extract_aligned_pointer_as_index %[[PEER]]
  // CHECK:   arith.extsi %{{.+}} : vector<16xi8> to vector<16xi32>
  // CHECK:   arith.muli %{{.+}} : vector<16xi32>
  // CHECK-NOT: tile.yield
  gpu.func @region(%ctx: !iris.ctx, %a: memref<?x?xi8, #iris.symmetric>,
                   %b: memref<?x?xi8>, %c: memref<?x?xi32>,
                   %flags: memref<?xi32, #iris.symmetric>, %v: i32, %i: index,
                   %k: index) kernel {
    %c2 = arith.constant 2 : index
    %z = tile.load %c[%i, %i] : memref<?x?xi32> -> tensor<16x16xi32>
    %s = tile.matmul %a[%i, %i], %b[%i, %i] k(%k) block(32) init(%z) {
    ^bb0(%kb: index):
      %r = arith.remui %kb, %c2 : index
      %seen = iris.wait %ctx, %flags[%kb] ge %v : i32, memref<?xi32, #iris.symmetric>
      %peer = iris.translate %ctx, %a to %r
          : memref<?x?xi8, #iris.symmetric> -> memref<?x?xi8, #iris.peer>
      tile.yield %peer[%i, %i] : memref<?x?xi8, #iris.peer>
    } : memref<?x?xi8, #iris.symmetric>, memref<?x?xi8> -> tensor<16x16xi32>
    tile.store %s, %c[%i, %i] : tensor<16x16xi32>, memref<?x?xi32>
    gpu.return
  }
}
