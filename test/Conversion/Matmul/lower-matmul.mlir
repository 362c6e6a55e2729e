// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --tile-assign-matmul-layouts=target=gfx942 --tile-assign-layouts \
// RUN:   --tile-insert-barriers --tile-lower-matmul=target=gfx942 --canonicalize --cse | FileCheck %s

// One block of 32x32 f16 of each operand. Whole blocks go through the pipeline;
// partial ones are copied element by element.
// CHECK: llvm.mlir.global internal @plain__scratch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8192 x i8>
// CHECK-LABEL: gpu.func @plain
// CHECK: %[[WHOLE:.+]] = arith.select
// CHECK: scf.if
// CHECK: rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK: rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK: rocdl.s.barrier
// CHECK: rocdl.sched.barrier 0
// CHECK: llvm.store {{.*}} : vector<2xi32>, !llvm.ptr<3>
// Two stages: two k-steps per iteration of the loop.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c2 iter_args
// CHECK: rocdl.raw.ptr.buffer.load
// CHECK: rocdl.raw.ptr.buffer.load
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NOT: llvm.store
// CHECK: llvm.load {{.*}} -> vector<4xi32>
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
// CHECK: rocdl.sched.barrier 0
// CHECK: llvm.store
// CHECK: rocdl.s.barrier
// CHECK: rocdl.raw.ptr.buffer.load
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
// CHECK: rocdl.s.barrier
// CHECK: scf.yield
// The last steps.
// CHECK: scf.if
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : i16, !llvm.ptr<3>
// CHECK: llvm.loop_annotation
// CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : vector<4xf32> to tensor<32x32xf32, #{{.*}}>
gpu.module @kernels {
  gpu.func @plain(%a: memref<?x?xf16>, %b: memref<?x?xf16, strided<[1, ?]>>,
                  %c: memref<?x?xf32>, %i: index, %j: index, %k: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %z = arith.constant 0 : index
    %r = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(32)
        : memref<?x?xf16>, memref<?x?xf16, strided<[1, ?]>> -> tensor<32x32xf32>
    tile.store %r, %c[%i, %j] : tensor<32x32xf32>, memref<?x?xf32>
    gpu.return
  }

  // The region runs before the loads of its block: of the first one, and of the
  // next one in the loop. Each block selects a path for its operands.
  // CHECK-LABEL: gpu.func @region
  // CHECK: iris.wait
  // CHECK: scf.if
  // CHECK: rocdl.raw.ptr.buffer.load
  // CHECK: scf.for
  // CHECK: iris.wait
  // CHECK: scf.if
  // CHECK: rocdl.raw.ptr.buffer.load
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"
  // CHECK-NOT: iris.wait
  // CHECK: gpu.return
  gpu.func @region(%ctx: !iris.ctx, %a: memref<?x?xf16>, %s: memref<?x?xf16>,
                   %ready: memref<?xi32>, %c: memref<?x?xf32>, %i: index,
                   %k: index, %epoch: i32)
      kernel attributes {iris.num_warps = 4 : i32} {
    %z = arith.constant 0 : index
    %size = arith.constant 32 : index
    %r = tile.matmul %a[%i, %z], %a[%z, %i] k(%k) block(32) {
    ^bb0(%kb: index):
      %seen = iris.wait %ctx, %ready[%kb] ge %epoch : i32, memref<?xi32>
      %first = arith.muli %kb, %size : index
      tile.yield %s[%i, %first] : memref<?x?xf16>
    } : memref<?x?xf16>, memref<?x?xf16> -> tensor<32x32xf32>
    tile.store %r, %c[%i, %i] : tensor<32x32xf32>, memref<?x?xf32>
    gpu.return
  }
}
