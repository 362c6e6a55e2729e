// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics and checks of tiles; their scalar forms are unchanged.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func.func @atomic_add
  // CHECK: iris.fence release scope(gpu)
  // CHECK: scf.for
  // CHECK:   iris.element_rmw add %{{.+}}, %{{.+}} scope(gpu) : i32, !llvm.ptr
  // CHECK: iris.fence acquire scope(gpu)
  gpu.func @atomic_add(%ctx: !iris.ctx, %a: memref<?xi32, #iris.symmetric>,
                       %i: index) kernel {
    %one = arith.constant dense<1> : tensor<16xi32>
    %old = iris.atomic_rmw add %ctx, %one, %a[%i] scope(gpu)
        : tensor<16xi32>, memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // Masked-out elements are unchanged and return 0.
  // CHECK-LABEL: func.func @masked
  // CHECK-NOT: iris.fence
  // CHECK: %[[OLD:.+]] = memref.alloc() : memref<16xf32>
  // CHECK: memref.store %{{.+}}, %[[OLD]]
  // CHECK: scf.if
  // CHECK:   %[[E:.+]] = iris.element_rmw max
  // CHECK:   memref.store %[[E]], %[[OLD]]
  // CHECK-NOT: iris.fence
  gpu.func @masked(%ctx: !iris.ctx, %a: memref<?xf32, #iris.symmetric>,
                   %b: memref<?xf32>, %i: index) kernel {
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %r = tile.range : tensor<16xindex>
    %limit = tensor.splat %i : tensor<16xindex>
    %mask = arith.cmpi slt, %r, %limit : tensor<16xindex>
    %old = iris.atomic_rmw max %ctx, %one, %a[%i] mask %mask sem(relaxed)
        : tensor<16xf32>, memref<?xf32, #iris.symmetric>
    tile.store %old, %b[%i] : tensor<16xf32>, memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: func.func @cas
  // CHECK: iris.fence release
  // CHECK: iris.element_cas
  // CHECK: iris.fence acquire
  gpu.func @cas(%ctx: !iris.ctx, %a: memref<?xi64, #iris.symmetric>,
                %i: index) kernel {
    %zero = arith.constant dense<0> : tensor<16xi64>
    %one = arith.constant dense<1> : tensor<16xi64>
    %old = iris.atomic_cas %ctx, %zero, %one, %a[%i]
        : tensor<16xi64>, memref<?xi64, #iris.symmetric>
    gpu.return
  }

  // Each element has its own bounds check.
  // CHECK-LABEL: func.func @coordinates
  // CHECK: scf.for
  // CHECK:   %[[AT:.+]] = arith.index_cast %{{.+}} : i32 to index
  // CHECK:   %[[IN:.+]] = arith.cmpi ult, %[[AT]]
  // CHECK:   scf.if %[[IN]]
  // CHECK:     iris.element_rmw add
  gpu.func @coordinates(%ctx: !iris.ctx, %a: memref<?xi32, #iris.symmetric>) kernel {
    %t = tile.range : tensor<16xi32>
    %seven = arith.constant dense<7> : tensor<16xi32>
    %p = arith.muli %t, %seven : tensor<16xi32>
    %at = arith.index_cast %p : tensor<16xi32> to tensor<16xindex>
    %old = iris.atomic_rmw add %ctx, %t, %a[%at] sem(relaxed)
        : tensor<16xi32>, memref<?xi32, #iris.symmetric>, tensor<16xindex>
    gpu.return
  }

  // One record for the whole tile.
  // CHECK-LABEL: func.func @expect
  // CHECK-SAME: (%[[CTX:.+]]: !iris.ctx, %{{.+}}: memref<?xf16>
  // CHECK: scf.for
  // CHECK:   scf.if
  // CHECK: iris.record_expect %[[CTX]], %c256{{.*}}, %{{.+}} "same" f16
  // CHECK-NOT: iris.record_expect
  // CHECK: return
  gpu.func @expect(%ctx: !iris.ctx, %a: memref<?xf16>, %i: index) kernel {
    %v = tile.load %a[%i] : memref<?xf16> -> tensor<256xf16>
    %zero = arith.constant dense<0.0> : tensor<256xf16>
    iris.expect_eq %v, %zero, "same" : tensor<256xf16>
    gpu.return
  }

  // CHECK-LABEL: func.func @scalars
  // CHECK: iris.atomic_rmw
  // CHECK: iris.expect_eq
  gpu.func @scalars(%ctx: !iris.ctx, %a: memref<?xi32, #iris.symmetric>,
                    %i: index, %v: i32) kernel {
    %old = iris.atomic_rmw add %ctx, %v, %a[%i]
        : i32, memref<?xi32, #iris.symmetric>
    iris.expect_eq %old, %v, "scalar" : i32
    gpu.return
  }
}
