// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx942}))'
// RUN: not iris-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx1}))' 2>&1 \
// RUN:   | FileCheck %s
// CHECK: error: unknown target 'gfx1'; expected one of gfx942, gfx950

gpu.module @kernels {
  gpu.func @tile(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
                 %v: tensor<64xi32>, %i: index) kernel {
    // expected-error @+1 {{works on a tile; expected a scalar}}
    %old = iris.atomic_rmw add %ctx, %v, %b[%i]
        : tensor<64xi32>, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @rank(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
                 %v: i32, %i: index) kernel {
    // expected-error @+1 {{names a rank; expected a translated buffer}}
    iris.signal set %ctx, %v, %b[%i] to %i
        : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @structured(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>,
                       %v: i32, %i: index, %c: i1) kernel {
    scf.if %c {
      // expected-error @+1 {{is inside scf.if; expected unstructured control flow}}
      iris.signal set %ctx, %v, %b[%i] : i32, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{returns values; expected a kernel}}
  func.func @results(%ctx: !iris.ctx) -> index attributes {iris.kernel} {
    %rank = iris.rank %ctx : index
    return %rank : index
  }
}
