#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What orders the accesses of a kernel: test/Emulator/orders.test.

    orders.py FILE SOURCE --groups=N --threads=N

FILE is the code object of SOURCE, whose instructions have names in comments.
`// ORDER FIRST SECOND: NAMES` is what must be found, and nothing else: the
instructions that order two accesses. HOST is the access of a host after the
kernel, END the end of the launch. All instructions must be executed; the waves
run in their order, each until it ends or waits at a barrier.
"""
import argparse
import ctypes
import pathlib
import re
import sys

import machine
import numpy as np


def run(options):
    """Returns the emulation, after a host has read what the kernel stored."""
    code, memory = machine.CodeObject(options.file), machine.Memory(1 << 16)
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


def read_source(path):
    """Returns the name of each instruction, or None, and what is expected."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    names = [line.partition(" // ")[2] or None for line in lines
             if line.startswith("  ")]
    expected = {(match[1], match[2], frozenset(match[3].split()))
                for match in map(re.compile(
                    r"// ORDER (\S+) (\S+): (.*)").fullmatch, lines) if match}
    return names, expected


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("source")
    parser.add_argument("--groups", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    names, expected = read_source(options.source)
    emulation = run(options)
    # A chip may need other instructions before the source's.
    positions = sorted(position for position, _, _ in emulation.executions())
    texts = {position: f"{text} at {4 * position:x}"
             for position, _, text in emulation.executions()}
    if len(positions) < len(names):
        return f"of {len(names)} instructions, {len(positions)} are executed"
    known = {machine.HOST: "HOST", machine.END: "END"}
    for position, name in zip(positions[-len(names):], names):
        known[position] = name or texts[position]
    found = {(known[first], known[second], frozenset(known[each] for each in by))
             for first, second, by, _ in emulation.orders()}
    for what, orders in ("missing", expected - found), ("more", found - expected):
        for first, second, by in sorted(orders, key=str):
            print(f"{what}: {first} {second}: {' '.join(sorted(by))}")
    return found != expected


if __name__ == "__main__":
    sys.exit(main())
