#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots time and bus bandwidth of collectives over the size.

    benchmarks/plot-collectives.py iris.jsonl peers.jsonl limits.jsonl \\
        -o PREFIX [--format=png]

Reads the lines of `iris-bench --json`, of peers/collectives.py and of limits,
in any order, and writes PREFIX-OPERATION.svg for each operation of Iris:

  Iris       the selector's variant; the best variant if no line is a
             selected one
  peers      a line for each
  limit      the fastest hand-written kernel for each size

Times are in us, of one call on the slowest rank; bus bandwidth in GB/s (1e9
bytes per second), as nccl-tests defines it. Bands are the quartiles. If a
case occurs more than once, the last line counts (for variants and limits the
fastest). Needs Matplotlib (Debian: python3-matplotlib).
"""
import argparse
import sys

import measurements
from measurements import BLUE, GREY, PEERS, SKY


def last_of_size(entries):
    return {entry["bytes"]: entry for entry in entries}


def fastest_of_size(entries):
    return last_of_size(sorted(entries, key=lambda entry: -entry["us"]))


def make_lines(entries, with_variants):
    """[(name, style, entries by size)], from the back to the front."""
    ours = [entry for entry in entries if entry["peer"] == "iris"]
    limits = [entry for entry in entries if entry["peer"] == "limit"]
    lines = []
    if limits:
        lines.append(("Hand-written limit",
                      {"color": GREY, "ls": ":", "marker": ""},
                      fastest_of_size(limits)))
    peers = {}
    for entry in entries:
        if entry["peer"] not in ("iris", "limit"):
            peers.setdefault((entry["peer"], entry.get("variant") or ""),
                             []).append(entry)
    order = list(PEERS)
    for (peer, variant), some in sorted(peers.items(), key=lambda item: (
            order.index(item[0][0]) if item[0][0] in order else len(order),
            item[0])):
        style = {"marker": "."}
        if peer in PEERS:
            style["color"] = PEERS[peer][1]
        if variant:
            style["ls"] = "--"
        lines.append((f"{measurements.name_peer(some[0])} {variant}".strip(),
                      style, last_of_size(some)))
    if with_variants:
        dashes = ["-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1))]
        names = sorted({entry.get("variant") or "" for entry in ours})
        for number, name in enumerate(names):
            some = [entry for entry in ours if entry.get("variant") == name]
            lines.append((f"Iris {name}", {
                "color": SKY, "lw": 1, "ls": dashes[number % len(dashes)]},
                fastest_of_size(some)))
    chosen = [entry for entry in ours if entry.get("chosen")]
    if chosen:
        sizes = last_of_size(chosen)
    else:
        sizes = fastest_of_size(ours)
    if sizes:
        lines.append(("Iris" if chosen else "Iris, best variant", {
            "color": BLUE, "lw": 2.5, "marker": "o", "ms": 4}, sizes))
    return [(name, style, [sizes[size] for size in sorted(sizes)])
            for name, style, sizes in lines]


def draw(pyplot, op, entries, with_variants, note, path):
    figure, (times, rates) = pyplot.subplots(1, 2, figsize=(10, 4.4))
    for name, style, line in make_lines(entries, with_variants):
        sizes = [entry["bytes"] for entry in line]
        drawn, = times.plot(sizes, [entry["us"] for entry in line],
                            **{"lw": 1.3, "label": name, **style})
        rates.plot(sizes, [entry["busbw_GBs"] for entry in line],
                   **{"lw": 1.3, **style})
        if all("q1" in entry and "q3" in entry for entry in line):
            times.fill_between(sizes, [entry["q1"] for entry in line],
                               [entry["q3"] for entry in line],
                               color=drawn.get_color(), alpha=0.2, lw=0)
    for axes in (times, rates):
        measurements.set_size_axis(axes, op)
    times.set_yscale("log")
    times.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    times.set_ylabel("time of one call, µs")
    rates.set_ylabel("bus bandwidth, GB/s")
    rates.set_ylim(bottom=0)
    figure.suptitle(measurements.title(entries) +
                    (f"\n{note}" if note else ""), fontsize=11)
    handles, names = times.get_legend_handles_labels()
    columns = min(len(names), 4)
    rows = -(-len(names) // columns)
    figure.tight_layout(rect=(0, 0.01 + 0.05 * rows, 1, 1))
    figure.legend(handles[::-1], names[::-1], loc="lower center", ncol=columns)
    measurements.save(figure, path)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX")
    parser.add_argument("--format", default="svg", choices=["svg", "png"],
                        help="default svg")
    parser.add_argument("--ops", help="only these, separated by commas")
    parser.add_argument("--dtype", help="only this type")
    parser.add_argument("--mode", help="only this mode: graph or eager")
    parser.add_argument("--ranks", type=int, help="only this number of ranks")
    parser.add_argument("--variants", action="store_true",
                        help="also a thin line for each variant of ours")
    parser.add_argument("--note", default="", help="conditions of the "
                        "measurement, in a second line of the title")
    options = parser.parse_args()
    groups = measurements.group(measurements.read(options.results),
                                options.dtype, options.mode, options.ranks)
    ops = options.ops.split(",") if options.ops else None
    pyplot = measurements.load_pyplot()
    drawn = 0
    for (op, suffix), entries in sorted(groups.items()):
        if ops and op not in ops:
            continue
        if not any(entry["peer"] == "iris" for entry in entries):
            continue
        path = f"{options.output}-{op}{suffix}.{options.format}"
        draw(pyplot, op, entries, options.variants, options.note, path)
        print(path)
        drawn += 1
    if not drawn:
        measurements.fail("plot-collectives.py: no line of ours for this")
    return 0


if __name__ == "__main__":
    sys.exit(main())
