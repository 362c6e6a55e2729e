// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On request a kernel may be for one target; ops that no target supports are
// still rejected.
//
// RUN: iris-opt %s --iris-verify-portable=allow-nonportable --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @one_target(%b: memref<?xindex>, %i: index) kernel {
    %0 = gpu.thread_id x
    memref.store %0, %b[%i] : memref<?xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_target(%x: f32) kernel {
    // expected-error @below {{'math.sinh' op is not in the portable kernel language}}
    // expected-note @below {{of 'math'}}
    %0 = math.sinh %x : f32
    // expected-error @below {{'arith.remf' op is not in the portable kernel language}}
    // expected-note @below {{of 'arith'}}
    %1 = arith.remf %x, %x : f32
    // expected-error @below {{'vector.broadcast' op works on 'vector<[4]xf32>'}}
    %2 = vector.broadcast %x : f32 to vector<[4]xf32>
    gpu.return
  }
}
