// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Minima and maxima of bytes and halves with constants that they are compared
// with, by counts of zeros too: what i32 gives. ptxas decides such comparisons by
// the other half of a register (docs/internals/guards.md).
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 %s
// RUN: iris-run -n 1 --device=reference %s

!short = memref<?xi16, #iris.symmetric>
!tile = tensor<256xi16>
!bytes = tensor<256xi8>
!wide = tensor<256xi32>

gpu.module @kernels {
  // x[i] = (i + rank - 128) * 256, of both signs and 0.
  gpu.func @fill(%ctx: !iris.ctx, %x: !short) kernel {
    %c0 = arith.constant 0 : index
    %rank = iris.rank %ctx : index
    %r = arith.index_cast %rank : index to i32
    %ranks = tensor.splat %r : !wide
    %range = tile.range : !wide
    %i = arith.addi %range, %ranks : !wide
    %c128 = arith.constant dense<128> : !wide
    %c256 = arith.constant dense<256> : !wide
    %both = arith.subi %i, %c128 : !wide
    %x32 = arith.muli %both, %c256 : !wide
    %x16 = arith.trunci %x32 : !wide to !tile
    tile.store %x16, %x[%c0] : !tile, !short
    gpu.return
  }

  // As many zeros as i32 counts below bit `bits`.
  func.func @count(%value: !wide, %bits: !wide) -> !wide {
    %one = arith.constant dense<1> : !wide
    %end = arith.shli %one, %bits : !wide
    %ended = arith.ori %value, %end : !wide
    %count = math.cttz %ended : !wide
    return %count : !wide
  }

  gpu.func @check(%ctx: !iris.ctx, %xs: !short) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant dense<8> : !wide
    %c16 = arith.constant dense<16> : !wide
    %zero = arith.constant dense<0> : !tile
    %zero32 = arith.constant dense<0> : !wide
    %x = tile.load %xs[%c0] : !short -> !tile
    %x32 = arith.extsi %x : !tile to !wide

    %least = arith.minsi %x, %zero : !tile
    %zeros = math.cttz %least : !tile
    %zeros32 = arith.extui %zeros : !tile to !wide
    %least32 = arith.minsi %x32, %zero32 : !wide
    %want = func.call @count(%least32, %c16) : (!wide, !wide) -> !wide
    iris.expect_eq %zeros32, %want, "zeros of min(x, 0)" : !wide

    %most = arith.maxsi %x, %zero : !tile
    %mostZeros = math.cttz %most : !tile
    %mostZeros32 = arith.extui %mostZeros : !tile to !wide
    %most32 = arith.maxsi %x32, %zero32 : !wide
    %wantMost = func.call @count(%most32, %c16) : (!wide, !wide) -> !wide
    iris.expect_eq %mostZeros32, %wantMost, "zeros of max(x, 0)" : !wide

    // The upper byte of x.
    %c8short = arith.constant dense<8> : !tile
    %upper = arith.shrsi %x, %c8short : !tile
    %byte = arith.trunci %upper : !tile to !bytes
    %zero8 = arith.constant dense<0> : !bytes
    %least8 = arith.minsi %byte, %zero8 : !bytes
    %zeros8 = math.cttz %least8 : !bytes
    %zeros8as32 = arith.extui %zeros8 : !bytes to !wide
    %byte32 = arith.extsi %byte : !bytes to !wide
    %least8as32 = arith.minsi %byte32, %zero32 : !wide
    %want8 = func.call @count(%least8as32, %c8) : (!wide, !wide) -> !wide
    iris.expect_eq %zeros8as32, %want8, "zeros of min(byte, 0)" : !wide

    // A limit that is compared.
    %five = arith.constant dense<1280> : !tile
    %below = arith.minsi %x, %five : !tile
    %isFive = arith.cmpi eq, %below, %five : !tile
    %five32 = arith.constant dense<1280> : !wide
    %wantFive = arith.cmpi sge, %x32, %five32 : !wide
    iris.expect_eq %isFive, %wantFive, "min(x, 1280) == 1280" : tensor<256xi1>
    gpu.return
  }

  // Numbers that are no tiles: code generation branches in front of a count.
  gpu.func @scalars(%ctx: !iris.ctx, %xs: !short) kernel
      attributes {iris.num_warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %zero = arith.constant 0 : i16
    %zero32 = arith.constant 0 : i32
    %zero8 = arith.constant 0 : i8
    %bit8 = arith.constant 8 : i16
    %end8 = arith.constant 256 : i32
    %end16 = arith.constant 65536 : i32
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %xs[%i] : !short
      %x32 = arith.extsi %x : i16 to i32
      %least = arith.minsi %x, %zero : i16
      %zeros = math.cttz %least : i16
      %zeros32 = arith.extui %zeros : i16 to i32
      %least32 = arith.minsi %x32, %zero32 : i32
      %ended = arith.ori %least32, %end16 : i32
      %want = math.cttz %ended : i32
      iris.expect_eq %zeros32, %want, "zeros of min(x, 0)" : i32

      %upper = arith.shrsi %x, %bit8 : i16
      %byte = arith.trunci %upper : i16 to i8
      %most = arith.maxsi %byte, %zero8 : i8
      %zeros8 = math.cttz %most : i8
      %zeros8as32 = arith.extui %zeros8 : i8 to i32
      %byte32 = arith.extsi %byte : i8 to i32
      %most32 = arith.maxsi %byte32, %zero32 : i32
      %ended8 = arith.ori %most32, %end8 : i32
      %want8 = math.cttz %ended8 : i32
      iris.expect_eq %zeros8as32, %want8, "zeros of max(byte, 0)" : i32
    }
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %n = arith.constant 256 : index
  %x = iris.alloc(%n) : !short
  iris.launch @kernels::@fill programs(%one) args(%ctx, %x : !iris.ctx, !short)
  iris.launch @kernels::@check programs(%one) args(%ctx, %x : !iris.ctx, !short)
  iris.launch @kernels::@scalars programs(%one) args(%ctx, %x : !iris.ctx, !short)
  iris.sync %ctx
  return
}
