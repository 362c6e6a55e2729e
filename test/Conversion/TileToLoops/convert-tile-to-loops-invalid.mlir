// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,iris-assign-arena))' --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @unknown(%a: memref<?x?xf32>, %i: index) kernel {
    %v = tile.load %a[%i, %i] : memref<?x?xf32> -> tensor<4x8xf32>
    // expected-error @below {{'tensor.collapse_shape' op is not supported on tiles; expected arith or math ops}}
    %w = tensor.collapse_shape %v [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carrier(%a: memref<?xf32>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf32> -> tensor<8xf32>
    // expected-error @below {{'scf.execute_region' op cannot carry tiles; expected scf.for, scf.while, scf.if or scf.index_switch}}
    %w = scf.execute_region -> tensor<8xf32> {
      scf.yield %v : tensor<8xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has a body of 2 blocks; expected structured control flow (scf)}}
  gpu.func @blocks(%a: memref<?xf32>, %i: index) kernel {
    cf.br ^next
  ^next:
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has private memory; expected workgroup memory (memref.alloca), or buffers to be arguments}}
  gpu.func @memory(%i: index) private(%w: memref<8xf32, 5>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  func.func @helper(%i: index) {
    return
  }
  gpu.func @calls(%i: index) kernel {
    // expected-error @below {{calls @helper; expected calls to be inlined}}
    func.call @helper(%i) : (index) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{parameter 1 is a tile of type 'tensor<64xi32>'; expected a scalar, a memref or !iris.ctx}}
  gpu.func @parameter(%i: index, %v: tensor<64xi32>, %b: memref<?xi32>) kernel {
    tile.store %v, %b[%i] : tensor<64xi32>, memref<?xi32>
    gpu.return
  }
}
