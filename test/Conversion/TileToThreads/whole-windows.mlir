// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --tile-assign-layouts --convert-tile-to-threads --canonicalize --cse | FileCheck %s

gpu.module @kernels {
  // A loop over whole tiles: no window extends past an edge, locally and on a
  // peer.
  // CHECK-LABEL: gpu.func @whole
  // CHECK: scf.for
  // CHECK-NOT: arith.cmpi
  // CHECK: llvm.load {{.*}} -> vector<8xf16>
  // CHECK-NOT: arith.cmpi
  // CHECK: llvm.store {{.*}} : vector<8xf16>
  // CHECK-NOT: arith.cmpi
  // CHECK: gpu.return
  gpu.func @whole(%ctx: !iris.ctx, %in: memref<?xf16, #iris.symmetric> {iris.divisibility = {pointer = 16}},
                  %out: memref<?xf16, #iris.symmetric> {iris.divisibility = {pointer = 16}}, %n: index, %r: index) kernel {
    %c2048 = arith.constant 2048 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %from = memref.subview %in[0] [%n] [1] : memref<?xf16, #iris.symmetric> to memref<?xf16, strided<[1]>, #iris.symmetric>
    %to = memref.subview %out[0] [%n] [1] : memref<?xf16, #iris.symmetric> to memref<?xf16, strided<[1]>, #iris.symmetric>
    %peer = iris.translate %ctx, %to to %r
        : memref<?xf16, strided<[1]>, #iris.symmetric> -> memref<?xf16, strided<[1]>, #iris.peer>
    %whole = arith.divui %n, %c2048 : index
    scf.for %t = %pid to %whole step %programs {
      %i = arith.muli %t, %c2048 : index
      %v = tile.load %from[%i] : memref<?xf16, strided<[1]>, #iris.symmetric> -> tensor<2048xf16>
      tile.store %v, %peer[%i] : tensor<2048xf16>, memref<?xf16, strided<[1]>, #iris.peer>
    }
    gpu.return
  }

  // Overlapping tiles, a loop of one tile more, and a buffer of another size.
  // CHECK-LABEL: gpu.func @not_whole
  // CHECK: scf.for
  // CHECK: arith.cmpi sle
  // CHECK: scf.for
  // CHECK: arith.cmpi sle
  // CHECK: scf.for
  // CHECK: arith.cmpi sle
  gpu.func @not_whole(%in: memref<?xf16> {iris.divisibility = {pointer = 16}}, %n: index, %m: index) kernel {
    %zero = arith.constant dense<0.0> : tensor<2048xf16>
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %c2048 = arith.constant 2048 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %b = memref.subview %in[0] [%n] [1] : memref<?xf16> to memref<?xf16, strided<[1]>>
    %halves = arith.divui %n, %c1024 : index
    scf.for %t = %pid to %halves step %programs {
      %i = arith.muli %t, %c1024 : index
      tile.store %zero, %b[%i] : tensor<2048xf16>, memref<?xf16, strided<[1]>>
    }
    %whole = arith.divui %n, %c2048 : index
    %more = arith.addi %whole, %c1 : index
    scf.for %t = %pid to %more step %programs {
      %i = arith.muli %t, %c2048 : index
      tile.store %zero, %b[%i] : tensor<2048xf16>, memref<?xf16, strided<[1]>>
    }
    %other = arith.divui %m, %c2048 : index
    scf.for %t = %pid to %other step %programs {
      %i = arith.muli %t, %c2048 : index
      tile.store %zero, %b[%i] : tensor<2048xf16>, memref<?xf16, strided<[1]>>
    }
    gpu.return
  }

  // A buffer that is known to be small: one address for all iterations, and a
  // 32-bit offset for the part that exceeds an instruction's immediate offset.
  // CHECK-LABEL: gpu.func @small
  // CHECK: scf.for
  // CHECK: %[[AT:.+]] = arith.addi %{{.+}}, %{{.+}} : i32
  // CHECK: %[[WIDE:.+]] = arith.extui %[[AT]] : i32 to i64
  // CHECK: llvm.getelementptr %[[BASE:.+]][%[[WIDE]]]
  // CHECK: llvm.store
  // CHECK: %[[C4096:.+]] = arith.addi %[[AT]], %{{.+}} : i32
  // CHECK: %[[NEXT:.+]] = arith.extui %[[C4096]] : i32 to i64
  // CHECK: llvm.getelementptr %[[BASE]][%[[NEXT]]]
  // CHECK: llvm.store
  gpu.func @small(%out: memref<?xf16> {iris.divisibility = {pointer = 16}}, %n: index) kernel {
    %c4096 = arith.constant 4096 : index
    %most = arith.constant 1048576 : index
    %zero = arith.constant dense<0.0> : tensor<4096xf16>
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %length = arith.minui %n, %most : index
    %to = memref.subview %out[0] [%length] [1] : memref<?xf16> to memref<?xf16, strided<[1]>>
    %whole = arith.divui %length, %c4096 : index
    scf.for %t = %pid to %whole step %programs {
      %i = arith.muli %t, %c4096 : index
      tile.store %zero, %to[%i] : tensor<4096xf16>, memref<?xf16, strided<[1]>>
    }
    gpu.return
  }

  // The tile after the whole ones extends past the end: only the checked forms.
  // CHECK-LABEL: gpu.func @cut(
  // CHECK-SAME: %[[N:[a-z0-9]+]]: index)
  // CHECK: arith.andi %{{.+}}, %c7 : index
  // CHECK: scf.if
  // CHECK: arith.cmpi ult
  // CHECK: scf.if
  // CHECK: llvm.store {{.*}} : vector<8xf16>, !llvm.ptr
  // CHECK-NOT: vector<8xf16>, !llvm.ptr
  // CHECK: gpu.return
  gpu.func @cut(%out: memref<?xf16>, %n: index) kernel {
    %c2048 = arith.constant 2048 : index
    %zero = arith.constant dense<0.0> : tensor<2048xf16>
    %to = memref.subview %out[0] [%n] [1] : memref<?xf16> to memref<?xf16, strided<[1]>>
    %whole = arith.divui %n, %c2048 : index
    %i = arith.muli %whole, %c2048 : index
    tile.store %zero, %to[%i] : tensor<2048xf16>, memref<?xf16, strided<[1]>>
    gpu.return
  }
}
