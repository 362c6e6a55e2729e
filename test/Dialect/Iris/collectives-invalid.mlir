// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-expand-collectives --split-input-file --verify-diagnostics

// expected-error @+1 {{'iris.collective' op has no reduction; expected sum, prod, min, max or avg after all_reduce}}
iris.collective @k all_reduce f32

// -----

// expected-error @+1 {{'iris.collective' op has the reduction max; expected none for all_gather}}
iris.collective @k all_gather max f32

// -----

// expected-error @+1 {{'iris.collective' op element type is 'i4'; expected f16, bf16, f32, f64, i8, i16, i32, i64, ui8, ui32, ui64, f8E4M3FN, f8E5M2, f8E4M3FNUZ or f8E5M2FNUZ}}
iris.collective @k all_reduce sum i4

// -----

// expected-error @+1 {{'iris.collective' op is for a group of 17 ranks; expected 1 to 16}}
iris.collective @k all_gather i8 size 17

// -----

// expected-error @+1 {{'iris.collective' op config has variant = "fast"; expected one of two_shot, two_shot_push, one_shot, one_shot_packet, two_shot_packet, one_shot_buffered, ring, atomic for all_reduce}}
iris.collective @k all_reduce sum f32 {variant = "fast"}

// -----

// expected-error @+1 {{'iris.collective' op config has variant = 3 : i64; expected one of push, pull, scatter, packet for broadcast}}
iris.collective @k broadcast i8 {variant = 3}

// -----

// expected-error @+1 {{'iris.collective' op config has tile = 100 : i64; expected a power of two from 4 to 4096}}
iris.collective @k all_reduce sum f32 {tile = 100}

// -----

// expected-error @+1 {{'iris.collective' op config has tile = 2 : i64; expected a power of two from 4 to 4096}}
iris.collective @k all_reduce sum f32 {tile = 2}

// -----

// expected-error @+1 {{'iris.collective' op config has programs = 0 : i64; expected 1 to 128}}
iris.collective @k all_reduce sum f32 {programs = 0}

// -----

// expected-error @+1 {{'iris.collective' op config has programs = 65 : i64; expected 1 to 64}}
iris.collective @k send i8 {programs = 65}

// -----

// expected-error @+1 {{'iris.collective' op config has warps = "4"; expected a power of two from 1 to 16}}
iris.collective @k all_reduce sum f32 {warps = "4"}

// -----

// expected-error @+1 {{'iris.collective' op config has staged = 1 : i64; expected true or false}}
iris.collective @k all_reduce sum f32 {staged = 1}

// -----

// expected-error @+1 {{'iris.collective' op config has the key "swizzle"; expected one of variant, tile, warps, programs, xcds, workspace, staged}}
iris.collective @k all_reduce sum f32 {swizzle = 4}

// -----

// expected-error @+1 {{'iris.collective' op variant atomic computes sums; expected sum or avg, not max}}
iris.collective @k all_reduce max f32 {variant = "atomic"}

// -----

// expected-error @+1 {{'iris.collective' op variant atomic has no additions of 'f8E5M2'; expected another type or variant}}
iris.collective @k all_reduce sum f8E5M2 {variant = "atomic"}

// -----

// expected-error @+1 {{'iris.collective' op variant ring works on the symmetric heap; expected no staging}}
iris.collective @k all_reduce sum f32 {variant = "ring", staged = true}

// -----

// expected-error @+1 {{'iris.collective' op variant ring works on the symmetric heap; expected no staging}}
iris.collective @k all_reduce sum f32 {variant = "ring", staged = true}

// -----

// expected-error @+1 {{'iris.collective' op variant ring has two slots of 65536 bytes for each of 128 programs; expected at most 401920 bytes in all}}
iris.collective @k all_reduce sum f8E5M2 {variant = "ring", tile = 16384, programs = 128, workspace = 1048576}

// -----

// expected-error @+1 {{'iris.collective' op config has a tile of 16384 bytes, but the slots of a workspace of 786432 bytes take at most}}
iris.collective @k all_reduce sum f32 {variant = "two_shot_push", staged = true, tile = 4096, workspace = 786432}

// -----

// expected-error @+1 {{'iris.collective' op config has a tile of 16384 bytes, but the slots of a workspace of 524288 bytes take at most}}
iris.collective @k all_reduce sum i8 {variant = "two_shot_push", tile = 16384, workspace = 524288}

// -----

// expected-error @+1 {{'iris.collective' op config has workspace = 1000 : i64; expected 524288 to 1073741824}}
iris.collective @k all_reduce sum f32 {workspace = 1000}

// -----

// expected-error @+1 {{'iris.collective' op config has a tile of 16384 bytes, but the FIFO slots of a workspace of 524288 bytes take at most}}
iris.collective @k send i8 {tile = 16384, workspace = 524288}

// -----

// expected-error @+1 {{'iris.collective' op config has a tile of 16384 bytes, but the packets of a workspace of 524288 bytes take at most}}
iris.collective @k all_gather i8 {tile = 16384, workspace = 524288, variant = "packet"}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16>) {
  // expected-error @+1 {{'iris.all_gather' op buffer is 'memref<?xf16>'; expected a row-major one in #iris.symmetric}}
  iris.all_gather %ctx, %a, %a : memref<?xf16>, memref<?xf16>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>,
                %b: memref<?xf32, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_gather' op input has elements of 'f16', output of 'f32'; expected the same}}
  iris.all_gather %ctx, %a, %b
      : memref<?xf16, #iris.symmetric>, memref<?xf32, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op has elements of 'f8E5M2' in buffers of 'f16'; expected buffers of i8}}
  iris.all_reduce sum %ctx, %a, %a as f8E5M2
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xi8, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op has elements of 'f32' in buffers of i8; expected a type of 8 bits}}
  iris.all_reduce sum %ctx, %a, %a as f32
      : memref<?xi8, #iris.symmetric>, memref<?xi8, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op group names rank 1 twice}}
  iris.all_reduce sum %ctx, %a, %a group([1, 1])
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op group names rank 16; expected 0 to 15 in a group of more than 8 ranks}}
  iris.all_reduce sum %ctx, %a, %a group([0, 1, 2, 3, 4, 5, 6, 7, 16])
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op group names rank 64; expected 0 to 63}}
  iris.all_reduce sum %ctx, %a, %a group([1, 64])
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op output is the input, which variant one_shot of all_reduce does not support}}
  iris.all_reduce sum %ctx, %a, %a {variant = "one_shot"}
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<f16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op buffer is 'memref<f16, #iris.symmetric>'; expected at least one dimension}}
  iris.all_reduce sum %ctx, %a, %a
      : memref<f16, #iris.symmetric>, memref<f16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op config has staged = true; expected none in a host program, whose buffers are in the heap}}
  iris.all_reduce sum %ctx, %a, %a {staged = true}
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>) kernel {
    // expected-error @+1 {{'iris.all_reduce' op is in a kernel; expected a host program}}
    iris.all_reduce sum %ctx, %a, %a
        : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
    gpu.return
  }
}

// -----

func.func @main(%ctx: !iris.ctx, %p: index) {
  // expected-error @+1 {{'iris.launch' op has a group of 0 ranks; expected 1 to 16}}
  iris.launch @none::@k programs(%p) group([]) args(%ctx : !iris.ctx)
  return
}

// -----

// Calls are named as they are written.
func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>,
                %b: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_reduce' op variant atomic computes sums; expected sum or avg, not max}}
  iris.all_reduce max %ctx, %a, %b {variant = "atomic"}
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>,
                %b: memref<?xf16, #iris.symmetric>) {
  // expected-error @+1 {{'iris.all_gather' op config has a tile of 16384 bytes, but the packets of a workspace of 524288 bytes take at most}}
  iris.all_gather %ctx, %a, %b
      {variant = "packet", tile = 8192, workspace = 524288}
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}
