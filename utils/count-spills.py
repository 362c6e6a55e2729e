#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the registers that kernels of AMD GPUs spill.

    utils/count-spills.py COMPILER
    utils/count-spills.py COMPILER --targets=gfx942 --types=f16 --sizes=8
    utils/count-spills.py COMPILER --targets=gfx942 --requests=kernels.mlir
    utils/count-spills.py COMPILER --draw=100 --seed=1

COMPILER is an iris-compile. It compiles every variant of its
--list-collectives, also staged, one kernel at a time. A kernel that it rejects
(a type that a variant does not add, say) is skipped. With --requests, it
compiles the kernels of a file in place of the collectives: one a line, as
`iris-bench --requests` writes those that the selector may choose. With --draw,
it compiles those that the selector may choose for problems (of a matmul
and a collective alternately: shape, type, ranks) that it draws from --seed.

Prints a row per kernel that spills: its target, name, spilled SGPRs and VGPRs,
bytes of scratch, and instructions in loops that spill or reload SGPRs; with
--draw also its request. Then it prints the number of kernels.

exit status: 0 if none spills, 1 if one does, 2 for a wrong command line. With
--draw, SGPRs that no loop spills or reloads do not count.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import selected_kernels

COUNTS = {"sgprs": ".sgpr_spill_count", "vgprs": ".vgpr_spill_count",
          "scratch": ".private_segment_fixed_size"}
TARGETS = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
TYPES = ["i8", "f16", "f32", "f64"]

Kernel = collections.namedtuple("Kernel", "target name source")


def list_forms(compiler):
    """(collective, what it adds, variant, whether it is staged)"""
    table = json.loads(subprocess.run([compiler, "--list-collectives"],
                                      check=True,
                                      stdout=subprocess.PIPE).stdout)
    for each in table:
        reduction = " sum" if each["reduces"] else ""
        for variant in each["variants"]:
            if variant["kernel"]:
                yield each["name"], reduction, variant["name"], False
            # Those that work anywhere are the same kernels if staged.
            if (variant["kernel"] and variant["staged"]
                    and not variant["anywhere"]):
                yield each["name"], reduction, variant["name"], True


def list_kernels(options):
    forms = list(list_forms(options.compiler))
    for target in options.targets:
        for size in options.sizes:
            for element in options.types:
                for collective, reduction, variant, staged in forms:
                    name = f"{collective} {variant} {element} {size}"
                    name += " staged" if staged else ""
                    config = f'variant = "{variant}"'
                    config += ", staged = true" if staged else ""
                    if not re.search(options.filter, name):
                        continue
                    yield Kernel(target, name, (
                        f"iris.collective @kernel {collective}{reduction} "
                        f"{element} size {size} {{{config}}}\n"))


def read_kernels(options):
    """The kernels of --requests, named by their symbols."""
    with open(options.requests, encoding="utf-8") as file:
        for line in selected_kernels.request_lines(file):
            symbol = re.match(r"iris\.\w+ @(\w+)", line)
            if not symbol:
                raise ValueError(f"{options.requests}: expected a request in "
                                 f"each line, but one is: {line}")
            for target in options.targets:
                if re.search(options.filter, symbol[1]):
                    yield Kernel(target, symbol[1], line)


def draw_kernels(options):
    """The kernels of --draw, named by their symbols."""
    with tempfile.TemporaryDirectory() as folder:
        for target in options.targets:
            for line in selected_kernels.draw_requests(
                    options.bench, target, options.seed, options.draw,
                    options.candidates, os.path.join(folder, "none.jsonl")):
                if re.search(options.filter, line):
                    yield Kernel(target, re.search(r"@(\w+)", line)[1],
                                 re.sub(r" loc\(.*", "", line) + "\n")


def count_in_loops(assembly):
    """Instructions that move a spilled SGPR, in blocks of loops. Registers
    that hold SGPRs and blocks of loops are those of LLVM's comments."""
    lanes = set(re.findall(r"\$vgpr(\d+) : SGPR spill to VGPR lane", assembly))
    count, in_loop = 0, False
    for line in assembly.splitlines():
        if re.match(r"\.LBB|; %bb|\w+:", line):
            in_loop = False
        if re.search(r";.*(\bLoop: Header=|Loop Header: )", line):
            in_loop = True
        move = re.match(r"\s+v_(?:writelane_b32 v(\d+),|"
                        r"readlane_b32 s\d+, v(\d+),)", line)
        count += bool(in_loop and move and (move[1] or move[2]) in lanes)
    return count


def measure(compiler, kernel):
    """The counts of the kernel, or None if the compiler rejects it."""
    run = subprocess.run(
        [compiler, "-", f"--target={kernel.target}", "--emit=asm", "-o", "-"],
        input=kernel.source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    if run.returncode < 0 or run.returncode > 1:
        raise ValueError(f"{compiler} ends with status {run.returncode} on:\n"
                         f"{kernel.source}{run.stderr}")
    if run.returncode:
        return None
    counts = {key: int(re.search(rf"{re.escape(name)}:\s+(\d+)",
                                 run.stdout)[1])
              for key, name in COUNTS.items()}
    return {**counts, "in_loops": count_in_loops(run.stdout)}


def parse():
    def words(text):
        return text.split(",")

    def numbers(text):
        return [int(word) for word in words(text)]

    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler", metavar="COMPILER")
    parser.add_argument("--targets", default=TARGETS, type=words,
                        help="separated by commas (default: all of AMD)")
    parser.add_argument("--types", default=TYPES, type=words,
                        help="of elements (default: i8,f16,f32,f64)")
    parser.add_argument("--sizes", default=range(2, 9), type=numbers,
                        help="numbers of ranks (default: 2 to 8)")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only kernels whose name matches")
    parser.add_argument("--requests", metavar="FILE",
                        help="kernels in place of the collectives; --types "
                             "and --sizes do not apply")
    parser.add_argument("--draw", type=int, metavar="N",
                        help="kernels of N problems in place of the "
                             "collectives; --types and --sizes do not apply, "
                             "and --filter to requests")
    parser.add_argument("--seed", type=int, default=1,
                        help="of --draw (default: %(default)s)")
    parser.add_argument("--candidates", type=int, default=32,
                        help="of a matmul, for --draw (default: %(default)s, as "
                             "many as are measured at most)")
    parser.add_argument("--bench", default="iris-bench",
                        help="for --draw (default: %(default)s on PATH)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="compilers at a time (default: %(default)s)")
    return parser.parse_args()


def main():
    options = parse()
    kernels = list(draw_kernels(options) if options.draw
                   else read_kernels(options) if options.requests
                   else list_kernels(options))
    compiled = spilling = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        counted = pool.map(lambda each: measure(options.compiler, each),
                           kernels)
        for kernel, counts in zip(kernels, counted):
            compiled += counts is not None
            if not counts or not any(counts.values()):
                continue
            if options.draw:
                del counts["sgprs"]
            if any(counts.values()):
                spilling += 1
                print(kernel.target, kernel.name,
                      *(f"{key} {n}" for key, n in counts.items()),
                      kernel.source.strip() if options.draw else "", flush=True)
    print(f"{compiled} kernels, {spilling} of them spill; "
          f"{len(kernels) - compiled} rejected")
    sys.exit(1 if spilling or not compiled else 0)


if __name__ == "__main__":
    main()
