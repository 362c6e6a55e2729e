// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-place-allocas | FileCheck %s

gpu.module @kernels {
  // One buffer for each op, wherever it is; its views have its memory space.
  // CHECK-LABEL: gpu.func @buffers
  // CHECK-SAME: workgroup(%[[A:.+]] : memref<16x32xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:.+]] : memref<64xi32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-NOT: memref.alloca
  // CHECK: scf.for
  // CHECK: %[[PART:.+]] = memref.subview %[[A]]{{.*}} to memref<8x8xf16, strided<[32, 1], offset: ?>, #gpu.address_space<workgroup>>
  // CHECK: tile.load %[[PART]]
  // CHECK: tile.store %{{.+}}, %[[A]]
  // CHECK: memref.store %{{.+}}, %[[B]]
  gpu.func @buffers(%v: memref<?xi32>, %i: index, %n: index, %x: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloca() : memref<16x32xf16>
    scf.for %j = %c0 to %n step %c1 {
      %b = memref.alloca() : memref<64xi32>
      %part = memref.subview %a[%i, 0] [8, 8] [1, 1]
          : memref<16x32xf16> to memref<8x8xf16, strided<[32, 1], offset: ?>>
      %t = tile.load %part[%c0, %c0]
          : memref<8x8xf16, strided<[32, 1], offset: ?>> -> tensor<8x8xf16>
      tile.store %t, %a[%c0, %c0] : tensor<8x8xf16>, memref<16x32xf16>
      memref.store %x, %b[%j] : memref<64xi32>
    }
    gpu.return
  }

  // The local side of a transfer.
  // CHECK-LABEL: gpu.func @fetch
  // CHECK: iris.get {{.*}} memref<256xf32, #gpu.address_space<workgroup>>
  gpu.func @fetch(%ctx: !iris.ctx, %s: memref<?xf32, #iris.symmetric>, %r: index) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloca() : memref<256xf32>
    iris.get %ctx, %s[%c0], %a[%c0] from %r shape [256]
        : memref<?xf32, #iris.symmetric>, memref<256xf32>
    gpu.return
  }

  // Views that upstream does not call views, and those with several results.
  // CHECK-LABEL: gpu.func @views
  // CHECK: %[[T:.+]] = memref.transpose {{.*}} to memref<8x4xf32, strided<[1, 8]>, #gpu.address_space<workgroup>>
  // CHECK: %[[BASE:.+]], %{{.+}}, %{{.+}}:2, %{{.+}}:2 = memref.extract_strided_metadata %[[T]] : {{.*}} -> memref<f32, #gpu.address_space<workgroup>>
  // CHECK: memref.load %[[BASE]][] : memref<f32, #gpu.address_space<workgroup>>
  gpu.func @views(%o: memref<?xf32>, %i: index) kernel {
    %a = memref.alloca() : memref<4x8xf32>
    %t = memref.transpose %a (i, j) -> (j, i)
        : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
    %base, %first, %sizes:2, %strides:2 = memref.extract_strided_metadata %t
        : memref<8x4xf32, strided<[1, 8]>>
        -> memref<f32>, index, index, index, index, index
    %x = memref.load %base[] : memref<f32>
    memref.store %x, %o[%i] : memref<?xf32>
    gpu.return
  }
}
