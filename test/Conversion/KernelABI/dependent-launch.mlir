// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels wait for the one in front of them where the chip launches them before
// that has ended. Only a kernel that waits for no other rank lets the next one
// start early.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=sm_90a}))' | FileCheck %s
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=sm_120}))' | FileCheck %s
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=sm_89}))' | FileCheck %s --check-prefix=NONE
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=gfx942}))' | FileCheck %s --check-prefix=NONE
// NONE-NOT: dependent_launch
// NONE-NOT: griddepcontrol

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @alone
  // CHECK-SAME: dependent_launch = true
  // CHECK-NEXT: llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}"
  // CHECK-NEXT: llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;", "~{memory}"
  gpu.func @alone(%to: memref<4xi32>) kernel {
    %c0 = arith.constant 0 : index
    %value = memref.load %to[%c0] : memref<4xi32>
    memref.store %value, %to[%c0] : memref<4xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @waits
  // CHECK-SAME: dependent_launch = true
  // CHECK-NEXT: griddepcontrol.wait
  // CHECK-NOT: launch_dependents
  // CHECK: gpu.return
  gpu.func @waits(%to: memref<4xi32>) kernel attributes {iris.coresident} {
    %c0 = arith.constant 0 : index
    %value = memref.load %to[%c0] : memref<4xi32>
    memref.store %value, %to[%c0] : memref<4xi32>
    gpu.return
  }
}
