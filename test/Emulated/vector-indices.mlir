// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: emulator
// An element of a vector in registers by an index that the kernel computes: gfx9
// adds M0 to the numbers of registers (opcodes.test has the moves of later chips
// that do).
//
// DEFINE: %{run} = iris-run -n 1 --heap=4M --timeout=60
// RUN: %{run} --device=emulated:gfx90a %s
// RUN: %{run} --device=emulated:gfx942 %s
// RUN: %{run} --device=emulated:gfx950 %s
// RUN: %{run} --device=emulated:gfx1100 %s
// RUN: %{run} --device=emulated:gfx1201 %s
//
// DEFINE: %{asm} = iris-compile %s --emit=asm -o -
// RUN: %{asm} --target=gfx90a | FileCheck %s
// RUN: %{asm} --target=gfx942 | FileCheck %s
// CHECK: s_set_gpr_idx_on s{{[0-9]+}}, gpr_idx(SRC0)
// CHECK-NEXT: v_mov_b32
// CHECK-NEXT: s_set_gpr_idx_off

!w = memref<8xi32, #iris.symmetric>
!d = memref<8xi64, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%w: !w, %d: !d) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %step = arith.constant -1000 : i32
    scf.for %i = %c0 to %c8 step %c1 {
      %i32 = arith.index_cast %i : index to i32
      %word = arith.muli %i32, %step : i32
      memref.store %word, %w[%i] : !w
      %i64 = arith.index_cast %i : index to i64
      memref.store %i64, %d[%i] : !d
    }
    gpu.return
  }

  // LLVM makes vectors of the outer loop's iterations, and the result is the
  // element of the last one.
  gpu.func @last(%w: !w, %d: !d, %results: !d) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %least = arith.constant -2147483648 : index
    %stride = arith.constant 339377380 : index
    %first = arith.constant 0 : i64
    %step = arith.constant 3 : i64
    %c7 = arith.constant 7 : i64
    %c31 = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    scf.for %at = %c0 to %c8 step %c1 {
      %word = memref.load %w[%at] : !w
      %double = memref.load %d[%at] : !d
      %end = arith.andi %double, %c7 : i64
      %limit = arith.index_cast %word : i32 to index
      %last = scf.for %i = %least to %limit step %stride
          iter_args(%unused = %double) -> (i64) {
        %inner = scf.for %j = %first to %end step %step
            iter_args(%none = %end) -> (i64) : i64 {
          %negative = arith.shrsi %word, %c31 : i32
          %sign = arith.ori %negative, %one : i32
          %wide = arith.extsi %word : i32 to i64
          %divisor = arith.extsi %sign : i32 to i64
          %quotient = arith.divsi %wide, %divisor : i64
          scf.yield %quotient : i64
        }
        scf.yield %inner : i64
      }
      memref.store %last, %results[%at] : !d
    }
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %results: !d, %at: index, %want: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %got = memref.load %results[%at] : !d
    iris.expect_eq %got, %want, "the last quotient" : i64
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %w = iris.alloc() : !w
  %d = iris.alloc() : !d
  %results = iris.alloc() : !d
  iris.launch @kernels::@fill programs(%one) args(%w, %d : !w, !d)
  iris.launch @kernels::@last programs(%one) args(%w, %d, %results : !w, !d, !d)
  %zero = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %step = arith.constant 1000 : i64
  scf.for %at = %zero to %c8 step %one {
    %i64 = arith.index_cast %at : index to i64
    %want = arith.muli %i64, %step : i64
    iris.launch @kernels::@check programs(%one) args(%ctx, %results, %at, %want : !iris.ctx, !d, index, i64)
  }
  iris.sync %ctx
  return
}
