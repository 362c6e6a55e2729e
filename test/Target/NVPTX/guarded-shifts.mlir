// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shifts that LLVM compiles to wrong PTX where they are not guarded
// (docs/internals/guards.md). Execution/guarded-arithmetic.mlir has the results.
//
// DEFINE: %{asm} = iris-compile %s --target=sm_90a --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=guarded-shifts | FileCheck %s --check-prefix=DEFECT

!v = memref<2xi64, #iris.symmetric>

gpu.module @kernels {
  // The amount of shl.b64 has 32 bits; 2^32 + 3 is not below 64.
  // CHECK-LABEL: .entry guarded(
  // CHECK: setp.{{(lt|gt)}}.u64 [[P:%p[0-9]+]], {{.*}}, {{6[34]}};
  // CHECK: shl.b64
  // CHECK: selp.b64 {{.*}}, [[P]];
  // DEFECT-LABEL: .entry guarded(
  // DEFECT-NOT: selp
  // DEFECT: shl.b64
  // DEFECT-NOT: selp
  // DEFECT: ret;
  gpu.func @guarded(%v: !v, %x: i64, %n: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i64
    %c64 = arith.constant 64 : i64
    %in = arith.cmpi ult, %n, %c64 : i64
    %up = arith.shli %x, %n : i64
    %u = arith.select %in, %up, %zero : i64
    memref.store %u, %v[%c0] : !v
    gpu.return
  }

  // Elements of a vector that are all equal: the shift is one of an i64.
  // CHECK-LABEL: .entry vector(
  // CHECK: setp.{{(lt|gt)}}.u64 [[P:%p[0-9]+]], {{.*}}, {{6[34]}};
  // CHECK: selp.b64 {{.*}}, [[P]];
  // DEFECT-LABEL: .entry vector(
  // DEFECT-NOT: selp
  // DEFECT: shl.b64
  // DEFECT-NOT: selp
  // DEFECT: ret;
  gpu.func @vector(%v: !v, %n: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0> : vector<2xi64>
    %c64 = arith.constant dense<64> : vector<2xi64>
    %x = vector.broadcast %n : i64 to vector<2xi64>
    %in = arith.cmpi ult, %x, %c64 : vector<2xi64>
    %up = arith.shli %x, %x : vector<2xi64>
    %u = arith.select %in, %up, %zero : vector<2xi1>, vector<2xi64>
    vector.store %u, %v[%c0] : !v, vector<2xi64>
    gpu.return
  }

  // -2147483648 is not 2^31.
  // CHECK-LABEL: .entry sign(
  // CHECK-NOT: mul.wide.s32
  // CHECK: ret;
  // DEFECT-LABEL: .entry sign(
  // DEFECT: mul.wide.s32 {{.*}}, -2147483648;
  gpu.func @sign(%v: !v, %x: i32) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c31 = arith.constant 31 : i32
    %s = arith.shli %x, %c31 overflow<nsw> : i32
    %w = arith.extsi %s : i32 to i64
    memref.store %w, %v[%c0] : !v
    gpu.return
  }
}
