// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --allow-nonportable --target=sm_90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=sm_80 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=sm_100a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=sm_90a --emit=asm -o - | FileCheck %s --check-prefix=LOOP

gpu.module @kernels {
  // A barrier of all threads, then one thread releases, at system scope.
  // CHECK-LABEL: .entry release(
  // CHECK: st.global.b32
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b32
  gpu.func @release(%ctx: !iris.ctx, %d: memref<?xi32>,
                    %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // CHECK-LABEL: .entry release_add(
  // CHECK: bar.sync
  // CHECK: red.release.sys.global.add.u32
  gpu.func @release_add(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                        %v: i32, %i: index) kernel {
    iris.signal add %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Signals in a row: one fence, relaxed stores.
  // CHECK-LABEL: .entry release_twice(
  // CHECK: bar.sync
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK-NOT: fence
  // CHECK: st.relaxed.sys.global.b32
  // CHECK-NOT: bar.sync
  // CHECK: st.relaxed.sys.global.b32
  // CHECK: ret;
  gpu.func @release_twice(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                          %v: i32, %i: index, %j: index) kernel {
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %f[%j] : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // The flag is loaded with acquire in the loop; the barrier orders the other
  // threads' loads of the data, which are plain and not ld.global.nc. (The loop
  // comes last.)
  // CHECK-LABEL: .entry acquire(
  // CHECK-NOT: ld.global
  // CHECK: bar.sync
  // CHECK: ld.global.b32
  // CHECK: ld.acquire.sys.global.b32
  // LOOP-LABEL: .entry acquire(
  // LOOP-NOT: trap;
  // LOOP: ld.acquire.sys.global.b32
  // LOOP-NOT: trap;
  // LOOP: %globaltimer
  // LOOP-NOT: trap;
  // LOOP: st.release.sys.global.b32 [{{.*}}+128], 2;
  // LOOP-NOT: trap;
  // LOOP: End function
  gpu.func @acquire(%ctx: !iris.ctx, %d: memref<?xi32>,
                    %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %t = gpu.thread_id x
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %x = memref.load %d[%t] : memref<?xi32>
    %y = arith.addi %x, %v : i32
    memref.store %y, %d[%t] : memref<?xi32>
    gpu.return
  }

  // Two waits: the first one polls relaxed.
  // CHECK-LABEL: .entry acquire_twice(
  // CHECK: ld.relaxed.sys.global.b32
  // CHECK: ld.acquire.sys.global.b32
  gpu.func @acquire_twice(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                          %v: i32, %i: index, %j: index) kernel {
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %t = iris.wait %ctx, %f[%j] ge %v : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Each thread has its own fence, between two barriers.
  // CHECK-LABEL: .entry fence(
  // CHECK: bar.sync
  // CHECK: fence.acq_rel.gpu
  // CHECK: bar.sync
  gpu.func @fence(%ctx: !iris.ctx, %d: memref<?xi32>, %v: i32) kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    iris.fence acq_rel scope(gpu)
    memref.store %v, %d[%t] : memref<?xi32>
    gpu.return
  }
}
