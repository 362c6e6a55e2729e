#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls with copy engines, executed on emulated AMD devices.

    copied.py generate RANKS                            > copied.mlir
    iris-compile copied.mlir --emit=mlir --until=expand -o MAIN
    iris-compile MAIN --target=gfx942 --emit=obj        -o HSACO
    copied.py check RANKS HSACO
    copied.py break WHAT MAIN                           > BROKEN

fused.py describes the cases and the expected results. Every device has a
second queue, its copy engine, which executes the operations that the runtime
enqueues (runtime/src/ccl/CopyEngine.cpp): it waits until all tiles of a
group are finished, copies, and sets flags, each at a random time after the
operation becomes ready.
"""
import argparse
import dataclasses
import functools
import sys

import emulate  # first: it switches to an interpreter that has NumPy
import fused
import numpy as np
from cases import add_actions, add_check_options, check, pick

LINE = 128
# Offset of the flags in the workspace, after the barriers of 512 programs and
# the epochs.
FLAGS = LINE * 512 * 8 + 4 * 512


def ceil_div(a, b):
    return -(-a // b)


@dataclasses.dataclass
class Copy:
    """Rows of a buffer, from one rank to another."""
    source: int
    target: int
    from_: emulate.Buffer
    to: emulate.Buffer
    from_row: int
    to_row: int
    rows: int
    missing: int = -1  # index of a counter
    flag: int = -1


class Chunks:
    """The rows that each rank owns, in groups that are copied at once."""

    def __init__(self, case, ranks):
        self.case, self.ranks = case, ranks
        tile_rows = case.config["tile_m"]
        self.rows = case.m
        if case.op == "matmul_all_reduce":
            self.rows = ceil_div(ceil_div(case.m, tile_rows), ranks) * tile_rows
        self.group_rows = case.config["group_m"] * tile_rows
        self.groups = ceil_div(self.rows, self.group_rows)
        sums = case.op in ("matmul_reduce_scatter", "matmul_all_reduce")
        gathers_result = case.op == "matmul_all_gather"
        self.flags = 0 if gathers_result else ranks * self.groups
        self.counts = self.groups if gathers_result else self.flags * sums
        # Completion flags of groups of partial sums, after the barrier's
        # counter.
        self.done = self.flags + self.counts + 1
        self.staging = None
        if sums:
            rounded = case.config["partial_type"] == "result"
            slices = max(2 * (ranks - 1), 1)
            self.staging = ((slices * self.rows, case.n),
                            case.result if rounded else "f32")
        elif not gathers_result:
            self.staging = (ranks * self.rows, case.k), case.element

    def group(self, owner, group):
        """The first row of a group of an owner's chunk, and the number of
        rows."""
        rows = self.rows
        if self.case.op == "matmul_all_reduce":
            rows = min(rows, max(self.case.m - owner * rows, 0))
        first = group * self.group_rows
        return first, max(min(self.group_rows, rows - first), 0)

    def tiles(self, owner, group):
        return (ceil_div(self.group(owner, group)[1],
                         self.case.config["tile_m"])
                * ceil_div(self.case.n, self.case.config["tile_n"]))


class CopiedRun(fused.Run):
    """One case on a world with copy engines."""

    def __init__(self, case, world, name):
        self.case, self.world, self.errors = case, world, []
        self.kernel, self.programs = name, case.config["programs"]
        self.chunks = chunks = Chunks(case, world.ranks)
        a, b, c = (world.alloc(shape, emulate.NUMPY_TYPES[element])
                   for shape, element in zip(case.shapes(world.ranks), (
                       case.element, case.element, case.result)))
        self.a, self.b, self.c = a, b, c
        self.arguments = [a, b, c]
        self.bias = None
        if case.bias:
            size = c.shape[case.bias == "column"]
            self.bias = world.alloc((size,), emulate.NUMPY_TYPES[case.result])
            self.arguments.append(self.bias)
        if case.scale != 1:
            self.arguments.append(case.scale)
        self.staging = None
        if chunks.staging:
            shape, element = chunks.staging
            self.staging = world.alloc(shape, emulate.NUMPY_TYPES[element])
            self.arguments.append(self.staging)
        done = chunks.counts if chunks.flags else 0
        words = FLAGS + (chunks.flags + chunks.counts + 1 + done) * LINE
        self.workspace = world.alloc((words,), np.int8)
        self.arguments.append(self.workspace)
        self.arrived, self.copied = [0] * world.ranks, [0] * world.ranks

    def queues(self):
        ranks = range(self.world.ranks)
        for rank in ranks:
            if self.staging:
                self.poison(self.staging, rank)
        launches = range(fused.LAUNCHES)
        return [[step for launch in launches
                 for step in steps(rank, launch)]
                for steps in (self.steps, self.engine) for rank in ranks]

    def word(self, rank, number):
        address = self.workspace.address(rank) + FLAGS + number * LINE
        return int(self.world.memory.get(address, np.int32, 1)[0])

    def set_word(self, rank, number, value):
        self.world.memory.write(
            self.workspace.address(rank) + FLAGS + number * LINE,
            np.array([value], np.int32).view(np.uint8))

    def all_have(self, counts, launch):
        return all(count > launch for count in counts)

    def steps(self, rank, launch):
        """Models the runtime's stream: this call's words, a barrier, the
        kernel, and, after the kernel and the copies, the comparison."""
        chunks = self.chunks
        prepare, kernel, compare = super().steps(rank, launch)

        def begin():
            for number in range(chunks.flags):
                self.set_word(rank, number, 0)
            for number, tiles in self.all_tiles(rank):
                self.set_word(rank, chunks.flags + number, tiles)
                if chunks.flags:
                    self.set_word(rank, chunks.done + number, 0)
            self.set_word(rank, chunks.flags + chunks.counts, 1)
            self.arrived[rank] = launch + 1

        def join():
            # A reduce-scatter does not change the caller's buffers.
            ranks = self.copied if self.case.op != "matmul_reduce_scatter" \
                else [self.copied[rank]]
            return self.all_have(ranks, launch)

        # Copies of results are preceded by a kernel with a barrier of the peer
        # programs.
        barrier = [] if chunks.counts else [
            lambda: self.all_have(self.arrived, launch)]
        return [prepare, begin, *barrier, kernel, join, compare]

    def engine(self, rank, launch):
        def copy_rows(copy):
            row_bytes = copy.from_.shape[1] * copy.from_.dtype.itemsize
            memory = self.world.memory
            memory.write(
                copy.to.address(copy.target) + copy.to_row * row_bytes,
                memory.get(copy.from_.address(copy.source)
                           + copy.from_row * row_bytes,
                           np.uint8, copy.rows * row_bytes))

        def set_flag(copy):
            number = self.chunks.done + copy.missing
            self.set_word(copy.target, copy.flag, 1 if copy.missing < 0
                          else self.word(copy.source, number))

        def done():
            self.copied[rank] = launch + 1

        def enter():
            if not self.chunks.counts:
                return self.all_have(self.arrived, launch)
            entered = self.chunks.flags + self.chunks.counts
            return self.arrived[rank] > launch \
                and self.word(rank, entered) == 0

        steps = [enter]
        for copy in self.copies(rank):
            if copy.missing >= 0:
                count = self.chunks.flags + copy.missing
                steps.append(lambda count=count:
                             self.word(rank, count) == 0)
            steps.append(functools.partial(copy_rows, copy))
            if copy.flag >= 0:
                steps.append(functools.partial(set_flag, copy))
            # Yields to other devices.
            steps += [self.pause()]
        return [*steps, done]

    def pause(self):
        left = [self.world.seed * 7919 % 5]

        def step():
            left[0] -= 1
            return left[0] < 0

        return step

    def distances(self, rank):
        return [(i, (rank + i) % self.world.ranks)
                for i in range(1, self.world.ranks + 1)]

    def all_tiles(self, rank):
        """(counter, number of unfinished tiles at the start)."""
        chunks = self.chunks
        if self.case.op == "matmul_all_gather":
            return [(g, chunks.tiles(rank, g)) for g in range(chunks.groups)]
        if not chunks.counts:
            return []
        return [((i - 1) * chunks.groups + g, chunks.tiles(owner, g))
                for i, owner in self.distances(rank)
                for g in range(chunks.groups)]

    def copies(self, rank):
        """In the order in which they are needed, or finished."""
        op, chunks = self.case.op, self.chunks
        ranks, groups = self.world.ranks, range(chunks.groups)
        others = self.distances(rank)[:-1]
        if op == "all_gather_matmul":
            order = [(who, g) for _, who in others for g in groups]
            if self.case.config.get("shard") != "m":
                order = [(who, g) for g in groups for _, who in others]
            for who, g in order:
                first, rows = chunks.group(who, g)
                yield Copy(who, rank, self.a, self.staging, first,
                           who * chunks.rows + first, rows,
                           flag=who * chunks.groups + g)
            return
        if op != "matmul_all_gather":
            for i, who in others:
                for g in groups:
                    first, rows = chunks.group(who, g)
                    there = ranks - i - 1
                    if rows:
                        yield Copy(rank, who, self.staging, self.staging,
                                   (i - 1) * chunks.rows + first,
                                   (ranks - 1 + there) * chunks.rows + first,
                                   rows, (i - 1) * chunks.groups + g,
                                   there * chunks.groups + g)
        if op == "matmul_reduce_scatter":
            return
        base = chunks.counts - chunks.groups
        for g in groups:
            first, rows = chunks.group(rank, g)
            for _, who in others if rows else ():
                row = rank * chunks.rows + first
                yield Copy(rank, who, self.c, self.c, row, row, rows, base + g)


def get_cases():
    """Cases by name; ragged cases are ragged in every dimension, and some
    chunks of all-reduces are empty."""
    cases = {}

    def tiles(*shape, group, **others):
        return fused.tiles(*shape, variant="copy_engine", group_m=group,
                           **others)

    def add(name, op, config, **others):
        cases[name] = fused.Case(op, config, **others)

    exact, halves = {"partial_type": "sum"}, {"partial_type": "result"}
    ragged = {"k": 43, "n": 27, "m": 75}
    for shard in "km":
        add(f"parts_{shard}", "all_gather_matmul",
            tiles(32, 32, 32, 2, 3, group=1, shard=shard))
        add(f"parts_{shard}_ragged", "all_gather_matmul",
            tiles(32, 16, 16, 1, 4, group=2, shard=shard), bias="column",
            programs=(2, 4, 3), **ragged)
    add("results", "matmul_all_gather", tiles(32, 32, 32, 2, 3, group=1))
    add("results_ragged", "matmul_all_gather",
        tiles(32, 16, 16, 1, 4, group=2, activation="relu"), bias="row",
        programs=(2, 4, 3), **ragged)
    add("results_narrow", "matmul_all_gather",
        tiles(32, 48, 16, 1, 4, group=1), m=37, n=107, k=40)
    for op, name in (("matmul_reduce_scatter", "scatter"),
                     ("matmul_all_reduce", "reduce")):
        add(name, op, tiles(32, 32, 32, 2, 3, group=1, **exact))
        add(f"{name}_rounded_ragged", op,
            tiles(32, 16, 16, 1, 4, group=2, **halves), bias="column",
            scale=0.5, programs=(3, 4, 1), **ragged)
        add(f"{name}_small", op, tiles(32, 16, 16, 1, 4, group=4, **halves),
            m=20, n=27, k=40, programs=(4, 2, 3))
    return cases


def emit(name, case, ranks):
    config = dict(case.config)
    if case.bias:
        config["bias"] = case.bias
    entries = [f"{key} = {value}" if isinstance(value, int)
               else f'{key} = "{value}"' for key, value in config.items()]
    if case.scale != 1:
        entries.append("scale = true")
    return (f"iris.matmul_kernel @{name} {case.op} {case.element} -> "
            f"{case.result} size {ranks}\n    {{{', '.join(entries)}}}\n")


def prepare(options, cases, image, name, weak, seed):
    case = cases[name]
    world = emulate.World(image, options.ranks, weak, seed,
                          fused.HEAP_BYTES)
    return CopiedRun(case, world, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    _, checking = add_actions(actions)
    add_check_options(checking, seeds=3)
    breaking = actions.add_parser("break")
    breaking.add_argument("what", choices=("signal", "wait", "first-barrier"))
    breaking.add_argument("main", help="after --until=expand")
    options = parser.parse_args()
    if options.action == "break":
        with open(options.main, encoding="utf-8") as file:
            print(fused.remove_synchronization(options.what, file.read()))
        return 0
    cases = pick(parser, options, get_cases())
    if options.action == "check":
        return check(options, cases, functools.partial(prepare, options, cases),
                     "kernels", fused.LAUNCHES)
    for name, case in cases.items():
        print(emit(name, case, options.ranks), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
