// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not iris-compile %s --target=gfx942 --emit=asm -o - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GFX942
// RUN: iris-compile %s --target=gfx1100 --emit=asm -o - \
// RUN:   | FileCheck %s --check-prefix=GFX1100

// threads_per_warp must be the wave size of the target.
// GFX942: error: threads_per_warp of {{.*}} holds 32 threads; expected 64, the target's wave size
// GFX1100: global_load_b128

#wave32 = #tile.blocked<size_per_thread = [8], threads_per_warp = [32], warps_per_cta = [4], order = [0]>

gpu.module @kernels {
  gpu.func @k(%a: memref<?xf16>, %i: index)
      kernel attributes {iris.num_warps = 4 : i32} {
    %v = tile.load %a[%i] : memref<?xf16> -> tensor<1024xf16, #wave32>
    tile.store %v, %a[%i] : tensor<1024xf16, #wave32>, memref<?xf16>
    gpu.return
  }
}
