// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's @main is one more image, compiled for the host whatever the
// targets are; it exports the entry point, and needs nothing but libc's memset
// and memcpy, which every process has.

// RUN: rm -rf %t && mkdir %t
// RUN: iris-compile %s --target=gfx942,host -o %t/p.iris
// RUN: llvm-objdump --offloading %t/p.iris | FileCheck %s
// CHECK:      OFFLOADING IMAGE [0]:
// CHECK-NEXT: kind elf
// CHECK-NEXT: arch gfx942
// CHECK-NEXT: triple amdgcn-amd-amdhsa
// CHECK-NEXT: producer hip
// CHECK:      OFFLOADING IMAGE [1]:
// CHECK-NEXT: kind elf
// CHECK-NEXT: arch host
// CHECK:      OFFLOADING IMAGE [2]:
// CHECK-NEXT: kind elf
// CHECK-NEXT: arch main
// CHECK-NEXT: triple x86_64-unknown-linux-gnu
// CHECK-NOT:  OFFLOADING IMAGE

// RUN: llvm-offload-binary %t/p.iris --image=file=%t/main.so,arch=main
// RUN: llvm-nm -D %t/main.so | grep -v ' U mem\(set\|cpy\)' | FileCheck %s --check-prefix=MAIN
// MAIN: T irisrtIR_main
// MAIN-NOT: {{.}}

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %x: memref<?xi32, #iris.symmetric>) kernel {
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = iris.alloc(%c64) : memref<?xi32, #iris.symmetric>
  iris.launch @kernels::@k programs(%c1) args(%ctx, %x : !iris.ctx, memref<?xi32, #iris.symmetric>)
  iris.sync %ctx
  iris.dealloc %x : memref<?xi32, #iris.symmetric>
  return
}
