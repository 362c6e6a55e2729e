// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spans that nest and repeat, of several programs and launches; a wait that
// blocks is visible.
//
// RUN: iris-run -n 3 --trace=%t.json %s | FileCheck %s
// RUN: %python %S/Inputs/check-trace.py %t.json --ranks=3 --programs=4
// RUN: iris-run -n 2 %s
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 2 --trace=%t.none.json %t.iris 2>&1 | FileCheck %s --check-prefix=UNTRACED
// RUN: not ls %t.none.json
// RUN: not iris-run -n 2 --trace=%t.nowhere/trace.json %s 2>&1 | FileCheck %s --check-prefix=NOWHERE
//
// Without --trace the output is unchanged, byte for byte.
// RUN: sed '/iris.trace/s/.*//' %s > %t.without.mlir
// RUN: iris-compile %s --target=gfx942 -g0 --emit=obj -o %t.with.hsaco
// RUN: iris-compile %t.without.mlir --target=gfx942 -g0 --emit=obj -o %t.without.hsaco
// RUN: cmp %t.with.hsaco %t.without.hsaco
// RUN: iris-compile %s --target=sm_90a -g0 --emit=asm -o %t.with.ptx
// RUN: iris-compile %t.without.mlir --target=sm_90a -g0 --emit=asm -o %t.without.ptx
// RUN: cmp %t.with.ptx %t.without.ptx
// RUN: iris-compile %s --target=gfx942 --trace -g0 --emit=obj -o %t.traced.hsaco
// RUN: not cmp -s %t.traced.hsaco %t.with.hsaco
//
// CHECK: rank  span             count programs
// CHECK: 0  inner                 16 4 {{.*}} 0
// CHECK: 0  outer                  8 4 {{.*}} 8192
// CHECK: 0  wait                   8        4
// CHECK: 2  inner                 16 4
// CHECK: 0  exposed                8        4 {{.*}} 8192
// CHECK: 2  exposed                8        4 {{.*}} 8192
// CHECK: events, 0 dropped
// CHECK: iris-run: trace in {{.*}}.json
// CHECK: iris-run: 3 ranks on host: all 24 checks passed
// UNTRACED: nothing to trace: rank 0 has loaded no package with traces; compile one with iris-compile --trace
// NOWHERE: cannot create the trace '{{.*}}nowhere/trace.json'

gpu.module @kernels {
  // Every program signals its peer program on the next rank and waits for the
  // one on the previous rank.
  gpu.func @ring(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>,
                 %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c1024 = arith.constant 1024 : index
    %pid = gpu.block_id x
    %rank = iris.rank %ctx : index
    %n = iris.num_ranks %ctx : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %n : index
    iris.trace begin %ctx, "outer"
    iris.signal set %ctx, %epoch, %flags[%pid] to %next : i32, memref<?xi32, #iris.symmetric>
    scf.for %i = %c0 to %c2 step %c1 {
      iris.trace begin %ctx, "inner"
      iris.trace end %ctx, "inner"
    }
    %seen = iris.wait %ctx, %flags[%pid] ge %epoch : i32, memref<?xi32, #iris.symmetric>
    iris.trace end %ctx, "outer" bytes(%c1024)
    iris.expect_eq %seen, %epoch, "epoch" : i32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %flags = iris.alloc(%c4) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@ring programs(%c4) args(%ctx, %flags, %one
      : !iris.ctx, memref<?xi32, #iris.symmetric>, i32)
  // A rank must not signal again before its peer has seen the first signal.
  iris.sync %ctx
  iris.launch @kernels::@ring programs(%c4) args(%ctx, %flags, %two
      : !iris.ctx, memref<?xi32, #iris.symmetric>, i32)
  iris.sync %ctx
  iris.dealloc %flags : memref<?xi32, #iris.symmetric>
  return
}
