// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One collective of each protocol and one matmul of each kind.
iris.collective @packets all_reduce sum bf16 {variant = "one_shot"}
iris.collective @push all_gather f32 {variant = "push"}
iris.matmul_kernel @matmul matmul bf16 -> bf16
iris.matmul_kernel @fused all_gather_matmul f16 -> f16
