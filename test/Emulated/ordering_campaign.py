#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many generated kernels, one after the other, with a log.

    ordering_campaign.py LOG [--seed N] [--first N] [--count N] [--ranks 1,2,3]
        [--with matmul] [--targets gfx942,...] [--minutes N] [-j N]
    ordering_campaign.py LOG --summary

Compiles the kernels of `ordering.py`, runs them on emulated devices under every
policy of `ordering.POLICIES`, and appends one line of JSON to LOG for each kernel,
target and number of ranks. It may be interrupted at any time: what the log has is
not run again by the same compiler. Several machines may each run a range of kernels
(--first, --count); the summary of their concatenated logs is that of the campaign:

    ordering_campaign.py part.jsonl --seed 61 --first 0 --count 170 -j 32
    ordering_campaign.py part.jsonl --seed 62 --first 0 --count 170 -j 32 --with matmul
    cat part*.jsonl > all.jsonl; ordering_campaign.py all.jsonl --summary

A kernel of the log is run again with `--first NUMBER --count 1 --ranks R` and a new
log. The machine needs this folder, `iris-compile` and `iris-opt` in the search path,
and `libIrisEmulatorBridge.so` next to them.
"""
import argparse
import collections
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time

import machine  # first: it finds an interpreter with NumPy
import ordering
import ordering_barriers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "Programs"))
from campaign_log import append, read_log  # noqa: E402

TARGETS = ["gfx942", "gfx950", "gfx1100", "gfx1201"]


def key_of(record):
    return (record["target"], record["seed"], record["number"], record["ranks"],
            tuple(record["with"]), record["compiler"])


class Worker:
    """Runs batches; keeps the instructions that it has prepared."""

    def __init__(self, options, compiler, scratch):
        self.options, self.compiler, self.scratch = options, compiler, scratch

    def run(self, batch, target, missing):
        """Yields a record for each of the kernels numbered in `missing`."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        try:
            about = {"target": target, "seed": batch.seed, "ranks": batch.ranks,
                     "with": sorted(batch.options), "compiler": self.compiler}
            _, _, _, error = ordering.compile_batch(
                (batch, target, folder, self.options.compiler))
            if error:
                for number in missing:
                    yield dict(about, number=number, runs=0,
                               failures=[{"policy": "compile",
                                          "error": error[:500]}])
                return
            functions = ordering_barriers.functions_of(ordering_barriers.after_pass(
                batch.module(ordering.WAVES[target]), target, self.options.opt))
            image = machine.CodeObject(os.path.join(folder, batch.name(target)))
            for kernel in batch.kernels(ordering.WAVES[target]):
                number = int(kernel.name[1:])
                if number in missing:
                    inserted = len(ordering_barriers.barriers_of(
                        functions[kernel.name]))
                    record = ordering.run_policies(
                        image, kernel, target, ordering.POLICIES,
                        self.options.order_seed)
                    yield dict(record, **about, number=number,
                               inserted=inserted)
        finally:
            shutil.rmtree(folder)


WORKER = None


def begin(*arguments):
    global WORKER
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    WORKER = Worker(*arguments)


def run_unit(unit):
    try:
        for record in WORKER.run(*unit):
            append(WORKER.options.log, record)
    except Exception as error:  # one batch's error must not end the others
        return "%s: %s: %s" % (unit[0].name(unit[1]), type(error).__name__, error)
    return None


def run(options):
    with open(shutil.which(options.compiler), "rb") as file:
        compiler = hashlib.sha256(file.read()).hexdigest()[:12]
    done = {key_of(record) for record in read_log(options.log)}
    units = []
    for batch in ordering.batches_of(options):
        for target in options.targets:
            missing = [n for n in range(batch.first, batch.first + batch.count)
                       if (target, batch.seed, n, batch.ranks,
                           tuple(sorted(batch.options)), compiler) not in done]
            if missing:
                units.append((batch, target, missing))
    units.sort(key=lambda unit: unit[0].first)  # all targets and ranks alike
    end = time.time() + 60 * options.minutes
    errors = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # tidies up
    # The emulator's cache of instructions grows: workers are replaced.
    with tempfile.TemporaryDirectory(prefix="ordering-") as scratch, \
            multiprocessing.get_context("spawn").Pool(
                options.jobs, begin, (options, compiler, scratch),
                maxtasksperchild=options.renew) as pool:
        for error in pool.imap_unordered(run_unit, units):
            if error:
                errors += 1
                print(error, flush=True)
            if time.time() > end:
                pool.terminate()
                break
    return summarise(read_log(options.log)) or errors != 0


def summarise(records):
    """Prints a line for each target; true if a kernel failed, or none ran."""
    groups = collections.defaultdict(list)
    unique = {key_of(record): record for record in records}
    for record in unique.values():
        groups[record["target"], " ".join(record["with"])].append(record)
        if record["failures"]:
            print(json.dumps(record))
    print("%-8s %-8s %7s %8s %8s %9s %9s %13s %6s" % (
        "target", "with", "kernels", "launches", "failures", "inserted",
        "executed", "instructions", "s"))
    for (target, extras), group in sorted(groups.items()):
        count = len(group)

        def total(key):
            return sum(record.get(key, 0) for record in group)
        print("%-8s %-8s %7d %8d %8d %9.2f %9.2f %13d %6.2f" % (
            target, extras or "-", count, total("runs"),
            sum(bool(record["failures"]) for record in group),
            total("inserted") / count, total("executed") / count,
            total("instructions"), total("seconds") / count))
    print("%d kernels, %d launches, %d failures; compilers: %s" % (
        len(unique), sum(record["runs"] for record in unique.values()),
        sum(bool(record["failures"]) for record in unique.values()),
        ", ".join(sorted({record["compiler"] for record in unique.values()}))))
    return not unique or any(r["failures"] for r in unique.values())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--summary", action="store_true",
                        help="of what the log has; runs nothing")
    ordering.add_choice(parser)
    parser.set_defaults(batch=4)
    parser.add_argument("--targets", type=ordering.names, default=TARGETS)
    parser.add_argument("--order-seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--renew", type=int, default=100,
                        help="batches after which a process is replaced")
    parser.add_argument("-j", dest="jobs", type=int, default=1)
    parser.add_argument("--compiler", default="iris-compile")
    parser.add_argument("--opt", default="iris-opt")
    options = parser.parse_args()
    return (summarise(read_log(options.log)) if options.summary else run(options))


if __name__ == "__main__":
    sys.exit(main())
