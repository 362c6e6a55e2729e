// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics at tiles of coordinates: the programs of a rank count elements in the bins
// of the next rank. Some bins are outside of the buffer, some elements are masked out,
// and several elements of a tile are in one bin. The old value of a count is an
// element's slot in its bin: each slot is taken once. An element of each bin owns it.
//
// RUN: iris-run -n 1 %s | FileCheck %s
// RUN: iris-run -n 2 %s | FileCheck %s
// RUN: iris-run -n 3 --device=reference %s | FileCheck %s
// RUN: iris-run -n 8 %s | FileCheck %s
// RUN: %if emulator %{ iris-run -n 2 --device=emulated:gfx90a %s | FileCheck %s %}
// RUN: %if emulator %{ iris-run -n 3 --device=emulated:gfx942 %s | FileCheck %s %}
// RUN: %if emulator %{ iris-run -n 2 --device=emulated:gfx1201 %s | FileCheck %s %}
// CHECK: {{[0-9]+}} rank{{s?}} on {{.*}}: all {{[0-9]+}} checks passed
gpu.module @kernels {
  // The bins of a program's elements, from -2 to 8, and which of them count.
  func.func @bins(%rank: index, %program: index) -> (tensor<64xindex>, tensor<64xi1>) {
    %i = tile.range : tensor<64xi32>
    %r = arith.index_cast %rank : index to i32
    %p = arith.index_cast %program : index to i32
    %c5 = arith.constant 5 : i32
    %c77 = arith.constant 77 : i32
    %ofRank = arith.muli %r, %c5 : i32
    %ofProgram = arith.muli %p, %c77 : i32
    %salt = arith.addi %ofRank, %ofProgram : i32
    %salts = tensor.splat %salt : tensor<64xi32>
    %seed = arith.addi %i, %salts : tensor<64xi32>
    %factor = arith.constant dense<-1640531535> : tensor<64xi32>
    %c15 = arith.constant dense<15> : tensor<64xi32>
    %c11 = arith.constant dense<11> : tensor<64xi32>
    %c2 = arith.constant dense<2> : tensor<64xi32>
    %c3 = arith.constant dense<3> : tensor<64xi32>
    %c0 = arith.constant dense<0> : tensor<64xi32>
    %product = arith.muli %seed, %factor : tensor<64xi32>
    %hash = arith.shrui %product, %c15 : tensor<64xi32>
    %small = arith.remui %hash, %c11 : tensor<64xi32>
    %bin = arith.subi %small, %c2 : tensor<64xi32>
    %bins = arith.index_cast %bin : tensor<64xi32> to tensor<64xindex>
    %third = arith.remui %hash, %c3 : tensor<64xi32>
    %counts = arith.cmpi ne, %third, %c0 : tensor<64xi32>
    return %bins, %counts : tensor<64xindex>, tensor<64xi1>
  }

  gpu.func @count(%ctx: !iris.ctx, %counts: memref<7xi32, #iris.symmetric>,
                  %slots: memref<7x?xi32, #iris.symmetric>,
                  %owners: memref<7xi64, #iris.symmetric>) kernel {
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %program = gpu.block_id x
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %after = arith.addi %rank, %c1 : index
    %next = arith.remui %after, %ranks : index
    %bins, %mask = func.call @bins(%rank, %program) : (index, index) -> (tensor<64xindex>, tensor<64xi1>)
    %ones = arith.constant dense<1> : tensor<64xi32>
    %slot = iris.atomic_rmw add %ctx, %ones, %counts[%bins] to %next mask %mask sem(relaxed)
      : tensor<64xi32>, memref<7xi32, #iris.symmetric>, tensor<64xindex>
    %slotIndex = arith.index_cast %slot : tensor<64xi32> to tensor<64xindex>
    %before = iris.atomic_rmw add %ctx, %ones, %slots[%bins, %slotIndex] to %next mask %mask sem(relaxed)
      : tensor<64xi32>, memref<7x?xi32, #iris.symmetric>, tensor<64xindex>, tensor<64xindex>
    %zeros = arith.constant dense<0> : tensor<64xi32>
    iris.expect_eq %before, %zeros, "each slot is taken once" : tensor<64xi32>

    // Elements that are masked out or have no bin take slot 0 of none.
    %first = arith.constant dense<0> : tensor<64xindex>
    %last = arith.constant dense<6> : tensor<64xindex>
    %notBelow = arith.cmpi sge, %bins, %first : tensor<64xindex>
    %notAbove = arith.cmpi sle, %bins, %last : tensor<64xindex>
    %inside = arith.andi %notBelow, %notAbove : tensor<64xi1>
    %has = arith.andi %inside, %mask : tensor<64xi1>
    %without = arith.select %has, %zeros, %slot : tensor<64xi1>, tensor<64xi32>
    iris.expect_eq %without, %zeros, "others have no slot" : tensor<64xi32>

    %i = tile.range : tensor<64xi64>
    %one64 = arith.constant dense<1> : tensor<64xi64>
    %zero64 = arith.constant dense<0> : tensor<64xi64>
    %base = arith.muli %program, %c64 : index
    %base64 = arith.index_cast %base : index to i64
    %bases = tensor.splat %base64 : tensor<64xi64>
    %number = arith.addi %i, %bases : tensor<64xi64>
    %name = arith.addi %number, %one64 : tensor<64xi64>
    // Others' bins are out of bounds: a compare-and-swap has no mask.
    %outside = arith.constant dense<7> : tensor<64xindex>
    %bin = arith.select %has, %bins, %outside : tensor<64xi1>, tensor<64xindex>
    %owner = iris.atomic_cas %ctx, %zero64, %name, %owners[%bin] to %next
      : tensor<64xi64>, memref<7xi64, #iris.symmetric>, tensor<64xindex>
    %noOwner = arith.select %has, %zero64, %owner : tensor<64xi1>, tensor<64xi64>
    iris.expect_eq %noOwner, %zero64, "others own nothing" : tensor<64xi64>
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %counts: memref<7xi32, #iris.symmetric>,
                  %slots: memref<7x?xi32, #iris.symmetric>,
                  %owners: memref<7xi64, #iris.symmetric>, %programs: index) kernel {
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c64 = arith.constant 64 : index
    %before = arith.addi %rank, %ranks : index
    %prior = arith.subi %before, %c1 : index
    %sender = arith.remui %prior, %ranks : index
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %b = %c0 to %c7 step %c1 {
      %owner = memref.load %owners[%b] : memref<7xi64, #iris.symmetric>
      %all, %owned = scf.for %p = %c0 to %programs step %c1 iter_args(%sum = %none, %own = %none) -> (i32, i32) {
        %bins, %mask = func.call @bins(%sender, %p) : (index, index) -> (tensor<64xindex>, tensor<64xi1>)
        %wanted = tensor.splat %b : tensor<64xindex>
        %equal = arith.cmpi eq, %bins, %wanted : tensor<64xindex>
        %mine = arith.andi %equal, %mask : tensor<64xi1>
        %ones = arith.extui %mine : tensor<64xi1> to tensor<64xi32>
        %number = tile.reduce sum %ones dim 0 : tensor<64xi32> -> i32
        %next = arith.addi %sum, %number : i32
        %i = tile.range : tensor<64xi64>
        %base = arith.muli %p, %c64 : index
        %begin = arith.addi %base, %c1 : index
        %begin64 = arith.index_cast %begin : index to i64
        %begins = tensor.splat %begin64 : tensor<64xi64>
        %name = arith.addi %i, %begins : tensor<64xi64>
        %owners64 = tensor.splat %owner : tensor<64xi64>
        %isOwner = arith.cmpi eq, %name, %owners64 : tensor<64xi64>
        %ownsBin = arith.andi %isOwner, %mine : tensor<64xi1>
        %owns = arith.extui %ownsBin : tensor<64xi1> to tensor<64xi32>
        %found = tile.reduce sum %owns dim 0 : tensor<64xi32> -> i32
        %nextOwn = arith.addi %own, %found : i32
        scf.yield %next, %nextOwn : i32, i32
      }
      %count = memref.load %counts[%b] : memref<7xi32, #iris.symmetric>
      iris.expect_eq %count, %all, "elements of a bin" : i32
      %isEmpty = arith.cmpi eq, %all, %none : i32
      %wantedOwners = arith.select %isEmpty, %none, %one : i32
      iris.expect_eq %owned, %wantedOwners, "one element of a bin owns it" : i32
      %size = memref.dim %slots, %c1 : memref<7x?xi32, #iris.symmetric>
      scf.for %j = %c0 to %size step %c64 {
        %taken = tile.load %slots[%b, %j] : memref<7x?xi32, #iris.symmetric> -> tensor<1x64xi32>
        %k = tile.range dim 1 : tensor<1x64xi32>
        %j32 = arith.index_cast %j : index to i32
        %js = tensor.splat %j32 : tensor<1x64xi32>
        %number = arith.addi %k, %js : tensor<1x64xi32>
        %alls = tensor.splat %all : tensor<1x64xi32>
        %isTaken = arith.cmpi slt, %number, %alls : tensor<1x64xi32>
        %want = arith.extui %isTaken : tensor<1x64xi1> to tensor<1x64xi32>
        iris.expect_eq %taken, %want, "slots of a bin" : tensor<1x64xi32>
      }
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %programs = arith.constant 3 : index
  %most = arith.constant 192 : index
  %counts = iris.alloc() : memref<7xi32, #iris.symmetric>
  %slots = iris.alloc(%most) : memref<7x?xi32, #iris.symmetric>
  %owners = iris.alloc() : memref<7xi64, #iris.symmetric>
  iris.launch @kernels::@count programs(%programs)
    args(%ctx, %counts, %slots, %owners : !iris.ctx, memref<7xi32, #iris.symmetric>,
         memref<7x?xi32, #iris.symmetric>, memref<7xi64, #iris.symmetric>)
  iris.sync %ctx
  iris.launch @kernels::@check programs(%one)
    args(%ctx, %counts, %slots, %owners, %programs : !iris.ctx, memref<7xi32, #iris.symmetric>,
         memref<7x?xi32, #iris.symmetric>, memref<7xi64, #iris.symmetric>, index)
  iris.sync %ctx
  return
}
