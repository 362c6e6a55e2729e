#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the compiler against the portable kernel language.

    kernel_language.py IRIS_COMPILE [--full] [--targets=A,B] [--dialects=A,B]

The ops come from `iris-compile --list-ops`, so that none can be missed:

* every op of the language compiles for every target, on every shape and
element type in the table (without --full: on one element type of each kind);
* every other op is rejected for every target, with the same message, exit
status 1 and none of MLIR's internal terms.

On a violation, exits with status 1 and prints it.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import specimens

INTERNAL = re.compile(r"failed to legalize|unrealized_conversion_cast' op|"
                      r"Cannot select|LLVM ERROR|translation|PLEASE submit|"
                      r"unable to|pattern|dialect conversion")
SHORT = {"i1", "i8", "i32", "index", "f8", "f16", "bf16", "f64"}


def read_table(compiler):
    """The rows, {op: (shapes, elements)}, and the other registered ops."""
    text = subprocess.run([compiler, "--list-ops"], check=True,
                          capture_output=True, text=True).stdout
    rows, others = {}, []
    for line in text.partition("### Attributes\n")[0].splitlines():
        names = re.findall(r"`(\w+\.[\w.]+)`", line)
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.split("|")]
            for op in re.findall(r"`([\w.]+)`", cells[1]):
                rows[op] = (cells[2].split(", "), cells[3].split(", "))
        elif line.startswith("Not in the language:"):
            others += names
    return rows, others


class Session:
    def __init__(self, options, directory):
        self.options, self.directory, self.wrong = options, directory, 0

    def compile(self, text, target):
        path = os.path.join(self.directory, "kernel.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run(
            [self.options.compiler, path, "--emit=obj", "-O1",
             "--target=" + target, "-o", os.path.join(self.directory, "out")],
            capture_output=True, text=True, timeout=1200)

    def complain(self, what, text=""):
        self.wrong += 1
        print(f"WRONG: {what}\n{text[:3000]}")

    def check_accepted(self, dialect, kernels):
        for target in self.options.targets:
            done = self.compile(specimens.module(kernels), target)
            if done.returncode == 0:
                continue
            # One at a time, to name all failures.
            for kernel in kernels:
                alone = self.compile(specimens.module([kernel]), target)
                if alone.returncode != 0:
                    self.complain(f"{kernel.name} for {target}", alone.stderr)

    def check_refused(self, op):
        text = specimens.refused_kernel(op)
        said = {}
        for target in self.options.targets:
            done = self.compile(text, target)
            said[target] = done.stderr
            if done.returncode != 1 or "error: " not in done.stderr:
                self.complain(f"{op} for {target}: status {done.returncode}",
                              done.stderr)
            elif INTERNAL.search(done.stderr.replace(op, "")):
                self.complain(f"{op} for {target}: inner words", done.stderr)
        if len(set(said.values())) != 1:
            self.complain(f"{op}: messages differ", str(said))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("compiler")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--targets", default="")
    parser.add_argument("--dialects", default="")
    options = parser.parse_args()
    listed = subprocess.run([options.compiler, "--list-targets"], check=True,
                            capture_output=True, text=True).stdout
    every = [line.split()[0] for line in listed.splitlines()]
    options.targets = options.targets.split(",") if options.targets else every
    rows, others = read_table(options.compiler)
    dialects = (options.dialects.split(",") if options.dialects
                else sorted({op.split(".")[0] for op in rows}))
    families = specimens.families()
    accepted = refused = 0
    with tempfile.TemporaryDirectory() as directory:
        session = Session(options, directory)
        for op in sorted(set(rows) - set(families)):
            session.complain(f"{op} is in the language, but has no specimen")
        for op in sorted(set(families) - set(rows)):
            session.complain(f"{op} has a specimen, but is not in the language")
        for dialect in dialects:
            kernels = []
            for op, (shapes, elements) in sorted(rows.items()):
                if op.split(".")[0] != dialect or op not in families:
                    continue
                if not options.full:
                    elements = [e for e in elements if e in SHORT]
                made = specimens.make_kernels(op, shapes, elements)
                if not made:
                    session.complain(f"{op}: no kernel")
                kernels += made
            accepted += len(kernels)
            session.check_accepted(dialect, kernels)
        for op in specimens.REFUSED:
            if not options.dialects or op.split(".")[0] in dialects:
                refused += 1
                session.check_refused(op)
        print(f"{len(rows)} ops in {accepted} kernels, {refused} refused "
              f"ones, {len(others)} ops outside, {len(options.targets)} "
              f"targets: {session.wrong} wrong")
        return 1 if session.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
