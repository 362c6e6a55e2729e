// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels with counts, to be compiled for GPUs.
iris.collective @a2a_push all_to_all_v i8 size 8 {variant = "push"}
iris.collective @a2a_pull all_to_all_v bf16 size 3 {variant = "pull"}
iris.collective @a2a_buffered all_to_all_v i8 {variant = "buffered"}
iris.collective @a2a_staged all_to_all_v f32 size 4 {staged = true}
iris.collective @ag_push all_gather_v i8 size 8 {variant = "push"}
iris.collective @ag_any all_gather_v f64 {variant = "push"}
iris.collective @ag_pull all_gather_v i8 {variant = "pull"}
iris.collective @ag_staged all_gather_v i8 size 2 {staged = true}
