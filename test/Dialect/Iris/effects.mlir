// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polling and ordered ops survive; plain loads are merged and dead ones
// removed.
// RUN: iris-opt %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s

gpu.module @kernels {
  // Plain loads only read: equal ones are merged.
  // CHECK-LABEL: gpu.func @plain
  gpu.func @plain(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>, %i: index, %r: index) kernel {
    // CHECK: iris.load
    // CHECK-NOT: iris.load
    // CHECK: gpu.return
    %a = iris.load %ctx, %buf[%i] from %r : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %b = iris.load %ctx, %buf[%i] from %r : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %c = arith.addf %a, %b : tensor<256xf16>
    iris.store %ctx, %c, %buf[%i] to %r : tensor<256xf16>, memref<?xf16, #iris.symmetric>
    gpu.return
  }

  // An unused load is removed.
  // CHECK-LABEL: gpu.func @dead
  gpu.func @dead(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>, %i: index, %r: index) kernel {
    // CHECK-NOT: load
    // CHECK: gpu.return
    %a = iris.load %ctx, %buf[%i] from %r : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %t = tile.load %buf[%i] : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    gpu.return
  }

  // Volatile loads stay, even unused, and are not merged.
  // CHECK-LABEL: gpu.func @volatile
  gpu.func @volatile(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>, %i: index, %r: index) kernel {
    // CHECK-COUNT-2: iris.load
    // CHECK-COUNT-2: tile.load
    %a = iris.load %ctx, %buf[%i] from %r volatile : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %b = iris.load %ctx, %buf[%i] from %r volatile : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %t = tile.load %buf[%i] volatile : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %u = tile.load %buf[%i] volatile : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    gpu.return
  }

  // A wait between two loads keeps both: the data may have changed.
  // CHECK-LABEL: gpu.func @across_wait
  gpu.func @across_wait(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>,
                        %flags: memref<?xi32, #iris.symmetric>, %i: index, %v: i32) kernel {
    // CHECK: tile.load
    // CHECK: iris.wait
    // CHECK: tile.load
    %a = tile.load %buf[%i] : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %s = iris.wait %ctx, %flags[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %b = tile.load %buf[%i] : memref<?xf16, #iris.symmetric> -> tensor<256xf16>
    %c = arith.addf %a, %b : tensor<256xf16>
    tile.store %c, %buf[%i] : tensor<256xf16>, memref<?xf16, #iris.symmetric>
    gpu.return
  }

  // Unused results do not make ordered ops dead, and equal ones are not merged.
  // CHECK-LABEL: gpu.func @ordered
  gpu.func @ordered(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>, %i: index, %v: i32) kernel {
    // CHECK-COUNT-2: iris.wait
    %a = iris.wait %ctx, %flags[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %b = iris.wait %ctx, %flags[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK-COUNT-2: iris.atomic_rmw
    %c = iris.atomic_rmw add %ctx, %v, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    %d = iris.atomic_rmw add %ctx, %v, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK-COUNT-2: iris.atomic_cas
    %e = iris.atomic_cas %ctx, %v, %v, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    %f = iris.atomic_cas %ctx, %v, %v, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK-COUNT-2: iris.signal
    iris.signal set %ctx, %v, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK-COUNT-2: iris.barrier
    iris.barrier %ctx, %flags : memref<?xi32, #iris.symmetric>
    iris.barrier %ctx, %flags : memref<?xi32, #iris.symmetric>
    // CHECK-COUNT-2: iris.expect_eq
    iris.expect_eq %v, %v, "same" : i32
    iris.expect_eq %v, %v, "same" : i32
    gpu.return
  }

  // A poll is not moved out of the loop that polls; a translation is.
  // CHECK-LABEL: gpu.func @in_loop
  gpu.func @in_loop(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>, %i: index, %r: index,
                    %n: index, %v: i32, %buf: memref<?xi32, #iris.symmetric>) kernel {
    // CHECK: iris.translate
    // CHECK: scf.for
    // CHECK: iris.atomic_rmw
    // CHECK: iris.wait
    // CHECK: tile.load
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %n step %c1 {
      %o = iris.atomic_rmw or %ctx, %v, %flags[%i] sem(relaxed) : i32, memref<?xi32, #iris.symmetric>
      %s = iris.wait %ctx, %flags[%i] ge %v sem(relaxed) : i32, memref<?xi32, #iris.symmetric>
      %p = iris.translate %ctx, %buf to %r : memref<?xi32, #iris.symmetric> -> memref<?xi32, #iris.peer>
      %t = tile.load %p[%i] : memref<?xi32, #iris.peer> -> tensor<32xi32>
      tile.store %t, %buf[%k] : tensor<32xi32>, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }

  // A load does not move across a store: a loaded tile is a copy taken at the
  // load.
  // CHECK-LABEL: gpu.func @copy_at_load
  gpu.func @copy_at_load(%a: memref<?xi32>, %i: index) kernel {
    // CHECK: %[[OLD:.*]] = tile.load
    // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}]
    // CHECK: %[[NEW:.*]] = tile.load
    // CHECK: arith.addi %[[OLD]], %[[NEW]]
    %r = tile.range : tensor<32xi32>
    %x = tile.load %a[%i] : memref<?xi32> -> tensor<32xi32>
    tile.store %r, %a[%i] : tensor<32xi32>, memref<?xi32>
    %y = tile.load %a[%i] : memref<?xi32> -> tensor<32xi32>
    %z = arith.addi %x, %y : tensor<32xi32>
    tile.store %z, %a[%i] : tensor<32xi32>, memref<?xi32>
    gpu.return
  }

  // Ordered ops below the tile level.
  // CHECK-LABEL: gpu.func @thread_ops
  gpu.func @thread_ops(%p: !llvm.ptr<1>, %v: i32) kernel {
    // CHECK: iris.fence release
    // CHECK: iris.element_rmw
    // CHECK: iris.element_cas
    // CHECK: iris.fence acquire
    iris.fence release scope(sys)
    %a = iris.element_rmw add %v, %p scope(sys) : i32, !llvm.ptr<1>
    %b = iris.element_cas %v, %v, %p scope(sys) : i32, !llvm.ptr<1>
    iris.fence acquire scope(sys)
    gpu.return
  }
}
