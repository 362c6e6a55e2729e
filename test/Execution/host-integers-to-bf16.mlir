// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers become bf16 in @main as they do in kernels: rounded once, to nearest
// even. By way of f32, 2^24 + 2^16 + 1 would be a tie, and become 2^24.
//
// RUN: iris-run -n 2 %s

gpu.module @kernels {
  gpu.func @check(%ctx: !iris.ctx, %s32: bf16, %u32: bf16, %s64: bf16,
                  %u64: bf16) kernel attributes {iris.num_warps = 1 : i32} {
    %negative = arith.constant 0xCB81 : bf16
    %positive = arith.constant 0x4B81 : bf16
    %large = arith.constant 0x5F80 : bf16
    iris.expect_eq %s32, %negative, "bf16(-16842753)" : bf16
    iris.expect_eq %u32, %positive, "bf16(16842753)" : bf16
    iris.expect_eq %s64, %negative, "bf16(-16842753)" : bf16
    iris.expect_eq %u64, %large, "bf16(2^64 - 16842753)" : bf16
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : index
  // No constant, so that the run converts it.
  %ranks = iris.num_ranks %ctx : index
  %one = arith.minui %ranks, %c1 : index
  %c16842753 = arith.constant 16842753 : index
  %plus = arith.muli %one, %c16842753 : index
  %minus = arith.subi %zero, %plus : index
  %plus32 = arith.index_cast %plus : index to i32
  %minus32 = arith.index_cast %minus : index to i32
  %minus64 = arith.index_cast %minus : index to i64
  %s32 = arith.sitofp %minus32 : i32 to bf16
  %u32 = arith.uitofp %plus32 : i32 to bf16
  %s64 = arith.sitofp %minus64 : i64 to bf16
  %u64 = arith.uitofp %minus64 : i64 to bf16
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %s32, %u32, %s64, %u64 : !iris.ctx, bf16, bf16, bf16, bf16)
  return
}
