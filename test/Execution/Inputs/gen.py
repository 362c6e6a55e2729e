# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one of the generated execution tests to standard output.

    gen.py SUITE [ELEMENT] [--full] [--group R,R,...]

ELEMENT is an element type; for `heap`, any text, which seeds the random
order.

Every program checks itself: iris-run exits with status 0 only if every check
passes on every rank.
"""
import argparse
import sys

sys.dont_write_bytecode = True  # keeps the source tree clean

import atomics
import collectives
import counted
import epilogues
import fused
import heap
import matmul
import memory
import packets
import sync
import values
import views
import windows

SUITES = {
    "accesses": windows.accesses,
    "atomics": atomics.atomics,
    "barriers": sync.barriers,
    "barriers-few": sync.few_barriers,
    "casts": values.casts,
    "collectives": collectives.collectives,
    "collectives-few": collectives.few,
    "collectives-few-rounds": collectives.few_rounds,
    "collectives-rounds": collectives.rounds,
    "counted": counted.counted,
    "elements": windows.elements,
    "epilogues": epilogues.epilogues,
    "heap": heap.heap,
    "matmul": matmul.matmul,
    "matmul-parts": matmul.parts,
    "matmul-small": matmul.small,
    "memory": memory.memory,
    "modifiers": windows.modifiers,
    "packets": packets.packets,
    "packets-short": packets.short,
    "matmul_ops": fused.matmul_ops,
    "signals": sync.signals,
    "values": values.values,
    "views": views.make,
    **fused.SUITES,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("element", nargs="?", default="f32")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--group", help="ranks, for collectives")
    options = parser.parse_args()
    more = ([[int(rank) for rank in options.group.split(",")]]
            if options.group else [])
    program = SUITES[options.suite](options.element, options.full, *more)
    sys.stdout.write(program.text())
    print(f"{options.suite} {options.element}: {program.cases} cases in "
          f"{len(program.kernels)} kernels", file=sys.stderr)


if __name__ == "__main__":
    main()
