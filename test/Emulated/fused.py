#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused matmuls, executed on emulated AMD devices.

    fused.py generate RANKS [--only REGEX]               > fused.mlir
    iris-compile fused.mlir --emit=mlir --until=expand -o MAIN
    iris-compile MAIN --target=gfx942 --emit=obj       -o HSACO
    fused.py check RANKS [--only REGEX] MAIN HSACO

`generate` writes one host function per case; `check` takes the kernel's
arguments from it in MAIN: staging buffer, workspace, number of programs.
Every device has a stream (streams.py): it gets hashed data, runs the kernel,
compares, and continues with the next launch, which has different data and may
have another number of programs. Devices do not wait for each other between
launches. So a missing barrier is detected, and on weak memory a missing
release or acquire.

Data are small integers: all sums are exact, and a result is rounded as
docs/guides/fused-matmuls.md specifies. Results and staging buffers hold NaN (or -1) at
first.

    fused.py break WHAT MAIN > BROKEN

removes synchronization that every kernel needs (BREAKS): `check` must then
fail.
"""
import argparse
import dataclasses
import functools
import re
import sys

import emulate  # first: it switches to an interpreter that has NumPy
import numpy as np
from cases import add_actions, add_check_options, check, pick

HEAP_BYTES = 768 << 10  # for small cases; barriers use 512 KiB
LAUNCHES = 3
A, B, BIAS = 1, 2, 3  # salts


@dataclasses.dataclass(frozen=True)
class Case:
    """A kernel and the matrices of one rank: a has m rows and k columns, b
    has n columns. In a reduce-scatter, m is the number of rows of the result."""
    op: str
    config: dict
    m: int = 64
    n: int = 64
    k: int = 64
    element: str = "f16"
    result: str = "f16"
    bias: str = ""
    scale: float = 1.0
    # Of launch 0, 1, ...; if empty, the number in MAIN.
    programs: tuple = ()
    heap: int = HEAP_BYTES

    def shapes(self, ranks):
        """a, b and c on a rank."""
        m, n, k = self.m, self.n, self.k
        shard = self.config.get("shard")
        if self.op == "all_gather_matmul":
            return ((m, k), (k, n), (m * ranks, n)) if shard == "m" else (
                (m, k), (k * ranks, n), (m, n))
        if self.op == "matmul_all_gather":
            return ((m, k), (k, n), (m, n * ranks)) if shard == "n" else (
                (m, k), (k, n), (m * ranks, n))
        if self.op == "matmul_reduce_scatter":
            return (m * ranks, k), (k, n), (m, n)
        return (m, k), (k, n), (m, n)

    def emit(self, name, ranks):
        config = dict(self.config)
        types = [f"memref<?x?x{element}, #iris.symmetric>"
                 for element in (self.element, self.element, self.result)]
        shapes = self.shapes(ranks)
        lines = [f"func.func @{name}(%ctx: !iris.ctx) {{"]
        for size in sorted({size for shape in shapes for size in shape}):
            lines.append(f"  %c{size} = arith.constant {size} : index")
        for matrix, (rows, columns), type_ in zip("abc", shapes, types):
            lines.append(f"  %{matrix} = iris.alloc(%c{rows}, %c{columns})"
                         f" : {type_}")
        operands = ""
        if self.bias:
            config["bias"] = self.bias
            vector = f"memref<?x{self.result}, #iris.symmetric>"
            size = shapes[2][self.bias == "column"]
            lines.append(f"  %v = iris.alloc(%c{size}) : {vector}")
            operands += f" bias(%v : {vector})"
        if self.scale != 1:
            lines.append(f"  %s = arith.constant {self.scale} : f32")
            operands += " scale(%s)"
        entries = ", ".join(f"{key} = {value}" if isinstance(value, int)
                            else f'{key} = "{value}"'
                            for key, value in config.items())
        lines += [f"  iris.{self.op} %ctx, %a, %b, %c{operands}",
                  f"      {{{entries}}}", f"      : {', '.join(types)}",
                  "  return", "}"]
        return "\n".join(lines) + "\n"


def small(rank, launch, salt, shape):
    """Integers from -30 to 30, different in every matrix of every launch."""
    index = np.arange(int(np.prod(shape)), dtype=np.uint32)
    value = emulate.hash_of(-2048144789 * (4 * (8 * launch + rank) + salt),
                            index, 8) % 61
    return value.astype(np.float64).reshape(shape) - 30


def rounded(values, element):
    if element in ("f16", "f32"):
        return values.astype(emulate.NUMPY_TYPES[element]).astype(np.float64)
    assert element == "i32"
    return values


class Run:
    """One case on a world."""

    def __init__(self, case, world, main, name):
        self.case, self.world, self.launches = case, world, []
        error = emulate.follow(world, main, name,
                               lambda *launch: self.launches.append(launch))
        assert not error and len(self.launches) == 1, error
        self.kernel, self.programs, self.arguments = self.launches[0]
        self.a, self.b, self.c = self.arguments[:3]
        self.bias = self.arguments[3] if case.bias else None
        self.errors = []

    def count(self, launch):
        if launch < len(self.case.programs):
            return self.case.programs[launch]
        return self.programs

    def inputs(self, rank, launch):
        # The bias belongs to the reduced sum, not to any one rank.
        who = 0 if self.case.op == "matmul_all_reduce" else rank
        return [small(rank, launch, A, self.a.shape),
                small(rank, launch, B, self.b.shape),
                small(who, launch, BIAS, self.bias.shape) if self.bias else 0]

    def queues(self):
        for rank in range(self.world.ranks):
            for buffer in self.arguments[3 + bool(self.bias):-1]:
                if isinstance(buffer, emulate.Buffer):  # staging, no scale
                    self.poison(buffer, rank)
        return [[step for launch in range(LAUNCHES)
                 for step in self.steps(rank, launch)]
                for rank in range(self.world.ranks)]

    def poison(self, buffer, rank):
        no_number = np.nan if buffer.dtype.kind == "f" else -1
        buffer.write(rank, np.full(buffer.shape, no_number))

    def steps(self, rank, launch):
        def prepare():
            for buffer, data in zip((self.a, self.b, self.bias),
                                    self.inputs(rank, launch)):
                if buffer:
                    buffer.write(rank, data)
            self.poison(self.c, rank)

        def compare():
            wrong = np.argwhere(~(self.c.read(rank).astype(np.float64)
                                  == self.expected(rank, launch)))
            if len(wrong):
                self.errors.append(f"rank {rank}, launch {launch}: "
                                   f"{len(wrong)} elements are wrong, the "
                                   f"first at {wrong[0].tolist()}")

        return [prepare,
                self.world.launch(rank, self.kernel, self.count(launch),
                                  *self.arguments), compare]

    def finish(self, total, bias):
        """The epilogue of the expected sums of products."""
        total = total * self.case.scale
        if self.bias:
            total = total + (bias if self.case.bias == "column"
                             else bias[:, None])
        if self.case.config.get("activation") == "relu":
            total = np.maximum(total, 0)
        return rounded(total, self.case.result)

    def expected(self, rank, launch):
        op, shard = self.case.op, self.case.config.get("shard")
        ranks = range(self.world.ranks)
        data = [self.inputs(r, launch) for r in ranks]
        _, own_b, own_bias = data[rank]
        if op == "all_gather_matmul":
            whole = np.concatenate([a for a, _, _ in data],
                                   axis=0 if shard == "m" else 1)
            return self.finish(whole @ own_b, own_bias)
        if op == "matmul_all_gather":
            axis = 1 if shard == "n" else 0
            split = self.bias and axis == (self.case.bias == "column")
            return np.concatenate(
                [self.finish(a @ b, np.split(bias, len(ranks))[r] if split
                             else bias)
                 for r, (a, b, bias) in enumerate(data)], axis=axis)
        partial_type = self.case.result if self.case.config.get(
            "partial_type") == "result" else "f32"
        if self.case.element == "i8":
            partial_type = "i32"
        if op == "matmul":
            data = [data[rank]]
        total = sum(rounded(a @ b, partial_type) for a, b, _ in data)
        if op == "matmul_reduce_scatter":
            total = np.split(total, len(ranks))[rank]
        return self.finish(total, own_bias)


def tiles(m, n, k, warps, programs, **others):
    return {"tile_m": m, "tile_n": n, "tile_k": k, "warps": warps,
            "programs": programs, **others}


def get_cases():
    """Cases by name; ragged cases are ragged in every dimension."""
    whole = tiles(32, 32, 32, 2, 4)
    ragged = tiles(32, 16, 16, 1, 4)
    cases = {}

    def add(name, op, config, **others):
        cases[name] = Case(op, config, **others)

    # hbm_buffer: both shards, layouts, one and two k-blocks per flag, stages,
    # more fetch programs in the first stage, or more than there are programs.
    fetch = {"variant": "hbm_buffer", "num_fetch_programs": 1}
    gather = "all_gather_matmul"
    by_rows = {"staged_layout": "k_contiguous"}
    by_columns = {"staged_layout": "m_contiguous"}
    add("hbm_buffer_k", gather, {**whole, **fetch, **by_rows, "k_per_flag": 1})
    add("hbm_buffer_k_columns", gather,
        {**whole, **fetch, **by_columns, "k_per_flag": 2})
    add("hbm_buffer_k_ragged", gather,
        {**ragged, **fetch, **by_rows, "k_per_flag": 2, "num_fetch_stages": 2,
         "first_stage_fetch_programs": 3, "group_m": 2, "xcds": 2},
        m=75, n=27, k=40, bias="column", programs=(4, 3, 2))
    add("hbm_buffer_k_ragged_columns", gather,
        {**ragged, **fetch, **by_columns, "k_per_flag": 1,
         "num_fetch_programs": 4, "activation": "relu"},
        m=37, n=27, k=43, bias="row", programs=(2, 1, 4))
    add("hbm_buffer_k_blocks", gather,
        {**ragged, **fetch, **by_rows, "k_per_flag": 2}, m=41, n=24, k=48,
        scale=0.5)
    add("hbm_buffer_m", gather,
        {**whole, **fetch, **by_rows, "shard": "m", "k_per_flag": 2,
         "num_fetch_stages": 2}, m=32)
    add("hbm_buffer_m_columns", gather,
        {**whole, **fetch, **by_columns, "shard": "m", "k_per_flag": 1}, m=32)
    add("hbm_buffer_m_ragged", gather,
        {**ragged, **fetch, **by_rows, "shard": "m", "k_per_flag": 1,
         "num_fetch_programs": 4, "group_m": 1, "xcds": 3}, m=37, n=27, k=43,
        bias="row", programs=(2, 4, 1))
    add("hbm_buffer_m_ragged_columns", gather,
        {**ragged, **fetch, **by_columns, "shard": "m", "k_per_flag": 2,
         "num_fetch_stages": 3, "first_stage_fetch_programs": 2},
        m=37, n=27, k=40, bias="column", programs=(3, 4, 2))
    add("hbm_buffer_large", gather,
        {**tiles(64, 64, 64, 4, 3), **fetch, **by_rows, "k_per_flag": 1},
        k=128)

    # One k-block uses all LDS of gfx942: waits borrow a word of it.
    add("hbm_buffer_full", gather,
        {**tiles(256, 256, 64, 8, 3), **fetch, **by_rows, "k_per_flag": 1},
        m=200, n=248, k=64, heap=5 << 18)
    add("hbm_buffer_m_ragged_late", gather,
        {**ragged, **fetch, **by_rows, "shard": "m", "k_per_flag": 1,
         "num_fetch_programs": 2, "tiles_per_comm_program": 1},
        m=37, n=27, k=43, programs=(4, 3, 2))

    # Tile extents that are not a multiple of the instruction shape.
    narrow = tiles(32, 48, 16, 1, 4)
    add("hbm_buffer_m_narrow", gather,
        {**narrow, **fetch, **by_rows, "shard": "m", "k_per_flag": 1}, m=37,
        n=107, k=43, bias="column")

    # The same chunks pushed, and read remotely.
    push = {"variant": "push", "num_fetch_programs": 1}
    add("push_k", gather, {**whole, **push, **by_rows, "k_per_flag": 1})
    add("push_k_ragged_columns", gather,
        {**ragged, **push, **by_columns, "k_per_flag": 2,
         "num_fetch_programs": 4}, m=37, n=27, k=40, bias="column",
        programs=(2, 4, 3))
    add("push_m", gather,
        {**whole, **push, **by_rows, "shard": "m", "k_per_flag": 2}, m=32)
    add("push_m_ragged", gather,
        {**ragged, **push, **by_rows, "shard": "m", "k_per_flag": 1,
         "num_fetch_stages": 2, "first_stage_fetch_programs": 2},
        m=37, n=27, k=43)
    pull = {"variant": "pull"}
    add("pull_k", gather, {**whole, **pull})
    add("pull_k_ragged", gather, {**ragged, **pull}, m=37, n=27, k=43,
        bias="column", programs=(4, 2, 3))
    add("pull_m", gather, {**whole, **pull, "shard": "m"}, m=32)
    add("pull_m_ragged", gather, {**ragged, **pull, "shard": "m"}, m=37, n=27,
        k=40)

    # Matmul + all-gather.
    spread = "matmul_all_gather"
    moved = {"variant": "specialized", "num_fetch_programs": 1}
    add("spread_rows", spread, {**whole, "variant": "push"}, m=32)
    add("spread_columns_ragged", spread,
        {**ragged, "variant": "push", "shard": "n"}, m=37, n=27, k=43,
        bias="column", programs=(4, 2, 3))
    add("specialized_rows", spread, {**whole, **moved})
    add("specialized_rows_ragged", spread,
        {**ragged, **moved, "num_fetch_programs": 3}, m=37, n=27, k=40,
        bias="row", programs=(2, 4, 3))
    add("specialized_rows_early", spread,
        {**ragged, **moved, "tiles_per_comm_program": 2}, m=37, n=27, k=40,
        programs=(2, 4, 3))
    add("specialized_rows_narrow", spread, {**narrow, **moved}, m=37, n=107,
        k=40)
    add("specialized_columns", spread, {**whole, **moved, "shard": "n"}, n=32)
    add("specialized_columns_ragged", spread,
        {**ragged, **moved, "shard": "n", "activation": "relu"}, m=37, n=27,
        k=43, programs=(4, 2, 3))

    # Sums over ranks, exact or rounded in transfer.
    exact, halves = {"partial_type": "sum"}, {"partial_type": "result"}
    add("scatter", "matmul_reduce_scatter", {**whole, **exact}, m=32)
    add("scatter_rounded_ragged", "matmul_reduce_scatter",
        {**ragged, **halves}, m=37, n=27, k=43, bias="column", scale=0.5,
        programs=(3, 4, 1))
    for variant in ("two_shot", "one_shot"):
        add(variant, "matmul_all_reduce",
            {**whole, **exact, "variant": variant})
        add(f"{variant}_rounded_ragged", "matmul_all_reduce",
            {**ragged, **halves, "variant": variant}, m=37, n=27, k=43,
            bias="row", programs=(3, 4, 1))
    # Some programs add, the rest multiply; the first ones do both at the start.
    add("scatter_split", "matmul_reduce_scatter", {**whole, **exact, **moved},
        m=32)
    add("scatter_split_rounded_ragged", "matmul_reduce_scatter",
        {**ragged, **halves, **moved, "num_fetch_programs": 2,
         "tiles_per_comm_program": 1}, m=37, n=27, k=43, bias="column", scale=0.5,
        programs=(3, 4, 1))
    add("scatter_split_narrow", "matmul_reduce_scatter",
        {**narrow, **exact, **moved}, m=37, n=107, k=43)
    add("two_shot_split", "matmul_all_reduce", {**whole, **exact, **moved})
    add("two_shot_split_rounded_ragged", "matmul_all_reduce",
        {**ragged, **halves, **moved, "num_fetch_programs": 2,
         "tiles_per_comm_program": 1}, m=37, n=27, k=43, bias="row",
        programs=(3, 4, 1))
    add("atomic", "matmul_all_reduce", {**whole, "variant": "atomic"},
        result="f32")
    add("atomic_ragged", "matmul_all_reduce", {**ragged, "variant": "atomic"},
        m=37, n=27, k=43, bias="column", result="f32", programs=(3, 4, 1))
    add("atomic_integers", "matmul_all_reduce",
        {**tiles(32, 32, 32, 2, 3), "variant": "atomic"}, m=45,
        element="i8", result="i32")
    # Split-k, also with more splits than k-blocks.
    add("split", "matmul", {**whole, "split_k": 2}, k=96)
    add("split_ragged", "matmul",
        {**ragged, "split_k": 4, "group_m": 2, "activation": "relu"},
        m=37, n=27, k=43, bias="column", programs=(4, 3, 1))
    add("split_integers", "matmul", {**tiles(32, 32, 32, 2, 3), "split_k": 4},
        m=45, k=64, element="i8", result="i32")
    return cases


def prepare(options, cases, image, name, weak, seed):
    case = cases[name]
    world = emulate.World(image, options.ranks, weak, seed, case.heap)
    return Run(case, world, options.main, name)


# Each changes one line of a kernel's text.
BREAKS = {"signal": "signals do not release", "wait": "waits do not acquire",
          "atomic_rmw": "counters are relaxed",
          "first-barrier": "the first barrier is missing",
          "last-barrier": "the last barrier is missing"}


def remove_synchronization(what, text):
    lines = text.splitlines()
    if not what.endswith("barrier"):
        return "\n".join(
            re.sub(r"( scope\(gpu\))? : i32", r" sem(relaxed)\1 : i32", line,
                   count=1)
            if f"iris.{what} " in line and "sem(relaxed)" not in line else line
            for line in lines)
    kernel, barriers = 0, {}
    for number, line in enumerate(lines):
        kernel += "gpu.func" in line
        if "iris.barrier" in line:
            barriers.setdefault(kernel, []).append(number)
    for numbers in barriers.values():
        lines[numbers[0 if what == "first-barrier" else -1]] = ""
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    _, checking = add_actions(actions)
    checking.add_argument("main", help="after --until=expand")
    add_check_options(checking, seeds=3)
    breaking = actions.add_parser("break")
    breaking.add_argument("what", choices=BREAKS)
    breaking.add_argument("main", help="after --until=expand")
    options = parser.parse_args()
    if options.action == "break":
        with open(options.main, encoding="utf-8") as file:
            print(remove_synchronization(options.what, file.read()))
        return 0
    cases = pick(parser, options, get_cases())
    if options.action == "check":
        return check(options, cases, functools.partial(prepare, options, cases),
                     "kernels", LAUNCHES)
    for name, case in cases.items():
        print(case.emit(name, options.ranks), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
