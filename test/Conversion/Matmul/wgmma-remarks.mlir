// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A remark for each reason why an operand is not copied by TMA.
// RUN: iris-opt %s --split-input-file --verify-diagnostics --remarks-filter=tile-lower-matmul --remark-format=emitRemark --pass-pipeline='builtin.module(gpu.module(tile-assign-matmul-layouts{target=sm_90a},tile-assign-layouts{warp-size=32},tile-insert-barriers,tile-lower-matmul{target=sm_90a warp-size=32}))'

gpu.module @kernels {
  gpu.func @strides(%a: memref<?x?xf16, strided<[?, ?]>>, %b: memref<?x?xf16>, %k: index) kernel {
    // expected-remark @+1 {{[Missed] matmul | Category:tile-lower-matmul | Reason="a has no dimension of stride 1; expected one: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %a[%k, %k], %b[%k, %k] k(%k) block(64) : memref<?x?xf16, strided<[?, ?]>>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @major(%a: memref<?x?xi8>, %k: index) kernel {
    // expected-remark @+1 {{Reason="b is i8 with stride 1 along dimension 1; expected it along k, dimension 0: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %a[%k, %k], %a[%k, %k] k(%k) block(64) : memref<?x?xi8>, memref<?x?xi8> -> tensor<64x64xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @steps(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %k: index) kernel {
    %p = memref.subview %a[0, 0] [%k, %k] [2, 1] : memref<?x?xf16> to memref<?x?xf16, strided<[?, 1]>>
    // expected-remark @+1 {{Reason="a is a subview with strides other than 1; expected strides of 1: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %p[%k, %k], %b[%k, %k] k(%k) block(64) : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @batch(%a: memref<?x?x?xf16>, %b: memref<?x?xf16>, %k: index) kernel {
    %p = memref.subview %a[%k, 0, 0] [1, %k, %k] [1, 1, 1] : memref<?x?x?xf16> to memref<?x?xf16, strided<[?, 1], offset: ?>>
    // expected-remark @+1 {{Reason="a is a subview of a buffer with 3 dimensions; expected 2: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %p[%k, %k], %b[%k, %k] k(%k) block(64) : memref<?x?xf16, strided<[?, 1], offset: ?>>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @made(%a: memref<?xf16>, %b: memref<?x?xf16>, %k: index) kernel {
    %p = memref.reinterpret_cast %a to offset: [0], sizes: [%k, %k], strides: [%k, 1] : memref<?xf16> to memref<?x?xf16, strided<[?, 1]>>
    // expected-remark @+1 {{Reason="a comes from 'memref.reinterpret_cast'; expected a view of an argument of the kernel: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %p[%k, %k], %b[%k, %k] k(%k) block(64) : memref<?x?xf16, strided<[?, 1]>>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // The map would start at the pointer, not at the first element.
  gpu.func @offset(%a: memref<?x?xf16, strided<[?, 1], offset: 8>>, %b: memref<?x?xf16>, %k: index) kernel {
    // expected-remark @+1 {{Reason="a is a view of an argument whose type has an offset; expected none: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %a[%k, %k], %b[%k, %k] k(%k) block(64) : memref<?x?xf16, strided<[?, 1], offset: 8>>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @own(%b: memref<?x?xf16>, %k: index) workgroup(%a: memref<64x64xf16, #gpu.address_space<workgroup>>) kernel {
    // expected-remark @+1 {{Reason="a is workgroup memory; expected a view of an argument of the kernel: threads copy it to shared memory, element by element"}}
    %c = tile.matmul %a[%k, %k], %b[%k, %k] k(%k) block(64) : memref<64x64xf16, #gpu.address_space<workgroup>>, memref<?x?xf16> -> tensor<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @exact(%a: memref<?x?xf32>, %b: memref<?x?xf32, strided<[1, ?]>>, %k: index) kernel {
    // expected-remark @+1 {{Reason="multiplies f32 exactly, without tensor cores; expected precision(tf32)"}}
    %c = tile.matmul %a[%k, %k], %b[%k, %k] k(%k) block(32) : memref<?x?xf32>, memref<?x?xf32, strided<[1, ?]>> -> tensor<64x64xf32>
    gpu.return
  }
}
