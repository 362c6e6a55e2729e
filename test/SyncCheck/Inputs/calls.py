# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program for each variant of each collective and fused matmul, separated
by `// -----`: every rank fills its input, calls, and reads the output, twice. So a
synchronization that a variant lacks leaves accesses that nothing orders.

    calls.py
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Execution/Inputs"))

import fused  # noqa: E402
import variants  # noqa: E402

COLLECTIVE = """!buffer = memref<?xf32, #iris.symmetric>
gpu.module @kernels {{
  gpu.func @fill(%ctx: !iris.ctx, %in: !buffer) kernel {{
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %size = memref.dim %in, %c0 : !buffer
    %v = arith.constant dense<1.0> : tensor<1024xf32>
    scf.for %i = %c0 to %size step %c1024 {{
      tile.store %v, %in[%i] : tensor<1024xf32>, !buffer
    }}
    gpu.return
  }}
  gpu.func @read(%ctx: !iris.ctx, %out: !buffer) kernel {{
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %size = memref.dim %out, %c0 : !buffer
    scf.for %i = %c0 to %size step %c1024 {{
      %v = tile.load %out[%i] : !buffer -> tensor<1024xf32>
      iris.expect_eq %v, %v, "{name}" : tensor<1024xf32>
    }}
    gpu.return
  }}
}}
func.func @main(%ctx: !iris.ctx) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 4096 : index
  %ranks = iris.num_ranks %ctx : index
  %all = arith.muli %one, %ranks : index
  %in = iris.alloc(%{input}) : !buffer
  %out = iris.alloc(%{output}) : !buffer
{calls}  return
}}
"""
CALL = """  iris.launch @kernels::@fill programs(%c1) args(%ctx, %in : !iris.ctx, !buffer)
  iris.{op}{reduction} %ctx, %in, %out{root} {{variant = "{variant}", programs = 1 : i64}}
      : !buffer, !buffer
  iris.launch @kernels::@read programs(%c1) args(%ctx, %out : !iris.ctx, !buffer)
"""
MATMUL = """!half = memref<?x?xf16, #iris.symmetric>
!wide = memref<?x?xf32, #iris.symmetric>
gpu.module @kernels {{
  gpu.func @fill(%ctx: !iris.ctx, %a: !half) kernel {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %a, %c0 : !half
    %v = arith.constant dense<1.0> : tensor<64x64xf16>
    scf.for %i = %c0 to %rows step %c64 {{
      tile.store %v, %a[%i, %c0] : tensor<64x64xf16>, !half
    }}
    gpu.return
  }}
  gpu.func @read(%ctx: !iris.ctx, %c: !wide) kernel {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %c, %c0 : !wide
    scf.for %i = %c0 to %rows step %c64 {{
      %v = tile.load %c[%i, %c0] : !wide -> tensor<64x64xf32>
      iris.expect_eq %v, %v, "{kind}" : tensor<64x64xf32>
    }}
    gpu.return
  }}
}}
func.func @main(%ctx: !iris.ctx) {{
  %c1 = arith.constant 1 : index
  %one = arith.constant 64 : index
  %ranks = iris.num_ranks %ctx : index
  %all = arith.muli %one, %ranks : index
  %a = iris.alloc(%{rows}, %one) : !half
  %b = iris.alloc(%one, %one) : !half
  %c = iris.alloc(%{outRows}, %one) : !wide
{calls}  return
}}
"""
MATMUL_CALL = """  iris.launch @kernels::@fill programs(%c1) args(%ctx, %a : !iris.ctx, !half)
  iris.launch @kernels::@fill programs(%c1) args(%ctx, %b : !iris.ctx, !half)
  iris.{kind} %ctx, %a, %b, %c {{variant = "{variant}"}} : !half, !half, !wide
  iris.launch @kernels::@read programs(%c1) args(%ctx, %c : !iris.ctx, !wide)
"""
# Rows of a and c: those of one rank, or of all of them.
ROWS = {"matmul": ("one", "one"), "all_gather_matmul": ("one", "all"),
        "matmul_all_gather": ("one", "all"), "matmul_reduce_scatter": ("all", "one"),
        "matmul_all_reduce": ("all", "all")}


def collectives():
    for each in variants.CALLED:
        sizes = [{"one": "one", "all": "all"}[each[side]["chunks"]]
                 for side in ("input", "output")]
        for variant in each["variants"]:
            if variant["kernel"]:
                call = CALL.format(op=each["op"],
                                   reduction=" sum" if each["reduces"] else "",
                                   root=" root(%c0)" if each["root"] else "",
                                   variant=variant["name"])
                yield COLLECTIVE.format(name=each["name"], input=sizes[0],
                                        output=sizes[1], calls=2 * call)


def matmuls():
    for kind, names in fused.VARIANTS.items():
        for variant in names:
            rows, out_rows = ROWS[kind]
            calls = 2 * MATMUL_CALL.format(kind=kind, variant=variant)
            yield MATMUL.format(kind=kind, rows=rows, outRows=out_rows, calls=calls)


print("\n// -----\n\n".join([*collectives(), *matmuls()]))
