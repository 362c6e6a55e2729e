#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of collectives with counts, executed on emulated AMD devices.

    counted.py generate RANKS ELEMENT [--only REGEX]         > kernels.mlir
    iris-compile kernels.mlir --target=gfx942 --emit=obj    -o HSACO
    counted.py check RANKS ELEMENT [--only REGEX] HSACO

As collectives.py does, with tables that are other ones for each launch: chunks
that are empty, ragged, and in another order than the members. The whole output is
compared. Staged kernels get memory that no other rank knows.
"""
import argparse
import functools
import sys

import emulate  # first: it finds an interpreter that has NumPy
import numpy as np
from cases import add_actions, add_check_options, check, pick
from collectives import (POISON, PROGRAMS, Case, Element, Run, make_world,
                         small)
from variants import COLLECTIVES

OPERATIONS = {each["name"]: each for each in COLLECTIVES
              if each["output"]["counts"]}


def get_cases():
    cases = []
    for name, each in OPERATIONS.items():
        cases += [Case(name, variant["name"]) for variant in each["variants"]]
        cases += [Case(name, variant["name"], staged=True)
                  for variant in each["variants"] if variant["anywhere"]]
    return {case.name: case for case in cases}


class CountedRun(Run):
    """Tables, in the order of the kernels' arguments: counts and offsets of the
    input's chunks, if there are several, then of the output's."""

    def __init__(self, case, world, element):
        super().__init__(case, world, element)
        self.has_input_tables = OPERATIONS[case.operation]["input"]["counts"]
        self.tables = [world.alloc((world.ranks,), np.int64) for _ in range(4)]

    def sent(self, launch, source, target):
        """Elements that one rank sends to another one."""
        if not self.has_input_tables:
            target = 0
        mixed = 5 * source + 3 * target + 7 * launch
        return 0 if mixed % 4 == 3 else (
            (mixed + 1) * 7919 % (self.counts[launch] + 1))

    def offset(self, launch, member):
        """Where the chunk for a member begins, or of one."""
        place = self.world.ranks - 1 - member
        return place * self.counts[launch] + (launch + member) % 2

    def entries(self, rank, launch):
        members = range(self.world.ranks)
        offsets = [self.offset(launch, member) for member in members]
        return [[self.sent(launch, rank, member) for member in members], offsets,
                [self.sent(launch, member, rank) for member in members], offsets]

    def input(self, rank, launch):
        return small(rank, launch, self.size)

    def steps(self, rank, launch):
        source, target = (each[rank] for each in self.buffers)

        def prepare():
            self.write(target, np.full(self.size, POISON))
            self.write(source, self.input(rank, launch))
            for table, numbers in zip(self.tables, self.entries(rank, launch)):
                data = np.array(numbers, np.int64).view(np.uint8)
                self.world.memory.write(table.address(rank), data)

        def compare():
            want = self.expected(rank, launch)
            got = self.element.decode(self.world.memory.get(
                target, self.element.dtype, self.size))
            wrong = np.flatnonzero(got != want)
            if len(wrong):
                self.errors.append(
                    f"rank {rank}, launch {launch}: {len(wrong)} elements are "
                    f"wrong; the first, {wrong[0]}, is {got[wrong[0]]} and not "
                    f"{want[wrong[0]]}")

        tables = self.tables if self.has_input_tables else self.tables[2:]
        start = self.world.launch(
            rank, self.case.kernel, PROGRAMS[launch], source, self.size, target,
            self.size, self.workspace, 1, 0, *tables)
        return [prepare, start, compare]

    def expected(self, rank, launch):
        want = np.full(self.size, float(POISON))
        for member in range(self.world.ranks):
            count = self.sent(launch, member, rank)
            begin = self.offset(launch, rank) if self.has_input_tables else 0
            to = self.offset(launch, member)
            want[to:to + count] = self.input(member, launch)[begin:begin + count]
        return want


def prepare(options, cases, image, name, weak, seed):
    case, element = cases[name], Element(options.element)
    world = make_world(case, element, options.ranks, image, weak, seed)
    return CountedRun(case, world, element)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    generating, checking = add_actions(actions)
    for action in (generating, checking):
        action.add_argument("element", choices=["f16", "bf16", "f32", "i8", "i32"])
    add_check_options(checking, seeds=1)
    options = parser.parse_args()
    cases = pick(parser, options, get_cases())
    if options.action == "generate":
        for case in cases.values():
            print(case.emit(case.kernel, Element(options.element),
                            options.ranks), end="")
        return 0
    return check(options, cases, functools.partial(prepare, options, cases),
                 f"collectives with counts of {options.element}", len(PROGRAMS))


if __name__ == "__main__":
    sys.exit(main())
