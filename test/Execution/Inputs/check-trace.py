#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the trace that test/Execution/traces.mlir writes."""

import argparse
import collections
import json

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("trace")
parser.add_argument("--ranks", type=int, required=True)
parser.add_argument("--programs", type=int, required=True)
args = parser.parse_args()

with open(args.trace, encoding="utf-8") as file:
    trace = json.load(file)
events = trace["traceEvents"]
assert trace["otherData"]["dropped_events"] == 0

names = {e["pid"] for e in events if e["name"] == "process_name"}
assert names == set(range(args.ranks)), names

spans = [e for e in events if e["ph"] == "X"]
assert min(e["ts"] for e in spans) == 0
assert not any(e["args"].get("cut") for e in spans)
by_program = collections.defaultdict(list)
for span in spans:
    assert span["dur"] >= 0 and span["args"]["kernel"] == "kernels::ring"
    assert "traces.mlir:" in span["args"]["at"], span
    by_program[span["pid"], span["args"]["program"],
               span["args"]["launch"]].append(span)
assert len(by_program) == 2 * args.ranks * args.programs, len(by_program)
for place, own in by_program.items():
    count = collections.Counter(e["name"] for e in own)
    assert count == {"outer": 1, "inner": 2, "wait": 1}, (place, count)
    outer = next(e for e in own if e["name"] == "outer")
    assert outer["args"]["bytes"] == 1024
    for inner in own:
        # Times are rounded in the output.
        assert inner["ts"] >= outer["ts"] - 1e-6, own
        assert (inner["ts"] + inner["dur"]
                <= outer["ts"] + outer["dur"] + 1e-6), own

# All ranks share one clock: a wait that blocked ends after the signal, which
# follows the start of the previous rank's program.
begins = {(e["pid"], e["args"]["program"], e["args"]["launch"]): e["ts"]
          for e in spans if e["name"] == "outer"}
for wait in (e for e in spans if e["name"] == "wait"):
    before = (wait["pid"] - 1) % args.ranks
    begin = begins[before, wait["args"]["program"], wait["args"]["launch"]]
    assert wait["ts"] + wait["dur"] >= begin, (wait, begin)

# Every row has its name, and totals are the sums of the spans.
rows = {(e["pid"], e["tid"]): e["args"]["name"]
        for e in events if e["name"] == "thread_name"}
for span in spans:
    assert rows[span["pid"], span["tid"]] == \
        f"program {span['args']['program']}", span
sums = {(e["rank"], e["program"]): e for e in trace["otherData"]["programs"]}
assert len(sums) == args.ranks * args.programs, sums
for (rank, program), total in sums.items():
    own = [e for e in spans
           if (e["pid"], e["args"]["program"]) == (rank, program)]
    exposed = sum(e["dur"] for e in own if e["name"] == "wait")
    assert abs(total["exposed_us"] - exposed) < 1e-3, (total, exposed)
    assert total["bytes"] == 2 * 1024, total
print(f"{len(spans)} spans")
