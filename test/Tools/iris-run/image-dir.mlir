// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host images stay in the folder of IRIS_IMAGE_DIR, with their line tables, for
// profilers that read them after the process has ended: kernels and @main of
// each rank. A second run adds files.
// RUN: rm -rf %t && mkdir %t
// RUN: iris-compile %s -o %t.iris
// RUN: env IRIS_IMAGE_DIR=%t iris-run -n 2 %t.iris
// RUN: ls %t | FileCheck %s --check-prefix=FOUR
// FOUR-COUNT-4: {{^iris-image-[0-9]+-[0-9]+\.so$}}
// FOUR-NOT: iris-image
// RUN: llvm-dwarfdump --debug-line %t/*-0.so | FileCheck %s
// CHECK: name: "image-dir.mlir"
// RUN: env IRIS_IMAGE_DIR=%t iris-run -n 1 --ranks=threads %t.iris
// RUN: ls %t | wc -l | FileCheck %s --check-prefix=SIX
// SIX: {{^ *6$}}
// RUN: not env IRIS_IMAGE_DIR=%t/none iris-run -n 1 %t.iris 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: cannot create '{{.*}}/none/iris-image-{{[0-9]+}}-0.so' (set by IRIS_IMAGE_DIR): No such file or directory

!buffer = memref<?xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @check(%ctx: !iris.ctx, %out: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %v = tile.range : tensor<64xi32>
    tile.store %v, %out[%c0] : tensor<64xi32>, !buffer
    %w = tile.load %out[%c0] : !buffer -> tensor<64xi32>
    iris.expect_eq %w, %v, "range" : tensor<64xi32>
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %out = iris.alloc(%n) : !buffer
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %out : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
