#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What orders the accesses of a kernel: test/Emulator/orders.test.

    orders.py FILE SOURCE --groups=N --threads=N

FILE is the code object of SOURCE, whose instructions have names in comments.
`// ORDER FIRST SECOND: NAMES` is what must be found, and nothing else: the
instructions that order two accesses. HOST is the access of a host after the
kernel, END the end of the launch. `// WITHOUT NAME: CLASS` is how
sync_reasons.py explains that nothing notices that an instruction is removed, and
`// WITHOUT NAME, FIRST SECOND: NAMES` what orders two accesses then.
All instructions must be executed; the waves run in their order, each until it
ends or waits at a barrier.
"""
import argparse
import ctypes
import pathlib
import re
import sys

import machine
import numpy as np
from sync_reasons import Explainer, Trace
from sync_sites import enumerate_mutants


def run(options, removed=()):
    """Returns the emulation, after a host has read what the kernel stored."""
    code, memory = machine.CodeObject(options.file), machine.Memory(1 << 16)
    code.remove(removed)
    data = memory.put(np.zeros(256, np.uint8))
    emulation = machine.Emu(memory, schedule="first", checks_order=True,
                            explains_order=True)
    emulation.start(code)
    launch = machine.Launch(code, "k", (options.groups, 1, 1),
                            (options.threads, 1, 1), (data,), memory).submit(0)
    emulation.bridge.Advance(ctypes.c_uint64((1 << 64) - 1))
    assert emulation.bridge.IsDone(launch)
    memory.checks_host, memory.host = True, 0
    memory.get(data, np.int32, 1)
    emulation.hide_memory()
    return emulation


class Source:
    """The name of each instruction, or None, and what is expected."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        self.names = [line.partition(" // ")[2] or None
                      for line in text.splitlines() if line.startswith("  ")]
        self.orders = {
            (first, second, frozenset(by.split())) for first, second, by
            in re.findall(r"^// ORDER (\S+) (\S+): (.*)", text, re.M)}
        self.classes = dict(re.findall(r"^// WITHOUT (\S+): (.*)", text, re.M))
        self.orders_without = {
            (removed, first, second, frozenset(by.split()))
            for removed, first, second, by in re.findall(
                r"^// WITHOUT (\S+), (\S+) (\S+): (.*)", text, re.M)}


class Names:
    """Of an emulation: what it found, by the names of a source."""

    def __init__(self, source, emulation):
        self.texts = {position: text
                      for position, _, text in emulation.executions()}
        # A chip may need other instructions before the source's.
        positions = sorted(self.texts)[-len(source.names):]
        assert len(positions) == len(source.names), "some are not executed"
        self.of = {position: name or f"{self.texts[position]} at {4 * position:x}"
                   for position, name in zip(positions, source.names)}
        self.of |= {machine.HOST: "HOST", machine.END: "END"}

    def orders(self, emulation):
        return {(self.of[first], self.of[second],
                 frozenset(self.of[each] for each in by))
                for first, second, by, _ in emulation.orders()}

    def mutant(self, name):
        """The one that removes an instruction."""
        return next(mutant for mutant in enumerate_mutants(self.texts.items())
                    if self.of[mutant.position] == name and not mutant.text)


def report(what, expected, found):
    """Prints the differences of two sets; returns whether there are any."""
    for kind, each in ("missing", expected - found), ("more", found - expected):
        for *first, by in sorted(each, key=str):
            print(f"{what}: {kind}: {' '.join(first)}: {' '.join(sorted(by))}")
    return expected != found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("source")
    parser.add_argument("--groups", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    source, emulation, before = Source(options.source), run(options), Trace()
    before.add(emulation)
    names = Names(source, emulation)
    bad = report("orders", source.orders, names.orders(emulation))
    for removed, expected in source.classes.items():
        mutant, after = names.mutant(removed), Trace()
        emulation = run(options, [mutant.position])
        after.add(emulation)
        record = Explainer(names.texts, before).explain(mutant, after)
        if record["class"] != expected:
            print(f"without {removed}: expected '{expected}', found {record}")
            bad = True
        asked = {(first, second) for name, first, second, _
                 in source.orders_without if name == removed}
        bad |= report(
            f"without {removed}",
            {each[1:] for each in source.orders_without if each[0] == removed},
            {each for each in names.orders(emulation) if each[:2] in asked})
    return bad


if __name__ == "__main__":
    sys.exit(main())
