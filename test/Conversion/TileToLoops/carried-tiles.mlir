// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that is carried by one loop and then by another loop or branch.
//
// RUN: iris-opt %s --pass-pipeline='builtin.module(gpu.module(iris-outline-kernels,convert-tile-to-loops,canonicalize,cse))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func.func @loop_into_branch_into_loop
  // CHECK-NOT: tensor<
  // CHECK: return
  gpu.func @loop_into_branch_into_loop(%a: memref<?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero)
        -> (tensor<64xf32>) {
      %v = tile.load %a[%i] : memref<?xf32> -> tensor<64xf32>
      %next = arith.addf %acc, %v : tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %none = arith.cmpi eq, %n, %c0 : index
    %chosen = scf.if %none -> (tensor<64xf32>) {
      scf.yield %zero : tensor<64xf32>
    } else {
      scf.yield %sum : tensor<64xf32>
    }
    %swapped:2 = scf.for %i = %c0 to %n step %c64
        iter_args(%x = %chosen, %y = %sum) -> (tensor<64xf32>, tensor<64xf32>) {
      scf.yield %y, %x : tensor<64xf32>, tensor<64xf32>
    }
    tile.store %swapped#0, %a[%c0] : tensor<64xf32>, memref<?xf32>
    gpu.return
  }
}
