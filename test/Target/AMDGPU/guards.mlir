// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards against defects of LLVM (docs/internals/guards.md): with each guard the
// defective code is gone, without it LLVM still has the defect.
// Execution/guarded-arithmetic.mlir has the results.
//
// DEFINE: %{asm} = iris-compile %s --target=gfx942 --emit=asm
// RUN: %{asm} | FileCheck %s
// RUN: %{asm} --disable-guards=divisions-24 | FileCheck %s --check-prefix=DIVISIONS
// RUN: %{asm} --disable-guards=wide-divisions | FileCheck %s --check-prefix=WIDE
// RUN: %{asm} --disable-guards=sign-bytes | FileCheck %s --check-prefix=BYTES
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefix=WAVE32
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - --disable-guards=sign-bytes | FileCheck %s --check-prefix=EXTENDED
// RUN: %{asm} --disable-guards=short-shifts | FileCheck %s --check-prefix=SHORT
// RUN: %{asm} --disable-guards=extended-floats | FileCheck %s --check-prefix=EXTENDED-FLOATS
// RUN: %{asm} --disable-guards=selected-constants | FileCheck %s --check-prefix=SELECT
// RUN: %{asm} --disable-guards=constant-ors | FileCheck %s --check-prefix=ORS
// RUN: %{asm} --disable-guards=carries | FileCheck %s --check-prefix=CARRY
// RUN: %{asm} --disable-guards=zero-bytes | FileCheck %s --check-prefix=ZERO-BYTES
// RUN: %{asm} --disable-guards=negated-vectors | FileCheck %s --check-prefix=NEGATED
// RUN: %{asm} --disable-guards=byte-dots | FileCheck %s --check-prefix=DOTS

!v = memref<256xi32, #iris.symmetric>
!b = memref<256xi8, #iris.symmetric>
!t = tensor<256xi32>

gpu.module @kernels {
  // An f32 quotient is truncated; the division of 32 bits multiplies.
  // CHECK-LABEL: {{^}}division:
  // CHECK-NOT: v_trunc_f32
  // CHECK: v_mul_hi_u32
  // CHECK-NOT: v_trunc_f32
  // CHECK: s_endpgm
  // DIVISIONS-LABEL: {{^}}division:
  // DIVISIONS: v_trunc_f32
  gpu.func @division(%v: !v) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> !t
    %m24 = arith.constant dense<16777215> : !t
    %m8 = arith.constant dense<255> : !t
    %one = arith.constant dense<1> : !t
    %n = arith.andi %x, %m24 : !t
    %e = arith.andi %x, %m8 : !t
    %d = arith.ori %e, %one : !t
    %q = arith.divui %n, %d : !t
    tile.store %q, %v[%c0] : !t, !v
    gpu.return
  }

  // Below 2^22 the division in f32 is exact.
  // CHECK-LABEL: {{^}}small_division:
  // CHECK: v_trunc_f32
  gpu.func @small_division(%v: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> !t
    %m22 = arith.constant dense<4194303> : !t
    %m8 = arith.constant dense<255> : !t
    %one = arith.constant dense<1> : !t
    %n = arith.andi %x, %m22 : !t
    %e = arith.andi %x, %m8 : !t
    %d = arith.ori %e, %one : !t
    %q = arith.divui %n, %d : !t
    tile.store %q, %v[%c0] : !t, !v
    gpu.return
  }

  // The upper half of the quotient is not the sign of the lower one.
  // CHECK-LABEL: {{^}}wide_division:
  // CHECK: v_rcp_iflag_f32
  // CHECK: v_subb_co_u32
  // WIDE-LABEL: {{^}}wide_division:
  // WIDE: v_rcp_iflag_f32
  // WIDE-NOT: v_subb_co_u32
  // WIDE: s_endpgm
  gpu.func @wide_division(%v: !v, %w: memref<64xi64, #iris.symmetric>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> tensor<64xi32>
    %c1 = arith.constant 1 : index
    %y = tile.load %v[%c1] : !v -> tensor<64xi32>
    %n = arith.extsi %x : tensor<64xi32> to tensor<64xi64>
    %d = arith.extsi %y : tensor<64xi32> to tensor<64xi64>
    %q = arith.divsi %n, %d : tensor<64xi64>
    tile.store %q, %w[%c0] : tensor<64xi64>, memref<64xi64, #iris.symmetric>
    gpu.return
  }

  // Byte 2 is one of the sign, not the lowest byte.
  // CHECK-LABEL: {{^}}bytes:
  // CHECK-NOT: 0x7000607
  // CHECK: s_endpgm
  // BYTES-LABEL: {{^}}bytes:
  // BYTES: 0x7000607
  gpu.func @bytes(%v: !v) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> tensor<64xi32>
    %c8 = arith.constant dense<8> : tensor<64xi32>
    %c16 = arith.constant dense<16> : tensor<64xi32>
    %m0 = arith.constant dense<255> : tensor<64xi32>
    %m1 = arith.constant dense<65280> : tensor<64xi32>
    %m2 = arith.constant dense<16711680> : tensor<64xi32>
    %m3 = arith.constant dense<-16777216> : tensor<64xi32>
    %s = arith.shrsi %x, %c8 : tensor<64xi32>
    %s16 = arith.shrui %s, %c16 : tensor<64xi32>
    %b0 = arith.andi %s16, %m0 : tensor<64xi32>
    %b3 = arith.andi %x, %m3 : tensor<64xi32>
    %x8 = arith.shrui %x, %c8 : tensor<64xi32>
    %b1 = arith.andi %x8, %m1 : tensor<64xi32>
    %s8 = arith.shrui %s, %c8 : tensor<64xi32>
    %b2 = arith.andi %s8, %m2 : tensor<64xi32>
    %r0 = arith.ori %b1, %b3 : tensor<64xi32>
    %r1 = arith.ori %r0, %b0 : tensor<64xi32>
    %r = arith.ori %r1, %b2 : tensor<64xi32>
    tile.store %r, %v[%c0] : tensor<64xi32>, !v
    gpu.return
  }

  // Zero is not the lowest byte of a word, which the sign of x is.
  // CHECK-LABEL: {{^}}byte_below:
  // CHECK-NOT: 0x20c0c07
  // CHECK: v_ashrrev_i32
  // CHECK-NOT: 0x20c0c07
  // CHECK: s_endpgm
  gpu.func @byte_below(%v: !v, %b: !b, %w: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> !t
    %c16 = arith.constant dense<16> : !t
    %c24 = arith.constant dense<24> : !t
    %sign = arith.shrsi %x, %c24 : !t
    %b0 = arith.shrui %sign, %c24 : !t
    %moved = arith.shrui %x, %c16 : !t
    %b3 = arith.shli %moved, %c24 : !t
    %r = arith.ori %b0, %b3 : !t
    %six = arith.constant dense<6> : tensor<256xi8>
    tile.store %six, %b[%c0] : tensor<256xi8>, !b
    tile.store %r, %w[%c0] : !t, !v
    gpu.return
  }

  // The extension of the last of four bytes is a shift by 24, of which byte 3
  // is not byte 2 of the word.
  // WAVE32-LABEL: {{^}}signs_of_bytes:
  // WAVE32-NOT: 0x2060505
  // WAVE32: s_endpgm
  // EXTENDED-LABEL: {{^}}signs_of_bytes:
  // EXTENDED: 0x2060505
  gpu.func @signs_of_bytes(%b: !b, %v: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %b[%c0] : !b -> tensor<256xi8>
    %y = tile.load %v[%c0] : !v -> !t
    %c8 = arith.constant dense<8> : !t
    %m0 = arith.constant dense<255> : !t
    %m12 = arith.constant dense<16776960> : !t
    %m3 = arith.constant dense<-16777216> : !t
    %e = arith.extsi %x : tensor<256xi8> to !t
    %b3 = arith.andi %e, %m3 : !t
    %y8 = arith.shrui %y, %c8 : !t
    %b0 = arith.andi %y8, %m0 : !t
    %b12 = arith.andi %y, %m12 : !t
    %r0 = arith.ori %b0, %b12 : !t
    %r = arith.ori %r0, %b3 : !t
    tile.store %r, %v[%c0] : !t, !v
    gpu.return
  }

  // The shift clears the upper half of its register.
  // CHECK-LABEL: {{^}}halves:
  // CHECK-NOT: v_ffbh_u32_sdwa
  // CHECK: v_ashrrev_i16_e32 v{{[0-9]+}}, 8,
  // CHECK-NOT: v_ffbh_u32_sdwa
  // CHECK: s_endpgm
  // SHORT-LABEL: {{^}}halves:
  // SHORT: v_ffbh_u32_sdwa v{{[0-9]+}}, sext(v{{[0-9]+}}) {{.*}}src0_sel:BYTE_1
  gpu.func @halves(%b: !b, %v: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %b[%c0] : !b -> tensor<256xi8>
    %h = arith.extsi %x : tensor<256xi8> to tensor<256xi16>
    %z = arith.extui %h : tensor<256xi16> to !t
    %r = math.ctlz %z : !t
    tile.store %r, %v[%c0] : !t, !v
    gpu.return
  }

  // The bits of a sign-extended byte, taken for a float.
  // CHECK-LABEL: {{^}}bits_of_bytes:
  // CHECK-NOT: v_cvt_f16_f32_sdwa
  // CHECK: v_bfe_i32
  // CHECK-NOT: v_cvt_f16_f32_sdwa
  // CHECK: s_endpgm
  // EXTENDED-FLOATS-LABEL: {{^}}bits_of_bytes:
  // EXTENDED-FLOATS: v_cvt_f16_f32_sdwa {{.*}}src0_sel:BYTE_0
  gpu.func @bits_of_bytes(%b: !b, %r: memref<256xf16, #iris.symmetric>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %b[%c0] : !b -> tensor<256xi8>
    %e = arith.extsi %x : tensor<256xi8> to !t
    %f = arith.bitcast %e : !t to tensor<256xf32>
    %h = arith.truncf %f : tensor<256xf32> to tensor<256xf16>
    tile.store %h, %r[%c0] : tensor<256xf16>, memref<256xf16, #iris.symmetric>
    gpu.return
  }

  // The selection is between %y and the constant, not between %y and %x.
  // CHECK-LABEL: {{^}}selection:
  // CHECK: v_cmp_{{(lg|nlg)}}_f32_e{{.*}} [[X:v[0-9]+]]
  // CHECK-NOT: v_cndmask_b32_e{{.*}}[[X]]
  // CHECK: s_endpgm
  // SELECT-LABEL: {{^}}selection:
  // SELECT: v_cmp_{{(lg|nlg)}}_f32_e{{.*}} [[X:v[0-9]+]]
  // SELECT: v_cndmask_b32_e{{.*}}[[X]]
  gpu.func @selection(%a: memref<64xf32, #iris.symmetric>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = tile.load %a[%c0] : memref<64xf32, #iris.symmetric> -> tensor<64xf32>
    %y = tile.load %a[%c1] : memref<64xf32, #iris.symmetric> -> tensor<64xf32>
    %k = arith.constant dense<3.25> : tensor<64xf32>
    %p = arith.cmpf one, %x, %k : tensor<64xf32>
    %r = arith.select %p, %y, %k : tensor<64xi1>, tensor<64xf32>
    tile.store %r, %a[%c0] : tensor<64xf32>, memref<64xf32, #iris.symmetric>
    gpu.return
  }

  // So is that of extended numbers, which are compared without the extension.
  // CHECK-LABEL: {{^}}extended_selection:
  // CHECK: v_cmp_lg_f32
  // CHECK: s_endpgm
  // SELECT-LABEL: {{^}}extended_selection:
  // SELECT-NOT: v_cmp_lg_f32
  // SELECT: s_endpgm
  gpu.func @extended_selection(%h: memref<64xbf16, #iris.symmetric>,
      %a: memref<64xf32, #iris.symmetric>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %h[%c0] : memref<64xbf16, #iris.symmetric> -> tensor<64xbf16>
    %w = arith.extf %x : tensor<64xbf16> to tensor<64xf32>
    %k = arith.constant dense<3.25> : tensor<64xf32>
    %p = arith.cmpf one, %w, %k : tensor<64xf32>
    %r = arith.select %p, %w, %k : tensor<64xi1>, tensor<64xf32>
    tile.store %r, %a[%c0] : tensor<64xf32>, memref<64xf32, #iris.symmetric>
    gpu.return
  }

  // x + y without its carry, then the carry in.
  // CHECK-LABEL: {{^}}carry:
  // CHECK: s_add_i32
  // CHECK: s_endpgm
  // CARRY-LABEL: {{^}}carry:
  // CARRY-NOT: s_add_i32
  // CARRY: s_endpgm
  gpu.func @carry(%v: !v, %a: i32, %b: i32, %z: i32, %w: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %low, %c = arith.addui_extended %z, %w : i32, i1
    %carry = arith.extui %c : i1 to i32
    %t = arith.addi %a, %b : i32
    %sum, %over = arith.addui_extended %t, %carry : i32, i1
    %o = arith.extui %over : i1 to i32
    memref.store %sum, %v[%c0] : !v
    memref.store %o, %v[%c1] : !v
    gpu.return
  }

  // The upper half of the multiplication is a sum of its own; zero and the carry are
  // added to it.
  // CHECK-LABEL: {{^}}upper_carry:
  // CHECK: v_cmp_lt_u64
  // CHECK: s_endpgm
  // CARRY-LABEL: {{^}}upper_carry:
  // CARRY-NOT: v_cmp_lt_u64
  // CARRY: s_endpgm
  gpu.func @upper_carry(%w: memref<64xi64, #iris.symmetric>, %x: i64, %y: i64)
      kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m22 = arith.constant 4194303 : i64
    %m8 = arith.constant 255 : i64
    %negative = arith.constant -65538 : i64
    %low = arith.andi %x, %m22 : i64
    %y8 = arith.andi %y, %m8 : i64
    %factor = arith.addi %y8, %negative : i64
    %scaled = arith.muli %x, %factor : i64
    %s = arith.addi %low, %scaled : i64
    %less = arith.cmpi ult, %s, %low : i64
    %carry = arith.extui %less : i1 to i64
    memref.store %s, %w[%c0] : memref<64xi64, #iris.symmetric>
    memref.store %carry, %w[%c1] : memref<64xi64, #iris.symmetric>
    gpu.return
  }

  // 2^24 - 2 is not divided in f32.
  // CHECK-LABEL: {{^}}constant_numerator:
  // CHECK-NOT: v_trunc_f32
  // CHECK: s_endpgm
  // DIVISIONS-LABEL: {{^}}constant_numerator:
  // DIVISIONS: v_trunc_f32
  gpu.func @constant_numerator(%v: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %y = tile.load %v[%c0] : !v -> !t
    %x = arith.constant dense<16777214> : !t
    %m8 = arith.constant dense<255> : !t
    %d = arith.andi %y, %m8 : !t
    %q = arith.divui %x, %d : !t
    tile.store %q, %v[%c0] : !t, !v
    gpu.return
  }

  // The quotient of i8 has 9 bits.
  // CHECK-LABEL: {{^}}narrow_quotient:
  // CHECK: v_add_u32
  // CHECK-NEXT: v_bfe_i32 {{.*}}, 0, 16
  // DIVISIONS-LABEL: {{^}}narrow_quotient:
  // DIVISIONS: v_add_u32
  // DIVISIONS-NEXT: v_bfe_i32 {{.*}}, 0, 8
  gpu.func @narrow_quotient(%b: memref<64xi8, #iris.symmetric>, %v: !v) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = memref.load %b[%c0] : memref<64xi8, #iris.symmetric>
    %y = memref.load %b[%c1] : memref<64xi8, #iris.symmetric>
    %xs = arith.extsi %x : i8 to i32
    %ys = arith.extsi %y : i8 to i32
    %q = arith.divsi %xs, %ys : i32
    memref.store %q, %v[%c0] : !v
    gpu.return
  }

  // x | -1 is -1, not x.
  // CHECK-LABEL: {{^}}constant_or:
  // CHECK: v_mov_b32_e32 v[[ONES:[0-9]+]], -1
  // CHECK-NOT: v_mov_b32_e32 v[[ONES]],
  // CHECK: s_endpgm
  // ORS-LABEL: {{^}}constant_or:
  // ORS: v_mov_b32_e32 v[[ONES:[0-9]+]], -1
  // ORS: v_mov_b32_e32 v[[ONES]], v
  gpu.func @constant_or(%w: memref<64xi64, #iris.symmetric>, %n: i64) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ones = arith.constant 9007199254740991 : i64
    %zero = arith.constant 0 : i64
    memref.store %n, %w[%c0] : memref<64xi64, #iris.symmetric>
    %x = memref.load %w[%c0] : memref<64xi64, #iris.symmetric>
    %y = arith.ori %x, %ones : i64
    memref.store %y, %w[%c1] : memref<64xi64, #iris.symmetric>
    %positive = arith.cmpi sgt, %x, %zero : i64
    scf.if %positive {
      memref.store %n, %w[%c0] : memref<64xi64, #iris.symmetric>
      %z = memref.load %w[%c0] : memref<64xi64, #iris.symmetric>
      %all = arith.ori %y, %z : i64
      memref.store %all, %w[%c0] : memref<64xi64, #iris.symmetric>
    }
    gpu.return
  }

  // x * x + (x * x >> 8) is no dot product.
  // CHECK-LABEL: {{^}}sum_of_halves:
  // CHECK-NOT: v_dot4
  // CHECK: s_endpgm
  // DOTS-LABEL: {{^}}sum_of_halves:
  // DOTS: v_dot4
  gpu.func @sum_of_halves(%b: !b) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %b[%i] : !b
      %low, %high = arith.mulsi_extended %x, %x : i8
      %sum = arith.addi %low, %high : i8
      memref.store %sum, %b[%i] : !b
    }
    gpu.return
  }

  // The uppermost byte is zero: 12 in the selector of bytes, not 0.
  // CHECK-LABEL: {{^}}packed_bytes:
  // CHECK-NOT: 0x70704
  // CHECK: s_endpgm
  // ZERO-BYTES-LABEL: {{^}}packed_bytes:
  // ZERO-BYTES: s_mov_b32 s{{[0-9]+}}, 0x70704
  gpu.func @packed_bytes(%v: !v) kernel attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> !t
    %k8 = arith.constant dense<8> : !t
    %k16 = arith.constant dense<16> : !t
    %k24 = arith.constant dense<24> : !t
    %byte = arith.constant dense<255> : !t
    %high = arith.shrui %x, %k24 : !t
    %low = arith.andi %x, %byte : !t
    %second = arith.shli %high, %k8 : !t
    %third = arith.shli %high, %k16 : !t
    %two = arith.ori %third, %low : !t
    %all = arith.ori %two, %second : !t
    tile.store %all, %v[%c0] : !t, !v
    gpu.return
  }

  // All four elements of a thread are negated: no NaN without a sign is left.
  // CHECK-LABEL: {{^}}negated_vector:
  // CHECK-NOT: 0x7fc00000
  // CHECK: s_endpgm
  // NEGATED-LABEL: {{^}}negated_vector:
  // NEGATED: 0x7fc00000
  gpu.func @negated_vector(%v: !v, %f: memref<256xf32, #iris.symmetric>) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %x = tile.load %v[%c0] : !v -> !t
    %k128 = arith.constant dense<128> : !t
    %nan = arith.constant dense<0x7fc00000> : !t
    %is = arith.cmpi eq, %x, %k128 : !t
    %selected = arith.select %is, %nan, %x : tensor<256xi1>, !t
    %float = arith.bitcast %selected : !t to tensor<256xf32>
    %negative = arith.negf %float : tensor<256xf32>
    %numerator = tile.load %f[%c0] : memref<256xf32, #iris.symmetric> -> tensor<256xf32>
    %quotient = arith.divf %numerator, %negative : tensor<256xf32>
    tile.store %quotient, %f[%c0] : tensor<256xf32>, memref<256xf32, #iris.symmetric>
    gpu.return
  }
}
