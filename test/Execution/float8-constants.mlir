// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of constants to f8 saturate, as those of other values do: MLIR's fold of
// arith.truncf keeps infinities where the type has them. The expected codes are the
// largest numbers of each type.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 2 --device=reference %s
// CHECK: all 16 checks passed

gpu.module @kernels {
  gpu.func @check(%ctx: !iris.ctx) kernel {
    %half = arith.constant dense<0x7C00> : tensor<4xf16>
    %brain = arith.constant dense<0xFF80> : tensor<4xbf16>
    %single = arith.constant 0x7F800000 : f32
    %double = arith.constant 0xFFF0000000000000 : f64

    %a = arith.truncf %half : tensor<4xf16> to tensor<4xf8E5M2>
    %b = arith.truncf %brain : tensor<4xbf16> to tensor<4xf8E5M2>
    %c = arith.truncf %single : f32 to f8E5M2
    %d = arith.truncf %double : f64 to f8E5M2
    %a_code = arith.bitcast %a : tensor<4xf8E5M2> to tensor<4xi8>
    %b_code = arith.bitcast %b : tensor<4xf8E5M2> to tensor<4xi8>
    %c_code = arith.bitcast %c : f8E5M2 to i8
    %d_code = arith.bitcast %d : f8E5M2 to i8
    %largest = arith.constant 0x7B : i8
    %least = arith.constant 0xFB : i8
    %largest4 = tensor.splat %largest : tensor<4xi8>
    %least4 = tensor.splat %least : tensor<4xi8>
    iris.expect_eq %a_code, %largest4, "f8E5M2(f16(inf))" : tensor<4xi8>
    iris.expect_eq %b_code, %least4, "f8E5M2(bf16(-inf))" : tensor<4xi8>
    iris.expect_eq %c_code, %largest, "f8E5M2(f32(inf))" : i8
    iris.expect_eq %d_code, %least, "f8E5M2(f64(-inf))" : i8

    %e = arith.truncf %single : f32 to f8E4M3FN
    %f = arith.truncf %double : f64 to f8E4M3FN
    %g = arith.truncf %single : f32 to f8E4M3FNUZ
    %h = arith.truncf %double : f64 to f8E4M3FNUZ
    %i = arith.truncf %single : f32 to f8E5M2FNUZ
    %j = arith.truncf %double : f64 to f8E5M2FNUZ
    %e_code = arith.bitcast %e : f8E4M3FN to i8
    %f_code = arith.bitcast %f : f8E4M3FN to i8
    %g_code = arith.bitcast %g : f8E4M3FNUZ to i8
    %h_code = arith.bitcast %h : f8E4M3FNUZ to i8
    %i_code = arith.bitcast %i : f8E5M2FNUZ to i8
    %j_code = arith.bitcast %j : f8E5M2FNUZ to i8
    %x7e = arith.constant 0x7E : i8
    %xfe = arith.constant 0xFE : i8
    %x7f = arith.constant 0x7F : i8
    %xff = arith.constant 0xFF : i8
    iris.expect_eq %e_code, %x7e, "f8E4M3FN(inf)" : i8
    iris.expect_eq %f_code, %xfe, "f8E4M3FN(-inf)" : i8
    iris.expect_eq %g_code, %x7f, "f8E4M3FNUZ(inf)" : i8
    iris.expect_eq %h_code, %xff, "f8E4M3FNUZ(-inf)" : i8
    iris.expect_eq %i_code, %x7f, "f8E5M2FNUZ(inf)" : i8
    iris.expect_eq %j_code, %xff, "f8E5M2FNUZ(-inf)" : i8
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  iris.launch @kernels::@check programs(%c1) args(%ctx : !iris.ctx)
  iris.sync %ctx
  return
}
