// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
gpu.module @kernels {
  gpu.func @check(%ctx: !iris.ctx) kernel attributes {iris.num_warps = 1 : i32} {
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    iris.expect_eq %one, %two, "\1B[31mred" : i32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %programs = arith.constant 1 : index
  iris.launch @kernels::@check programs(%programs) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
