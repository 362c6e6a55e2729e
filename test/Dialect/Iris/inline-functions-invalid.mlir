// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(iris-inline-functions))'

gpu.module @kernels {
  // expected-error @+1 {{calls functions that call themselves; kernels have no stack to recurse on}}
  gpu.func @recursive(%i: index) kernel {
    %j = func.call @again(%i) : (index) -> index
    gpu.return
  }
  func.func @again(%i: index) -> index {
    %j = func.call @again(%i) : (index) -> index
    return %j : index
  }
}

// -----

gpu.module @kernels {
  gpu.func @external(%i: index) kernel {
    // expected-error @+1 {{calls elsewhere, which has no body in this gpu.module; nothing is linked to kernels}}
    func.call @elsewhere(%i) : (index) -> ()
    gpu.return
  }
  func.func private @elsewhere(index)
}

// -----

gpu.module @kernels {
  gpu.func @blocks(%i: index, %c: i1) kernel {
    scf.if %c {
      // expected-error @+1 {{cannot be inlined; expected a function of one block, without early returns}}
      func.call @two_blocks(%c) : (i1) -> ()
    }
    gpu.return
  }
  func.func @two_blocks(%c: i1) {
    cf.cond_br %c, ^a, ^b
  ^a:
    return
  ^b:
    return
  }
}
