// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selections between pairs of words whose signs are masked. Without the guard LLVM makes
// the masks modifiers of floats, and crashes.
//
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: not iris-compile %s --target=gfx942 --emit=asm -o - --disable-guards=sign-masks 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: code generation crashed
//
// CHECK-LABEL: {{^}}masks:
// CHECK-COUNT-2: v_and_b32{{.*}} 0x7fffffff
// CHECK-COUNT-2: v_or_b32{{.*}} 0x80000000
gpu.module @kernels {
  gpu.func @masks(%b: memref<?xi32, #iris.symmetric>, %k: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %at0 = arith.constant 0 : index
    %at1 = arith.constant 128 : index
    %limit = arith.constant 1048576 : i64
    %c = arith.cmpi ugt, %k, %limit : i64
    %x = tile.load %b[%at0] : memref<?xi32, #iris.symmetric> -> tensor<128xi32>
    %low = arith.constant dense<0x7FFFFFFF> : tensor<128xi32>
    %sign = arith.constant dense<0x80000000> : tensor<128xi32>
    %five = arith.constant dense<5> : tensor<128xi32>
    %magnitude = arith.andi %x, %low : tensor<128xi32>
    %set = arith.ori %x, %sign : tensor<128xi32>
    %s0 = arith.select %c, %magnitude, %five : tensor<128xi32>
    %s1 = arith.select %c, %five, %set : tensor<128xi32>
    tile.store %s0, %b[%at0] : tensor<128xi32>, memref<?xi32, #iris.symmetric>
    tile.store %s1, %b[%at1] : tensor<128xi32>, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}
