// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-translate-pointers | FileCheck %s
// RUN: iris-opt %s --iris-translate-pointers --iris-translate-pointers | FileCheck %s
// RUN: iris-opt %s --iris-translate-pointers --cse --loop-invariant-code-motion | FileCheck %s --check-prefix=HOIST

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @windows
  gpu.func @windows(%ctx: !iris.ctx, %buf: memref<?x?xf16, #iris.symmetric>,
                    %own: memref<?x?xf16>, %i: index, %r: index, %s: index, %pad: f16) kernel {
    // CHECK: %[[P:.*]] = iris.translate %{{.*}}, %[[BUF:.*]] to %[[R:.*]] : memref<?x?xf16, #iris.symmetric> -> memref<?x?xf16, #iris.peer>
    // CHECK: %[[V:.*]] = tile.load %[[P]][%{{.*}}, %{{.*}}] else %{{.*}} cache(cg) volatile :
    %v = iris.load %ctx, %buf[%i, %i] from %r else %pad cache(cg) volatile : memref<?x?xf16, #iris.symmetric> -> tensor<8x256xf16>
    // CHECK: %[[Q:.*]] = iris.translate
    // CHECK: tile.store %[[V]], %[[Q]][%{{.*}}, %{{.*}}] cache(wt) :
    iris.store %ctx, %v, %buf[%i, %i] to %r cache(wt) : tensor<8x256xf16>, memref<?x?xf16, #iris.symmetric>
    // get reads from the peer and writes to local memory.
    // CHECK: %[[SRC:.*]] = iris.translate
    // CHECK: %[[T:.*]] = tile.load %[[SRC]]
    // CHECK: tile.store %[[T]], %{{.*}} : tensor<8x256xf16>, memref<?x?xf16>
    iris.get %ctx, %buf[%i, %i], %own[%i, %i] from %r shape [8, 256] : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16>
    // put reads local memory and writes to the peer.
    // CHECK: %[[DST:.*]] = iris.translate
    // CHECK: %[[U:.*]] = tile.load %{{.*}} : memref<?x?xf16> -> tensor<8x256xf16>
    // CHECK: tile.store %[[U]], %[[DST]]
    iris.put %ctx, %own[%i, %i], %buf[%i, %i] to %r shape [8, 256] : memref<?x?xf16>, memref<?x?xf16, #iris.symmetric>
    // CHECK: iris.translate %{{.*}}, %{{.*}} to %[[R]]
    // CHECK: iris.translate %{{.*}}, %{{.*}} to %[[S:.*]] :
    // CHECK: tile.load
    // CHECK: tile.store
    iris.copy %ctx, %buf[%i, %i], %buf[%i, %i] from %r to %s shape [8, 256] : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>
    gpu.return
  }

  // A masked transfer is element-wise.
  // CHECK-LABEL: gpu.func @masked
  gpu.func @masked(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>, %own: memref<?xf16>,
                   %i: index, %j: index, %r: index) kernel {
    // CHECK: %[[M:.*]] = arith.cmpi
    %x = tile.range : tensor<64xindex>
    %m = arith.cmpi slt, %x, %x : tensor<64xindex>
    // CHECK: tile.gather %{{.*}}[%{{.*}}] mask %[[M]]
    // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] mask %[[M]]
    iris.get %ctx, %buf[%i], %own[%j] from %r shape [64] mask %m : memref<?xf16, #iris.symmetric>, memref<?xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @sync
  gpu.func @sync(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>, %i: index, %r: index, %v: i32) kernel {
    // CHECK: iris.atomic_rmw add %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] : i32, memref<?xi32, #iris.peer>
    %a = iris.atomic_rmw add %ctx, %v, %flags[%i] to %r : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.atomic_cas {{.*}}] : i32, memref<?xi32, #iris.peer>
    %b = iris.atomic_cas %ctx, %v, %v, %flags[%i] to %r : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.signal set {{.*}}] : i32, memref<?xi32, #iris.peer>
    iris.signal set %ctx, %v, %flags[%i] to %r : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.wait {{.*}} ge %{{.*}} : i32, memref<?xi32, #iris.peer>
    %c = iris.wait %ctx, %flags[%i] ge %v from %r : i32, memref<?xi32, #iris.symmetric>
    // Local accesses are unchanged.
    // CHECK: iris.wait {{.*}} ge %{{.*}} : i32, memref<?xi32, #iris.symmetric>
    %d = iris.wait %ctx, %flags[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // One translation, outside the loop, for all accesses to a buffer.
  // HOIST-LABEL: gpu.func @hoisted
  gpu.func @hoisted(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>, %r: index, %n: index) kernel {
    // HOIST: iris.translate
    // HOIST-NOT: iris.translate
    // HOIST: scf.for
    // HOIST-NOT: iris.translate
    // HOIST: gpu.return
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    scf.for %k = %c0 to %n step %c64 {
      %v = iris.load %ctx, %buf[%k] from %r : memref<?xf16, #iris.symmetric> -> tensor<64xf16>
      %w = arith.addf %v, %v : tensor<64xf16>
      iris.store %ctx, %w, %buf[%k] to %r : tensor<64xf16>, memref<?xf16, #iris.symmetric>
    }
    gpu.return
  }
}
