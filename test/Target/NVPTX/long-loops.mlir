// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas unrolls loops by distances that overflow: those loops are kept as they
// are (docs/internals/guards.md). Execution/trip-counts.mlir executes them.
//
// Without the guard loop-bounds, unsigned loops of i32 stay what they are.
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} --disable-guards=loop-bounds | FileCheck %s
// RUN: %{asm} --disable-guards=loop-bounds,long-loops \
// RUN:   | FileCheck %s --check-prefix=DEFECT

!v = memref<1xi64>

gpu.module @kernels {
  // CHECK-LABEL: .entry from_the_least(
  // CHECK: .pragma "nounroll";
  // CHECK: popc
  // CHECK: setp.lt.s32
  // DEFECT-LABEL: .entry from_the_least(
  // DEFECT-NOT: nounroll
  // DEFECT: setp.lt.s32
  gpu.func @from_the_least(%v: !v, %limit: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %lower = arith.constant -2147483648 : i32
    %step = arith.constant 718664639 : i32
    %x = memref.load %v[%c0] : !v
    %r = scf.for %i = %lower to %limit step %step iter_args(%s = %x) -> i64
        : i32 {
      %bits = math.ctpop %s : i64
      scf.yield %bits : i64
    }
    memref.store %r, %v[%c0] : !v
    gpu.return
  }

  // Four steps are more than the largest number.
  // CHECK-LABEL: .entry unsigned(
  // CHECK: .pragma "nounroll";
  // CHECK: popc
  // CHECK: setp.lt.u32
  gpu.func @unsigned(%v: !v, %limit: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %lower = arith.constant 0 : i32
    %step = arith.constant 1610612736 : i32
    %x = memref.load %v[%c0] : !v
    %r = scf.for unsigned %i = %lower to %limit step %step
        iter_args(%s = %x) -> i64 : i32 {
      %bits = math.ctpop %s : i64
      scf.yield %bits : i64
    }
    memref.store %r, %v[%c0] : !v
    gpu.return
  }

  // Loops from 0, and those of 64 bits that end, are what they were.
  // CHECK-LABEL: .entry ordinary(
  // CHECK-NOT: nounroll
  // CHECK: ret;
  gpu.func @ordinary(%v: !v, %n: i32, %from: i64, %to: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %step = arith.constant 1024 : i32
    %wide = arith.constant 1024 : i64
    %x = memref.load %v[%c0] : !v
    %r = scf.for %i = %zero to %n step %step iter_args(%s = %x) -> i64 : i32 {
      %bits = math.ctpop %s : i64
      scf.yield %bits : i64
    }
    %q = scf.for %i = %from to %to step %wide iter_args(%s = %r) -> i64 : i64 {
      %bits = math.ctpop %s : i64
      scf.yield %bits : i64
    }
    memref.store %q, %v[%c0] : !v
    gpu.return
  }
}
