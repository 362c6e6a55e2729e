// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=sm_90a --emit=asm -o - | FileCheck %s

// Every kind x type in its instruction or loop, every ordering x scope on the
// instruction: LLVM drops both from `atomicrmw`, so this table is what holds
// them. Float minimum and maximum, f32 add (whose instruction flushes denormals)
// and what is narrower than an instruction are compare-and-swap loops.

gpu.module @kernels {
  // CHECK-LABEL: .entry kinds_i8(
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  gpu.func @kinds_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi8>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xi8>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi8>
    %r3 = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi8>
    %r4 = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xi8>
    %r5 = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi8>
    %r6 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi8>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r7, %o[%i] : memref<?xi8>
    %r8 = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi8>
    %r9 = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_i16(
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  gpu.func @kinds_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi16>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xi16>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi16>
    %r3 = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi16>
    %r4 = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xi16>
    %r5 = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi16>
    %r6 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi16>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r7, %o[%i] : memref<?xi16>
    %r8 = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi16>
    %r9 = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_i32(
  // CHECK: atom.acq_rel.sys.global.add.u32
  // CHECK: atom.acq_rel.sys.global.add.u32
  // CHECK: atom.acq_rel.sys.global.exch.b32
  // CHECK: atom.acq_rel.sys.global.and.b32
  // CHECK: atom.acq_rel.sys.global.or.b32
  // CHECK: atom.acq_rel.sys.global.xor.b32
  // CHECK: atom.acq_rel.sys.global.min.s32
  // CHECK: atom.acq_rel.sys.global.max.s32
  // CHECK: atom.acq_rel.sys.global.min.u32
  // CHECK: atom.acq_rel.sys.global.max.u32
  gpu.func @kinds_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi32>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xi32>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi32>
    %r3 = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi32>
    %r4 = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xi32>
    %r5 = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi32>
    %r6 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi32>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r7, %o[%i] : memref<?xi32>
    %r8 = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi32>
    %r9 = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_i64(
  // CHECK: atom.acq_rel.sys.global.add.u64
  // CHECK: atom.acq_rel.sys.global.add.u64
  // CHECK: atom.acq_rel.sys.global.exch.b64
  // CHECK: atom.acq_rel.sys.global.and.b64
  // CHECK: atom.acq_rel.sys.global.or.b64
  // CHECK: atom.acq_rel.sys.global.xor.b64
  // CHECK: atom.acq_rel.sys.global.min.s64
  // CHECK: atom.acq_rel.sys.global.max.s64
  // CHECK: atom.acq_rel.sys.global.min.u64
  // CHECK: atom.acq_rel.sys.global.max.u64
  gpu.func @kinds_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi64>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xi64>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi64>
    %r3 = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi64>
    %r4 = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xi64>
    %r5 = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi64>
    %r6 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi64>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r7, %o[%i] : memref<?xi64>
    %r8 = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi64>
    %r9 = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_f16(
  // CHECK: atom.acq_rel.sys.global.add.noftz.f16
  // CHECK: atom.acq_rel.sys.global.add.noftz.f16
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  gpu.func @kinds_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xf16>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xf16>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xf16>
    %r3 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xf16>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_bf16(
  // CHECK: atom.acq_rel.sys.global.add.noftz.bf16
  // CHECK: atom.acq_rel.sys.global.add.noftz.bf16
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: fence.{{acq_rel|release}}.sys
  // CHECK: atom.relaxed.sys.global.cas.b32
  gpu.func @kinds_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xbf16>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xbf16>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xbf16>
    %r3 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xbf16>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_f32(
  // CHECK: atom.acq_rel.sys.global.cas.b32
  // CHECK: atom.acq_rel.sys.global.cas.b32
  // CHECK: atom.acq_rel.sys.global.exch.b32
  // CHECK: atom.acq_rel.sys.global.cas.b32
  // CHECK: atom.acq_rel.sys.global.cas.b32
  gpu.func @kinds_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xf32>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xf32>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xf32>
    %r3 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xf32>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: .entry kinds_f64(
  // CHECK: atom.acq_rel.sys.global.add.f64
  // CHECK: atom.acq_rel.sys.global.add.f64
  // CHECK: atom.acq_rel.sys.global.exch.b64
  // CHECK: atom.acq_rel.sys.global.cas.b64
  // CHECK: atom.acq_rel.sys.global.cas.b64
  gpu.func @kinds_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xf64>
    %r1 = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r1, %o[%i] : memref<?xf64>
    %r2 = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xf64>
    %r3 = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xf64>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r4, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: .entry orderings_block(
  // CHECK: atom.relaxed.cta.global.add.u32
  // CHECK: red.relaxed.cta.global.max.s32
  // CHECK: atom.relaxed.cta.global.cas.b32
  // CHECK: atom.acquire.cta.global.add.u32
  // CHECK: atom.acquire.cta.global.max.s32
  // CHECK: atom.acquire.cta.global.cas.b32
  // CHECK: atom.release.cta.global.add.u32
  // CHECK: red.release.cta.global.max.s32
  // CHECK: atom.release.cta.global.cas.b32
  // CHECK: atom.acq_rel.cta.global.add.u32
  // CHECK: atom.acq_rel.cta.global.max.s32
  // CHECK: atom.acq_rel.cta.global.cas.b32
  gpu.func @orderings_block(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(relaxed) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi32>
    %r1 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(relaxed) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    %r2 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(relaxed) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi32>
    %r3 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(acquire) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi32>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(acquire) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    %r5 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(acquire) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi32>
    %r6 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(release) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi32>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(release) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    %r8 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(release) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi32>
    %r9 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(acq_rel) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi32>
    %r10 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(acq_rel) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    %r11 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(acq_rel) scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r11, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: .entry orderings_gpu(
  // CHECK: atom.relaxed.gpu.global.add.u32
  // CHECK: red.relaxed.gpu.global.max.s32
  // CHECK: atom.relaxed.gpu.global.cas.b32
  // CHECK: atom.acquire.gpu.global.add.u32
  // CHECK: atom.acquire.gpu.global.max.s32
  // CHECK: atom.acquire.gpu.global.cas.b32
  // CHECK: atom.release.gpu.global.add.u32
  // CHECK: red.release.gpu.global.max.s32
  // CHECK: atom.release.gpu.global.cas.b32
  // CHECK: atom.acq_rel.gpu.global.add.u32
  // CHECK: atom.acq_rel.gpu.global.max.s32
  // CHECK: atom.acq_rel.gpu.global.cas.b32
  gpu.func @orderings_gpu(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(relaxed) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi32>
    %r1 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(relaxed) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    %r2 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(relaxed) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi32>
    %r3 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(acquire) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi32>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(acquire) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    %r5 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(acquire) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi32>
    %r6 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(release) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi32>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(release) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    %r8 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(release) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi32>
    %r9 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(acq_rel) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi32>
    %r10 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(acq_rel) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    %r11 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(acq_rel) scope(gpu)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r11, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: .entry orderings_sys(
  // CHECK: atom.relaxed.sys.global.add.u32
  // CHECK: red.relaxed.sys.global.max.s32
  // CHECK: atom.relaxed.sys.global.cas.b32
  // CHECK: atom.acquire.sys.global.add.u32
  // CHECK: atom.acquire.sys.global.max.s32
  // CHECK: atom.acquire.sys.global.cas.b32
  // CHECK: atom.release.sys.global.add.u32
  // CHECK: red.release.sys.global.max.s32
  // CHECK: atom.release.sys.global.cas.b32
  // CHECK: atom.acq_rel.sys.global.add.u32
  // CHECK: atom.acq_rel.sys.global.max.s32
  // CHECK: atom.acq_rel.sys.global.cas.b32
  gpu.func @orderings_sys(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r0 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(relaxed) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r0, %o[%i] : memref<?xi32>
    %r1 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(relaxed) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    %r2 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(relaxed) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r2, %o[%i] : memref<?xi32>
    %r3 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(acquire) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r3, %o[%i] : memref<?xi32>
    %r4 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(acquire) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    %r5 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(acquire) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r5, %o[%i] : memref<?xi32>
    %r6 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(release) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r6, %o[%i] : memref<?xi32>
    %r7 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(release) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    %r8 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(release) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r8, %o[%i] : memref<?xi32>
    %r9 = iris.atomic_rmw add %ctx, %v, %b[%i] sem(acq_rel) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r9, %o[%i] : memref<?xi32>
    %r10 = iris.atomic_rmw max %ctx, %v, %b[%i] sem(acq_rel) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    %r11 = iris.atomic_cas %ctx, %v, %v, %b[%i] sem(acq_rel) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r11, %o[%i] : memref<?xi32>
    gpu.return
  }
}
