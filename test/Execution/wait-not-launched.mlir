// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank that never launches the kernel that another rank waits for: the report
// says so, where it would otherwise say that the rank owed a signal.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 3 --timeout=1 %t.iris 2>&1 | FileCheck %s
// Two ranks wait. The report of the second may end with the failure of the first.
// CHECK: iris.barrier at {{.*}} in kernels::meet{{.*}}; rank 2, which owed the signal, has not launched a kernel (launch 1)

gpu.module @kernels {
  gpu.func @meet(%ctx: !iris.ctx, %state: memref<?xi32, #iris.symmetric>)
      kernel {
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 96 : index
  %p = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %state = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  %rank = iris.rank %ctx : index
  %launches = arith.cmpi ult, %rank, %c2 : index
  scf.if %launches {
    iris.launch @kernels::@meet programs(%p) args(%ctx, %state
        : !iris.ctx, memref<?xi32, #iris.symmetric>)
  }
  iris.sync %ctx
  return
}
