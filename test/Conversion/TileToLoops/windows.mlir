// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of buffers as loops.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' --split-input-file | FileCheck %s
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops))' --split-input-file | FileCheck %s --check-prefix=NOTILES
// NOTILES-NOT: tensor<

gpu.module @kernels {
  // Whole rows inside the buffer, the remaining elements at an edge.
  // CHECK-LABEL: func.func @copy_rows
  // CHECK-SAME: (%[[SRC:.+]]: memref<?x?xf16>, %[[DST:.+]]: memref<?x?xf16>, %[[I:.+]]: index, %[[J:.+]]: index)
  // CHECK-SAME: attributes {iris.kernel, iris.num_warps = 4 : i32}
  // CHECK-DAG: %[[ROW_BYTES:.+]] = arith.constant 512 : i64
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK-DAG: %[[C8:.+]] = arith.constant 8 : index
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f16
  // CHECK: %[[TILE:.+]] = memref.alloc() : memref<2048xf16>
  // CHECK: scf.if
  // CHECK:   scf.for %{{.+}} = %[[C0]] to %[[C8]] step %[[C1]] {
  // CHECK:     "llvm.intr.memcpy"(%{{.+}}, %{{.+}}, %[[ROW_BYTES]])
  // CHECK: } else {
  // CHECK:   memref.store %[[ZERO]], %[[TILE]]
  // CHECK:   scf.for
  // CHECK:     "llvm.intr.memcpy"
  // CHECK: scf.if
  // CHECK:   "llvm.intr.memcpy"(%{{.+}}, %{{.+}}, %[[ROW_BYTES]])
  // CHECK: } else {
  // CHECK:   "llvm.intr.memcpy"
  // CHECK: return
  gpu.func @copy_rows(%src: memref<?x?xf16>, %dst: memref<?x?xf16>, %i: index,
                      %j: index) kernel attributes {iris.num_warps = 4 : i32} {
    %v = tile.load %src[%i, %j] : memref<?x?xf16> -> tensor<8x256xf16>
    tile.store %v, %dst[%i, %j] : tensor<8x256xf16>, memref<?x?xf16>
    gpu.return
  }

  // The `else` value fills elements outside.
  // CHECK-LABEL: func.func @else_value
  // CHECK-SAME: %{{[^:]+}}: index, %[[OTHER:[^:]+]]: f32)
  // CHECK: } else {
  // CHECK:   memref.store %[[OTHER]]
  gpu.func @else_value(%src: memref<?xf32>, %i: index, %other: f32) kernel {
    %v = tile.load %src[%i] else %other : memref<?xf32> -> tensor<16xf32>
    tile.store %v, %src[%i] : tensor<16xf32>, memref<?xf32>
    gpu.return
  }

  // A volatile access is one access per element.
  // CHECK-LABEL: func.func @volatile
  // CHECK-NOT: memcpy
  // CHECK: llvm.load volatile {{.+}} -> i32
  // CHECK: llvm.load volatile {{.+}} -> i32
  // CHECK: llvm.store volatile {{.+}} : i32
  // CHECK: llvm.store volatile {{.+}} : i32
  // CHECK: return
  gpu.func @volatile(%src: memref<?xi32>, %i: index) kernel {
    %v = tile.load %src[%i] volatile : memref<?xi32> -> tensor<16xi32>
    tile.store %v, %src[%i] volatile : tensor<16xi32>, memref<?xi32>
    gpu.return
  }

  // Columns are not contiguous: element by element, with the given stride.
  // CHECK-LABEL: func.func @strided
  // CHECK-NOT: memcpy
  // CHECK: llvm.load
  // CHECK: return
  gpu.func @strided(%src: memref<?xf64, strided<[?]>>, %dst: memref<?xf64>,
                    %i: index) kernel {
    %v = tile.load %src[%i] : memref<?xf64, strided<[?]>> -> tensor<4xf64>
    %w = arith.addf %v, %v : tensor<4xf64>
    tile.store %w, %dst[%i] : tensor<4xf64>, memref<?xf64>
    gpu.return
  }

  // A translated buffer has the sizes of the local one.
  // CHECK-LABEL: func.func @translated
  // CHECK-SAME: !iris.ctx, %[[BUF:[^:]+]]: memref<?xf16, #iris.symmetric>
  // CHECK: %[[PEER:.+]] = iris.translate %{{.+}}, %[[BUF]]
  // CHECK: memref.dim %[[BUF]]
  // CHECK: memref.extract_aligned_pointer_as_index %[[PEER]]
  gpu.func @translated(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>,
                       %r: index) kernel {
    %c0 = arith.constant 0 : index
    %p = iris.translate %ctx, %buf to %r
        : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    %v = tile.load %p[%c0] : memref<?xf16, #iris.peer> -> tensor<32xf16>
    tile.store %v, %buf[%c0] : tensor<32xf16>, memref<?xf16, #iris.symmetric>
    gpu.return
  }

  // Gathers and scatters check every element.
  // CHECK-LABEL: func.func @indexed
  // CHECK: scf.for
  // CHECK:   %[[IN:.+]] = arith.cmpi ult
  // CHECK:   %[[EXISTS:.+]] = arith.andi %[[IN]]
  // CHECK:   scf.if %[[EXISTS]] -> (f32)
  // CHECK:     llvm.load
  // CHECK: scf.for
  // CHECK:   scf.if
  // CHECK:     llvm.store
  gpu.func @indexed(%src: memref<?xf32>, %dst: memref<?xf32>, %n: index)
      kernel {
    %i = tile.range : tensor<64xindex>
    %limit = tensor.splat %n : tensor<64xindex>
    %m = arith.cmpi slt, %i, %limit : tensor<64xindex>
    %v = tile.gather %src[%i] mask %m
        : memref<?xf32>, tensor<64xindex> -> tensor<64xf32>
    tile.scatter %v, %dst[%i]
        : tensor<64xf32>, memref<?xf32>, tensor<64xindex>
    gpu.return
  }
}
