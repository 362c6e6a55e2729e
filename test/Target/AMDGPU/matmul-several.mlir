// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx950 --emit=asm -o - | FileCheck %s

// Kernels with direct-to-LDS loads can be in one file, each in its own module:
// their alias scopes are distinct.
// CHECK-LABEL: first:
// CHECK: buffer_load_dwordx4 {{.*}} lds
// CHECK-LABEL: by_rows:
// CHECK-LABEL: second:
// CHECK: buffer_load_dwordx4 {{.*}} lds
iris.matmul_kernel @first matmul f16 -> f16
    {tile_m = 256, tile_n = 256, tile_k = 64, warps = 8, b = "column"}
iris.matmul_kernel @by_rows matmul f16 -> f16
    {tile_m = 256, tile_n = 256, tile_k = 64, warps = 8}
iris.matmul_kernel @second matmul bf16 -> bf16
    {tile_m = 128, tile_n = 128, tile_k = 64, b = "column"}
