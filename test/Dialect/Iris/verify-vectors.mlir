// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-verify-vectors --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=gfx942 --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=sm_90a --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @supported(%b: memref<?xbf16>, %c: memref<?xf32>, %i: index) kernel {
    %0 = tile.load %b[%i] : memref<?xbf16> -> tensor<32xbf16>
    %1 = arith.addf %0, %0 : tensor<32xbf16>
    tile.store %1, %b[%i] : tensor<32xbf16>, memref<?xbf16>
    %2 = vector.load %c[%i] : memref<?xf32>, vector<4xf32>
    %3 = math.exp %2 : vector<4xf32>
    vector.store %3, %c[%i] : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @several_dimensions(%b: memref<?xf32>) kernel {
    // expected-error @below {{'arith.constant' op has a result of type 'vector<4x4xf32>'; expected a tile (tensor), or a vector of one dimension and fixed length that is not of bf16}}
    %0 = arith.constant dense<1.0> : vector<4x4xf32>
    // expected-error @below {{'math.exp' op has a result of type 'vector<4x4xf32>'}}
    %1 = math.exp %0 : vector<4x4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @scalable(%x: f32) kernel {
    // expected-error @below {{'vector.broadcast' op has a result of type 'vector<[4]xf32>'}}
    %0 = vector.broadcast %x : f32 to vector<[4]xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @bf16(%x: bf16) kernel {
    // expected-error @below {{'vector.broadcast' op has a result of type 'vector<8xbf16>'}}
    %0 = vector.broadcast %x : bf16 to vector<8xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'func.func' op has an argument of type 'vector<2x2xi32>'}}
  func.func @argument(%x: vector<2x2xi32>) {
    return
  }
}

// -----

// What is written for one target is that target's.
gpu.module @kernels {
  llvm.func @matrix_core(%x: vector<8xbf16>) {
    %0 = llvm.fadd %x, %x : vector<8xbf16>
    llvm.return
  }
}
