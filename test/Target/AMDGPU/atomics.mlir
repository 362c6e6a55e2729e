// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --allow-nonportable --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,SYS
// RUN: iris-compile %s --allow-nonportable --target=gfx950 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,SYS
// RUN: iris-compile %s --allow-nonportable --target=gfx90a --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=gfx1100 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=gfx1201 --emit=asm -o - | FileCheck %s

// At system scope, only add, exchange and compare-and-swap of 32 and 64 bits
// are instructions on every kind of memory; `sub` is an add of the negative.
// All other kinds and types are compare-and-swap loops. No library is called.

gpu.module @kernels {
  // CHECK-LABEL: {{^}}add_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @add_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @sub_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xchg_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}and_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @and_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}or_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @or_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xor_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xor_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @min_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @max_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umin_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @umin_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umax_i8:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @umax_i8(%ctx: !iris.ctx, %b: memref<?xi8, #iris.symmetric>,
      %o: memref<?xi8>, %v: i8, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i8, memref<?xi8, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @add_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @sub_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xchg_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}and_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @and_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}or_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @or_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xor_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xor_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @min_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @max_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umin_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @umin_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umax_i16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @umax_i16(%ctx: !iris.ctx, %b: memref<?xi16, #iris.symmetric>,
      %o: memref<?xi16>, %v: i16, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i16, memref<?xi16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_add{{( |_b32|_u32)}}
  gpu.func @add_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_add{{( |_b32|_u32)}}
  gpu.func @sub_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_swap{{( |_b32|_u32)}}
  gpu.func @xchg_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}and_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @and_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}or_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @or_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xor_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xor_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @min_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @max_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umin_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @umin_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umax_i32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @umax_i32(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
      %o: memref<?xi32>, %v: i32, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_add{{_x2|_b64|_u64}}
  gpu.func @add_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_add{{_x2|_b64|_u64}}
  gpu.func @sub_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_swap{{_x2|_b64|_u64}}
  gpu.func @xchg_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}and_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @and_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw and %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}or_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @or_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw or %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xor_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @xor_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw xor %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @min_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @max_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umin_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @umin_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw umin %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}umax_i64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @umax_i64(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>,
      %o: memref<?xi64>, %v: i64, %i: index) kernel {
    %r = iris.atomic_rmw umax %ctx, %v, %b[%i]
        : i64, memref<?xi64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xi64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_f16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @add_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_f16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @sub_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_f16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xchg_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_f16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @min_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_f16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @max_f16(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
      %o: memref<?xf16>, %v: f16, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f16, memref<?xf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_bf16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @add_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_bf16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @sub_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_bf16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @xchg_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_bf16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @min_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_bf16:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @max_bf16(%ctx: !iris.ctx, %b: memref<?xbf16, #iris.symmetric>,
      %o: memref<?xbf16>, %v: bf16, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : bf16, memref<?xbf16, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_f32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @add_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_f32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @sub_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_f32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_swap{{( |_b32|_u32)}}
  gpu.func @xchg_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_f32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @min_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_f32:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{( |_b32|_u32)}}
  gpu.func @max_f32(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
      %o: memref<?xf32>, %v: f32, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f32, memref<?xf32, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}add_f64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @add_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}sub_f64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @sub_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw sub %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}xchg_f64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_swap{{_x2|_b64|_u64}}
  gpu.func @xchg_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw xchg %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}min_f64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @min_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw min %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }
  // CHECK-LABEL: {{^}}max_f64:
  // CHECK-NOT: s_swappc
  // CHECK: global_atomic_cmpswap{{_x2|_b64|_u64}}
  gpu.func @max_f64(%ctx: !iris.ctx, %b: memref<?xf64, #iris.symmetric>,
      %o: memref<?xf64>, %v: f64, %i: index) kernel {
    %r = iris.atomic_rmw max %ctx, %v, %b[%i]
        : f64, memref<?xf64, #iris.symmetric>
    memref.store %r, %o[%i] : memref<?xf64>
    gpu.return
  }

  // The orderings are fences around a relaxed instruction.
  // SYS-LABEL: {{^}}ordered:
  // SYS: s_waitcnt vmcnt(0)
  // SYS: s_barrier
  // SYS: buffer_wbl2 sc0 sc1
  // SYS: s_waitcnt vmcnt(0)
  // SYS: global_atomic_add {{.*}} sc1
  // SYS: s_waitcnt vmcnt(0)
  // SYS: buffer_inv sc0 sc1
  // SYS: s_barrier
  gpu.func @ordered(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
                    %d: memref<?xi32>, %v: i32, %i: index) kernel {
    %t = gpu.thread_id x
    memref.store %v, %d[%t] : memref<?xi32>
    %r = iris.atomic_rmw add %ctx, %v, %b[%i]
        : i32, memref<?xi32, #iris.symmetric>
    memref.store %v, %d[%t] : memref<?xi32>
    gpu.return
  }
}
