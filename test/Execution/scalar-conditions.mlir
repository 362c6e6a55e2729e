// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The larger one of two scalars of i64, where a branch has decided which one it is
// (guard scalar-conditions).
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s
// RUN: iris-run -n 1 --device=emulated:gfx942 %s
// RUN: iris-run -n 1 --device=emulated:gfx1201 %s
//
// Without the guard, the selection reads a condition that nothing has written.
//
// DEFINE: %{chip} = gfx942
// DEFINE: %{defect} = iris-compile %s --target=%{chip} --disable-guards=scalar-conditions -o %t.iris && not iris-run -n 1 --device=emulated:%{chip} %t.iris 2>&1 | FileCheck %s
// RUN: %{defect}
// REDEFINE: %{chip} = gfx90a
// RUN: %{defect}
// REDEFINE: %{chip} = gfx950
// RUN: %{defect}
// CHECK: sums with the larger number

!l = memref<16xi64, #iris.symmetric>
!f = memref<256xf32, #iris.symmetric>
!tl = tensor<16xi64>
!tf = tensor<256xf32>

gpu.module @kernels {
  gpu.func @fill(%numbers: !l, %floats: !f) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %number = tile.range : !tl
    %k37 = arith.constant dense<37> : !tl
    %k31 = arith.constant dense<31> : !tl
    %product = arith.muli %number, %k37 : !tl
    %x = arith.andi %product, %k31 : !tl
    tile.store %x, %numbers[%c0] : !tl, !l
    %index = tile.range : tensor<256xi32>
    %float = arith.sitofp %index : tensor<256xi32> to !tf
    tile.store %float, %floats[%c0] : !tf, !f
    gpu.return
  }
  // For each x of at most `limit`, adds 137 floats, but doubles the sum at
  // `limit`, and mixes the larger number into a hash.
  gpu.func @add(%numbers: !l, %floats: !f, %sums: !f, %hashes: !l) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %five = arith.constant 5 : i64
    %first = arith.constant 0 : i64
    %step = arith.constant 1 : i64
    %end = arith.constant 137 : i64
    %zero = arith.constant 0.0 : f32
    %two = arith.constant 2.0 : f32
    %limit = memref.load %numbers[%c3] : !l
    %sum, %hash = scf.for %k = %c0 to %c16 step %c1
        iter_args(%sum0 = %zero, %hash0 = %first) -> (f32, i64) {
      %number = memref.load %numbers[%k] : !l
      // Sets SCC, as the result is not 0.
      %x = arith.xori %number, %five : i64
      %is_larger = arith.cmpi sgt, %x, %limit : i64
      %larger = arith.maxsi %x, %limit : i64
      %sum3, %hash3 = scf.if %is_larger -> (f32, i64) {
        scf.yield %sum0, %hash0 : f32, i64
      } else {
        %sum2, %hash2 = scf.for %i = %first to %end step %step
            iter_args(%sum1 = %sum0, %hash1 = %hash0) -> (f32, i64) : i64 {
          %at = arith.index_cast %i : i64 to index
          %y = memref.load %floats[%at] : !f
          %is = arith.cmpi eq, %i, %larger : i64
          %added = arith.addf %sum1, %y : f32
          %doubled = arith.mulf %sum1, %two : f32
          %next = arith.select %is, %doubled, %added : f32
          %mixed = arith.xori %hash1, %larger : i64
          %next_hash = arith.addi %mixed, %i : i64
          scf.yield %next, %next_hash : f32, i64
        }
        scf.yield %sum2, %hash2 : f32, i64
      }
      scf.yield %sum3, %hash3 : f32, i64
    }
    memref.store %sum, %sums[%c0] : !f
    memref.store %hash, %hashes[%c0] : !l
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %sums: !f, %hashes: !l) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %sum = memref.load %sums[%c0] : !f
    // 10 of the 16 numbers are at most 15.
    %want = arith.constant 9622338.0 : f32
    iris.expect_eq %sum, %want, "sums with the larger number" : f32
    %hash = memref.load %hashes[%c0] : !l
    %want_hash = arith.constant 93440 : i64
    iris.expect_eq %hash, %want_hash, "hashes of the larger number" : i64
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %numbers = iris.alloc() : !l
  %floats = iris.alloc() : !f
  %sums = iris.alloc() : !f
  %hashes = iris.alloc() : !l
  iris.launch @kernels::@fill programs(%one) args(%numbers, %floats : !l, !f)
  iris.launch @kernels::@add programs(%one) args(%numbers, %floats, %sums, %hashes : !l, !f, !f, !l)
  iris.launch @kernels::@check programs(%one) args(%ctx, %sums, %hashes : !iris.ctx, !f, !l)
  iris.sync %ctx
  return
}
