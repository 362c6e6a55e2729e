#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws times of fused matmuls beside a matmul and NCCL, one bar per shape.

    benchmarks/plot-matmuls.py fused.jsonl -o PREFIX [--note=TEXT]

Reads the lines of fused/fused.py and matmul/matmul.py and writes PREFIX-OPERATION.svg. Bars are
the time over that of torch.matmul and NCCL one after the other (1.0, the grey
line); shorter is faster. Where a case is there more than once, the last line
counts. Needs Matplotlib (Debian: python3-matplotlib).
"""
import argparse
import json

import measurements
from measurements import BLUE, GREEN, GREY, ORANGE

WAYS = (("ours", "Iris", BLUE),
        ("pair_symm", "torch.matmul, then NCCL on registered memory", ORANGE),
        ("torch_fused", "PyTorch's fused op (no graph)", GREEN))


def read(paths):
    cases = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                entry = json.loads(line)
                if "torch_us" in entry:  # of matmul/matmul.py
                    entry.update(op="matmul", ranks=1, ours=entry["us"],
                                 spec=entry["kernel"].split("_")[0],
                                 pair=entry["torch_us"])
                if "pair" in entry:
                    key = (entry["op"], entry["spec"], tuple(entry["shape"]))
                    cases[key] = entry
    return cases


def draw(pyplot, op, entries, note, path):
    labels = ["%d x %d x %d" % tuple(entry["shape"]) +
              (", shard " + entry["spec"].split("shard=")[1][0]
               if "shard=" in entry["spec"] else
               ", " + entry["spec"] if op == "matmul" else "")
              for entry in entries]
    ways = [way for way in WAYS if any(entry.get(way[0]) for entry in entries)]
    height = 0.8 / len(ways)
    figure, axes = pyplot.subplots(
        figsize=(9, 1.5 + 0.24 * len(entries) * len(ways)))
    for number, (field, name, color) in enumerate(ways):
        at = [i + (number - (len(ways) - 1) / 2) * height
              for i in range(len(entries))]
        values = [(entry.get(field) or 0) / entry["pair"] for entry in entries]
        drawn = axes.barh(at, [min(value, 1.6) for value in values], height,
                          color=color, label=name)
        axes.bar_label(drawn, [f"{value:.2f}" if value else ""
                               for value in values], fontsize=7, padding=2)
    axes.axvline(1, color=GREY, lw=1)
    axes.set_yticks(range(len(entries)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.7)
    axes.set_xlabel("time / time of torch.matmul" + (
        "" if op == "matmul" else " and NCCL one after the other"))
    ranks = entries[0]["ranks"]
    figure.suptitle(f"{op}, {ranks} GPU{'s' if ranks > 1 else ''}" + (f"\n{note}" if note else ""),
                    fontsize=11)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.6 / (
        0.6 + 0.24 * len(entries) * len(ways))), ncol=len(ways), fontsize=8)
    figure.tight_layout()
    measurements.save(figure, path)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX")
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    cases = read(options.results)
    pyplot = measurements.load_pyplot()
    for op in sorted({key[0] for key in cases}):
        path = f"{options.output}-{op}.svg"
        draw(pyplot, op, [entry for key, entry in cases.items()
                          if key[0] == op], options.note, path)
        print(path)


if __name__ == "__main__":
    main()
