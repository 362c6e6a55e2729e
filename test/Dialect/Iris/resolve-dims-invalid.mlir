// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions that a buffer does not have, also in the pipelines: upstream's
// canonicalization would read past the type's shape.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-inline-functions,iris-resolve-dims))' --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=host --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=gfx942 --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=sm_90a --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @below(%b: memref<?x?xf32>, %out: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %m1 = arith.constant -1 : index
    // expected-error @below {{'memref.dim' op has dimension -1; expected 0 to 1}}
    %0 = memref.dim %b, %m1 : memref<?x?xf32>
    memref.store %0, %out[%c0] : memref<?xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @above(%b: memref<?x?xf32>, %out: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    // expected-error @below {{'memref.dim' op has dimension 5; expected 0 to 1}}
    %0 = memref.dim %b, %c5 : memref<?x?xf32>
    memref.store %0, %out[%c0] : memref<?xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @propagated(%b: memref<?xf32>, %out: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m1 = arith.subi %c0, %c1 : index
    scf.for %i = %c0 to %c1 step %c1 {
      // expected-error @below {{'memref.dim' op has dimension -1; expected 0}}
      %0 = memref.dim %b, %m1 : memref<?xf32>
      memref.store %0, %out[%i] : memref<?xindex>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  func.func @rows(%b: memref<?xf32>, %dim: index) -> index {
    // expected-error @below {{'memref.dim' op has dimension 2; expected 0}}
    %0 = memref.dim %b, %dim : memref<?xf32>
    return %0 : index
  }
  gpu.func @inlined(%b: memref<?xf32>, %out: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %0 = func.call @rows(%b, %c2) : (memref<?xf32>, index) -> index
    memref.store %0, %out[%c0] : memref<?xindex>
    gpu.return
  }
}
