// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signal to a rank that does not exist ends the process by a memory fault; the
// message says which option names the access.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// RUN: not iris-run -n 1 --timeout=1 --debug %s 2>&1 \
// RUN:   | FileCheck --check-prefix=DEBUG %s
// CHECK: rank 0: its process was killed by signal {{.*}} before it could report anything; --debug names the access, if a rank or an index is out of range
// ON-GPU: rank 0: {{.*(illegal|hipError|was killed by signal)}}
// DEBUG-NOT: --debug names
// DEBUG: names rank 4000; expected 0 to 0, the ranks of the world

gpu.module @kernels {
  gpu.func @signal(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>)
      kernel {
    %c0 = arith.constant 0 : index
    %rank = arith.constant 4000 : index
    %one = arith.constant 1 : i32
    iris.signal set %ctx, %one, %flags[%c0] to %rank
        : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 32 : index
  %p = arith.constant 1 : index
  %flags = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@signal programs(%p) args(%ctx, %flags
      : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
