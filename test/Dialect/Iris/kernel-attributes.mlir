// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the iris dialect that mean nothing are rejected for every
// target: a misspelt one would be ignored.
//
// RUN: iris-opt %s --iris-verify-portable --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-verify-portable=allow-nonportable --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=host --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=sm_90a --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @known(%b: memref<?xf32> {iris.divisibility = 16 : i64},
                  %c: memref<?xf32> {llvm.noalias}) kernel
      attributes {iris.num_warps = 8 : i32, iris.may_overlap, other.attribute} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has an unknown attribute 'iris.num_warp'; did you mean 'iris.num_warps'? (docs/reference/kernel-language.md)}}
  gpu.func @misspelt() kernel attributes {iris.num_warp = 8 : i32} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has an unknown attribute 'iris.divisible'; did you mean 'iris.divisibility'?}}
  gpu.func @misspelt(%b: memref<?xf32> {iris.divisible = 16 : i64}) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // What passes set is not for their input.
  // expected-error @below {{'gpu.func' op has an unknown attribute 'iris.shared_bytes'; expected iris.num_warps, iris.may_overlap, iris.config on a kernel (gpu.func) (docs/reference/kernel-language.md)}}
  gpu.func @later() kernel attributes {iris.shared_bytes = 8 : i64} {
    gpu.return
  }
}

// -----

// expected-error @below {{'gpu.module' op has the attribute 'iris.num_warps' where it means nothing; expected it on a kernel (gpu.func)}}
gpu.module @kernels attributes {iris.num_warps = 8 : i32} {
  gpu.func @module() kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @loop(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op has the attribute 'iris.num_warps' where it means nothing; expected it on a kernel (gpu.func)}}
    scf.for %i = %c0 to %n step %c1 {
    } {iris.num_warps = 8 : i32}
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'func.func' op has the attribute 'iris.divisibility' where it means nothing; expected it on an argument of a kernel}}
  func.func @inlined(%i: index {iris.divisibility = 16 : i64}) {
    return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has the attribute 'num_warps', which means nothing; expected 'iris.num_warps'}}
  gpu.func @bare() kernel attributes {num_warps = 8 : i32} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @range() kernel {
    // expected-error @below {{'tile.range' op has an unknown attribute 'iris.num_warp'; expected no attribute of the iris dialect here (docs/reference/kernel-language.md)}}
    %t = tile.range {iris.num_warp = 8 : i32} : tensor<64xi32>
    gpu.return
  }
}
