// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's own tools read a package: one entry per target and translation method,
// with the strings of RuntimeABI.h.

// RUN: rm -rf %t && mkdir %t
// RUN: iris-compile %s --target=host --translation=both -o %t/a.iris
// RUN: llvm-objdump --offloading %t/a.iris | FileCheck %s --check-prefix=LIST
// LIST:      OFFLOADING IMAGE [0]:
// LIST-NEXT: kind elf
// LIST-NEXT: arch host
// LIST-NEXT: triple x86_64-unknown-linux-gnu
// LIST-NEXT: producer none
// LIST:      OFFLOADING IMAGE [1]:
// LIST-NEXT: kind elf
// LIST-NEXT: arch host
// LIST-NOT:  OFFLOADING IMAGE

// The embedded image equals the output of --emit=obj.
// RUN: iris-compile %s --target=host --emit=obj -o %t/host.so
// RUN: iris-compile %s --target=host -o %t/one.iris
// RUN: llvm-offload-binary %t/one.iris --image=file=%t/extracted.so,triple=x86_64-unknown-linux-gnu,arch=host
// RUN: cmp %t/host.so %t/extracted.so

// The strings, and the metadata attribute by attribute as JSON.
// RUN: strings -n 3 %t/a.iris | FileCheck %s --check-prefix=STRINGS
// STRINGS: {"kernels":[{"args":[{"kind":"context","offset":0},{"element":"f16","kind":"memref","offset":88,"sizes":[null,64],"strides":null,"symmetric":true}],"args_bytes":104,"config":{"scale":0.5},"coresident":false,"name":"k","sites":[],"workgroup":[1,1,1]}]}
// STRINGS-DAG: iris.abi
// STRINGS-DAG: 1.{{[0-9]+}}
// STRINGS-DAG: iris.translation
// STRINGS-DAG: iris.hash
// STRINGS-DAG: {{^[0-9a-f]{16}$}}
// STRINGS-DAG: iris.meta

// Packages can be concatenated, and equal inputs give equal bytes.
// RUN: iris-compile %s --target=host --translation=table -o %t/two.iris
// RUN: cat %t/one.iris %t/two.iris | cmp - %t/a.iris

gpu.module @kernels {
  llvm.func @k(%args: !llvm.ptr, %program: !llvm.ptr) attributes {
      iris.meta = {name = "k", args_bytes = 104 : i64, coresident = false,
                   workgroup = [1, 1, 1], sites = [], config = {scale = 0.5 : f32},
                   args = [{kind = "context", offset = 0 : i64},
                           {kind = "memref", offset = 88 : i64, element = "f16",
                            symmetric = true, sizes = [unit, 64], strides = unit}]}} {
    llvm.return
  }
}
