#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures iris-compile: wall time from process start to exit, and its
stages.

    benchmarks/compile-time.py build/bin/iris-compile \\
        examples/02-all-gather/all_gather.mlir --targets=gfx942,sm_90a,host

Each target is compiled to a bare image (--emit=obj) RUNS times in sequence;
the first run warms the file system and is not counted. The stages are medians
of the report of `iris-compile --time` in separate runs, because printing them
takes time too. `before main` is CPU time: dynamic linking and static
constructors. On a busy machine, compare CPU times.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def compile_once(command):
    """Runs the command; returns wall and CPU time in ms and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    wall = (time.perf_counter() - start) * 1e3
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed:\n{done.stderr}")
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime
           - before.ru_stime) * 1e3
    return wall, cpu, done.stderr


def parse_stages(report):
    """The stages of a --time report: {path: ms}, in order."""
    stages = {}
    before = re.search(r"before main: (\S+) ms", report)
    if before:
        stages["before main"] = float(before.group(1))
    path = []
    # "    0.0101 ( 80.5%)    lowering of kernels": two blanks per level.
    for line in report.splitlines():
        match = re.match(r"\s+(\d+\.\d+) \(\s*[\d.]+%\)  ( *)(\S.*)$", line)
        if not match:
            continue
        seconds, indent, name = match.groups()
        del path[len(indent) // 2 :]
        path.append(name)
        key = " / ".join(path)
        stages[key] = stages.get(key, 0) + float(seconds) * 1e3
    return stages


def measure(args, target, output):
    command = [args.iris_compile, args.input, f"--target={target}"]
    command += ["--emit=obj", "-o", output]
    compile_once(command)
    times, cpu, _ = zip(*(compile_once(command) for _ in range(args.runs)))
    reports = [parse_stages(compile_once(command + ["--time"])[2])
               for _ in range(args.runs)]
    stages = {name: statistics.median(r.get(name, 0) for r in reports)
              for name in reports[0]}
    return {"target": target, "runs": args.runs,
            "median_ms": statistics.median(times), "min_ms": min(times),
            "max_ms": max(times), "cpu_ms": statistics.median(cpu),
            "stages_ms": stages}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iris_compile", help="the compiler")
    parser.add_argument("input", help="the .mlir file")
    parser.add_argument("--targets", default="gfx942,sm_90a,host")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--depth", type=int, default=3,
                        help="levels of stages to print")
    parser.add_argument("--limit-ms", type=float,
                        help="exit 1 if a median is above this")
    parser.add_argument("--json", action="store_true",
                        help="one JSON object per target and line")
    args = parser.parse_args()

    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for target in args.targets.split(","):
            result = measure(args, target, os.path.join(folder, "image"))
            slow |= bool(args.limit_ms) and result["median_ms"] > args.limit_ms
            if args.json:
                print(json.dumps(result))
                continue
            print(f"{target}: {result['median_ms']:.1f} ms median of "
                  f"{args.runs} ({result['min_ms']:.1f} to "
                  f"{result['max_ms']:.1f}), "
                  f"{result['cpu_ms']:.1f} ms of CPU time")
            for name, value in result["stages_ms"].items():
                depth = name.count(" / ")
                if depth < args.depth and value >= 0.05:
                    label = "  " * depth + name.split(" / ")[-1]
                    print(f"  {value:8.2f} ms  {label}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
