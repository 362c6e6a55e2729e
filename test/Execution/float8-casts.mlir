// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All codes of the f8 types, widened to every float and narrowed again; an f64
// value between two codes is rounded once; values that are too large saturate.
// RUN: iris-run -n 1 %s
// RUN: iris-compile %s --target=gfx942,gfx1201,sm_90a -o %t.iris

gpu.module @kernels {
  gpu.func @casts(%ctx: !iris.ctx) kernel {
    %i = tile.range : tensor<256xi32>
    %codes = arith.trunci %i : tensor<256xi32> to tensor<256xi8>
    %e4m3fn_x = arith.bitcast %codes : tensor<256xi8> to tensor<256xf8E4M3FN>
    %e4m3fn_w = arith.extf %e4m3fn_x : tensor<256xf8E4M3FN> to tensor<256xf32>
    %e4m3fn_f16v = arith.extf %e4m3fn_x : tensor<256xf8E4M3FN> to tensor<256xf16>
    %e4m3fn_f16b = arith.truncf %e4m3fn_f16v : tensor<256xf16> to tensor<256xf8E4M3FN>
    %e4m3fn_f16c = arith.extf %e4m3fn_f16b : tensor<256xf8E4M3FN> to tensor<256xf32>
    iris.expect_eq %e4m3fn_f16c, %e4m3fn_w, "f8E4M3FN through f16" : tensor<256xf32>
    %e4m3fn_bf16v = arith.extf %e4m3fn_x : tensor<256xf8E4M3FN> to tensor<256xbf16>
    %e4m3fn_bf16b = arith.truncf %e4m3fn_bf16v : tensor<256xbf16> to tensor<256xf8E4M3FN>
    %e4m3fn_bf16c = arith.extf %e4m3fn_bf16b : tensor<256xf8E4M3FN> to tensor<256xf32>
    iris.expect_eq %e4m3fn_bf16c, %e4m3fn_w, "f8E4M3FN through bf16" : tensor<256xf32>
    %e4m3fn_f32v = arith.extf %e4m3fn_x : tensor<256xf8E4M3FN> to tensor<256xf32>
    %e4m3fn_f32b = arith.truncf %e4m3fn_f32v : tensor<256xf32> to tensor<256xf8E4M3FN>
    %e4m3fn_f32c = arith.extf %e4m3fn_f32b : tensor<256xf8E4M3FN> to tensor<256xf32>
    iris.expect_eq %e4m3fn_f32c, %e4m3fn_w, "f8E4M3FN through f32" : tensor<256xf32>
    %e4m3fn_f64v = arith.extf %e4m3fn_x : tensor<256xf8E4M3FN> to tensor<256xf64>
    %e4m3fn_f64b = arith.truncf %e4m3fn_f64v : tensor<256xf64> to tensor<256xf8E4M3FN>
    %e4m3fn_f64c = arith.extf %e4m3fn_f64b : tensor<256xf8E4M3FN> to tensor<256xf32>
    iris.expect_eq %e4m3fn_f64c, %e4m3fn_w, "f8E4M3FN through f64" : tensor<256xf32>
    %e5m2_x = arith.bitcast %codes : tensor<256xi8> to tensor<256xf8E5M2>
    // The only type with infinities, which narrowing does not produce.
    %e5m2_most = arith.constant dense<5.734400e+04> : tensor<256xf32>
    %e5m2_least = arith.constant dense<-5.734400e+04> : tensor<256xf32>
    %e5m2_i = arith.extf %e5m2_x : tensor<256xf8E5M2> to tensor<256xf32>
    %e5m2_j = arith.minimumf %e5m2_i, %e5m2_most : tensor<256xf32>
    %e5m2_w = arith.maximumf %e5m2_j, %e5m2_least : tensor<256xf32>
    %e5m2_f16v = arith.extf %e5m2_x : tensor<256xf8E5M2> to tensor<256xf16>
    %e5m2_f16b = arith.truncf %e5m2_f16v : tensor<256xf16> to tensor<256xf8E5M2>
    %e5m2_f16c = arith.extf %e5m2_f16b : tensor<256xf8E5M2> to tensor<256xf32>
    iris.expect_eq %e5m2_f16c, %e5m2_w, "f8E5M2 through f16" : tensor<256xf32>
    %e5m2_bf16v = arith.extf %e5m2_x : tensor<256xf8E5M2> to tensor<256xbf16>
    %e5m2_bf16b = arith.truncf %e5m2_bf16v : tensor<256xbf16> to tensor<256xf8E5M2>
    %e5m2_bf16c = arith.extf %e5m2_bf16b : tensor<256xf8E5M2> to tensor<256xf32>
    iris.expect_eq %e5m2_bf16c, %e5m2_w, "f8E5M2 through bf16" : tensor<256xf32>
    %e5m2_f32v = arith.extf %e5m2_x : tensor<256xf8E5M2> to tensor<256xf32>
    %e5m2_f32b = arith.truncf %e5m2_f32v : tensor<256xf32> to tensor<256xf8E5M2>
    %e5m2_f32c = arith.extf %e5m2_f32b : tensor<256xf8E5M2> to tensor<256xf32>
    iris.expect_eq %e5m2_f32c, %e5m2_w, "f8E5M2 through f32" : tensor<256xf32>
    %e5m2_f64v = arith.extf %e5m2_x : tensor<256xf8E5M2> to tensor<256xf64>
    %e5m2_f64b = arith.truncf %e5m2_f64v : tensor<256xf64> to tensor<256xf8E5M2>
    %e5m2_f64c = arith.extf %e5m2_f64b : tensor<256xf8E5M2> to tensor<256xf32>
    iris.expect_eq %e5m2_f64c, %e5m2_w, "f8E5M2 through f64" : tensor<256xf32>
    %e4m3fnuz_x = arith.bitcast %codes : tensor<256xi8> to tensor<256xf8E4M3FNUZ>
    %e4m3fnuz_w = arith.extf %e4m3fnuz_x : tensor<256xf8E4M3FNUZ> to tensor<256xf32>
    %e4m3fnuz_f16v = arith.extf %e4m3fnuz_x : tensor<256xf8E4M3FNUZ> to tensor<256xf16>
    %e4m3fnuz_f16b = arith.truncf %e4m3fnuz_f16v : tensor<256xf16> to tensor<256xf8E4M3FNUZ>
    %e4m3fnuz_f16c = arith.extf %e4m3fnuz_f16b : tensor<256xf8E4M3FNUZ> to tensor<256xf32>
    iris.expect_eq %e4m3fnuz_f16c, %e4m3fnuz_w, "f8E4M3FNUZ through f16" : tensor<256xf32>
    %e4m3fnuz_bf16v = arith.extf %e4m3fnuz_x : tensor<256xf8E4M3FNUZ> to tensor<256xbf16>
    %e4m3fnuz_bf16b = arith.truncf %e4m3fnuz_bf16v : tensor<256xbf16> to tensor<256xf8E4M3FNUZ>
    %e4m3fnuz_bf16c = arith.extf %e4m3fnuz_bf16b : tensor<256xf8E4M3FNUZ> to tensor<256xf32>
    iris.expect_eq %e4m3fnuz_bf16c, %e4m3fnuz_w, "f8E4M3FNUZ through bf16" : tensor<256xf32>
    %e4m3fnuz_f32v = arith.extf %e4m3fnuz_x : tensor<256xf8E4M3FNUZ> to tensor<256xf32>
    %e4m3fnuz_f32b = arith.truncf %e4m3fnuz_f32v : tensor<256xf32> to tensor<256xf8E4M3FNUZ>
    %e4m3fnuz_f32c = arith.extf %e4m3fnuz_f32b : tensor<256xf8E4M3FNUZ> to tensor<256xf32>
    iris.expect_eq %e4m3fnuz_f32c, %e4m3fnuz_w, "f8E4M3FNUZ through f32" : tensor<256xf32>
    %e4m3fnuz_f64v = arith.extf %e4m3fnuz_x : tensor<256xf8E4M3FNUZ> to tensor<256xf64>
    %e4m3fnuz_f64b = arith.truncf %e4m3fnuz_f64v : tensor<256xf64> to tensor<256xf8E4M3FNUZ>
    %e4m3fnuz_f64c = arith.extf %e4m3fnuz_f64b : tensor<256xf8E4M3FNUZ> to tensor<256xf32>
    iris.expect_eq %e4m3fnuz_f64c, %e4m3fnuz_w, "f8E4M3FNUZ through f64" : tensor<256xf32>
    %e5m2fnuz_x = arith.bitcast %codes : tensor<256xi8> to tensor<256xf8E5M2FNUZ>
    %e5m2fnuz_w = arith.extf %e5m2fnuz_x : tensor<256xf8E5M2FNUZ> to tensor<256xf32>
    %e5m2fnuz_f16v = arith.extf %e5m2fnuz_x : tensor<256xf8E5M2FNUZ> to tensor<256xf16>
    %e5m2fnuz_f16b = arith.truncf %e5m2fnuz_f16v : tensor<256xf16> to tensor<256xf8E5M2FNUZ>
    %e5m2fnuz_f16c = arith.extf %e5m2fnuz_f16b : tensor<256xf8E5M2FNUZ> to tensor<256xf32>
    iris.expect_eq %e5m2fnuz_f16c, %e5m2fnuz_w, "f8E5M2FNUZ through f16" : tensor<256xf32>
    %e5m2fnuz_bf16v = arith.extf %e5m2fnuz_x : tensor<256xf8E5M2FNUZ> to tensor<256xbf16>
    %e5m2fnuz_bf16b = arith.truncf %e5m2fnuz_bf16v : tensor<256xbf16> to tensor<256xf8E5M2FNUZ>
    %e5m2fnuz_bf16c = arith.extf %e5m2fnuz_bf16b : tensor<256xf8E5M2FNUZ> to tensor<256xf32>
    iris.expect_eq %e5m2fnuz_bf16c, %e5m2fnuz_w, "f8E5M2FNUZ through bf16" : tensor<256xf32>
    %e5m2fnuz_f32v = arith.extf %e5m2fnuz_x : tensor<256xf8E5M2FNUZ> to tensor<256xf32>
    %e5m2fnuz_f32b = arith.truncf %e5m2fnuz_f32v : tensor<256xf32> to tensor<256xf8E5M2FNUZ>
    %e5m2fnuz_f32c = arith.extf %e5m2fnuz_f32b : tensor<256xf8E5M2FNUZ> to tensor<256xf32>
    iris.expect_eq %e5m2fnuz_f32c, %e5m2fnuz_w, "f8E5M2FNUZ through f32" : tensor<256xf32>
    %e5m2fnuz_f64v = arith.extf %e5m2fnuz_x : tensor<256xf8E5M2FNUZ> to tensor<256xf64>
    %e5m2fnuz_f64b = arith.truncf %e5m2fnuz_f64v : tensor<256xf64> to tensor<256xf8E5M2FNUZ>
    %e5m2fnuz_f64c = arith.extf %e5m2fnuz_f64b : tensor<256xf8E5M2FNUZ> to tensor<256xf32>
    iris.expect_eq %e5m2fnuz_f64c, %e5m2fnuz_w, "f8E5M2FNUZ through f64" : tensor<256xf32>

    // The last bit of f64 decides: 17 is halfway between 16 and 18.
    %above = arith.constant 1.7000000000000003e+01 : f64
    %rounded = arith.truncf %above : f64 to f8E4M3FN
    %up = arith.extf %rounded : f8E4M3FN to f64
    %eighteen = arith.constant 18.0 : f64
    iris.expect_eq %up, %eighteen, "rounded once" : f64
    %large = arith.constant 1.0e+6 : f32
    %most = arith.truncf %large : f32 to f8E4M3FN
    %kept = arith.extf %most : f8E4M3FN to f32
    %limit = arith.constant 448.0 : f32
    iris.expect_eq %kept, %limit, "saturated" : f32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %p = arith.constant 1 : index
  iris.launch @kernels::@casts programs(%p) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
