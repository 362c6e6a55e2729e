// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fence at the head of a loop waits for the stores of the iteration before.
// LLVM 22.1.8 removes such waits when it visits the loop for the first time.

// RUN: iris-compile %s --target=gfx1100 --emit=asm \
// RUN:   | FileCheck %s -DWAIT="s_waitcnt_vscnt null, 0x0"
// RUN: iris-compile %s --target=gfx1201 --emit=asm \
// RUN:   | FileCheck %s -DWAIT="s_wait_storecnt 0x0"

// CHECK-LABEL: {{^}}grow:
// CHECK: Loop Header
// CHECK-NOT: {{global_load|global_store|branch}}
// CHECK: [[WAIT]]
// CHECK-NOT: {{global_load|global_store|branch}}
// CHECK: s_barrier
// CHECK: global_load_b32
// CHECK: global_store_b32
gpu.module @kernels {
  gpu.func @grow(%a: memref<?xi32>) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    scf.while (%i = %c0) : (index) -> index {
      %value = memref.load %a[%c1] : memref<?xi32>
      %goesOn = arith.cmpi ne, %value, %zero : i32
      scf.condition(%goesOn) %i : index
    } do {
    ^bb0(%i: index):
      %t = tile.range : tensor<512xi32>
      tile.store %t, %a[%i] : tensor<512xi32>, memref<?xi32>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}
