// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s | iris-opt | FileCheck %s

// CHECK: iris.collective @sum all_reduce sum bf16 size 8 {tile = 2048 : i64, variant = "one_shot"}
iris.collective @sum all_reduce sum bf16 size 8
    {tile = 2048, variant = "one_shot"}
// CHECK: iris.collective @gather all_gather i8{{$}}
iris.collective @gather all_gather i8
// CHECK: iris.collective @mean reduce avg ui8 size 3{{$}}
iris.collective @mean reduce avg ui8 size 3
// CHECK: iris.collective @small reduce_scatter max f8E4M3FN{{$}}
iris.collective @small reduce_scatter max f8E4M3FN
// CHECK: iris.collective @barrier barrier i8{{$}}
iris.collective @barrier barrier i8
// CHECK: iris.collective @fifo send i8 attributes {note = "kept"}
iris.collective @fifo send i8 attributes {note = "kept"}

// CHECK-LABEL: func.func @calls
func.func @calls(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>,
                 %b: memref<?xf16, #iris.symmetric>,
                 %c: memref<?x?xi8, #iris.symmetric>, %r: index) {
  // CHECK: iris.all_gather %{{.*}}, %{{.*}}, %{{.*}} {variant = "pull"} : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  iris.all_gather %ctx, %a, %b {variant = "pull"}
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  // CHECK: iris.all_reduce min %{{.*}}, %{{.*}}, %{{.*}} group([2, 0]) : memref
  iris.all_reduce min %ctx, %a, %b group([2, 0])
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  // CHECK: iris.all_reduce sum %{{.*}}, %{{.*}}, %{{.*}} as f8E5M2 group([1]) {staged = false} : memref<?x?xi8
  iris.all_reduce sum %ctx, %c, %c as f8E5M2 group([1]) {staged = false}
      : memref<?x?xi8, #iris.symmetric>, memref<?x?xi8, #iris.symmetric>
  // CHECK: iris.reduce_scatter prod
  iris.reduce_scatter prod %ctx, %a, %b
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  // CHECK: iris.all_to_all
  iris.all_to_all %ctx, %a, %b
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  // CHECK: iris.broadcast %{{.*}}, %{{.*}}, %{{.*}} root(%{{.*}}) :
  iris.broadcast %ctx, %a, %b root(%r)
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  // CHECK: iris.reduce avg %{{.*}}, %{{.*}}, %{{.*}} root(%{{.*}}) as ui8 :
  iris.reduce avg %ctx, %c, %c root(%r) as ui8
      : memref<?x?xi8, #iris.symmetric>, memref<?x?xi8, #iris.symmetric>
  // CHECK: iris.gather_to
  iris.gather_to %ctx, %a, %b root(%r)
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  // CHECK: iris.scatter_from
  iris.scatter_from %ctx, %a, %b root(%r) group([0, 1])
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
  return
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @groups
  gpu.func @groups(%ctx: !iris.ctx, %state: memref<?xi32, #iris.symmetric>)
      kernel {
    // CHECK: iris.group_size %{{.*}} : index
    %n = iris.group_size %ctx : index
    // CHECK: iris.group_index %{{.*}} : index
    %me = iris.group_index %ctx : index
    // CHECK: iris.group_member %{{.*}}, %{{.*}} : index
    %r = iris.group_member %ctx, %me : index
    // CHECK: iris.barrier %{{.*}}, %{{.*}} group : memref<?xi32, #iris.symmetric>
    iris.barrier %ctx, %state group : memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

// CHECK-LABEL: func.func @launches
func.func @launches(%ctx: !iris.ctx, %s: memref<?xi32, #iris.symmetric>,
                    %p: index) {
  // CHECK: iris.launch @kernels::@groups programs(%{{.*}}) group([1, 0]) args(
  iris.launch @kernels::@groups programs(%p) group([1, 0])
      args(%ctx, %s : !iris.ctx, memref<?xi32, #iris.symmetric>)
  return
}

// CHECK-LABEL: func.func @counted
func.func @counted(%ctx: !iris.ctx, %a: memref<?xf16, #iris.symmetric>,
                   %b: memref<?xf16, #iris.symmetric>,
                   %c: memref<?xi8, #iris.symmetric>,
                   %n: memref<?xi64, #iris.symmetric>) {
  // CHECK: iris.all_to_all_v %{{.*}}, %[[A:.*]] chunks(%[[N:.*]], %[[N]]), %{{.*}} chunks(%[[N]], %[[N]]) group([1, 0]) {variant = "pull"} : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>, memref<?xi64, #iris.symmetric>
  iris.all_to_all_v %ctx, %a chunks(%n, %n), %b chunks(%n, %n) group([1, 0])
      {variant = "pull"}
      : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>,
        memref<?xi64, #iris.symmetric>
  // CHECK: iris.all_gather_v %{{.*}}, %{{.*}}, %{{.*}} chunks(%[[N]], %[[N]]) as ui8 : memref<?xi8, #iris.symmetric>, memref<?xi8, #iris.symmetric>, memref<?xi64, #iris.symmetric>
  iris.all_gather_v %ctx, %c, %c chunks(%n, %n) as ui8
      : memref<?xi8, #iris.symmetric>, memref<?xi8, #iris.symmetric>,
        memref<?xi64, #iris.symmetric>
  return
}
