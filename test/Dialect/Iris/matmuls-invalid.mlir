// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of matmul ops, and of configs, which the generators read.
//
// RUN: iris-opt %s --iris-expand-matmuls --split-input-file --verify-diagnostics

// expected-error @below {{'iris.matmul_kernel' op is of kind matmul_gather; expected one of matmul, all_gather_matmul, matmul_all_gather, matmul_reduce_scatter, matmul_all_reduce}}
iris.matmul_kernel @k matmul_gather f16 -> f16

// -----

// expected-error @below {{'iris.matmul_kernel' op multiplies elements of 'f64'; expected f16, bf16, f32, i8 or an f8 type}}
iris.matmul_kernel @k matmul f64 -> f64

// -----

// expected-error @below {{'iris.matmul_kernel' op has a result of 'i32' for operands of 'f16'; expected f16, bf16 or f32}}
iris.matmul_kernel @k matmul f16 -> i32

// -----

// expected-error @below {{'iris.matmul_kernel' op is for a group of 9 ranks; expected 1 to 8}}
iris.matmul_kernel @k matmul_all_reduce f16 -> f16 size 9

// -----

// expected-error @below {{'iris.matmul_kernel' op config has tile_m = 48 : i64; expected a power of two from 1 to 256}}
iris.matmul_kernel @k matmul f16 -> f16 {tile_m = 48}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has tile_n = 40; expected a power of two or a multiple of 16, from 1 to 256}}
iris.matmul_kernel @k matmul f16 -> f16 {tile_n = 40}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has tile_k = 8 : i64; expected a power of two from 16 to 256}}
iris.matmul_kernel @k matmul f16 -> f16 {tile_k = 8}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has activation = "tanh"; expected one of none, relu, gelu for activations}}
iris.matmul_kernel @k matmul f16 -> f16 {activation = "tanh"}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has variant = "pull"; expected one of tiles for matmul}}
iris.matmul_kernel @k matmul f16 -> f16 {variant = "pull"}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has shard = "n"; expected one of k, m for all_gather_matmul}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16 {shard = "n"}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has the key "tile"; expected one of variant, shard, tile_m}}
iris.matmul_kernel @k matmul f16 -> f16 {tile = 64}

// -----

// Flags are only for variants with a staging buffer.
// expected-error @below {{'iris.matmul_kernel' op config has the key "k_per_flag"; expected one of variant, shard, tile_m, tile_n, tile_k, group_m, xcds, warps, programs, a, b, bias, activation, scale}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16 {k_per_flag = 2}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has num_fetch_programs = 9 : i64; expected 1 to 8}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16
    {variant = "hbm_buffer", programs = 8, num_fetch_programs = 9}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has first_stage_fetch_programs = 2; expected at least num_fetch_programs, 4}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16
    {variant = "hbm_buffer", num_fetch_programs = 4,
     first_stage_fetch_programs = 2}

// -----

// expected-error @below {{'iris.matmul_kernel' op variant push copies a in its memory layout; expected a = "row", not "column"}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16
    {variant = "push", a = "column"}

// -----

// expected-error @below {{'iris.matmul_kernel' op has a result of 'i32'; expected no scale and no gelu for integers}}
iris.matmul_kernel @k matmul i8 -> i32 {scale = true}

// -----

// expected-error @below {{'iris.matmul_kernel' op variant atomic adds up in the result; expected a result of 'f32' and no activation}}
iris.matmul_kernel @k matmul_all_reduce f16 -> f16 {variant = "atomic"}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?x?xf16>) {
  // expected-error @below {{'iris.matmul' op buffer is 'memref<?x?xf16>'; expected two dimensions in #iris.symmetric}}
  iris.matmul %ctx, %a, %a, %a
      : memref<?x?xf16>, memref<?x?xf16>, memref<?x?xf16>
  return
}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half, %b: memref<?x?xf32, #iris.symmetric>) {
  // expected-error @below {{'iris.matmul' op a has elements of 'f16', b of 'f32'; expected the same}}
  iris.matmul %ctx, %a, %b, %a
      : !half, memref<?x?xf32, #iris.symmetric>, !half
  return
}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half, %v: memref<?xf32, #iris.symmetric>) {
  // expected-error @below {{'iris.matmul' op bias is 'memref<?xf32, #iris.symmetric>'; expected one dimension of 'f16' in #iris.symmetric}}
  iris.matmul %ctx, %a, %a, %a bias(%v : memref<?xf32, #iris.symmetric>)
      : !half, !half, !half
  return
}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.matmul' op config has bias = "row"; expected bias(...) in the call}}
  iris.matmul %ctx, %a, %a, %a {bias = "row"} : !half, !half, !half
  return
}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.matmul' op config has a; expected none in a call, whose operand determines it}}
  iris.matmul %ctx, %a, %a, %a {a = "column"} : !half, !half, !half
  return
}

// -----

!half = memref<?x?xf16, #iris.symmetric>
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %a: !half) kernel {
    // expected-error @below {{'iris.matmul' op is in a kernel; expected a host program}}
    iris.matmul %ctx, %a, %a, %a : !half, !half, !half
    gpu.return
  }
}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has partial_type = "result" for sums of 'i32'; expected "sum"}}
iris.matmul_kernel @k matmul_reduce_scatter i8 -> f16 {partial_type = "result"}

// -----

// expected-error @below {{'iris.matmul_kernel' op variant gathered takes shards that are below each other; with shard = "m" they are one matrix, expected matmul}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16
    {variant = "gathered", shard = "m"}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.all_gather_matmul' op config has variant = "copy_engine", which only library calls have (iris/ccl/Matmul.h); expected one of pull, hbm_buffer, push}}
  iris.all_gather_matmul %ctx, %a, %a, %a {variant = "copy_engine"}
      : !half, !half, !half
  return
}

// -----

// The variant is reported, not the key that another variant has.
!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.all_gather_matmul' op config has variant = "copy_engine", which only library calls have (iris/ccl/Matmul.h); expected one of pull, hbm_buffer, push}}
  iris.all_gather_matmul %ctx, %a, %a, %a
      {variant = "copy_engine", num_fetch_programs = 4} : !half, !half, !half
  return
}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.matmul_all_gather' op config has variant = "pull"; expected one of push, specialized}}
  iris.matmul_all_gather %ctx, %a, %a, %a {variant = "pull"}
      : !half, !half, !half
  return
}

// -----

// The keys are those of the variant. The operands determine a, b and scale.
!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.all_gather_matmul' op config has the key "num_fetch_programs"; expected one of variant, shard, tile_m, tile_n, tile_k, group_m, xcds, warps, programs, bias, activation}}
  iris.all_gather_matmul %ctx, %a, %a, %a
      {variant = "pull", num_fetch_programs = 4} : !half, !half, !half
  return
}

// -----

// expected-error @below {{'iris.matmul_kernel' op variant copy_engine copies whole rows of c; with shard = "n" expected push or specialized}}
iris.matmul_kernel @k matmul_all_gather f16 -> f16
    {variant = "copy_engine", shard = "n"}

// -----

// expected-error @below {{'iris.matmul_kernel' op config has the key "num_fetch_programs"; expected one of variant, shard, tile_m, tile_n, tile_k, group_m, xcds, warps, programs, a, b, bias, activation, scale}}
iris.matmul_kernel @k all_gather_matmul f16 -> f16
    {variant = "copy_engine", num_fetch_programs = 4}

// -----

!half = memref<?x?xf16, #iris.symmetric>
func.func @main(%ctx: !iris.ctx, %a: !half) {
  // expected-error @below {{'iris.all_gather_matmul' op config has variant = "gathered"; expected one of pull, hbm_buffer, push}}
  iris.all_gather_matmul %ctx, %a, %a, %a {variant = "gathered"}
      : !half, !half, !half
  return
}
