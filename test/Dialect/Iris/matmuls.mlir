// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s | iris-opt | FileCheck %s

!half = memref<?x?xf16, #iris.symmetric>
!turned = memref<?x?xf16, strided<[1, ?]>, #iris.symmetric>
!wide = memref<?x?xf32, #iris.symmetric>
!line = memref<?xf32, #iris.symmetric>
!bytes = memref<?x?xi8, #iris.symmetric>

// CHECK: iris.matmul_kernel @mm matmul f16 -> f16 {bias = "column", tile_m = 64 : i64}
iris.matmul_kernel @mm matmul f16 -> f16 {tile_m = 64, bias = "column"}
// CHECK: iris.matmul_kernel @gather all_gather_matmul bf16 -> f32 size 8{{$}}
iris.matmul_kernel @gather all_gather_matmul bf16 -> f32 size 8
// CHECK: iris.matmul_kernel @whole matmul i8 -> i32 attributes {note = "kept"}
iris.matmul_kernel @whole matmul i8 -> i32 attributes {note = "kept"}
// CHECK: iris.matmul_kernel @small matmul f8E4M3FN -> bf16{{$}}
iris.matmul_kernel @small matmul f8E4M3FN -> bf16

// CHECK-LABEL: func.func @calls
func.func @calls(%ctx: !iris.ctx, %a: !half, %t: !turned, %c: !wide,
                 %v: !line, %s: f32, %q: !bytes) {
  // CHECK: iris.matmul %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, strided<[1, ?]>, #iris.symmetric>, memref<?x?xf32, #iris.symmetric>
  iris.matmul %ctx, %a, %t, %c : !half, !turned, !wide
  // CHECK: iris.matmul %{{.*}} bias(%{{.*}} : memref<?xf32, #iris.symmetric>) scale(%{{.*}}) as f8E5M2 {activation = "gelu"} : memref<?x?xi8
  iris.matmul %ctx, %q, %q, %c bias(%v : !line) scale(%s) as f8E5M2
      {activation = "gelu"} : !bytes, !bytes, !wide
  // CHECK: iris.all_gather_matmul %{{.*}} group([2, 0]) {variant = "push"}
  iris.all_gather_matmul %ctx, %a, %a, %c group([2, 0]) {variant = "push"}
      : !half, !half, !wide
  // CHECK: iris.matmul_all_gather
  iris.matmul_all_gather %ctx, %a, %a, %c : !half, !half, !wide
  // CHECK: iris.matmul_reduce_scatter
  iris.matmul_reduce_scatter %ctx, %a, %a, %c : !half, !half, !wide
  // CHECK: iris.matmul_all_reduce
  iris.matmul_all_reduce %ctx, %a, %a, %c : !half, !half, !wide
  return
}
