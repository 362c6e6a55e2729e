#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and counts the barriers of generated kernels; needs no emulator.

    ordering_barriers.py [--seed N] [--first N] [--count N] [--ranks 1,2,3]
        [--targets sm_90a,...] [--opt iris-opt] [--necessary]

For each kernel of `ordering.py`, `ordering_races` executes the IR after
`tile-insert-barriers`, on every rank and program, and `iris-opt
--test-verify-barriers` follows all paths from each access. Fails if two accesses
are not ordered, or if the final memory differs from that of a single-threaded
execution. With `--necessary`, each barrier is removed in turn, and counts as
necessary if a race follows; then some path has to show it, too.
"""
import argparse
import re
import subprocess
import sys

import machine  # noqa: F401; first: it switches to an interpreter with NumPy
import numpy as np

import ordering
import ordering_ir
import ordering_ops as ops
import ordering_races as races

UNORDERED = "depends on another thread's access without a barrier"
MARK = "// -----// IR Dump After TileInsertBarriersPass"


def after_pass(text, target, opt):
    """The module after the pass, in generic form."""
    done = subprocess.run(
        [opt, "-", "--iris-translate-pipeline=target=" + target,
         "--iris-tiles-pipeline=target=" + target,
         "--mlir-print-ir-after=tile-insert-barriers", "--mlir-print-op-generic",
         "-o", "/dev/null"], input=text, capture_output=True, text=True)
    if done.returncode or MARK not in done.stderr:
        raise RuntimeError(done.stderr[:2000] or "no dump of tile-insert-barriers")
    return done.stderr.split(MARK)[1].split("\n", 1)[1]


def functions_of(dump):
    """The kernels' functions: name -> op."""
    module = ordering_ir.read(dump)[0]
    return {re.search(r'sym_name = "(\w+)"', op.attributes + (
        op.properties or ""))[1]: op for op in module.regions[0].ops}


def unordered(dump, opt):
    """What -test-verify-barriers reports: accesses of different threads that
    some path connects without a barrier."""
    done = subprocess.run([opt, "-", "--test-verify-barriers", "-o", "/dev/null"],
                          input=dump, capture_output=True, text=True)
    if done.returncode and UNORDERED not in done.stderr:
        raise RuntimeError(done.stderr[:2000])
    return [line for line in done.stderr.splitlines() if UNORDERED in line]


def without_barrier(dump, number):
    """The module without its barrier of this number."""
    lines = dump.splitlines()
    places = [place for place, line in enumerate(lines)
              if line.strip().startswith('"gpu.barrier"')]
    del lines[places[number]]
    return "\n".join(lines)


def barriers_of(function):
    result = []
    for op in function.regions[0].ops:
        collect(op, result)
    return result


def collect(op, result):
    if op.name == "gpu.barrier":
        result.append(op)
    for region in op.regions:
        for inner in region.ops:
            collect(inner, result)


def is_refused(kernel, function):
    """True if the launch rejects arguments that overlap like these. The
    context is argument 0."""
    text = function.attributes
    for number, param in enumerate(kernel.params, 1):
        if param.same:
            other = kernel.params.index(param.same) + 1
            pair = "[%d, %d]" % tuple(sorted((number, other)))
            for kind in ("disjoint", "same_or_disjoint"):
                found = re.search(r"\b%s = \[((?:\[\d+, \d+\](?:, )?)*)\]" % kind,
                                  text)
                if found and pair in found[1] and (kind == "disjoint"
                                                   or param.shift):
                    return True
    return False


def check(kernel, function, lanes, removed=None):
    """Races, and the first buffer with unexpected contents."""
    memories = {}
    for param in kernel.params:
        if not param.same:
            memories[param.name] = [races.Memory(kernel.start(param, rank))
                                    for rank in range(kernel.ranks)]

    def view(param):
        own = memories[(param.same or param).name]
        shift = param.shift if param.same else 0
        return races.View(own, [m.data[shift:] for m in own],
                          [m.index[shift:] for m in own])
    found = races.Races()
    barrier_counts = np.zeros((kernel.programs, kernel.ranks), int)
    programs = []
    for rank in range(kernel.ranks):
        for pid in range(kernel.programs):
            number = rank * kernel.programs + pid
            program = races.Program(number, found, lanes)
            interpreter = races.Interpreter(program, rank, kernel.ranks, pid,
                                            barrier_counts[pid], removed)
            programs.append(interpreter.start(
                function, [None] + [view(p) for p in kernel.params]))
    ops.run_together(programs)
    wrong = [name for name, arrays in kernel.expected().items()
             for rank, array in enumerate(arrays) if name in memories
             and not np.array_equal(memories[name][rank].data, array)]
    return found.found, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--ranks", default="1,2,3")
    parser.add_argument("--targets", default="gfx942,gfx1100,sm_90a")
    parser.add_argument("--opt", default="iris-opt")
    parser.add_argument("--with", dest="with_", default="")
    parser.add_argument("--lanes", type=int, default=1,
                        help="threads in lockstep: 1, or those of a wave")
    parser.add_argument("--necessary", action="store_true")
    options = parser.parse_args()
    bad = 0
    for target in options.targets.split(","):
        total = racy = barriers = needed = refused = missed = 0
        for ranks in map(int, options.ranks.split(",")):
            last = options.first + options.count
            for first in range(options.first, last, options.batch):
                batch = ordering.Batch(
                    options.seed, first, min(options.batch, last - first), ranks,
                    [o for o in options.with_.split(",") if o])
                wave = ordering.WAVES[target]
                dump = after_pass(batch.module(wave), target, options.opt)
                functions = functions_of(dump)
                for line in unordered(dump, options.opt):
                    racy += 1
                    print("%s seed %d, kernels from %d, ranks %d: %s" % (
                        target, options.seed, first, ranks, line))
                number = 0  # of a barrier in the module
                for kernel in batch.kernels(wave):
                    function = functions[kernel.name]
                    placed = barriers_of(function)
                    start, number = number, number + len(placed)
                    if is_refused(kernel, function):
                        refused += 1
                        continue
                    found, wrong = check(kernel, function, options.lanes)
                    total += 1
                    racy += bool(found or wrong)
                    for (one, two), count in list(found.items())[:2]:
                        print("%s seed %d %s ranks %d: %d races\n  %s\n  %s" % (
                            target, options.seed, kernel.name, ranks, count,
                            one[:200], two[:200]))
                    for name in wrong:
                        print("%s %s ranks %d: %s is wrong in the end" % (
                            target, kernel.name, ranks, name))
                    barriers += len(placed)
                    for place, barrier in enumerate(
                            placed if options.necessary else (), start):
                        if not set(check(kernel, function, options.lanes,
                                         barrier)[0]) - set(found):
                            continue
                        needed += 1
                        if not unordered(without_barrier(dump, place),
                                         options.opt):
                            missed += 1
                            print("%s %s ranks %d: without barrier %d there is a "
                                  "race that no path shows" % (
                                      target, kernel.name, ranks, place))
        print("%s: %d kernels, %d with races, %d barriers%s%s" % (
            target, total, racy, barriers, ", %d of them necessary" % needed
            if options.necessary else "",
            ", %d more not launched" % refused if refused else ""))
        bad += racy + missed
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
