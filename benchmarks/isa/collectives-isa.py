#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the instructions that collectives execute on gfx942, of Iris and
Triton.

    PATH=$PWD/build/bin:$PATH benchmarks/isa/collectives-isa.py \\
        build/bin/iris-compile venv/bin/python --json=collectives-isa.jsonl

All-gather push, and one-shot and two-shot all-reduce of f16, are compiled by
iris-compile and by Triton (triton_kernels.py in this folder, run by the other
interpreter), and executed on emulated devices; no GPU is needed. The outputs
are compared with NumPy's. Every number of warps is tried with every tile.

Only the main loop counts. Each kernel runs with TILES and with twice as many
tiles per program, and the count of an instruction is the difference between
the two runs: prologue and epilogue cancel. So do barriers: instructions whose
difference is not the same for each tile poll, and are reported as `unsteady`.

The unit is one wave instruction per 64 x 16 bytes and peer: a wave that loads
16 bytes per lane once and stores them to four peers with five instructions in
all would have 5 / 4. In two-shot, the bytes are those of the owner's tiles,
which it loads from all peers and stores to all peers: at least 2.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LANES, PIECE = 64, 16
PROGRAMS = 2
COLLECTIVES = {
    "all_gather": {"op": "all_gather i8", "variant": "push", "element": "i8",
                   "bytes": 1},
    "one_shot": {"op": "all_reduce sum f16", "variant": "one_shot",
                 "element": "fp16", "bytes": 2},
    "two_shot": {"op": "all_reduce sum f16", "variant": "two_shot",
                 "element": "fp16", "bytes": 2},
}


sys.path.insert(0, str(HERE.parents[1] / "test/Emulated"))
import machine  # switches to an interpreter that has NumPy
import emulate
import numpy as np


# Compilation -----------------------------------------------------------------


def compile_ours(options, ranks, configs, folder):
    """One image for all configs; returns {config: (image, kernel)}."""
    lines, result = [], {}
    image = folder / f"iris-{ranks}.hsaco"
    for collective, warps, tile in configs:
        if tile > options.largest:
            continue
        info = COLLECTIVES[collective]
        name = f"{collective}_{warps}_{tile}"
        config = {"variant": f'"{info["variant"]}"', "warps": warps,
                  "tile": tile // info["bytes"]}
        if options.workspace:
            config["workspace"] = options.workspace
        config = ", ".join(f"{k} = {v}" for k, v in config.items())
        lines.append(f"iris.collective @{name} {info['op']} size {ranks} "
                     f"{{{config}}}\n")
        result[collective, warps, tile] = (image, name)
    source = folder / f"iris-{ranks}.mlir"
    source.write_text("".join(lines))
    for emit, path in ("obj", image), ("asm", image.with_suffix(".s")):
        subprocess.run([options.iris_compile, source, "--target=gfx942",
                        f"--emit={emit}", "-o", path], check=True)
    return result


def compile_theirs(options, ranks, configs, folder):
    jobs, result = [], {}
    for collective, warps, tile in configs:
        info = COLLECTIVES[collective]
        stem = folder / f"triton-{ranks}-{collective}-{warps}-{tile}"
        image = stem.with_suffix(".hsaco")
        jobs.append({"kernel": collective, "element": info["element"],
                     "ranks": ranks, "tile": tile // info["bytes"],
                     "programs": PROGRAMS, "warps": warps,
                     "hsaco": str(image), "asm": str(stem.with_suffix(".s"))})
        result[collective, warps, tile] = (image, collective)
    environment = dict(os.environ, TRITON_CACHE_DIR=str(folder / "cache"))
    subprocess.run([options.python, HERE / "triton_kernels.py"], check=True,
                   input=json.dumps(jobs), text=True, env=environment,
                   stdout=subprocess.DEVNULL)
    return result


# Execution -------------------------------------------------------------------


class Run:
    """One execution: on all ranks, with `tiles` tiles per program."""

    def __init__(self, options, image, kernel, ours, config, ranks,
                 tiles):
        collective, warps, tile = config
        info = COLLECTIVES[collective]
        self.tiles = tiles * PROGRAMS  # that a rank processes
        gathers, reduces = collective == "all_gather", collective == "two_shot"
        total = self.tiles * tile * (ranks if reduces else 1)
        count = total // info["bytes"]
        result = total * (ranks if gathers else 1)
        heap = total + result + options.scratch + (1 << 14)
        world = emulate.World(machine.CodeObject(str(image)), ranks, None, 1,
                              heap)
        kind = np.uint8 if gathers else np.float16
        inputs = world.alloc((count,), kind)
        outputs = world.alloc((result // info["bytes"],), kind)
        workspace = world.alloc((options.scratch,), np.uint8)
        bases = np.array([world.heap_base(r) for r in range(ranks)], np.uint64)
        table = world.memory.put(bases)
        world.arguments = world.memory.top

        # Small integers: sums are exact in any order.
        random = np.random.default_rng(1)
        data = [random.integers(0, 256 if gathers else 64, count) for _ in
                range(ranks)]
        for rank, values in enumerate(data):
            inputs.write(rank, values)
        want = np.concatenate(data) if gathers else sum(data)

        launches = []
        for rank in range(ranks):
            if ours:
                launches.append(world.launch(rank, kernel, PROGRAMS, inputs,
                                             outputs, workspace, count, 0))
                continue
            packed = [inputs.address(rank), outputs.address(rank), table, rank,
                      count]
            packed += [0] * (world.image.argument_count(kernel) - len(packed))  # Triton's arguments
            launches.append(machine.Launch(
                world.image, kernel, (PROGRAMS, 1, 1), (LANES * warps, 1, 1),
                packed, world.memory, device=rank))
        emulation = machine.Emu(world.memory, seed=1, check=False)
        emulation.run(launches)
        for rank in range(ranks):
            if not np.array_equal(outputs.read(rank), want.astype(kind)):
                raise RuntimeError(f"rank {rank}: the output is wrong")
        self.executed = {position: count
                         for position, count, _ in emulation.executions()}
        self.names = {position: text.split()[0]
                      for position, _, text in emulation.executions()}
        self.vectors = world.image.vector_count(kernel)
        self.scratch = world.image.scratch_bytes(kernel)


def class_of(name):
    if name.startswith("v_"):
        return "valu"
    if name.startswith(("global_", "buffer_", "flat_", "scratch_")):
        return "load" if "_load" in name else "store"
    if name in ("s_waitcnt", "s_nop"):
        return "wait"
    if name.startswith(("s_cbranch", "s_branch")):
        return "branch"
    if name.startswith("s_") and name != "s_barrier":
        return "salu"
    return "other"


CLASSES = ["valu", "salu", "load", "store", "wait", "branch", "other"]


def measure(options, image, kernel, ours, config, ranks):
    collective, warps, tile = config
    record = {"benchmark": "collectives-isa", "collective": collective,
              "compiler": "iris" if ours else "triton", "ranks": ranks,
              "warps": warps, "tile_bytes": tile}
    few, many = (Run(options, image, kernel, ours, config, ranks, n)
                 for n in (options.tiles, 2 * options.tiles))
    more_tiles = many.tiles - few.tiles
    unit = ranks * more_tiles * tile / PIECE / LANES * ranks
    # Every wave executes an instruction of the loop for each tile, or for each
    # group of up to four tiles if the loop is unrolled.
    least = more_tiles * warps / 4
    counts, widths, unsteady = collections.Counter(), set(), 0
    for offset, name in many.names.items():
        more = many.executed[offset] - few.executed.get(offset, 0)
        if more % (least * ranks):
            unsteady += more
        elif more:
            counts[class_of(name)] += more
            if class_of(name) in ("load", "store"):
                widths.add(name)
    record["instructions"] = round(sum(counts.values()) / unit, 4)
    record.update({name: round(counts[name] / unit, 4) for name in CLASSES})
    record.update({"accesses": sorted(widths), "unsteady": unsteady,
                   "vgprs": many.vectors, "scratch_bytes": many.scratch,
                   "tiles_per_program": [options.tiles, 2 * options.tiles],
                   "programs": PROGRAMS})
    return record


# Report ----------------------------------------------------------------------


def print_table(records, choose):
    """A row for each collective, number of ranks and compiler."""
    columns = ["instructions"] + CLASSES[:-1]
    print("| collective | ranks | compiler | warps | tile | "
          + " | ".join(columns) + " | 128-bit |")
    print("|" + "---|" * (len(columns) + 6))
    groups = collections.defaultdict(list)
    for record in records:
        groups[record["collective"], record["ranks"],
               record["compiler"]].append(record)
    for key in sorted(groups):
        row = choose(groups[key])
        if not row:
            continue
        print(f"| {' | '.join(str(k) for k in key)} | {row['warps']} | "
              f"{row['tile_bytes'] // 1024} KiB | "
              + " | ".join(f"{row[c]:.2f}" for c in columns)
              + f" | {'all' if is_wide(row) else 'not all'} |")
    print()


def is_wide(row):
    return all(access.endswith("_dwordx4") for access in row["accesses"])


def fewest(rows):
    """The best of those with only 128-bit accesses, if there are any."""
    rows = [row for row in rows if is_wide(row)] or rows
    return min(rows, key=lambda row: row["instructions"])


def at_default(rows):
    """iris-compile's default for an empty config."""
    return next((row for row in rows
                 if (row["warps"], row["tile_bytes"]) == (4, 8192)), None)


def print_tables(records):
    for choose in fewest, at_default:
        print_table(records, choose)


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iris_compile", help="the compiler")
    parser.add_argument("python", help="an interpreter that has Triton")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES))
    parser.add_argument("--ranks", default="4,8", type=numbers)
    parser.add_argument("--warps", default="1,2,4,8", type=numbers)
    parser.add_argument("--tile-bytes", default="4096,8192,16384,32768",
                        type=numbers)
    parser.add_argument("--largest", default=16384, type=int,
                        help="largest tile in bytes that iris-compile supports")
    parser.add_argument("--tiles", default=4, type=int,
                        help="tiles per program in the shorter run")
    parser.add_argument("--workspace", default=524288, type=int,
                        help="bytes of it; 0 for the compiler's default")
    parser.add_argument("--only", choices=["iris", "triton"])
    parser.add_argument("--json", help="append a line per configuration")
    parser.add_argument("--table", action="store_true",
                        help="print the tables of that file, measure nothing")
    parser.add_argument("--keep", help="folder for images and assembly")
    options = parser.parse_args()
    options.scratch = options.workspace or 29556992
    if options.table:
        with open(options.json, encoding="utf-8") as file:
            print_tables([json.loads(line) for line in file])
        return 0

    configs = [(c, w, t) for c in options.collectives.split(",")
               for w in options.warps for t in options.tile_bytes
               if t >= w * LANES * PIECE]
    records, failures = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        for ranks in options.ranks:
            for compiler, build in (("iris", compile_ours),
                                    ("triton", compile_theirs)):
                if options.only not in (None, compiler):
                    continue
                images = build(options, ranks, configs, folder)
                for config, (image, kernel) in images.items():
                    try:
                        record = measure(options, image, kernel,
                                         compiler == "iris", config, ranks)
                    except RuntimeError as error:
                        print(f"{compiler} {config} {ranks}: {error}",
                              file=sys.stderr)
                        failures += 1
                        continue
                    records.append(record)
                    print(compiler, ranks, *config, record["instructions"],
                          file=sys.stderr, flush=True)
                    if options.json:
                        with open(options.json, "a", encoding="utf-8") as file:
                            file.write(json.dumps(record) + "\n")
    print_tables(records)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
