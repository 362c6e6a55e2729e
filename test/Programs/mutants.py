#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seeded faults: which faults of the compiler random programs find.

    mutants.py check [SOURCES]
    mutants.py apply SOURCES
    mutants.py run COMPILER [--faults=LIST] [--count=40] [--seed=1] [--first=0]
        [--ranks=2,1,4,3,8] [--device=host] [--log=FILE] [--minutes=N]
    mutants.py table LOG ...

The faults are those of faults.py. `check` says whether the text of each occurs once in
its file. `apply` writes all of them into a copy of the sources, which is good for
nothing else: one build of its iris-compile has them all, and the environment variable
IRIS_SEEDED_FAULT has the number of the one that is active. `run` draws the programs of a
seed (program_fuzz.py), compiles each by COMPILER with and without each fault, and where
the code differs compares the program with the reference, until a program fails. It
prints a line for each fault; the exit status is 1 if one was not found. Faults that
change nothing (`equivalent`) are tried only if --faults names them, and do not count.

    git worktree add /tmp/faulty && test/Programs/mutants.py apply /tmp/faulty
    cmake -S /tmp/faulty -B /tmp/faulty/build ... && ninja -C /tmp/faulty/build iris-compile
    test/Programs/mutants.py run /tmp/faulty/build/bin/iris-compile --log=faults.jsonl
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import program_fuzz  # noqa: E402
from campaign_log import append, read_log  # noqa: E402
from faults import FAULTS  # noqa: E402

COUNTED = [n for n, fault in enumerate(FAULTS) if not fault.equivalent]
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MARK = re.compile(r"@(value)?\{(.*?) ==> (.*?)\}@", re.DOTALL)
VARIABLE = "IRIS_SEEDED_FAULT"
HEADER = "iris/SeededFault.h"
HEADER_TEXT = """\
#ifndef IRIS_SEEDED_FAULT_H
#define IRIS_SEEDED_FAULT_H
#include <cstdlib>
inline bool isSeededFault(int number) {
  const char *active = std::getenv("%s");
  return active && std::atoi(active) == number;
}
#endif
""" % VARIABLE


def path_of(sources, fault):
    return os.path.join(sources, "lib", fault.path)


def check(sources):
    """True if the text of a fault is not once in its file."""
    failed = False
    for number, fault in enumerate(FAULTS):
        text = MARK.sub(r"\2", fault.text)
        with open(path_of(sources, fault), encoding="utf-8") as file:
            count = file.read().count(text)
        if count != 1:
            failed = True
            print(f"fault {number} ({fault.name}): {count} times in lib/{fault.path}; "
                  f"expected 1\n{text}")
    print(f"{len(FAULTS)} faults, of which {len(FAULTS) - len(COUNTED)} change nothing")
    return failed


def alternatives(sources):
    """By file, and by the span of the right expression in it: the faults there."""
    spans = collections.defaultdict(lambda: collections.defaultdict(list))
    for number, fault in enumerate(FAULTS):
        with open(path_of(sources, fault), encoding="utf-8") as file:
            start = file.read().index(MARK.sub(r"\2", fault.text))
        removed = 0  # characters of the marks so far
        for mark in MARK.finditer(fault.text):
            begin = start + mark.start() - removed
            spans[fault.path][begin, begin + len(mark[2])].append(
                (number, mark[1], mark[3]))
            removed += len(mark[0]) - len(mark[2])
    return spans


def apply(sources):
    if check(sources):
        return True
    for path, spans in alternatives(sources).items():
        path = os.path.join(sources, "lib", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for (begin, end), faults in sorted(spans.items(), reverse=True):
            chosen, right = "", text[begin:end]
            for number, is_value, wrong in faults:
                if is_value:
                    wrong, right = f"::mlir::Value({wrong})", f"::mlir::Value({right})"
                chosen += f"isSeededFault({number}) ? {wrong} : "
            text = f"{text[:begin]}({chosen}{right}){text[end:]}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#include "{HEADER}"\n{text}')
    with open(os.path.join(sources, "include", HEADER), "w",
              encoding="utf-8") as file:
        file.write(HEADER_TEXT)
    return False


def select(words):
    """The faults that a list names, by numbers, ranges or parts of their names."""
    chosen = []
    for word in words.split(","):
        first, _, last = word.partition("-")
        if first.isdigit() and (last or first).isdigit():
            chosen += range(int(first), int(last or first) + 1)
        else:
            chosen += [n for n, f in enumerate(FAULTS) if word in f.name]
    return chosen


class Trial:
    """A program, and its code without a fault."""

    def __init__(self, options, number):
        self.options, self.number = options, number
        self.ranks = options.ranks[number % len(options.ranks)]
        self.text, _ = program_fuzz.draw(options.seed, number, self.ranks)
        self.code = self.compile(None)
        self.passes = self.code and not self.compare(self.code)

    def compile(self, fault):
        """The package; None if there is none. That of the host is not optimized,
        which takes most of the time."""
        environment = dict(os.environ)
        environment.pop(VARIABLE, None)
        if fault is not None:
            environment[VARIABLE] = str(fault)
        device = self.options.device
        target = device.partition(":")[2] or device
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program.mlir"), "w",
                      encoding="utf-8") as file:
                file.write(self.text)
            result = subprocess.run(
                [self.options.compiler, "program.mlir", f"--target={target}", "-o", "-"]
                + (["-O0"] if device == "host" else []), cwd=folder, env=environment,
                capture_output=True, timeout=program_fuzz.LIMIT, check=False)
        return result.stdout if result.returncode == 0 else None

    def compare(self, code):
        """What goes wrong with the code, or None. A compiler that only prints it takes
        the place of iris-compile."""
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "package")
            with open(package, "wb") as file:
                file.write(code)
            compiler = os.path.join(folder, "iris-compile")
            with open(compiler, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nexec cat '{package}'\n")
            os.chmod(compiler, 0o700)
            os.symlink(shutil.which("iris-interpret"),
                       os.path.join(folder, "iris-interpret"))
            return program_fuzz.run_text(
                self.text, self.ranks, self.options.device,
                dict(os.environ, IRIS_COMPILE=compiler), timeout_s=5)[0]

    def run(self, fault):
        """What goes wrong with the fault; "same" if it changes no code."""
        code = self.compile(fault)
        if code == self.code:
            return "same"
        return (self.compare(code) or "equal") if code else "compile"


def run(options):
    device = "host" if options.device == "host" else "gpu"
    left = [n for n in options.faults if FAULTS[n].device == device]
    counts = {n: collections.Counter() for n in left}
    end = time.time() + 60 * options.minutes
    records = []

    def report(fault, found):
        record = {"fault": fault, "device": options.device, "found": found,
                  "same": counts[fault]["same"], "equal": counts[fault]["equal"]}
        records.append(record)
        if options.log:
            append(options.log, record)
        print(line_of(record), flush=True)
    for number in range(options.first, options.first + options.count):
        if not left or time.time() > end:
            break
        trial = Trial(options, number)
        if not trial.passes:
            print(f"program {number} fails without a fault", flush=True)
            continue
        for fault in list(left):
            outcome = trial.run(fault)
            counts[fault][outcome] += 1
            if outcome not in ("same", "equal"):
                left.remove(fault)
                report(fault, outcome)
    for fault in left:
        report(fault, "")
    return summarize(records)


def line_of(record):
    tried = record["same"] + record["equal"]
    text = f"{record['fault']:3} {FAULTS[record['fault']].name}: "
    if record["found"]:
        return text + f"found by program {tried + 1} ({record['found']})"
    if FAULTS[record["fault"]].equivalent:
        text += "changes nothing; "
    return text + (f"not found by {tried} programs, of whose code {record['equal']} "
                   "have it")


def summarize(records):
    last = {r["fault"]: r for r in records if not FAULTS[r["fault"]].equivalent}
    found = [r["same"] + r["equal"] + 1 for r in last.values() if r["found"]]
    print(f"{len(found)} of {len(last)} faults found" + (
        f", by {sorted(found)[len(found) // 2]} programs in the median and "
        f"{max(found)} at most" if found else ""))
    return len(found) != len(last)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("check")
    command.add_argument("sources", nargs="?", default=SOURCES)
    command = commands.add_parser("apply")
    command.add_argument("sources")
    command = commands.add_parser("run")
    command.add_argument("compiler", type=shutil.which)
    command.add_argument("--faults", type=select, default=COUNTED)
    command.add_argument("--count", type=int, default=40)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--ranks", type=program_fuzz.numbers,
                         default=[2, 1, 4, 3, 8])
    command.add_argument("--device", default="host")
    command.add_argument("--log", default="")
    command.add_argument("--minutes", type=float, default=1e6)
    command = commands.add_parser("table")
    command.add_argument("logs", nargs="+")
    options = parser.parse_args()
    if options.command == "check":
        return check(options.sources)
    if options.command == "apply":
        return apply(options.sources)
    if options.command == "run":
        return run(options)
    records = {r["fault"]: r for log in options.logs for r in read_log(log)}
    for _, record in sorted(records.items()):
        print(line_of(record))
    for number, fault in enumerate(FAULTS):
        if fault.equivalent:
            print(f"{number:3} {fault.name}: changes nothing: {fault.equivalent}")
    return summarize(records.values())


if __name__ == "__main__":
    sys.exit(main())
