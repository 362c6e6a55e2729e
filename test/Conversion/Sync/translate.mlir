// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=gfx942 translation=stride}))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,STRIDE
// RUN: iris-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(gpu.module(iris-lower-sync{target=sm_90a translation=table}))' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TABLE

// Only the descriptor's pointers change; the address is computed without a load
// if heaps have a uniform stride, else with one load from the table.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @translate
  // CHECK-SAME: (%[[CTX:[a-z0-9]+]]: !iris.ctx, %[[BUFFER:[a-z0-9]+]]: memref<?xf16, #iris.symmetric>, %[[RANK:[a-z0-9]+]]: index
  gpu.func @translate(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>,
                      %r: index, %v: f16, %i: index) kernel {
    // CHECK: %[[TO:.+]] = arith.index_cast %[[RANK]] : index to i64
    // CHECK: %[[OWN:.+]] = builtin.unrealized_conversion_cast %[[BUFFER]]
    // CHECK-SAME: to [[STRUCT:!llvm.struct<\(ptr<1>, ptr<1>, i64, array<1 x i64>, array<1 x i64>\)>]]
    // CHECK: %[[POINTER:.+]] = llvm.extractvalue %[[OWN]][1]
    // STRIDE-NOT: llvm.load
    // STRIDE: %[[ME32:.+]] = iris.ctx_field "rank" %[[CTX]] : i32
    // STRIDE: %[[ME:.+]] = arith.extui %[[ME32]]
    // STRIDE-DAG: %[[BY:.+]] = arith.subi %[[TO]], %[[ME]]
    // STRIDE-DAG: %[[STRIDE:.+]] = iris.ctx_field "heapStride" %[[CTX]] : i64
    // STRIDE: %[[DISTANCE:.+]] = arith.muli %[[BY]], %[[STRIDE]]
    // TABLE: %[[TABLE64:.+]] = iris.ctx_field "heapTable" %[[CTX]] : i64
    // TABLE: %[[TABLE:.+]] = llvm.inttoptr %[[TABLE64]] : i64 to !llvm.ptr<1>
    // TABLE: %[[ENTRY:.+]] = llvm.getelementptr %[[TABLE]][%[[TO]]] : {{.*}}, i64
    // TABLE: %[[BASE:.+]] = llvm.load %[[ENTRY]]
    // TABLE: %[[HEAP:.+]] = iris.ctx_field "heapBase" %[[CTX]] : i64
    // TABLE: %[[DISTANCE:.+]] = arith.subi %[[BASE]], %[[HEAP]]
    // CHECK: %[[PEER:.+]] = llvm.getelementptr %[[POINTER]][%[[DISTANCE]]] : {{.*}} -> !llvm.ptr<1>, i8
    // CHECK: %[[FIRST:.+]] = llvm.insertvalue %[[PEER]], %[[OWN]][0]
    // CHECK: %[[BOTH:.+]] = llvm.insertvalue %[[PEER]], %[[FIRST]][1]
    // CHECK: builtin.unrealized_conversion_cast %[[BOTH]] : [[STRUCT]] to memref<?xf16, #iris.peer>
    %p = iris.translate %ctx, %b to %r
        : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    memref.store %v, %p[%i] : memref<?xf16, #iris.peer>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @world
  gpu.func @world(%ctx: !iris.ctx, %b: memref<?xindex>, %i: index) kernel {
    // CHECK: iris.ctx_field "rank"
    // CHECK: arith.index_castui {{.*}} : i32 to index
    %rank = iris.rank %ctx : index
    // CHECK: iris.ctx_field "numRanks"
    // CHECK: arith.index_castui {{.*}} : i32 to index
    %n = iris.num_ranks %ctx : index
    %s = arith.addi %rank, %n : index
    memref.store %s, %b[%i] : memref<?xindex>
    gpu.return
  }
}

// -----

// Members have 8 bits in the context, and 4 in groups of more than 8 ranks.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @any
  gpu.func @any(%ctx: !iris.ctx, %b: memref<?xindex>, %i: index) kernel {
    // CHECK-DAG: %[[SIZE:.+]] = iris.ctx_field "groupSize"
    // CHECK-DAG: %[[EIGHT:.+]] = arith.constant 8 : i32
    // CHECK: %[[LARGE:.+]] = arith.cmpi ugt, %[[SIZE]], %[[EIGHT]]
    // CHECK: %[[BITS:.+]] = arith.select %[[LARGE]], %c4_i64, %c8_i64
    // CHECK: %[[MASK:.+]] = arith.select %[[LARGE]], %c15_i64, %c255_i64
    // CHECK: %[[SHIFT:.+]] = arith.muli {{.*}}, %[[BITS]]
    // CHECK: %[[MEMBERS:.+]] = iris.ctx_field "groupMembers"
    // CHECK: %[[REST:.+]] = arith.shrui %[[MEMBERS]], %[[SHIFT]]
    // CHECK: arith.andi %[[REST]], %[[MASK]]
    %rank = iris.group_member %ctx, %i : index
    memref.store %rank, %b[%i] : memref<?xindex>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @of_eight
  gpu.func @of_eight(%ctx: !iris.ctx, %b: memref<?xindex>, %i: index) kernel
      attributes {iris.config = {collective = "all_gather", group = 0 : i64}} {
    // CHECK-NOT: groupSize
    // CHECK: arith.muli {{.*}}, %c8_i64
    // CHECK: arith.andi {{.*}}, %c255_i64
    %rank = iris.group_member %ctx, %i : index
    memref.store %rank, %b[%i] : memref<?xindex>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @of_twelve
  gpu.func @of_twelve(%ctx: !iris.ctx, %b: memref<?xindex>, %i: index) kernel
      attributes {iris.config = {collective = "all_gather", group = 12 : i64}} {
    // CHECK-NOT: groupSize
    // CHECK: arith.muli {{.*}}, %c4_i64
    // CHECK: arith.andi {{.*}}, %c15_i64
    %rank = iris.group_member %ctx, %i : index
    memref.store %rank, %b[%i] : memref<?xindex>
    gpu.return
  }
}
