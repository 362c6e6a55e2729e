// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-pipeline=target=host --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=gfx942 --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=sm_90a --split-input-file --verify-diagnostics

// The divisor is a constant once it has been folded into the map.
gpu.module @kernels {
  gpu.func @constants(%b: memref<?xindex>, %i: index) kernel {
    %c3 = arith.constant 3 : index
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0 + d0 mod 4)>(%i)[%c3]
    affine.for %j = 0 to affine_map<(d0) -> (d0 ceildiv 2)>(%i) {
      memref.store %0, %b[%j] : memref<?xindex>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @zero(%b: memref<?xindex>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'affine.apply' op has a map that does not divide by a positive constant; expected floordiv, ceildiv and mod by constants of at least 1}}
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%i)[%c0]
    memref.store %0, %b[%i] : memref<?xindex>
    gpu.return
  }
}

// -----

// Only the range analysis finds that %zero is 0.
gpu.module @kernels {
  gpu.func @range(%b: memref<?xindex>, %i: index) kernel {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %small = arith.remui %i, %c4 : index
    %zero = arith.divui %small, %c4 : index
    // expected-error @below {{'affine.apply' op has a map that does not divide by a positive constant}}
    %0 = affine.apply affine_map<(d0)[s0] -> (1 + d0 ceildiv s0)>(%i)[%zero]
    memref.store %0, %b[%i] : memref<?xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @set(%b: memref<?xindex>, %i: index) kernel {
    // expected-error @below {{'affine.if' op has a map that does not divide by a positive constant}}
    affine.if affine_set<(d0) : (d0 mod -2 == 0)>(%i) {
      memref.store %i, %b[%i] : memref<?xindex>
    }
    gpu.return
  }
}
