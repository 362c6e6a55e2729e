// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=gfx942}))' | FileCheck %s --check-prefix=GPU
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=sm_90a}))' | FileCheck %s --check-prefix=NV

gpu.module @kernels {
  // The context's fields come first, then a pointer and the dynamic sizes (and
  // strides, where the layout is not row-major) of each buffer.
  // GPU-LABEL: gpu.func @k(
  // GPU-SAME: %[[RANK:[a-z0-9]*]]: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32,
  // GPU-SAME: %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64,
  // GPU-SAME: %{{[a-z0-9]*}}: !llvm.ptr<1>, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64,
  // GPU-SAME: %{{[a-z0-9]*}}: i8, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: f16)
  // GPU-SAME: args = [{kind = "context", offset = 0 : i64},
  // GPU-SAME: {divisibility = {pointer = 16 : i64}, element = "f16", kind = "memref", offset = 88 : i64, sizes = [unit, unit], strides, symmetric = true},
  // GPU-SAME: {element = "f32", kind = "memref", offset = 112 : i64, sizes = [unit, 4], strides = [unit, 1], symmetric = false},
  // GPU-SAME: {element = "i1", kind = "scalar", offset = 136 : i64},
  // GPU-SAME: {element = "index", kind = "scalar", offset = 144 : i64},
  // GPU-SAME: {element = "f16", kind = "scalar", offset = 152 : i64}],
  // GPU-SAME: args_bytes = 154 : i64
  // GPU-SAME: workgroup = [256, 1, 1]
  // GPU-SAME: known_block_size = array<i32: 256, 1, 1>
  // Waves of 32 threads.
  // NV: known_block_size = array<i32: 128, 1, 1>
  gpu.func @k(%ctx: !iris.ctx,
              %b: memref<?x?xf16, #iris.symmetric> {iris.divisibility = 16 : i64},
              %s: memref<?x4xf32, strided<[?, 1], offset: 3>>,
              %f: i1, %n: index, %h: f16) kernel attributes {iris.num_warps = 4 : i32} {
    // GPU: builtin.unrealized_conversion_cast %{{.*}} to memref<?x?xf16, 1>
    // The argument is the address of the first element, 3 elements after the
    // descriptor's pointer.
    // GPU: %[[BEFORE:.*]] = llvm.mlir.constant(-12 : i64)
    // GPU: llvm.getelementptr %{{.*}}[%[[BEFORE]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    // GPU: arith.trunci %{{.*}} : i8 to i1
    // GPU: call @use(%[[RANK]])
    %r = iris.ctx_field "rank" %ctx : i32
    func.call @use(%r) : (i32) -> ()
    memref.store %h, %b[%n, %n] : memref<?x?xf16, #iris.symmetric>
    %v = memref.load %s[%n, %n] : memref<?x4xf32, strided<[?, 1], offset: 3>>
    func.call @use_float(%v, %f) : (f32, i1) -> ()
    gpu.return
  }
  func.func private @use(i32)
  func.func private @use_float(f32, i1)
}
