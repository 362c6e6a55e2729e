# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a trace of --draw=FILE.json: each arrow goes from an earlier op to a
later one, in another thread, and two ops have part in the error."""
import json
import sys

events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
ops = {(e["pid"], e["tid"], e["ts"]): e for e in events if e["ph"] == "X"}
starts = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
assert ops and starts and starts.keys() == ends.keys()
for number, start in starts.items():
    end = ends[number]
    assert start["ts"] < end["ts"] and start["tid"] != end["tid"], (start, end)
    for side in (start, end):
        assert (side["pid"], side["tid"], side["ts"]) in ops, side
faulty = [op for op in ops.values() if "error" in op["args"]]
assert len(faulty) == 2, faulty
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert all(name.startswith("rank ") for name in names.values())
