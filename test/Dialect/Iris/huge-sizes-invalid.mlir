// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Static shapes whose size 64 bits cannot hold, for every op that takes one:
// the same error on every target. 2^32 x 2^32 elements wrap around to none.
//
// RUN: iris-opt %s --iris-verify-portable --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-verify-portable=allow-nonportable --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=host --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=gfx942 --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=sm_90a --split-input-file --verify-diagnostics

!huge = memref<4294967296x4294967296xf32>
gpu.module @kernels {
  // expected-error @below {{'gpu.func' op works on 'memref<4294967296x4294967296xf32>'; expected a buffer of fewer than 2^63 bytes}}
  gpu.func @argument(%b: !huge) kernel {
    gpu.return
  }
}

// -----

// The offset of the last element overflows; a buffer without elements has none.
!strided = memref<4x4xf32, strided<[4611686018427387904, 1]>>
!none = memref<0x4294967296x4294967296xf32>
gpu.module @kernels {
  gpu.func @empty(%b: !none) kernel {
    gpu.return
  }
  // expected-error @below {{'gpu.func' op works on 'memref<4x4xf32, strided<[4611686018427387904, 1]>>'; expected a buffer of fewer than 2^63 bytes}}
  gpu.func @strides(%b: !strided) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @bytes() kernel {
    // expected-error @below {{'memref.alloca' op works on 'memref<9223372036854775807xf32>'; expected a buffer of fewer than 2^63 bytes}}
    %a = memref.alloca() : memref<9223372036854775807xf32>
    // expected-error @below {{'memref.alloca' op works on}}
    %b = memref.alloca() : memref<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @views(%b: memref<?xf32>, %c: memref<?x?xf32>, %d: memref<?xi8>,
                  %i: index) kernel {
    // expected-error @below {{'memref.view' op works on 'memref<4294967296x4294967296xf32>'; expected a buffer of fewer than 2^63 bytes}}
    %0 = memref.view %d[%i][] : memref<?xi8> to memref<4294967296x4294967296xf32>
    // expected-error @below {{'memref.cast' op works on}}
    %1 = memref.cast %c : memref<?x?xf32> to memref<4294967296x4294967296xf32>
    // expected-error @below {{'memref.subview' op works on}}
    %2 = memref.subview %c[%i, %i] [4294967296, 4294967296] [1, 1]
        : memref<?x?xf32>
        to memref<4294967296x4294967296xf32, strided<[?, 1], offset: ?>>
    // expected-error @below {{'memref.reinterpret_cast' op works on}}
    %3 = memref.reinterpret_cast %b to offset: [0],
        sizes: [4294967296, 4294967296], strides: [4294967296, 1]
        : memref<?xf32>
        to memref<4294967296x4294967296xf32, strided<[4294967296, 1]>>
    // expected-error @below {{'memref.expand_shape' op works on}}
    %4 = memref.expand_shape %b [[0, 1, 2]]
        output_shape [%i, 4294967296, 4294967296]
        : memref<?xf32> into memref<?x4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @splat(%x: f32) kernel {
    // expected-error @below {{'tensor.splat' op works on 'tensor<4294967296x4294967296xf32>'; expected tiles of at most 65536 elements}}
    %0 = tensor.splat %x : tensor<4294967296x4294967296xf32>
    // expected-error @below {{'arith.constant' op works on 'tensor<4294967296x4294967296xf32>'}}
    %1 = arith.constant dense<1.0> : tensor<4294967296x4294967296xf32>
    // expected-error @below {{'tensor.splat' op works on 'tensor<4611686018427387904x4xf32>'}}
    %2 = tensor.splat %x : tensor<4611686018427387904x4xf32>
    // expected-error @below {{'vector.broadcast' op works on 'vector<4611686018427387904xf32>'}}
    %3 = vector.broadcast %x : f32 to vector<4611686018427387904xf32>
    // expected-error @below {{'vector.broadcast' op works on 'vector<4294967296x4294967296xf32>'}}
    %4 = vector.broadcast %x : f32 to vector<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @range() kernel {
    // expected-error @below {{'tile.range' op tile 'tensor<4294967296x4294967296xi32>' has too many elements; expected at most 1048576}}
    %0 = tile.range : tensor<4294967296x4294967296xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @load(%b: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{'tile.load' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    %0 = tile.load %b[%i, %i] : memref<?x?xf32> -> tensor<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

!heap = memref<?x?xf32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @remote(%ctx: !iris.ctx, %b: !heap, %i: index) kernel {
    // expected-error @below {{'iris.load' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    %0 = iris.load %ctx, %b[%i, %i] from %i : !heap -> tensor<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

!heap = memref<?x?xf32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @get(%ctx: !iris.ctx, %b: !heap, %d: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{'iris.get' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    iris.get %ctx, %b[%i, %i], %d[%i, %i] from %i shape [4294967296, 4294967296]
        : !heap, memref<?x?xf32>
    gpu.return
  }
}

// -----

!heap = memref<?x?xf32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @put(%ctx: !iris.ctx, %b: !heap, %d: memref<?x?xf32>, %i: index) kernel {
    // expected-error @below {{'iris.put' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    iris.put %ctx, %d[%i, %i], %b[%i, %i] to %i shape [4294967296, 4294967296]
        : memref<?x?xf32>, !heap
    gpu.return
  }
}

// -----

!heap = memref<?x?xf32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @copy(%ctx: !iris.ctx, %b: !heap, %i: index) kernel {
    // expected-error @below {{'iris.copy' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    iris.copy %ctx, %b[%i, %i], %b[%i, %i] from %i to %i
        shape [4294967296, 4294967296] : !heap, !heap
    gpu.return
  }
}

// -----

!words = memref<?xi32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @packet(%ctx: !iris.ctx, %n: !words, %i: index, %v: i32) kernel {
    // expected-error @below {{'iris.packet_load' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    %0 = iris.packet_load %ctx, %n[%i] flag(%v) : !words -> tensor<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @matmul(%p: memref<?x?xf16>, %i: index) kernel {
    // expected-error @below {{'tile.matmul' op tile 'tensor<4294967296x4294967296xf32>' has too many elements}}
    %0 = tile.matmul %p[%i, %i], %p[%i, %i] k(%i) block(32)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @block(%p: memref<?x?xf16>, %i: index) kernel {
    // expected-error @below {{'tile.matmul' op has k-blocks of 4611686018427387904 for 'f16'; expected a power of two from 16 to 4096}}
    %0 = tile.matmul %p[%i, %i], %p[%i, %i] k(%i) block(4611686018427387904)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}
