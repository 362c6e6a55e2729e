#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many programs (SMs, CUs) collectives need: table, CSV and plots.

    benchmarks/programs-sweep.py programs.jsonl [rccl-channels.jsonl ...] \\
        [-o PREFIX] [--format=png]

Reads the lines of `iris-bench --programs=LIST --json`, and of
`peers/collectives.py --channels=N`, whose channels are blocks, so that each
occupies an SM or CU. Prints the bandwidth at the best number of programs and
the smallest number that reaches 95 % of it, for each operation and size. With
-o it writes

  PREFIX.csv            op,peer,variant,dtype,ranks,mode,bytes,programs,us,
                        busbw_GBs: us for one call, bus bandwidth in GB/s (1e9
                        bytes per second); bytes of one chunk
  PREFIX-OPERATION.svg  bandwidth over programs, a line for each size, with a
                        ring at the smallest sufficient number

If a case occurs more than once (tiles, warps), the fastest counts; table and
plots use the fastest variant for each number. They contain a size if it was
measured with several numbers of programs. Plots need Matplotlib (Debian:
python3-matplotlib).
"""
import argparse
import csv
import sys

import measurements
from measurements import name_size

CSV_FIELDS = ["op", "peer", "variant", "dtype", "ranks", "mode", "bytes",
              "programs", "us", "busbw_GBs"]


def fastest(entries, *keys):
    """{values of the keys: the fastest entry}, in the keys' order."""
    best = {}
    for entry in entries:
        key = tuple(entry.get(key, "") for key in keys)
        if key not in best or entry["us"] < best[key]["us"]:
            best[key] = entry
    return dict(sorted(best.items()))


def enough(line, fraction):
    """The entry with the fewest programs that reaches this fraction of the
    best bandwidth, and the best one; `line` is {programs: entry}."""
    best = max(line.values(), key=lambda entry: entry["busbw_GBs"])
    for _, entry in sorted(line.items()):
        if entry["busbw_GBs"] >= fraction * best["busbw_GBs"]:
            return entry, best
    return best, best


def make_lines(entries):
    """{name of a peer: {bytes: {programs: fastest entry}}}, Iris first."""
    peers = {}
    for entry in fastest(entries, "peer", "bytes", "programs").values():
        peers.setdefault(measurements.name_peer(entry), {}).setdefault(
            entry["bytes"], {})[entry["programs"]] = entry
    peers = {name: {size: line for size, line in sizes.items()
                    if len(line) > 1} for name, sizes in peers.items()}
    return {name: peers[name] for name in
            sorted(peers, key=lambda name: (name != "Iris", name))
            if peers[name]}


def print_table(groups, fraction):
    heading = ["operation", "size", "of", "best GB/s", "with", "variant",
               f"{fraction:.0%} with", "GB/s", "variant"]
    rows = [heading]
    for (op, suffix), entries in groups.items():
        for name, sizes in make_lines(entries).items():
            for size, line in sorted(sizes.items()):
                least, best = enough(line, fraction)
                rows.append([
                    op + suffix, name_size(size), name,
                    f"{best['busbw_GBs']:.1f}", str(best["programs"]),
                    best.get("variant") or "", str(least["programs"]),
                    f"{least['busbw_GBs']:.1f}", least.get("variant") or ""])
    widths = [max(map(len, column)) for column in zip(*rows)]
    numbers = {1, 3, 4, 6, 7}
    for row in rows:
        print("  ".join(text.rjust(width) if column in numbers
                        else text.ljust(width) for column, (text, width)
                        in enumerate(zip(row, widths))).rstrip())


def write_csv(entries, path):
    keys = CSV_FIELDS[:-2]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, CSV_FIELDS, extrasaction="ignore",
                                restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(fastest(entries, *keys).values())


def spread(positions, gap):
    """Moves sorted positions apart, to a distance of at least `gap`."""
    moved = []
    for position in positions:
        moved.append(max(position, moved[-1] + gap) if moved else position)
    excess = moved[-1] - positions[-1]
    return [position - excess / 2 for position in moved]


def draw_panel(axes, sizes, colours, fraction, top):
    ends = []
    for size, line in sorted(sizes.items()):
        programs = sorted(line)
        rates = [line[number]["busbw_GBs"] for number in programs]
        colour = colours[size]
        axes.plot(programs, rates, color=colour, marker=".", lw=1.5)
        least, _ = enough(line, fraction)
        axes.plot(least["programs"], least["busbw_GBs"], marker="o", ms=8,
                  mfc="none", mec=colour, mew=1.5)
        ends.append((rates[-1], programs[-1], name_size(size), colour))
    ends.sort()
    right = max(end[1] for end in ends)
    for (rate, last, text, colour), position in zip(
            ends, spread([end[0] for end in ends], 0.045 * top)):
        axes.annotate(text, (last, rate), (right * 1.12, position), color=colour,
                      va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "lw": 0.5,
                                  "color": colour, "alpha": 0.5})
    numbers = sorted({number for line in sizes.values() for number in line})
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.minorticks_off()
    axes.set_xlim(right=right * 1.05)
    axes.set_xlabel("programs")


def draw(pyplot, entries, fraction, path):
    peers = make_lines(entries)
    if not peers:
        return False
    all_sizes = sorted({size for sizes in peers.values() for size in sizes})
    shades = pyplot.get_cmap("viridis")
    colours = {size: shades(0.9 - 0.9 * number / max(len(all_sizes) - 1, 1))
               for number, size in enumerate(all_sizes)}
    figure, panels = pyplot.subplots(
        1, len(peers), figsize=(1 + 5 * len(peers), 4.4), sharey=True,
        squeeze=False)
    top = 1.05 * max(entry["busbw_GBs"] for sizes in peers.values()
                     for line in sizes.values() for entry in line.values())
    for axes, (name, sizes) in zip(panels[0], peers.items()):
        draw_panel(axes, sizes, colours, fraction, top)
        axes.set_title(name)
        axes.set_ylim(0, top)
    panels[0][0].set_ylabel("bus bandwidth, GB/s")
    what = "chunk of one rank" if entries[0]["op"] in \
        measurements.MANY_CHUNKS else "buffer"
    figure.suptitle(f"{measurements.title(entries)}\nlines: {what}; "
                    f"rings: {fraction:.0%} of the line's best")
    figure.tight_layout(w_pad=3)
    measurements.save(figure, path)
    pyplot.close(figure)
    return True


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", metavar="PREFIX",
                        help="writes CSV and plots")
    parser.add_argument("--format", default="svg",
                        choices=["svg", "png", "none"],
                        help="of the plots; default svg")
    parser.add_argument("--share", type=float, default=0.95,
                        help="of the best bandwidth; default 0.95")
    parser.add_argument("--ops", help="only these, separated by commas")
    parser.add_argument("--variants", help="only these, separated by commas")
    parser.add_argument("--dtype", help="only this type")
    options = parser.parse_args()
    if not 0 < options.share <= 1:
        parser.error("--share; expected more than 0, at most 1")
    entries = measurements.read(options.results)
    ops = options.ops.split(",") if options.ops else None
    variants = options.variants.split(",") if options.variants else None
    # Limit kernels report only the best number of blocks.
    entries = [entry for entry in entries
               if entry.get("programs") and entry["peer"] != "limit"
               and (not ops or entry["op"] in ops)
               and (not variants or entry["peer"] != "iris"
                    or entry.get("variant") in variants)]
    groups = dict(sorted(
        measurements.group(entries, dtype=options.dtype).items()))
    if not any(make_lines(each) for each in groups.values()):
        measurements.fail("programs-sweep.py: no size with several numbers of "
                          "programs")
    print_table(groups, options.share)
    if not options.output:
        return 0
    write_csv([entry for each in groups.values() for entry in each],
              options.output + ".csv")
    print(options.output + ".csv")
    if options.format == "none":
        return 0
    pyplot = measurements.load_pyplot()
    for (op, suffix), each in groups.items():
        path = f"{options.output}-{op}{suffix}.{options.format}"
        if draw(pyplot, each, options.share, path):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
