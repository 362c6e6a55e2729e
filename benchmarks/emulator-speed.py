#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures iris-emulate: wave instructions a second of a matmul of bf16.

    benchmarks/emulator-speed.py [--bin=build/bin] [--seed=N] [--runs=5]
        [--repeat=10] [--chips=gfx942,...] [--tile=128]

C = A B of 512 x 512 x 512, a program for each tile of C. A and B are normally
distributed numbers of the seed. The runs of the chips alternate, so that a machine that
becomes slower does so for all of them. Prints a table in millions a second: the median, and the
range. The time is that of the kernels, without the start of the process.
"""
import argparse
import pathlib
import random
import re
import statistics
import struct
import subprocess
import tempfile

SIZE = 512
KERNEL = """
gpu.module @kernels {{
  gpu.func @multiply(%a: memref<{size}x{size}xbf16>, %b: memref<{size}x{size}xbf16>,
                     %c: memref<{size}x{size}xf32>) kernel {{
    %c0 = arith.constant 0 : index
    %k = arith.constant {size} : index
    %extent = arith.constant {tile} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %i = arith.muli %x, %extent : index
    %j = arith.muli %y, %extent : index
    %sum = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%k) block(64)
        : memref<{size}x{size}xbf16>, memref<{size}x{size}xbf16>
        -> tensor<{tile}x{tile}xf32>
    tile.store %sum, %c[%i, %j] : tensor<{tile}x{tile}xf32>, memref<{size}x{size}xf32>
    gpu.return
  }}
}}
"""


def write_matrix(path, rng):
    values = (rng.gauss(0, 1) for _ in range(SIZE * SIZE))
    path.write_bytes(b"".join(struct.pack("<f", value)[2:] for value in values))


def compile_kernel(folder, tools, chip, tile):
    source, code = folder / "multiply.mlir", folder / f"{chip}.o"
    source.write_text(KERNEL.format(size=SIZE, tile=tile), encoding="utf-8")
    subprocess.run([tools / "iris-compile", source, f"--target={chip}", "--emit=obj",
                    "-o", code], check=True)
    return code


def measure(folder, tools, code, tile, repeat):
    """Millions of wave instructions a second."""
    grid, half = SIZE // tile, 2 * SIZE * SIZE
    text = subprocess.run(
        [tools / "iris-emulate", code, "--kernel=multiply", f"--grid={grid},{grid}",
         f"--args=buf:{half}:file={folder / 'a'},buf:{half}:file={folder / 'b'},"
         f"buf:{2 * half}", f"--repeat={repeat}", "--statistics"],
        check=True, capture_output=True, text=True).stdout
    return float(re.search(r"\((\S+) million a second\)", text)[1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin", type=pathlib.Path)
    parser.add_argument("--chips", default="gfx90a,gfx942,gfx950,gfx1100,gfx1201")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--runs", default=5, type=int)
    parser.add_argument("--repeat", default=10, type=int)
    parser.add_argument("--tile", default=128, type=int, choices=(32, 64, 128))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, rng = pathlib.Path(name), random.Random(options.seed)
        for matrix in ("a", "b"):
            write_matrix(folder / matrix, rng)
        codes = {chip: compile_kernel(folder, options.bin, chip, options.tile)
                 for chip in options.chips.split(",")}
        rates = {chip: [] for chip in codes}
        for _ in range(options.runs):
            for chip, code in codes.items():
                rates[chip].append(measure(folder, options.bin, code, options.tile,
                                           options.repeat))
    print(f"| chip | millions a second, tile of {options.tile} x {options.tile} |")
    print("|---|---|")
    for chip, found in rates.items():
        print(f"| {chip} | {statistics.median(found):.1f} ({min(found):.1f} to "
              f"{max(found):.1f}) |")


if __name__ == "__main__":
    main()
