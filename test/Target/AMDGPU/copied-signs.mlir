// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sign of an f16, rounded to bf16. Without the guard LLVM takes the sign from the
// f16, for which it has no instruction.
//
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: not iris-compile %s --target=gfx942 --emit=asm -o - --disable-guards=copied-signs 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: code generation failed: Cannot select:{{.*}}fcopysign
//
// CHECK-LABEL: {{^}}copy:
// CHECK: v_and_b32{{.*}} 0x7fff
// CHECK: v_or_b32
gpu.module @kernels {
  gpu.func @copy(%h: memref<256xf16, #iris.symmetric>, %b: memref<256xbf16, #iris.symmetric>) kernel
      attributes {iris.num_warps = 8 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %h[%c0] : memref<256xf16, #iris.symmetric> -> tensor<256xf16>
    %y = tile.load %b[%c0] : memref<256xbf16, #iris.symmetric> -> tensor<256xbf16>
    %wide = arith.extf %x : tensor<256xf16> to tensor<256xf32>
    %sign = arith.truncf %wide : tensor<256xf32> to tensor<256xbf16>
    %z = math.copysign %y, %sign : tensor<256xbf16>
    tile.store %z, %b[%c0] : tensor<256xbf16>, memref<256xbf16, #iris.symmetric>
    gpu.return
  }
}
