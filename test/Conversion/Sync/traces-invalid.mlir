// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(iris-prepare-traces{enable=true})'

gpu.module @kernels {
  gpu.func @no_name(%ctx: !iris.ctx) kernel {
    // expected-error @+1 {{has no span name; expected one}}
    iris.trace begin %ctx, ""
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @early_bytes(%ctx: !iris.ctx, %n: index) kernel {
    // expected-error @+1 {{has bytes at the beginning of a span; expected them at its end}}
    iris.trace begin %ctx, "fetch" bytes(%n)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{is called __iris_clock; traces need a kernel of that name}}
  gpu.func @__iris_clock(%ctx: !iris.ctx) kernel {
    iris.trace begin %ctx, "mine"
    gpu.return
  }
}
