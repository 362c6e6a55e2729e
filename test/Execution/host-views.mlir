// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views that @main makes: the kernel reads element 10 * i + j of 4 x 8 through
// each of them.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s

!heap = memref<4x8xi32, #iris.symmetric>
!columns = memref<8x4xi32, strided<[1, 8]>, #iris.symmetric>
!bytes = memref<?xi8, #iris.symmetric>
!any = memref<?x8xi32, #iris.symmetric>

gpu.module @kernels {
  gpu.func @fill(%ctx: !iris.ctx, %b: !heap) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c10 = arith.constant 10 : index
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %tens = arith.muli %i, %c10 : index
        %sum = arith.addi %tens, %j : index
        %x = arith.index_cast %sum : index to i32
        memref.store %x, %b[%i, %j] : !heap
      }
    }
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %columns: !columns, %rows: !any,
                  %plain: memref<4x8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c10 = arith.constant 10 : index
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %tens = arith.muli %i, %c10 : index
        %sum = arith.addi %tens, %j : index
        %want = arith.index_cast %sum : index to i32
        %x = memref.load %columns[%j, %i] : !columns
        iris.expect_eq %x, %want, "transpose" : i32
        %y = memref.load %rows[%i, %j] : !any
        iris.expect_eq %y, %want, "view" : i32
        %z = memref.load %plain[%i, %j] : memref<4x8xi32>
        iris.expect_eq %z, %want, "memory_space_cast" : i32
      }
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %bytes = iris.alloc(%c128) : !bytes
  %b = memref.view %bytes[%c0][] : !bytes to !heap
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b : !iris.ctx, !heap)
  iris.sync %ctx
  %rows = memref.view %bytes[%c0][%c4] : !bytes to !any
  %aligned = memref.assume_alignment %b, 64 : !heap
  %columns = memref.transpose %aligned (i, j) -> (j, i) : !heap to !columns
  %plain = memref.memory_space_cast %b : !heap to memref<4x8xi32>
  iris.launch @kernels::@check programs(%c1)
      args(%ctx, %columns, %rows, %plain
           : !iris.ctx, !columns, !any, memref<4x8xi32>)
  iris.sync %ctx
  iris.dealloc %bytes : !bytes
  return
}
