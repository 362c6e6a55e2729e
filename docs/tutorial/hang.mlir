// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 2, what goes wrong: rank 0 waits for a flag that no rank
// sets.

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  // [kernel]
  gpu.func @waits(%ctx: !iris.ctx, %flags: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %epoch = arith.constant 5 : i32
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, !buffer
    gpu.return
  }
  // [/kernel]
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %flags = iris.alloc(%c1) : !buffer
  %rank = iris.rank %ctx : index
  %isFirst = arith.cmpi eq, %rank, %c0 : index
  scf.if %isFirst {
    iris.launch @kernels::@waits programs(%c1)
        args(%ctx, %flags : !iris.ctx, !buffer)
  }
  iris.sync %ctx
  return
}
