#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes persistent matmul kernels: c = a b, one program per SM.

Usage: kernels.py NAME [NAME...]   prints a module with these kernels.

A name describes the kernel, "f16_tn_128x256x64_8":

    f16     elements of a and b: f16, bf16, f32, tf32 (f32, rounded) or i8
    tn      layouts of a and b as in BLAS: the first letter is n for a
            column-major and t for a row-major (k contiguous); the second one
            t for b row-major, n for b column-major (k contiguous)
    128x256x64   rows, columns and k-block of a tile; columns may be a multiple
            of 16 that is not a power of two
    8       warps

c is row-major; f16 and bf16 results are rounded, all others stay f32 or i32.
Tiles are ordered in columns of 2048 rows, so that programs that run at the
same time share operand tiles in the L2 cache. If the last round would keep no
more than half of the programs busy, its tiles are split in two.
"""
import sys

# Rows of c in a group of consecutive tiles: with as many programs as an H200
# has SMs, the tiles that run at the same time cover about a square.
GROUP_ROWS = 2048


def parse(name):
    """The parts of a kernel's name, as a dictionary."""
    kind, order, tile, warps = name.split("_")
    rows, columns, block = map(int, tile.split("x"))
    buffer = "f32" if kind == "tf32" else kind
    return {"name": name, "kind": kind, "element": buffer,
            "a_rows": order[0] == "t", "b_rows": order[1] == "t",
            "rows": rows, "columns": columns, "block": block,
            "warps": int(warps),
            "sum": "i32" if kind == "i8" else "f32",
            "result": {"f16": "f16", "bf16": "bf16", "f32": "f32", "tf32": "f32",
                       "i8": "i32"}[kind]}


def matrix(element, in_rows):
    strides = "" if in_rows else ", strided<[1, ?]>"
    return f"memref<?x?x{element}{strides}>"


def multiply(p, columns, i, j, indent):
    """A matmul and the store of its result, the tile at (i, j)."""
    a, b = matrix(p["element"], p["a_rows"]), matrix(p["element"], p["b_rows"])
    c = matrix(p["result"], True)
    width = 1 << (columns - 1).bit_length()
    shape = f"{p['rows']}x{width}"
    wanted = f" columns({columns})" if columns < width else ""
    precision = " precision(tf32)" if p["kind"] == "tf32" else ""
    lines = [f"%sum = tile.matmul %a[{i}, %c0], %b[%c0, {j}] k(%k) "
             f"block({p['block']}){wanted}{precision}",
             f"    : {a}, {b} -> tensor<{shape}x{p['sum']}>"]
    value = "%sum"
    if p["result"] != p["sum"]:
        lines.append(f"%rounded = arith.truncf %sum : tensor<{shape}xf32> to "
                     f"tensor<{shape}x{p['result']}>")
        value = "%rounded"
    where = "%c"
    if wanted:  # the store must end with the tile
        lines += [f"%end = arith.addi {j}, %tileColumns : index",
                  "%most = arith.minsi %end, %n : index",
                  f"%view = memref.subview %c[0, 0] [%m, %most] [1, 1] : {c} to "
                  f"memref<?x?x{p['result']}, strided<[?, 1]>>"]
        where, c = "%view", f"memref<?x?x{p['result']}, strided<[?, 1]>>"
    lines.append(f"tile.store {value}, {where}[{i}, {j}] : "
                 f"tensor<{shape}x{p['result']}>, {c}")
    return "\n".join(" " * indent + line for line in lines)


def tile_start(tile, indent):
    """The row and the column, %i and %j, of the first element of tile number
    `tile`."""
    return "\n".join(" " * indent + line for line in f"""\
%number = arith.divsi {tile}, %perGroup : index
%first = arith.muli %number, %group : index
%left = arith.subi %down, %first : index
%high = arith.minsi %left, %group : index
%within = arith.remsi {tile}, %perGroup : index
%below = arith.remsi %within, %high : index
%row = arith.addi %first, %below : index
%column = arith.divsi %within, %high : index
%i = arith.muli %row, %tileRows : index
%j = arith.muli %column, %tileColumns : index""".split("\n"))


def kernel(name):
    """The text of one `gpu.func`."""
    p = parse(name)
    a, b = matrix(p["element"], p["a_rows"]), matrix(p["element"], p["b_rows"])
    c = matrix(p["result"], True)
    half = p["columns"] // 2
    # Not below the minimum that the instructions of two warpgroups can share.
    cut = ""
    if half >= 128 and half & (half - 1) == 0:
        cut = f"""
    %parts = arith.muli %rest, %c2 : index
    %mine = arith.cmpi slt, %program, %parts : index
    %cuts = arith.andi %isCut, %mine : i1
    scf.if %cuts {{
      %before = arith.divsi %program, %c2 : index
      %tile = arith.addi %whole, %before : index
{tile_start("%tile", 6)}
      %side = arith.remsi %program, %c2 : index
      %half = arith.constant {half} : index
      %along = arith.muli %side, %half : index
      %jHalf = arith.addi %j, %along : index
{multiply(p, half, "%i", "%jHalf", 6)}
    }}"""
    limit = "arith.select %isCut, %whole, %tiles : index" if cut else \
        "arith.addi %tiles, %c0 : index"
    return f"""
  gpu.func @{name}(%a: {a}, %b: {b},
      %c: {c} {{iris.divisibility = {{pointer = 16, sizes = [1, 8]}}}})
      kernel attributes {{iris.num_warps = {p['warps']} : i32}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tileRows = arith.constant {p['rows']} : index
    %tileColumns = arith.constant {p['columns']} : index
    %group = arith.constant {max(1, GROUP_ROWS // p['rows'])} : index
    %m = memref.dim %c, %c0 : {c}
    %n = memref.dim %c, %c1 : {c}
    %k = memref.dim %a, %c1 : {a}
    %down = arith.ceildivsi %m, %tileRows : index
    %across = arith.ceildivsi %n, %tileColumns : index
    %tiles = arith.muli %down, %across : index
    %perGroup = arith.muli %group, %across : index
    %program = gpu.block_id x
    %programs = gpu.grid_dim x
    %rest = arith.remsi %tiles, %programs : index
    %whole = arith.subi %tiles, %rest : index
    %twice = arith.muli %rest, %c2 : index
    %isCut = arith.cmpi sle, %twice, %programs : index
    %limit = {limit}
    scf.for %tile = %program to %limit step %programs {{
{tile_start("%tile", 6)}
{multiply(p, p["columns"], "%i", "%j", 6)}
    }}{cut}
    gpu.return
  }}"""


def module(names):
    return ("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
            "gpu.module @matmul {" + "\n".join(map(kernel, names)) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.stdout.write(module(sys.argv[1:]))
