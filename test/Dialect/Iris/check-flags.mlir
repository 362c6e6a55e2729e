// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant indices outside of buffers whose size is constant. An access or launch under
// a condition is not checked.
// RUN: iris-opt %s --iris-check-flags --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @static(%ctx: !iris.ctx, %flags: memref<32xi32, #iris.symmetric>)
      kernel {
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %c-1 = arith.constant -1 : index
    %one = arith.constant 1 : i32
    iris.signal set %ctx, %one, %flags[%c31]
        : i32, memref<32xi32, #iris.symmetric>
    // expected-error @+1 {{'iris.signal' op accesses index 32 of dimension 0 of the flags; expected 0 to 31}}
    iris.signal set %ctx, %one, %flags[%c32]
        : i32, memref<32xi32, #iris.symmetric>
    // expected-error @+1 {{'iris.wait' op accesses index -1 of dimension 0 of the flags; expected 0 to 31}}
    %seen = iris.wait %ctx, %flags[%c-1] ge %one
        : i32, memref<32xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @negative(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>)
      kernel {
    %c-1 = arith.constant -1 : index
    %one = arith.constant 1 : i32
    // expected-error @+1 {{'iris.signal' op accesses index -1 of dimension 0 of the flags; expected 0 or more}}
    iris.signal set %ctx, %one, %flags[%c-1]
        : i32, memref<?xi32, #iris.symmetric>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wait(%ctx: !iris.ctx, %flags: memref<?x8xi32, #iris.symmetric>,
      %is_wide: i1) kernel {
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c40 = arith.constant 40 : index
    %one = arith.constant 1 : i32
    // expected-note @+1 {{the access is here}}
    %seen = iris.wait %ctx, %flags[%c5, %c2] ge %one
        : i32, memref<?x8xi32, #iris.symmetric>
    scf.if %is_wide {
      iris.signal set %ctx, %one, %flags[%c40, %c2]
          : i32, memref<?x8xi32, #iris.symmetric>
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %p = arith.constant 1 : index
  %no = arith.constant false
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %ranks = iris.num_ranks %ctx : index
  %few = iris.alloc(%c5) : memref<?x8xi32, #iris.symmetric>
  %enough = iris.alloc(%c6) : memref<?x8xi32, #iris.symmetric>
  %unknown = iris.alloc(%ranks) : memref<?x8xi32, #iris.symmetric>
  // expected-error @+1 {{'iris.launch' op passes as argument 1 flags of size 5 in dimension 0; expected at least 6, because @kernels::@wait accesses index 5}}
  iris.launch @kernels::@wait programs(%p) args(%ctx, %few, %no
      : !iris.ctx, memref<?x8xi32, #iris.symmetric>, i1)
  iris.launch @kernels::@wait programs(%p) args(%ctx, %enough, %no
      : !iris.ctx, memref<?x8xi32, #iris.symmetric>, i1)
  iris.launch @kernels::@wait programs(%p) args(%ctx, %unknown, %no
      : !iris.ctx, memref<?x8xi32, #iris.symmetric>, i1)
  %is_one = arith.cmpi eq, %ranks, %p : index
  scf.if %is_one {
    iris.launch @kernels::@wait programs(%p) args(%ctx, %few, %no
        : !iris.ctx, memref<?x8xi32, #iris.symmetric>, i1)
  }
  return
}
