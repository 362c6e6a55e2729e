// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread's packets: accesses, the bounded wait, and the wait status.
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx942},canonicalize))' | FileCheck %s --check-prefixes=GPU,AMD
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=sm_90a},canonicalize))' | FileCheck %s --check-prefixes=GPU,PTX

gpu.module @kernels {
  // GPU-LABEL: gpu.func @write
  // AMD: %[[BASE:.+]] = rocdl.make.buffer.rsrc
  // AMD: rocdl.raw.ptr.buffer.store %{{.*}}, %[[BASE]], %{{.*}} : vector<4xi32>
  // AMD: rocdl.raw.ptr.buffer.store %{{.*}}, %[[BASE]], %{{.*}} : vector<4xi32>
  // PTX-COUNT-2: st.relaxed.sys.global.v2.b64
  gpu.func @write(%ctx: !iris.ctx, %w: vector<4xi32>, %p: !llvm.ptr<1>, %o: i32, %q: i32, %e: i32) kernel {
    iris.write_packets %w flag(%e), %p[%o, %q] : vector<4xi32>, !llvm.ptr<1>
    gpu.return
  }

  // The resource is created once, outside the loop. A failed wait with nothing
  // to publish stores no wait status.
  // GPU-LABEL: gpu.func @read
  // GPU-SAME: iris.coresident
  // GPU-SAME: op = "iris.packet_load"
  // AMD: rocdl.make.buffer.rsrc
  // AMD: ^bb1
  // AMD: llvm.inline_asm has_side_effects
  // AMD-NEXT: rocdl.raw.ptr.buffer.load
  // AMD-NEXT: rocdl.raw.ptr.buffer.load
  // AMD-NOT: __iris_sync_slots
  // GPU: gpu.return
  gpu.func @read(%ctx: !iris.ctx, %out: memref<4xi32>, %p: !llvm.ptr<1>, %o: i32, %q: i32, %e: i32,
                 %r: index, %i: index) kernel {
    %w = iris.read_packets %ctx, %p[%o, %q] flag(%e) owed_by(%r) : !llvm.ptr<1> -> vector<4xi32>
    %x = llvm.extractelement %w[%e : i32] : vector<4xi32>
    memref.store %x, %out[%i] : memref<4xi32>
    gpu.return
  }

  // With a wait status: the leader clears it before any thread continues, and
  // all threads read it after a barrier.
  // GPU-LABEL: gpu.func @wait_status
  // GPU: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // AMD: rocdl.s.barrier
  // PTX: gpu.barrier
  // AMD: rocdl.raw.ptr.buffer.load
  // PTX: llvm.load {{.*}} atomic monotonic {{.*}} -> i64
  // GPU: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // AMD: rocdl.s.barrier
  // PTX: gpu.barrier
  // GPU: llvm.load {{.*}} : !llvm.ptr<3> -> i32
  // GPU: cf.cond_br
  gpu.func @wait_status(%ctx: !iris.ctx, %p: !llvm.ptr<1>, %o: i32, %e: i32) kernel {
    %w = iris.read_packets %ctx, %p[%o] flag(%e) : !llvm.ptr<1> -> vector<1xi32>
    iris.leave_if_failed
    iris.write_packets %w flag(%e), %p[%o] : vector<1xi32>, !llvm.ptr<1>
    gpu.return
  }
}
