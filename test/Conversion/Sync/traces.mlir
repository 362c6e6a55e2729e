// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(iris-prepare-traces)' | FileCheck %s --check-prefix=OFF
// RUN: iris-opt %s --pass-pipeline='builtin.module(iris-prepare-traces{enable=true})' | FileCheck %s --check-prefix=ON
// RUN: iris-opt %s --pass-pipeline='builtin.module(iris-prepare-traces{enable=true},gpu.module(iris-lower-sync{target=gfx942},canonicalize))' | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: iris-opt %s --pass-pipeline='builtin.module(iris-prepare-traces{enable=true},gpu.module(iris-lower-sync{target=sm_90a},canonicalize))' | FileCheck %s --check-prefixes=CHECK,NVIDIA

gpu.module @kernels {
  // OFF-LABEL: gpu.func @fetch
  // OFF-NOT: iris.trace
  // OFF: iris.wait
  // OFF-NOT: iris.trace
  // OFF: gpu.return
  // OFF-NOT: __iris_clock

  // ON-LABEL: gpu.func @fetch
  // ON: iris.trace begin %{{.*}}, "fetch"
  // ON-NEXT: iris.trace begin %{{.*}}, "wait"
  // ON-NEXT: iris.wait
  // ON-NEXT: iris.trace end %{{.*}}, "wait"
  // ON-NEXT: iris.trace begin %{{.*}}, "barrier"
  // ON-NEXT: iris.barrier
  // ON-NEXT: iris.trace end %{{.*}}, "barrier"
  // ON-NEXT: iris.trace end %{{.*}}, "fetch" bytes(%{{.*}})
  // ON: gpu.func @__iris_clock(%[[CTX:.*]]: !iris.ctx) kernel
  // ON-NEXT: iris.trace begin %[[CTX]], "clock"
  // ON-NEXT: gpu.return

  // CHECK-LABEL: gpu.func @fetch
  // CHECK-SAME: iris.sites = [{loc = "{{.*}}traces.mlir:[[# @LINE + 12]]:{{[0-9]+}}", op = "iris.trace", what = "fetch"},
  // One thread, and only if there is a buffer: the time, then a buffer slot.
  // CHECK: %[[TRACE:.*]] = iris.ctx_field "trace"
  // CHECK: arith.cmpi ne, %[[TRACE]], %{{.*}} : i64
  // CHECK: cf.cond_br
  // CHECK: llvm.readsteadycounter
  // AMD: llvm.atomicrmw add %{{.*}} syncscope("agent") monotonic
  // NVIDIA: atom.relaxed.gpu
  // CHECK-COUNT-8: llvm.store
  gpu.func @fetch(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                  %state: memref<?xi32, #iris.symmetric>,
                  %v: i32, %i: index, %n: index) kernel {
    iris.trace begin %ctx, "fetch"
    %a = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    iris.trace end %ctx, "fetch" bytes(%n)
    gpu.return
  }

  // A thread that loads for the program records events of its own, marked as
  // such: 2 is added to the phase.
  // CHECK-LABEL: gpu.func @loads
  // CHECK: %[[PHASE:.*]] = arith.constant 3 : i32
  // CHECK-NOT: gpu.thread_id
  // CHECK: llvm.store %[[PHASE]]
  // CHECK: gpu.return
  gpu.func @loads(%ctx: !iris.ctx) kernel {
    iris.trace end %ctx, "wait" {iris.in_wave}
    gpu.return
  }

  // Ops that only compute a span's byte count are removed with it.
  // OFF-LABEL: gpu.func @bytes
  // OFF-SAME: %[[N:[a-z0-9]+]]: index
  // OFF-NEXT: %[[KEPT:.*]] = arith.addi %[[N]], %[[N]]
  // OFF-NEXT: arith.index_cast %[[KEPT]]
  // OFF-NOT: arith
  // OFF: gpu.return
  gpu.func @bytes(%ctx: !iris.ctx, %n: index, %f: memref<?xi32>) kernel {
    %c4 = arith.constant 4 : index
    %kept = arith.addi %n, %n : index
    %bytes = arith.muli %kept, %c4 : index
    %square = arith.muli %bytes, %bytes : index
    iris.trace begin %ctx, "all"
    %word = arith.index_cast %kept : index to i32
    memref.store %word, %f[%n] : memref<?xi32>
    iris.trace end %ctx, "all" bytes(%square)
    gpu.return
  }
}
