#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the trace of benchmarks/fused/trace_program.py: the spans of matmuls
and transfers, the nesting of waits in matmuls, and the totals."""

import argparse
import collections
import json

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("trace")
parser.add_argument("--ranks", type=int, required=True)
parser.add_argument("--launches", type=int, required=True)
parser.add_argument("--fetch", help="rows x columns of an f16 chunk")
parser.add_argument("--send", help="the same")
args = parser.parse_args()

with open(args.trace, encoding="utf-8") as file:
    trace = json.load(file)
spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
assert trace["otherData"]["dropped_events"] == 0
assert not any(e["args"].get("cut") for e in spans)
assert {e["pid"] for e in spans} == set(range(args.ranks))

move = "fetch" if args.fetch else "send"
rows, columns = map(int, (args.fetch or args.send).split("x"))
part = 2 * rows * columns

launches = collections.defaultdict(list)
for span in spans:
    launches[span["pid"], span["args"]["launch"]].append(span)
assert len(launches) == args.launches * args.ranks, len(launches)
for where, own in launches.items():
    assert {e["name"] for e in own} <= {move, "gemm", "wait", "barrier"}, where
    moved = sum(e["args"].get("bytes", 0) for e in own if e["name"] == move)
    assert moved == (args.ranks - 1) * part, (where, moved)
    matmuls = [e for e in own if e["name"] == "gemm"]
    waits = [e for e in own if e["name"] == "wait"]
    assert matmuls and waits, where
    for wait in waits:
        # Times are rounded in the output.
        assert any(e["args"]["program"] == wait["args"]["program"]
                   and e["ts"] <= wait["ts"] + 1e-6
                   and wait["ts"] + wait["dur"] <= e["ts"] + e["dur"] + 1e-6
                   for e in matmuls), (where, wait)

total = sum(e["bytes"] for e in trace["otherData"]["programs"])
assert total == args.launches * args.ranks * (args.ranks - 1) * part, total
print(f"{len(spans)} spans")
