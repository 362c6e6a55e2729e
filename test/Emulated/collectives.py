#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of collectives, executed on emulated AMD devices.

    collectives.py generate RANKS ELEMENT [--only REGEX]         > kernels.mlir
    iris-compile kernels.mlir --target=gfx942 --emit=obj        -o HSACO
    collectives.py check RANKS ELEMENT [--only REGEX] HSACO

All operations and variants; sums, and one more reduction; in place where
supported; staged where the variant has a kernel for it; send and receive in a
ring. Every device has a stream (streams.py): it gets hashed data, runs the
kernel, compares, and continues with the next launch, which has different
data, another root, another element count and another number of programs.
Devices do not wait for each other between launches. So a missing barrier is
detected, and on weak memory a missing release or acquire.

Arguments that only the root uses are null on all other ranks. Staged kernels
get memory that no other rank can access. Outputs hold another value at first,
which they keep where the collective does not write.

Data are small integers: all sums are exact.
"""
import argparse
import dataclasses
import functools
import pathlib
import sys

import emulate  # first: it switches to an interpreter that has NumPy
import numpy as np
from cases import add_actions, add_check_options, check, pick

# At the end of the path: Execution has modules of the same names.
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Execution/Inputs"))
from variants import IN_PLACE, MOVES, REDUCES, having

WORKSPACE_BYTES = 768 << 10  # twice that for more than 8 ranks
TILE_BYTES = 2048
EXCHANGE_BYTES = {"fifo": 32, "packet": 16, "group": 32}
PROGRAMS = (2, 1, 2)  # per launch
POISON = 99
REDUCTIONS = {"sum": np.sum, "max": np.max, "min": np.min}

# Packets and buffers use the same kernels with different arguments.
STAGED = {"all_gather": ["push"], "all_to_all": ["push"],
          "broadcast": ["push"], "gather": ["pull", "push"],
          "scatter": ["push", "pull"], "all_reduce": ["two_shot", "one_shot"],
          "reduce_scatter": ["pull"], "reduce": ["pull", "two_shot"]}
MANY_IN = having("input", "chunks", "all")
MANY_OUT = having("output", "chunks", "all")
ROOT_READS = having("input", "only_on_root", True)  # the root alone has an input
ROOT_WRITES = having("output", "only_on_root", True)  # ... an output


def workspace_bytes(ranks):
    return WORKSPACE_BYTES * (2 if ranks > 8 else 1)


class Element:
    """Converts numbers to elements in memory."""

    def __init__(self, name):
        self.name = name
        self.dtype = np.dtype(emulate.NUMPY_TYPES[name])

    def encode(self, numbers):
        if self.name != "bf16":
            return numbers.astype(self.dtype)
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(
            self.dtype)

    def decode(self, data):
        if self.name != "bf16":
            return data.astype(np.float64)
        return (data.astype(np.uint32) << 16).view(np.float32).astype(
            np.float64)


@dataclasses.dataclass(frozen=True)
class Case:
    operation: str
    variant: str
    reduction: str = ""
    staged: bool = False
    in_place: bool = False

    @property
    def kernel(self):
        parts = [self.operation, self.variant, self.reduction,
                 "staged" if self.staged else ""]
        return "_".join(part for part in parts if part)

    @property
    def name(self):
        return self.kernel + ("_in_place" if self.in_place else "")

    def tile(self, element):
        tile_bytes = TILE_BYTES
        if self.is_exchange:
            tile_bytes = EXCHANGE_BYTES[self.variant]
        return tile_bytes // element.dtype.itemsize

    def counts(self, element, ranks):
        """Elements of a chunk, per launch."""
        tile = self.tile(element)
        # Whole tiles, one whole and one partial tile, one partial tile.
        first = 2 * tile
        if self.is_exchange:
            first = 23 * tile + 7  # more steps than slots
            if ranks == 2:
                first = 75 * tile + 7  # steps that fill the large slots
        elif self.staged:
            first = 133 * tile + 7  # three rounds: slots take 66 tiles at once
        if ranks == 2 and self.variant == "buffered":
            # Rounds of two slots; the last one has a slot and a half.
            first = (9 * 33 + 16) * tile + 7
        return first, tile + 13, 5

    @property
    def is_exchange(self):
        """Of a send and a receive."""
        return self.operation == "exchange"

    def emit(self, kernel, element, ranks):
        entries = [f'variant = "{self.variant}"',
                   f"tile = {self.tile(element)}", "warps = 2",
                   f"programs = {max(PROGRAMS)}",
                   f"workspace = {workspace_bytes(ranks)}"]
        if self.staged:
            entries.append("staged = true")
        operation = kernel.split("_")[0] if self.is_exchange \
            else self.operation
        words = f"{operation} {self.reduction}".strip()
        return (f"iris.collective @{kernel} {words} {element.name} size "
                f"{ranks} {{{', '.join(entries)}}}\n")

    def kernels(self):
        if self.variant == "group":
            return ["send_group"]
        if self.is_exchange:
            return [f"send_{self.variant}", f"recv_{self.variant}"]
        return [self.kernel]


def get_cases(reductions):
    cases = [Case(operation, variant) for operation, variants in MOVES.items()
             for variant in variants]
    for reduction in reductions:
        cases += [Case(operation, variant, reduction)
                  for operation, variants in REDUCES.items()
                  for variant in variants
                  if reduction == "sum" or variant != "atomic"]
    first = reductions[0]
    for table, how in ((IN_PLACE, "in_place"), (STAGED, "staged")):
        cases += [Case(operation, variant,
                       first if operation in REDUCES else "", **{how: True})
                  for operation, variants in table.items()
                  for variant in variants]
    cases += [Case("exchange", variant) for variant in EXCHANGE_BYTES]
    return {case.name: case for case in cases}


def small(rank, launch, count):
    """Integers from -15 to 15, different on every rank and in every launch."""
    index = np.arange(count, dtype=np.uint32)
    salt = -2048144789 * (8 * launch + rank + 1)
    return (emulate.hash_of(salt, index, 8) % 31).astype(np.float64) - 15


class Run:
    """One case on a world."""

    def __init__(self, case, world, element):
        self.case, self.world, self.element = case, world, element
        self.counts = case.counts(element, world.ranks)
        self.size = world.ranks * max(self.counts) + 1
        self.workspace = world.alloc((workspace_bytes(world.ranks),), np.uint8)
        self.buffers = [self.allocate() for _ in range(2)]
        self.errors = []

    def allocate(self):
        """The address on each rank."""
        ranks = range(self.world.ranks)
        if self.case.staged:  # at different addresses, outside the heap
            return [self.world.memory.alloc(
                (self.size + 64 * rank) * self.element.dtype.itemsize)
                for rank in ranks]
        buffer = self.world.alloc((self.size,), self.element.dtype)
        return [buffer.address(rank) for rank in ranks]

    def root(self, launch):
        """The same number of programs twice, then another."""
        return (1, 1, 3)[launch] % self.world.ranks

    def sizes(self, launch):
        """Numbers of elements of the input and of the output."""
        count, case = self.counts[launch], self.case
        many = self.world.ranks * count
        return (many if case.operation in MANY_IN else count,
                many if case.operation in MANY_OUT else count)

    def pointers(self, rank, launch):
        """The addresses of the input and of the output; null where unused."""
        case, is_root = self.case, rank == self.root(launch)
        source, target = (each[rank] for each in self.buffers)
        chunk = rank * self.counts[launch] * self.element.dtype.itemsize
        rooted = case.operation in ROOT_READS + ROOT_WRITES
        if case.in_place and (is_root or not rooted):
            if case.operation in MANY_IN and case.operation not in MANY_OUT:
                target = source + chunk
            elif case.operation in MANY_OUT and case.operation not in MANY_IN:
                source = target + chunk
            elif case.operation == "broadcast":
                source = target  # all outputs are in one buffer
            else:
                target = source  # and so are all inputs
        if case.operation in ROOT_READS and not is_root:
            source = 0
        if case.operation in ROOT_WRITES and not is_root:
            target = 0
        return source, target

    def write(self, address, numbers):
        data = np.ascontiguousarray(self.element.encode(numbers)).view(np.uint8)
        self.world.memory.write(address, data)

    def input(self, rank, launch):
        return small(rank, launch, self.sizes(launch)[0])

    def steps(self, rank, launch):
        source, target = self.pointers(rank, launch)

        def prepare():
            # The previous call no longer uses any of them.
            for buffer in self.buffers:
                self.write(buffer[rank], np.full(self.size, POISON))
            if source:
                self.write(source, self.input(rank, launch))

        def compare():
            want = self.expected(rank, launch)
            if not self.case.in_place:  # only the output may change
                want = np.append(want, np.full(self.size - len(want), POISON))
            got = self.element.decode(self.world.memory.get(
                target or self.buffers[1][rank], self.element.dtype, len(want)))
            wrong = np.flatnonzero(got != want)
            if len(wrong):
                self.errors.append(
                    f"rank {rank}, launch {launch}: {len(wrong)} elements are "
                    f"wrong; the first, {wrong[0]}, is {got[wrong[0]]} and not "
                    f"{want[wrong[0]]}")

        return [prepare, *self.launches(rank, launch, source, target), compare]

    def launches(self, rank, launch, source, target):
        count, ranks = self.counts[launch], self.world.ranks
        in_size, out_size = self.sizes(launch)

        def start(kernel, root):
            return self.world.launch(
                rank, kernel, PROGRAMS[launch], source, in_size, target,
                out_size, self.workspace, count, root)

        if self.case.variant == "group":
            return self.group(rank, launch, source, target)
        if not self.case.is_exchange:
            return [start(self.case.kernel, self.root(launch))]
        # A ring in which every other rank receives first: a message that the
        # FIFO slots cannot hold waits for its receiver.
        send, receive = self.case.kernels()
        steps = [start(send, (rank + 1) % ranks),
                 start(receive, (rank - 1) % ranks)]
        return steps if rank % 2 == 0 else steps[::-1]

    def group(self, rank, launch, source, target):
        """The ring in two messages, which start together on even ranks. The
        others send and receive them one by one, except what is in packets."""
        world, width = self.world, self.element.dtype.itemsize
        after, before = (rank + 1) % world.ranks, (rank - 1) % world.ranks
        count, in_packets = self.counts[launch], launch == 2
        parts = [(0, count // 3), (count // 3, count - count // 3)]
        if rank % 2 == 1 and not in_packets:
            return [world.launch(rank, kernel, PROGRAMS[launch],
                                 buffer + first * width, length,
                                 buffer + first * width, length,
                                 self.workspace, length, peer)
                    for kernel, buffer, peer in (
                        ("recv_fifo", target, before),
                        ("send_fifo", source, after))
                    for first, length in parts]
        # As iris/Plan/Transfers.h says.
        connections = 2 * (world.ranks - 1)
        messages = max(16 // connections, 2)
        base = self.workspace.address(rank)
        numbers = np.zeros((1 + 2 * messages, connections), np.int64)
        for c, (is_send, buffer, peer) in enumerate(
                ((1, source, after), (0, target, before))):
            numbers[0, c] = peer | is_send << 16 | len(parts) << 17
            for m, (first, length) in enumerate(parts):
                numbers[1 + m, c] = buffer + first * width - base
                numbers[1 + messages + m, c] = (
                    length | in_packets << 52 | PROGRAMS[launch] << 53)
        # Fewer programs than the messages have, as many, and more.
        programs = 2 * (1, 1, 3)[launch]
        return [world.launch(rank, "send_group", programs, self.workspace,
                             base, workspace_bytes(world.ranks), 2,
                             *(int(n) for n in numbers.flatten()))]

    def expected(self, rank, launch):
        """The expected output."""
        operation, ranks = self.case.operation, self.world.ranks
        root, count = self.root(launch), self.counts[launch]
        data = [self.input(r, launch) for r in range(ranks)]
        chunk = slice(rank * count, (rank + 1) * count)
        if operation in ROOT_WRITES and rank != root:
            return np.empty(0)
        if operation == "exchange":
            return data[(rank - 1) % ranks]
        if operation == "broadcast":
            return data[root]
        if operation == "scatter":
            return data[root][chunk]
        if operation in ("all_gather", "gather"):
            return np.concatenate(data)
        if operation == "all_to_all":
            return np.concatenate([each[chunk] for each in data])
        total = REDUCTIONS[self.case.reduction](data, axis=0)
        return total[chunk] if operation == "reduce_scatter" else total

    def queues(self):
        return [[step for launch in range(len(PROGRAMS))
                 for step in self.steps(rank, launch)]
                for rank in range(self.world.ranks)]


def make_world(case, element, ranks, image, weak, seed):
    """A world with room for a run of the case."""
    # Two buffers of every rank.
    most = (ranks + 1) * max(case.counts(element, ranks))
    buffers = 2 * most * element.dtype.itemsize
    outside = ranks * buffers if case.staged else 0
    room = (24 << 10) * max(ranks, 4) + (0 if case.staged else buffers)
    return emulate.World(image, ranks, weak, seed,
                         workspace_bytes(ranks) + room, outside)


def prepare(options, cases, image, name, weak, seed):
    case, element = cases[name], Element(options.element)
    world = make_world(case, element, options.ranks, image, weak, seed)
    return Run(case, world, element)


def generate(options, cases):
    kernels = {kernel: case for case in cases.values()
               for kernel in case.kernels()}
    for kernel, case in kernels.items():
        print(case.emit(kernel, Element(options.element), options.ranks),
              end="")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    generating, checking = add_actions(actions)
    for action in (generating, checking):
        action.add_argument("element", choices=["f16", "bf16", "f32", "i8", "i32"])
        action.add_argument("--reductions", default="sum,max")
    add_check_options(checking, seeds=1)
    options = parser.parse_args()
    cases = pick(parser, options, get_cases(options.reductions.split(",")))
    if options.action == "generate":
        return generate(options, cases)
    return check(options, cases, functools.partial(prepare, options, cases),
                 f"collectives of {options.element}", len(PROGRAMS))


if __name__ == "__main__":
    sys.exit(main())
