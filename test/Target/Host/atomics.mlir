// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=host --emit=asm -o - | FileCheck %s

// Every kind x type: a locked instruction or a loop around one, and never a
// library call, since the image is linked with no library.

gpu.module @kernels {
  // CHECK-LABEL: {{^}}iris.add_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_i8:
  // CHECK-NOT: call
  // CHECK: xchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.and_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @and_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.or_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @or_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xor_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xor_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umin_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umin_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umax_i8:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgb
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umax_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_i16:
  // CHECK-NOT: call
  // CHECK: xchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.and_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @and_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.or_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @or_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xor_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xor_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umin_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umin_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umax_i16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umax_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_i32:
  // CHECK-NOT: call
  // CHECK: xchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.and_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @and_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.or_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @or_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xor_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xor_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umin_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umin_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umax_i32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umax_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}xaddq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_i64:
  // CHECK-NOT: call
  // CHECK: xchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.and_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @and_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.or_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @or_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xor_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xor_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umin_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umin_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.umax_i64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @umax_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_f16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_f16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_f16:
  // CHECK-NOT: call
  // CHECK: xchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_f16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_f16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_bf16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_bf16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_bf16:
  // CHECK-NOT: call
  // CHECK: xchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_bf16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_bf16:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgw
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_f32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_f32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_f32:
  // CHECK-NOT: call
  // CHECK: xchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_f32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_f32:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgl
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.add_f64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @add_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.sub_f64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @sub_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.xchg_f64:
  // CHECK-NOT: call
  // CHECK: xchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @xchg_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.min_f64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @min_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}iris.max_f64:
  // CHECK-NOT: call
  // CHECK: lock{{.*}}cmpxchgq
  // CHECK-NOT: call
  // CHECK: ret
  gpu.func @max_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
}
