#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program whose trace shows how a fused matmul overlaps.

    benchmarks/fused/trace_program.py -n 8 [-m 4096] [--columns 3584] [-k 8192]
        [--calls 3] [SPEC] > trace.mlir
    iris-compile trace.mlir --target=sm_90a --trace -o trace.iris
    iris-run --device=cuda -n 8 --trace=trace.json trace.iris

Every rank has m x (k / RANKS) of a, all of b (k x columns), and gets all of
c. SPEC is a kind and its config as in fused_kernels.py, of the kind
all_gather_matmul with shard k. Elements are small integers, hashes of (row,
column) in the whole matrices, different in each call; 64 rows of each result
are compared with sums of products of the same hashes.
"""
import argparse
import sys

from fused_kernels import Spec

PROGRAM = """// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Written by benchmarks/fused/trace_program.py: {text}

!half = memref<?x?xf16, #iris.symmetric>

gpu.module @kernels {{
  // -4 .. 3: a hash of (row, column) in the whole matrix and %salt.
  func.func @number(%salt: i32, %i: tensor<1x64xi32>,
                    %j: tensor<1x64xi32>) -> tensor<1x64xi32> {{
    %p = arith.constant dense<10007> : tensor<1x64xi32>
    %c1 = arith.constant dense<-1640531535> : tensor<1x64xi32>
    %c2 = arith.constant dense<739982445> : tensor<1x64xi32>
    %shift = arith.constant dense<15> : tensor<1x64xi32>
    %top = arith.constant dense<29> : tensor<1x64xi32>
    %half = arith.constant dense<4> : tensor<1x64xi32>
    %prime = arith.constant 31337 : i32
    %seed = arith.muli %salt, %prime : i32
    %seeds = tensor.splat %seed : tensor<1x64xi32>
    %row = arith.muli %i, %p : tensor<1x64xi32>
    %index = arith.addi %row, %j : tensor<1x64xi32>
    %h0 = arith.muli %index, %c1 : tensor<1x64xi32>
    %h1 = arith.addi %h0, %seeds : tensor<1x64xi32>
    %h2 = arith.shrui %h1, %shift : tensor<1x64xi32>
    %h3 = arith.xori %h1, %h2 : tensor<1x64xi32>
    %h4 = arith.muli %h3, %c2 : tensor<1x64xi32>
    %h5 = arith.shrui %h4, %top : tensor<1x64xi32>
    %v = arith.subi %h5, %half : tensor<1x64xi32>
    return %v : tensor<1x64xi32>
  }}

  // Coordinates of the 64 elements from (%i, %j) on.
  func.func @coordinates(%i: index, %j: index)
      -> (tensor<1x64xi32>, tensor<1x64xi32>) {{
    %row = arith.index_cast %i : index to i32
    %rows = tensor.splat %row : tensor<1x64xi32>
    %range = tile.range dim 1 : tensor<1x64xi32>
    %column = arith.index_cast %j : index to i32
    %columns = tensor.splat %column : tensor<1x64xi32>
    %to = arith.addi %range, %columns : tensor<1x64xi32>
    return %rows, %to : tensor<1x64xi32>, tensor<1x64xi32>
  }}

  // Fills a chunk whose first column is %column0 of the whole matrix.
  gpu.func @fill(%ctx: !iris.ctx, %out: !half, %salt: i32, %column0: index)
      kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %m = memref.dim %out, %c0 : !half
    %n = memref.dim %out, %c1 : !half
    scf.for %i = %pid to %m step %programs {{
      scf.for %j = %c0 to %n step %c64 {{
        %column = arith.addi %column0, %j : index
        %rows, %columns = func.call @coordinates(%i, %column)
            : (index, index) -> (tensor<1x64xi32>, tensor<1x64xi32>)
        %h = func.call @number(%salt, %rows, %columns)
            : (i32, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
        %v = arith.sitofp %h : tensor<1x64xi32> to tensor<1x64xf16>
        tile.store %v, %out[%i, %j] : tensor<1x64xf16>, !half
      }}
    }}
    gpu.return
  }}

  // Every %step-th row of c, one k after the other.
  gpu.func @check(%ctx: !iris.ctx, %c: !half, %k: index, %saltA: i32,
                  %saltB: i32, %step: index) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %none = arith.constant dense<0> : tensor<1x64xi32>
    %zeros = arith.constant dense<0.0> : tensor<1x64xf16>
    %pid = gpu.block_id x
    %programs = gpu.grid_dim x
    %m = memref.dim %c, %c0 : !half
    %n = memref.dim %c, %c1 : !half
    %n32 = arith.index_cast %n : index to i32
    %end = tensor.splat %n32 : tensor<1x64xi32>
    %mine = arith.muli %pid, %step : index
    %stride = arith.muli %programs, %step : index
    scf.for %i = %mine to %m step %stride {{
      scf.for %j = %c0 to %n step %c64 {{
        %rows, %columns = func.call @coordinates(%i, %j)
            : (index, index) -> (tensor<1x64xi32>, tensor<1x64xi32>)
        %sum = scf.for %at = %c0 to %k step %c1 iter_args(%s = %none)
            -> (tensor<1x64xi32>) {{
          %at32 = arith.index_cast %at : index to i32
          %ats = tensor.splat %at32 : tensor<1x64xi32>
          %x = func.call @number(%saltA, %rows, %ats)
              : (i32, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
          %y = func.call @number(%saltB, %ats, %columns)
              : (i32, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64xi32>
          %xy = arith.muli %x, %y : tensor<1x64xi32>
          %next = arith.addi %s, %xy : tensor<1x64xi32>
          scf.yield %next : tensor<1x64xi32>
        }}
        %f = arith.sitofp %sum : tensor<1x64xi32> to tensor<1x64xf32>
        %value = arith.truncf %f : tensor<1x64xf32> to tensor<1x64xf16>
        %inside = arith.cmpi ult, %columns, %end : tensor<1x64xi32>
        %want = arith.select %inside, %value, %zeros
            : tensor<1x64xi1>, tensor<1x64xf16>
        %got = tile.load %c[%i, %j] : !half -> tensor<1x64xf16>
        iris.expect_eq %got, %want, "gathered a x b" : tensor<1x64xf16>
      }}
    }}
    gpu.return
  }}
}}

func.func @main(%ctx: !iris.ctx) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant {m} : index
  %n = arith.constant {n} : index
  %k = arith.constant {k} : index
  %part = arith.constant {part} : index
  %calls = arith.constant {calls} : index
  %programs = arith.constant {programs} : index
  %step = arith.constant {step} : index
  %c10 = arith.constant 10 : i32
  %saltB = arith.constant 2 : i32
  %rank = iris.rank %ctx : index
  %first = arith.muli %part, %rank : index
  %a = iris.alloc(%m, %part) : !half
  %b = iris.alloc(%k, %n) : !half
  %c = iris.alloc(%m, %n) : !half
  iris.launch @kernels::@fill programs(%programs)
      args(%ctx, %b, %saltB, %c0 : !iris.ctx, !half, i32, index)
  scf.for %call = %c0 to %calls step %c1 {{
    %call32 = arith.index_cast %call : index to i32
    %saltA = arith.addi %call32, %c10 : i32
    iris.launch @kernels::@fill programs(%programs)
        args(%ctx, %a, %saltA, %first : !iris.ctx, !half, i32, index)
    // Ranks start together, so that the trace shows only the kernel's time.
    iris.sync %ctx
    iris.all_gather_matmul %ctx, %a, %b, %c group([{members}])
        {{{config}}}
        : !half, !half, !half
    iris.launch @kernels::@check programs(%programs)
        args(%ctx, %c, %k, %saltA, %saltB, %step
             : !iris.ctx, !half, index, i32, i32, index)
  }}
  iris.sync %ctx
  return
}}
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, required=True, help="ranks")
    parser.add_argument("-m", type=int, default=4096, help="rows of c")
    parser.add_argument("--columns", type=int, default=3584, help="of c")
    parser.add_argument("-k", type=int, default=8192, help="of all ranks")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument(
        "spec", nargs="?", metavar="SPEC",
        default="all_gather_matmul,variant=hbm_buffer,num_fetch_programs=16")
    options = parser.parse_args()
    spec = Spec(options.spec, options.n)
    if spec.kind != "all_gather_matmul" or spec.get("shard", "k") != "k" \
            or spec.element != "f16":
        parser.error(f"{options.spec}; expected all_gather_matmul of f16 with "
                     "shard k")
    if options.k % options.n:
        parser.error(f"k is {options.k}; expected a multiple of {options.n} "
                     "ranks")
    print(PROGRAM.format(
        text=options.spec, m=options.m, n=options.columns, k=options.k,
        part=options.k // options.n, calls=options.calls,
        programs=spec["programs"], step=max(1, options.m // 64),
        members=", ".join(map(str, range(options.n))),
        config=spec.config_text()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
