#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws time and bus bandwidth of collectives over the size.

    plot-collectives.py RESULTS.jsonl... -o PREFIX

Reads the lines of `iris-bench --json`, and of peers in the same form. Writes
PREFIX-OPERATION.png for each operation: one line per peer and variant, with
the quartiles where they are given. Needs Matplotlib (Debian:
python3-matplotlib).
"""
import argparse
import collections
import json
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot-collectives.py needs Matplotlib "
             "(Debian: python3-matplotlib)")

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, the back end comes first


def read(paths):
    """{operation: {label: [entries by size]}}; the last line of a size counts."""
    series = collections.defaultdict(lambda: collections.defaultdict(dict))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    entry = json.loads(line)
                    label = " ".join(str(entry[key]) for key in (
                        "peer", "variant", "mode") if entry.get(key))
                    series[entry["op"]][label][entry["bytes"]] = entry
                    entry["us"], entry["busbw_GBs"]  # must be there
                except (ValueError, KeyError) as error:
                    sys.exit(f"{path}:{number}: no measurement: {error!r}")
    return {op: {label: [sizes[size] for size in sorted(sizes)]
                 for label, sizes in labels.items()}
            for op, labels in series.items()}


def name_size(size, _=None):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:g} {unit}"
        size /= 1024
    return ""


def draw(op, labels, path):
    figure, (times, rates) = pyplot.subplots(1, 2, figsize=(12, 5))
    first = next(iter(labels.values()))[0]
    figure.suptitle(f"{op}, {first.get('dtype', '')}, {first.get('ranks', '?')}"
                    f" ranks, {first.get('device', '')}"
                    f" {first.get('machine', '')}")
    for label, entries in sorted(labels.items()):
        sizes = [entry["bytes"] for entry in entries]
        line, = times.plot(sizes, [entry["us"] for entry in entries],
                           marker=".", label=label)
        if all("q1" in entry and "q3" in entry for entry in entries):
            times.fill_between(sizes, [entry["q1"] for entry in entries],
                               [entry["q3"] for entry in entries],
                               color=line.get_color(), alpha=0.2)
        rates.plot(sizes, [entry["busbw_GBs"] for entry in entries],
                   marker=".", label=label)
    for axes, what in ((times, "time of one call, µs"),
                       (rates, "bus bandwidth, GB/s")):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(name_size)
        axes.set_xlabel("bytes of one chunk")
        axes.set_ylabel(what)
        axes.grid(alpha=0.3)
    times.set_yscale("log")
    times.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX")
    options = parser.parse_args()
    for op, labels in sorted(read(options.results).items()):
        path = f"{options.output}-{op}.png"
        draw(op, labels, path)
        print(path)


if __name__ == "__main__":
    main()
