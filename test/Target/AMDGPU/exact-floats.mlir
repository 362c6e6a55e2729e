// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations for which instruction selection would compute other bits than the
// host: a narrowed product that is -0, a difference from 0 that is +0, and
// quotients of f16, whose reciprocals are not always rounded correctly.
//
// RUN: iris-compile %s --target=gfx90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx950 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1100 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s

gpu.module @kernels {
  // One instruction, as with the other zero.
  // CHECK-LABEL: {{^}}narrowed_product:
  // CHECK: s_brev_b32 [[ZERO:s[0-9]+]], 1
  // CHECK-NOT: v_fma_mixlo_f16 {{.*}}, 0{{$}}
  // CHECK: v_fma_mixlo_f16 {{.*}}, [[ZERO]]{{$}}
  // CHECK-NOT: v_fma_mixlo_f16 {{.*}}, 0{{$}}
  // CHECK: s_endpgm
  gpu.func @narrowed_product(%a: memref<256xf32>, %b: memref<256xf16>) kernel {
    %c0 = arith.constant 0 : index
    %x = tile.load %a[%c0] : memref<256xf32> -> tensor<256xf32>
    %p = arith.mulf %x, %x : tensor<256xf32>
    %n = arith.negf %p : tensor<256xf32>
    %h = arith.truncf %n : tensor<256xf32> to tensor<256xf16>
    tile.store %h, %b[%c0] : tensor<256xf16>, memref<256xf16>
    gpu.return
  }

  // A division by infinity is a multiplication by zero, and not narrowed.
  // CHECK-LABEL: {{^}}narrowed_quotient:
  // CHECK-NOT: v_fma_mixlo_f16
  // CHECK: s_endpgm
  gpu.func @narrowed_quotient(%a: memref<256xf32>, %b: memref<256xf16>) kernel {
    %c0 = arith.constant 0 : index
    %infinity = arith.constant dense<0x7F800000> : tensor<256xf32>
    %x = tile.load %a[%c0] : memref<256xf32> -> tensor<256xf32>
    %q = arith.divf %x, %infinity : tensor<256xf32>
    %h = arith.truncf %q : tensor<256xf32> to tensor<256xf16>
    tile.store %h, %b[%c0] : tensor<256xf16>, memref<256xf16>
    gpu.return
  }

  // The difference is computed; the product does not read -x.
  // CHECK-LABEL: {{^}}difference_from_zero:
  // CHECK: v_{{sub|dual_sub}}{{.*}}_f32{{.*}} 0, v
  // CHECK: s_endpgm
  gpu.func @difference_from_zero(%a: memref<256xf32>, %b: memref<256xf32>)
      kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<256xf32>
    %x = tile.load %a[%c0] : memref<256xf32> -> tensor<256xf32>
    %y = tile.load %b[%c0] : memref<256xf32> -> tensor<256xf32>
    %d = arith.subf %zero, %x : tensor<256xf32>
    %p = arith.mulf %d, %y : tensor<256xf32>
    tile.store %p, %b[%c0] : tensor<256xf32>, memref<256xf32>
    gpu.return
  }

  // Packed, where two f16 subtrahends are combined.
  // CHECK-LABEL: {{^}}packed_difference:
  // CHECK-NOT: v_pack_b32_f16 {{.*}}-v
  // CHECK: s_endpgm
  gpu.func @packed_difference(%a: memref<4096xf16>, %b: memref<4096xf16>)
      kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<4096xf16>
    %x = tile.load %a[%c0] : memref<4096xf16> -> tensor<4096xf16>
    %d = arith.subf %zero, %x : tensor<4096xf16>
    tile.store %d, %b[%c0] : tensor<4096xf16>, memref<4096xf16>
    gpu.return
  }

  // CHECK-LABEL: {{^}}reciprocal:
  // CHECK-NOT: {{v_rcp_f16|v_s_rcp_f16}}
  // CHECK: v_div_fixup_f16
  // CHECK-NOT: {{v_rcp_f16|v_s_rcp_f16}}
  // CHECK: s_endpgm
  gpu.func @reciprocal(%a: memref<256xf16>, %b: memref<256xf16>) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1.0> : tensor<256xf16>
    %x = tile.load %a[%c0] : memref<256xf16> -> tensor<256xf16>
    %q = arith.divf %one, %x : tensor<256xf16>
    tile.store %q, %b[%c0] : tensor<256xf16>, memref<256xf16>
    gpu.return
  }
}
