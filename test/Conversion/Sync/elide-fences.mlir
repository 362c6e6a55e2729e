// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-elide-fences | FileCheck %s
// RUN: iris-opt %s --iris-elide-fences --iris-elide-fences | FileCheck %s

gpu.module @kernels {
  // Signals in a row share the release of the first one.
  // CHECK-LABEL: gpu.func @signals
  gpu.func @signals(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                    %v: i32, %i: index, %j: index) kernel {
    // CHECK: iris.signal set {{.*}} {iris.release_shared}
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    %k = arith.addi %i, %j : index
    // CHECK: iris.signal set {{.*}} {iris.release_covered}
    iris.signal set %ctx, %v, %f[%j] : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.signal add {{.*}} {iris.release_covered}
    iris.signal add %ctx, %v, %f[%k] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // An access between them needs its own release.
  // CHECK-LABEL: gpu.func @access
  gpu.func @access(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                   %d: memref<?xi32>, %v: i32, %i: index, %j: index) kernel {
    // CHECK-NOT: iris.release
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    memref.store %v, %d[%i] : memref<?xi32>
    iris.signal set %ctx, %v, %f[%j] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // A release at device scope does not cover one at system scope; the reverse
  // holds. A relaxed signal and an atomic end the sequence.
  // CHECK-LABEL: gpu.func @scopes
  gpu.func @scopes(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                   %v: i32, %i: index) kernel {
    // CHECK: iris.signal set {{.*}} scope(gpu) :
    iris.signal set %ctx, %v, %f[%i] scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.signal set {{.*}} {iris.release_shared}
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.signal set {{.*}} scope(gpu) {iris.release_covered}
    iris.signal set %ctx, %v, %f[%i] scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.atomic_rmw
    // CHECK-NOT: iris.release
    %old = iris.atomic_rmw add %ctx, %v, %f[%i]
        : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Waits in a row share the acquire of the last one.
  // CHECK-LABEL: gpu.func @waits
  gpu.func @waits(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                  %v: i32, %i: index, %j: index) kernel {
    // CHECK: iris.wait {{.*}} ge {{.*}} {iris.acquire_covered}
    %a = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.wait {{.*}} ge %{{[a-z0-9]+}} :
    %b = iris.wait %ctx, %f[%j] ge %v : i32, memref<?xi32, #iris.symmetric>
    // A signal after a wait keeps both.
    // CHECK: iris.signal set {{.*}}] :
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // A loop over all peers has one fence.
  // CHECK-LABEL: gpu.func @loops
  gpu.func @loops(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                  %v: i32, %i: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: iris.fence release
    // CHECK-NEXT: scf.for
    // CHECK: iris.signal set {{.*}} {iris.release_covered}
    // CHECK: }
    scf.for %r = %c0 to %n step %c1 {
      %p = iris.translate %ctx, %f to %r
          : memref<?xi32, #iris.symmetric> -> memref<?xi32, #iris.peer>
      iris.signal set %ctx, %v, %p[%i] : i32, memref<?xi32, #iris.peer>
    }
    // CHECK-NOT: iris.fence
    // CHECK: scf.for
    // CHECK: iris.wait {{.*}} {iris.acquire_covered}
    // CHECK: }
    // CHECK-NEXT: iris.fence acquire
    scf.for %r = %c0 to %n step %c1 {
      %s = iris.wait %ctx, %f[%r] ge %v : i32, memref<?xi32, #iris.symmetric>
    }
    // CHECK-NOT: iris.fence
    gpu.return
  }
}
