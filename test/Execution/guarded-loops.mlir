// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that MLIR's canonicalizer and LLVM's loop vectorizer, and multiplications that
// its x86 back end, compile to wrong code where they are not guarded
// (docs/internals/guards.md). The expected values are exact.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
//
// DEFINE: %{guard} =
// DEFINE: %{defect} = iris-compile %s --disable-guards=%{guard} -o %t.iris && not iris-run -n 1 %t.iris 2>&1
// REDEFINE: %{guard} = forwarded-results
// RUN: %{defect} | FileCheck %s --check-prefix=FORWARDED
// FORWARDED: state, forwarded twice
// REDEFINE: %{guard} = decreasing-inductions
// RUN: %{defect} | FileCheck %s --check-prefix=DECREASING
// DECREASING: sum of a decreasing number
// REDEFINE: %{guard} = narrow-recurrences
// RUN: %{defect} | FileCheck %s --check-prefix=NARROW
// NARROW: difference of table entries
// REDEFINE: %{guard} = multiply-high
// RUN: %{defect} | FileCheck %s --check-prefix=HIGH
// HIGH: upper half of a multiplication

!bytes = memref<256xi8, #iris.symmetric>
!halves = memref<40xi16, #iris.symmetric>
!words = memref<40xi64, #iris.symmetric>

gpu.module @kernels {
  // The second of the positions at which a result is forwarded is carried.
  gpu.func @forwarded(%ctx: !iris.ctx, %start: i32, %end: i32, %want: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %r:3 = scf.while (%s = %start) : (i32) -> (i32, i32, i32) {
      %isBelow = arith.cmpi slt, %s, %c1 : i32
      %x = scf.if %isBelow -> i32 {
        %next = arith.addi %s, %c2 : i32
        scf.yield %next : i32
      } else {
        scf.yield %end : i32
      }
      scf.condition(%isBelow) %x, %x, %s : i32, i32, i32
    } do {
    ^bb0(%first: i32, %second: i32, %state: i32):
      scf.yield %second : i32
    }
    iris.expect_eq %r#2, %want, "state, forwarded twice" : i32
    gpu.return
  }

  // f decreases from 1751 + u by (7 + u) mod 16, at most 9 times: nothing
  // overflows, neither signed nor unsigned.
  gpu.func @decreasing(%ctx: !iris.ctx, %u: i32, %m: i32, %want: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c6 = arith.constant 6 : i32
    %c7 = arith.constant 7 : i32
    %c15 = arith.constant 15 : i32
    %c31 = arith.constant 31 : i32
    %c1751 = arith.constant 1751 : i32
    %u7 = arith.andi %u, %c7 : i32
    %from = arith.addi %u7, %c1751 : i32
    %step = arith.andi %from, %c15 : i32
    %m3 = arith.andi %m, %c3 : i32
    %n = arith.addi %m3, %c6 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0, %f = %from) -> (i32, i32) : i32 {
      %d = arith.andi %f, %c31 : i32
      %more = arith.addi %sum, %d : i32
      %less = arith.subi %f, %step : i32
      scf.yield %more, %less : i32, i32
    }
    iris.expect_eq %r#0, %want, "sum of a decreasing number" : i32
    gpu.return
  }

  // out[i] = x[i mod 256] - y[i mod 4]: a table of 256 entries and one of four.
  gpu.func @tables(%ctx: !iris.ctx, %x: !bytes, %y: !bytes, %out: !bytes, %n: index) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c255 = arith.constant 255 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %c0 to %c256 step %c1 {
      %e = arith.index_cast %i : index to i64
      %b = arith.trunci %e : i64 to i8
      memref.store %b, %x[%i] : !bytes
      memref.store %b, %y[%i] : !bytes
    }
    scf.for %i = %c0 to %n step %c1 {
      %p = arith.andi %i, %c255 : index
      %a = memref.load %x[%p] : !bytes
      %q = arith.remui %i, %c4 : index
      %b = memref.load %y[%q] : !bytes
      %d = arith.subi %a, %b : i8
      memref.store %d, %out[%i] : !bytes
    }
    scf.for %i = %c0 to %n step %c1 {
      %m = arith.andi %i, %c3 : index
      %d = arith.subi %i, %m : index
      %e = arith.index_cast %d : index to i64
      %want = arith.trunci %e : i64 to i8
      %got = memref.load %out[%i] : !bytes
      iris.expect_eq %got, %want, "difference of table entries" : i8
    }
    gpu.return
  }

  // trunc ((x * y) >> 20) of i64 that have 16 bits; what is added and
  // subtracted keeps the analysis of ranges from computing in 32 bits.
  gpu.func @multiplications(%ctx: !iris.ctx, %x: !words, %y: !words, %out: !halves, %n: index,
      %a: i64, %b: i64, %want: i16, %k: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i64
    %three = arith.constant 3 : i64
    %c20 = arith.constant 20 : i64
    %c48 = arith.constant 48 : i64
    %k2 = arith.shli %k, %one : i64
    %k3 = arith.muli %k, %three : i64
    scf.for %i = %c0 to %n step %c1 {
      memref.store %a, %x[%i] : !words
      memref.store %b, %y[%i] : !words
    }
    scf.for %i = %c0 to %n step %c1 {
      %xi = memref.load %x[%i] : !words
      %yi = memref.load %y[%i] : !words
      %xl = arith.shli %xi, %c48 : i64
      %x16 = arith.shrsi %xl, %c48 : i64
      %yl = arith.shli %yi, %c48 : i64
      %y16 = arith.shrsi %yl, %c48 : i64
      %x0 = arith.subi %x16, %k : i64
      %x1 = arith.addi %x0, %k3 : i64
      %x2 = arith.subi %x1, %k2 : i64
      %y0 = arith.subi %y16, %k : i64
      %y1 = arith.addi %y0, %k3 : i64
      %y2 = arith.subi %y1, %k2 : i64
      %p = arith.muli %x2, %y2 : i64
      %s = arith.shrsi %p, %c20 : i64
      %r = arith.trunci %s : i64 to i16
      memref.store %r, %out[%i] : !halves
    }
    scf.for %i = %c0 to %n step %c1 {
      %got = memref.load %out[%i] : !halves
      iris.expect_eq %got, %want, "upper half of a multiplication" : i16
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c20 = arith.constant 20 : i32
  %c135 = arith.constant 135 : i32
  iris.launch @kernels::@forwarded programs(%one) args(%ctx, %c0, %c20, %c2 : !iris.ctx, i32, i32, i32)
  iris.launch @kernels::@decreasing programs(%one) args(%ctx, %c4, %c3, %c135 : !iris.ctx, i32, i32, i32)
  %n = arith.constant 200 : index
  %x = iris.alloc() : !bytes
  %y = iris.alloc() : !bytes
  %z = iris.alloc() : !bytes
  iris.launch @kernels::@tables programs(%one) args(%ctx, %x, %y, %z, %n : !iris.ctx, !bytes, !bytes, !bytes, index)
  %m = arith.constant 40 : index
  %v = iris.alloc() : !words
  %w = iris.alloc() : !words
  %o = iris.alloc() : !halves
  %a = arith.constant -30000 : i64
  %b = arith.constant 20000 : i64
  // -600000000 / 2^20, rounded down.
  %q = arith.constant -573 : i16
  %k = arith.constant 77 : i64
  iris.launch @kernels::@multiplications programs(%one) args(%ctx, %v, %w, %o, %m, %a, %b, %q, %k : !iris.ctx, !words, !words, !halves, index, i64, i64, i16, i64)
  iris.sync %ctx
  return
}
