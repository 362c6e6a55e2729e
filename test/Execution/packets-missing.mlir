// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A packet that never arrives: the error record names the op, the epoch, the
// word that was read and the rank that should have sent it. Rank 1 sends all
// but the last word. No rank publishes anything after that.
// RUN: iris-compile %s --target=host -o %t.iris
// RUN: not iris-run -n 2 --timeout=1 %t.iris 2>&1 | FileCheck %s
// CHECK: rank 0: iris.packet_load at {{.*}}packets-missing.mlir:{{.*}} in kernels::receive
// CHECK-SAME: (element 17) should become == 41, was last seen as 40; rank 1 owed

gpu.module @kernels {
  gpu.func @receive(%ctx: !iris.ctx, %box: memref<?xi32, #iris.symmetric>,
                    %told: memref<?xi32, #iris.symmetric>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %epoch = arith.constant 41 : i32
    %old = arith.constant 40 : i32
    %one = arith.constant dense<1> : tensor<16xi32>
    %rest = arith.constant dense<1> : tensor<8xi32>
    %rank = iris.rank %ctx : index
    %sends = arith.cmpi eq, %rank, %c1 : index
    scf.if %sends {
      iris.packet_store %ctx, %one, %box[%c0] to %c0 flag(%old)
          : tensor<16xi32>, memref<?xi32, #iris.symmetric>
      iris.packet_store %ctx, %rest, %box[%c0] to %c0 flag(%epoch)
          : tensor<8xi32>, memref<?xi32, #iris.symmetric>
    } else {
      %t = iris.packet_load %ctx, %box[%c0] flag(%epoch) owed_by(%c1)
          : memref<?xi32, #iris.symmetric> -> tensor<16xi32>
      iris.signal set %ctx, %epoch, %told[%c0] to %c1
          : i32, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 32 : index
  %p = arith.constant 1 : index
  %box = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  %told = iris.alloc(%n) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@receive programs(%p) args(%ctx, %box, %told
      : !iris.ctx, memref<?xi32, #iris.symmetric>, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  return
}
