// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gdb stops at a line of @main and at one of a host kernel, of an image that is
// in memory only. Rank 0 is a thread of the process that gdb starts.
//
// REQUIRES: gdb
// RUN: timeout -k 5 120 gdb -q -nx -batch -ex "set breakpoint pending on" -ex "set style enabled off" \
// RUN:   -ex "break gdb.mlir:31" -ex "break gdb.mlir:22" -ex run -ex "backtrace 1" -ex continue -ex "backtrace 1" \
// RUN:   --args iris-run --ranks=threads -n 1 --timeout=0 %s > %t.log 2>&1 || true
// RUN: FileCheck %s --input-file=%t.log
// CHECK: at {{.*}}gdb.mlir:31
// CHECK: 31 {{.*}}iris.launch @kernels::@store
// CHECK: at {{.*}}gdb.mlir:22
// CHECK: 22 {{.*}}tile.store %v, %out
// CHECK: #0 {{.*}} at {{.*}}gdb.mlir:22

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @store(%ctx: !iris.ctx, %out: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %v = tile.range : tensor<64xi32>
    tile.store %v, %out[%c0] : tensor<64xi32>, !buffer
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %out = iris.alloc(%n) : !buffer
  iris.launch @kernels::@store programs(%c1)
      args(%ctx, %out : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
