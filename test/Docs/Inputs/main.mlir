// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host program with every op that the table of @main has
// (docs/reference/kernel-language.md); it counts how often its branches run.

!buffer = memref<?xi32, #iris.symmetric>
!matrix = memref<?x?xf16, #iris.symmetric>
!sizes = memref<?xi64, #iris.symmetric>
!bytes = memref<?xi8, #iris.symmetric>
!words = memref<32xi32, #iris.symmetric>
!grid = memref<4x8xi32, #iris.symmetric>
!columns = memref<8x4xi32, strided<[1, 8]>, #iris.symmetric>

gpu.module @kernels {
  gpu.func @count(%ctx: !iris.ctx, %counter: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %old = memref.load %counter[%c0] : !buffer
    %new = arith.addi %old, %one : i32
    memref.store %new, %counter[%c0] : !buffer
    gpu.return
  }
  gpu.func @check(%ctx: !iris.ctx, %counter: !buffer, %want: i32) kernel {
    %c0 = arith.constant 0 : index
    %got = memref.load %counter[%c0] : !buffer
    iris.expect_eq %got, %want, "count" : i32
    gpu.return
  }
  gpu.func @write(%ctx: !iris.ctx, %columns: !columns) kernel {
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %five = arith.constant 5 : i32
    memref.store %five, %columns[%c7, %c3] : !columns
    gpu.return
  }
  gpu.func @read(%ctx: !iris.ctx, %plain: memref<?xi32, strided<[1]>>) kernel {
    %c31 = arith.constant 31 : index
    %five = arith.constant 5 : i32
    %got = memref.load %plain[%c31] : memref<?xi32, strided<[1]>>
    iris.expect_eq %got, %five, "views" : i32
    gpu.return
  }
}

func.func private @twice(%n: index) -> index {
  %sum = arith.addi %n, %n : index
  func.return %sum : index
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %flag = arith.constant 1 : i32
  %rank = iris.rank %ctx : index
  %ranks = iris.num_ranks %ctx : index
  %n = arith.muli %ranks, %c16 : index
  %many = func.call @twice(%n) : (index) -> index
  %counter = iris.alloc(%many) : !buffer
  %in = iris.alloc(%n) : !buffer
  %out = iris.alloc(%many) : !buffer

  // Control flow: 4 + 4 + 4 + 3 + 1 + 1 + 1 + 1 = 19 times.
  scf.for %i = %c0 to %c4 step %c1 {
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
  }
  %end = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi ult, %i, %c4 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
    scf.reduce
  }
  scf.forall (%i) in (3) {
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
  }
  %isFirst = arith.cmpi eq, %rank, %c0 : index
  %either = arith.select %isFirst, %counter, %counter : !buffer
  scf.if %isFirst {
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %either : !iris.ctx, !buffer)
  } else {
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
  }
  scf.index_switch %ranks
  case 0 {
    scf.yield
  }
  default {
    iris.launch @kernels::@count programs(%c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
    scf.yield
  }
  scf.execute_region {
    iris.launch @kernels::@count programs(%c1, %c1, %c1)
        args(%ctx, %counter : !iris.ctx, !buffer)
    scf.yield
  }
  cf.cond_br %isFirst, ^first, ^other
^first:
  cf.br ^both
^other:
  cf.switch %flag : i32, [
    default: ^both,
    1: ^both
  ]
^both:
  iris.launch @kernels::@count programs(%c1)
      args(%ctx, %counter : !iris.ctx, !buffer)
  %want = arith.constant 19 : i32
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %counter, %want : !iris.ctx, !buffer, i32)
  iris.sync %ctx

  // Collectives; all data are 0.
  iris.all_gather %ctx, %in, %out : !buffer, !buffer
  iris.all_reduce sum %ctx, %in, %out : !buffer, !buffer
  iris.reduce_scatter sum %ctx, %out, %in : !buffer, !buffer
  iris.all_to_all %ctx, %in, %out : !buffer, !buffer

  iris.broadcast %ctx, %in, %out root(%c0) : !buffer, !buffer
  iris.reduce max %ctx, %in, %out root(%c0) : !buffer, !buffer
  iris.gather_to %ctx, %in, %out root(%c0) : !buffer, !buffer
  iris.scatter_from %ctx, %out, %in root(%c0) : !buffer, !buffer
  %sizes = iris.alloc(%ranks) : !sizes
  iris.all_to_all_v %ctx, %in chunks(%sizes, %sizes),
      %out chunks(%sizes, %sizes) : !buffer, !buffer, !sizes
  iris.all_gather_v %ctx, %in, %out chunks(%sizes, %sizes)
      : !buffer, !buffer, !sizes

  // Matmuls.
  %a = iris.alloc(%c32, %c32) : !matrix
  %b = iris.alloc(%c32, %c32) : !matrix
  %c = iris.alloc(%c32, %c32) : !matrix
  %tall = arith.muli %ranks, %c32 : index
  %rows = iris.alloc(%tall, %c32) : !matrix
  iris.matmul %ctx, %a, %b, %c : !matrix, !matrix, !matrix
  iris.all_gather_matmul %ctx, %a, %b, %rows {shard = "m"}
      : !matrix, !matrix, !matrix
  iris.matmul_all_gather %ctx, %a, %b, %rows {shard = "m"}
      : !matrix, !matrix, !matrix
  iris.matmul_reduce_scatter %ctx, %rows, %b, %c : !matrix, !matrix, !matrix
  iris.matmul_all_reduce %ctx, %a, %b, %c : !matrix, !matrix, !matrix

  // Views.
  %bytes = iris.alloc(%c128) : !bytes
  %words = memref.view %bytes[%c0][] : !bytes to !words
  %aligned = memref.assume_alignment %words, 64 : !words
  %grid = memref.expand_shape %aligned [[0, 1]] output_shape [4, 8]
      : !words into !grid
  %columns = memref.transpose %grid (i, j) -> (j, i) : !grid to !columns
  %flat = memref.collapse_shape %grid [[0, 1]] : !grid into !words
  %any = memref.cast %flat : !words to !buffer
  %length = memref.dim %any, %c0 : !buffer
  %base, %offset, %size, %stride = memref.extract_strided_metadata %any
      : !buffer -> memref<i32, #iris.symmetric>, index, index, index
  %again = memref.reinterpret_cast %base to offset: [0], sizes: [%size],
      strides: [1] : memref<i32, #iris.symmetric> to !buffer
  %part = memref.subview %again[0] [%length] [1]
      : !buffer to memref<?xi32, strided<[1]>, #iris.symmetric>
  %plain = memref.memory_space_cast %part
      : memref<?xi32, strided<[1]>, #iris.symmetric>
      to memref<?xi32, strided<[1]>>
  iris.launch @kernels::@write programs(%c1)
      args(%ctx, %columns : !iris.ctx, !columns)
  iris.launch @kernels::@read programs(%c1)
      args(%ctx, %plain : !iris.ctx, memref<?xi32, strided<[1]>>)
  iris.sync %ctx
  iris.dealloc %bytes : !bytes
  func.return
}
