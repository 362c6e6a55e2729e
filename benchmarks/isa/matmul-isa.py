#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the main loops of matmuls on AMD GPUs, of Iris and Triton.

    benchmarks/isa/matmul-isa.py build/bin/iris-compile venv/bin/python \\
        --json=matmul-isa.jsonl

Tiles of f16 with k-blocks of 64, a row-major and b column-major (`along k`)
or row-major (`along n`), are compiled by iris-compile (one tile by
`tile.matmul`, the generated matmul, and the all-gather + matmul with
`hbm_buffer` on 8 ranks, of which the loop over the local chunk is counted)
and by Triton (triton_matmul.py in this folder, run by the other interpreter),
without a GPU, and main_loop.py counts the instructions of the main loops.
Triton is compiled with every number of pipeline stages, and with the matrix
instruction sizes and occupancies that it tunes over; for each matrix
instruction size, the result with the fewest other instructions per matrix
instruction is used. (One of 32 x 32 x 8 does the work of two of 16 x 16 x 16,
and takes as long as both.)

With --mca=llvm-mca-22, loop_cycles.py estimates the cycles of each loop as well,
and Triton's result with the fewest cycles over those of its matrix instructions
is used.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import loop_cycles
import main_loop

HERE = pathlib.Path(__file__).resolve().parent
TILES = [(256, 256, 8), (128, 128, 4)]
BLOCK = 64
CHIPS = ["gfx942", "gfx950"]
KERNEL = """\
  gpu.func @{name}(%a: memref<?x?xf16>, %b: {b}, %c: memref<?x?xf16>,
      %i: index, %j: index, %k: index)
      kernel attributes {{iris.num_warps = {warps} : i32}} {{
    %z = arith.constant 0 : index
    %sum = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block({block})
        : memref<?x?xf16>, {b} -> tensor<{m}x{n}xf32>
    %r = arith.truncf %sum : tensor<{m}x{n}xf32> to tensor<{m}x{n}xf16>
    tile.store %r, %c[%i, %j] : tensor<{m}x{n}xf16>, memref<?x?xf16>
    gpu.return
  }}
"""
GENERATED = """\
iris.matmul_kernel @{name} {op} f16 -> f16 size 8 {{variant = "{variant}",
    tile_m = {m}, tile_n = {n}, tile_k = {block}, warps = {warps}, b = "{order}"}}
"""
# The compiled kernels, by the name of their rows: operation and variant.
KERNELS = {"tile": (), "matmul": ("matmul", "tiles"),
           "hbm_buffer": ("all_gather_matmul", "hbm_buffer")}


def get_configs():
    for (m, n, warps), along_k in itertools.product(TILES, (True, False)):
        yield m, n, warps, along_k


def describe(options, path, kernel, chip, compiler, config, what="tile"):
    m, n, warps, along_k = config
    facts = main_loop.describe(path, kernel)
    if options.mca:
        facts.update(loop_cycles.estimate(options.mca, chip, path, kernel))
    return {"benchmark": "matmul-isa", "compiler": compiler, "kernel": what,
            "chip": chip, "tile": f"{m}x{n}x{BLOCK}", "warps": warps,
            "b": "along k" if along_k else "along n", **facts}


def compile_ours(options, chip, folder):
    tiles, generated = "", ""
    names = {}
    for config, what in itertools.product(get_configs(), KERNELS):
        m, n, warps, along_k = config
        name = f"{what}_{m}_{n}_{'k' if along_k else 'n'}"
        names[config, what] = name
        if what == "tile":
            b = f"memref<?x?xf16{', strided<[1, ?]>' if along_k else ''}>"
            tiles += KERNEL.format(name=name, b=b, m=m, n=n, warps=warps,
                                   block=BLOCK)
            continue
        op, variant = KERNELS[what]
        generated += GENERATED.format(
            name=name, op=op, variant=variant, m=m, n=n, warps=warps,
            block=BLOCK, order="column" if along_k else "row")
    source, assembly = folder / "iris.mlir", folder / f"iris-{chip}.s"
    source.write_text(f"{generated}gpu.module @kernels {{\n{tiles}}}\n",
                      encoding="utf-8")
    subprocess.run([options.compiler, source, f"--target={chip}", "--emit=asm",
                    "-o", assembly], check=True)
    return [describe(options, assembly, name, chip, "iris", config, what)
            for (config, what), name in names.items()]


def compile_triton(options, chip, folder):
    jobs, keys = [], []
    for config, stages, size, waves in itertools.product(
            get_configs(), (2, 3), (16, 32), (0, 2)):
        m, n, warps, along_k = config
        keys.append((config, size))
        jobs.append({"chip": chip, "file": str(folder / f"triton-{len(jobs)}.s"),
                     "constants": {"BM": m, "BN": n, "BK": BLOCK,
                                   "ALONG_K": along_k},
                     "options": {"num_warps": warps, "num_stages": stages,
                                 "matrix_instr_nonkdim": size,
                                 "waves_per_eu": waves}})
    run = subprocess.run([options.python, HERE / "triton_matmul.py"],
                         input=json.dumps(jobs), capture_output=True, text=True,
                         check=True)
    best = {}
    for (config, size), job, shared in zip(keys, jobs,
                                           json.loads(run.stdout)):
        if shared is None or shared > (160 if chip == "gfx950" else 64) << 10:
            continue
        facts = describe(options, job["file"], "matmul", chip, "triton", config)
        facts["lds"] = shared
        facts["options"] = job["options"]
        key = config, size
        order = "over_bound" if options.mca else "ratio"
        if key not in best or facts[order] < best[key][order]:
            best[key] = facts
    return list(best.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("compiler", help="path of iris-compile")
    parser.add_argument("python", nargs="?",
                        help="an interpreter that has Triton")
    parser.add_argument("--mca", metavar="LLVM_MCA",
                        help="estimate cycles by this program")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for chip in CHIPS:
            rows += compile_ours(options, chip, pathlib.Path(name))
            if options.python:
                rows += compile_triton(options, chip, pathlib.Path(name))
    rows.sort(key=lambda r: (r["chip"], r["tile"], r["b"], r["compiler"],
                             list(KERNELS).index(r["kernel"]), r["ratio"]))
    columns = ["chip", "tile", "b", "compiler", "kernel", "matrix", "other", "ratio",
               "vgprs", "sgprs", "lds", "scratch", "occupancy"]
    if options.mca:
        columns += ["cycles", "matrix_cycles", "over_bound"]
    print("| " + " | ".join(columns + ["instruction"]) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for row in rows:
        print("| " + " | ".join(str(row[column]) for column in columns)
              + f" | `{' '.join(row['instructions'])}` |")
    if options.json:
        options.json.write_text("".join(json.dumps(row) + "\n" for row in rows),
                                encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
