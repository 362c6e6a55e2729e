// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=host},canonicalize))' | FileCheck %s
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=host},iris-lower-kernel-abi{target=host},iris-lower-host-callbacks,canonicalize))' | FileCheck %s --check-prefix=CALLBACK

// On the host, orderings are on the accesses, not on fences.
gpu.module @kernels {
  // CHECK-LABEL: func.func @signal_wait
  // CHECK-SAME: iris.coresident
  // CHECK-NOT: llvm.fence
  // CALLBACK-NOT: @irisrtIR_
  // CALLBACK-LABEL: func.func @signal_wait
  // CALLBACK-SAME: (%{{.*}}: !llvm.ptr, %[[PROGRAM:.+]]: !llvm.ptr)
  func.func @signal_wait(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                         %v: i32, %i: index) attributes {iris.kernel} {
    // CHECK: llvm.store {{.*}} atomic release
    iris.signal set %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK: llvm.atomicrmw add {{.*}} release
    iris.signal add %ctx, %v, %f[%i] : i32, memref<?xi32, #iris.symmetric>
    // CHECK: llvm.load {{.*}} atomic acquire
    // CHECK: llvm.call @irisrtIR_clock() : () -> i64
    // CHECK: llvm.call @irisrtIR_yield() : () -> ()
    // CALLBACK-DAG: %[[CLOCKAT:.+]] = llvm.getelementptr %[[PROGRAM]][32]
    // CALLBACK-DAG: %[[CLOCK:.+]] = llvm.load %[[CLOCKAT]]
    // CALLBACK-DAG: llvm.call %[[CLOCK]]() : !llvm.ptr, () -> i64
    // CALLBACK-DAG: %[[YIELDAT:.+]] = llvm.getelementptr %[[PROGRAM]][40]
    // CALLBACK-DAG: %[[YIELD:.+]] = llvm.load %[[YIELDAT]]
    // CALLBACK-DAG: llvm.call %[[YIELD]]() : !llvm.ptr, () -> ()
    %s = iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    // CHECK: llvm.cmpxchg {{.*}} acq_rel acquire
    %o = iris.atomic_cas %ctx, %s, %v, %f[%i]
        : i32, memref<?xi32, #iris.symmetric>
    %c0 = arith.constant 0 : index
    // CHECK: llvm.atomicrmw umax {{.*}} monotonic
    %p = iris.atomic_rmw umax %ctx, %o, %f[%c0] sem(relaxed)
        : i32, memref<?xi32, #iris.symmetric>
    return
  }

  // Float updates are loops of compare-and-swap, 16-bit ones through f32. The
  // conversions of bf16 are integer arithmetic: LLVM's would call a library.
  // CHECK-LABEL: func.func @floats
  // CHECK-NOT: arith.extf
  // CHECK-NOT: arith.truncf
  func.func @floats(%ctx: !iris.ctx, %f: memref<?xbf16, #iris.symmetric>,
                    %v: bf16, %i: index) attributes {iris.kernel} {
    // CHECK: arith.maximumf {{.*}} : f32
    // CHECK: llvm.cmpxchg {{.*}} i16
    %o = iris.atomic_rmw max %ctx, %v, %f[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    return
  }
}
