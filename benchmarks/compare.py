#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares Iris' collectives with the peers and with the limit kernels.

    benchmarks/compare.py --selected=iris.jsonl [--variants=iris-all.jsonl] \\
        peers.jsonl limits.jsonl [--markdown]

--selected has the lines of `iris-bench` with the selector's config,
--variants those of `iris-bench --variants=all`; the other files may have
lines of any peer, and also of Iris, which then count as variants. If a case
occurs more than once, the last line counts. Times in us; sizes are those of
the larger buffer (for all_gather, reduce_scatter and all_to_all one chunk
times the ranks).

columns:
  iris      the selector's variant, or the best variant if there is no such
            line (marked *)
  best      the fastest of Iris' variants, if it is another one
  peer      the fastest peer
  ratio     iris / peer; below 1 is faster
  limit     the fastest limit kernel; /limit is iris / limit
  aim       "met": the ratio and, if specified, the time or bandwidth;
            "met (limit)": not the ratio, but at most 1.1 times the limit;
            "MISSED"; "no peer"

exit status: 0; 1 with --strict and a missed aim; 2 if a file is not usable.
"""

import argparse
import collections
import sys

from measurements import MANY_CHUNKS, format_size, read_lines

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
END = 1 << 62

# An aim applies to buffers of `least` to `most` bytes: at most `ratio` times
# the fastest peer, at most `us` microseconds, at least `rate` GB/s bus
# bandwidth.
Aim = collections.namedtuple("Aim", "least most ratio us rate",
                             defaults=(None, None))
SMALL_AND_LARGE = [Aim(0, 4 * MIB, 0.7), Aim(4 * MIB + 1, END, 1.0)]
AIMS = {
    "all_reduce": [
        Aim(0, 8 * KIB, 0.6, us=4.5),
        Aim(8 * KIB + 1, 128 * KIB, 0.7),
        Aim(128 * KIB + 1, MIB, 0.8),
        Aim(MIB + 1, 32 * MIB, 0.9),
        Aim(32 * MIB + 1, END, 1.0),
    ],
    "all_gather": [
        Aim(0, 2 * MIB - 1, 0.65),
        Aim(2 * MIB, 2 * MIB, 0.65, us=10),
        Aim(2 * MIB + 1, 64 * MIB, 0.9),
        Aim(64 * MIB + 1, GIB - 1, 1.0),
        Aim(GIB, END, 1.0, rate=345),
    ],
    "reduce_scatter": SMALL_AND_LARGE,
    "all_to_all": SMALL_AND_LARGE,
    "broadcast": SMALL_AND_LARGE,
}
NEAR_LIMIT = 1.1

Row = collections.namedtuple(
    "Row", "op bytes total iris chosen best peer limit aim outcome")


def collect(arguments):
    """{(op, bytes): {(role, name): entry}} for one dtype and mode."""
    cases = collections.defaultdict(dict)
    seen = collections.defaultdict(set)

    def add(entry, role, name):
        if entry.get("dtype") != arguments.dtype or \
                entry.get("mode", "graph") != arguments.mode or \
                entry["ranks"] != arguments.ranks:
            return
        for key in ("device", "machine"):
            seen[key].add(entry.get(key, ""))
        cases[entry["op"], entry["bytes"]][role, name] = entry

    for path in arguments.selected:
        for entry in read_lines(path):
            if entry["peer"] == "iris":
                add(entry, "selected", "")
    for path in arguments.variants + arguments.files:
        for entry in read_lines(path):
            variant = entry.get("variant") or ""
            if entry["peer"] == "iris":
                add(entry, "variant", variant)
            elif entry["peer"] == "limit":
                add(entry, "limit", variant)
            else:
                add(entry, "peer", " ".join(
                    filter(None, (entry["peer"], variant))))
    for key, values in seen.items():
        if len(values) > 1:
            print(f"warning: lines of more than one {key}: "
                  f"{', '.join(sorted(map(str, values)))}", file=sys.stderr)
    return cases


def find_ranks(arguments):
    """The number of ranks of Iris' lines, if it is the same in all."""
    ranks = {entry["ranks"] for path in
             arguments.selected + arguments.variants + arguments.files
             for entry in read_lines(path)}
    if len(ranks) != 1:
        print("compare.py: lines of " +
              (f"{sorted(ranks)} ranks; select one with --ranks" if ranks
               else "no measurement at all"), file=sys.stderr)
        sys.exit(2)
    return ranks.pop()


def fastest(entries, role):
    some = [entry for (each, _), entry in entries.items() if each == role]
    return min(some, key=lambda entry: entry["us"], default=None)


def find_aim(op, total):
    for aim in AIMS.get(op, []):
        if aim.least <= total <= aim.most:
            return aim
    return None


def judge(aim, iris, peer, limit):
    if aim is None:
        return ""
    if peer is None:
        return "no peer"
    short = []
    if iris["us"] > aim.ratio * peer["us"]:
        short.append(f"> {aim.ratio:g}x")
    if aim.us is not None and iris["us"] > aim.us:
        short.append(f"> {aim.us:g} us")
    if aim.rate is not None and iris.get("busbw_GBs", 0) < aim.rate:
        short.append(f"< {aim.rate:g} GB/s")
    if not short:
        return "met"
    near = limit is not None and iris["us"] <= NEAR_LIMIT * limit["us"]
    return ("met (limit), but " if near else "MISSED: ") + ", ".join(short)


def make_rows(cases, ranks, ops):
    rows = []
    for (op, size), entries in sorted(cases.items()):
        if ops and op not in ops:
            continue
        selected = fastest(entries, "selected")
        best = fastest(entries, "variant")
        iris = selected or best
        if iris is None:
            continue
        peer, limit = fastest(entries, "peer"), fastest(entries, "limit")
        total = size * ranks if op in MANY_CHUNKS else size
        aim = find_aim(op, total)
        if best is not None and best["us"] >= iris["us"]:
            best = None  # no better variant to show
        rows.append(Row(op, size, total, iris, selected is not None, best, peer,
                        limit, aim, judge(aim, iris, peer, limit)))
    order = list(AIMS)
    return sorted(rows, key=lambda row: (
        order.index(row.op) if row.op in order else len(order), row.op,
        row.total))


def format_aim(aim):
    if aim is None:
        return ""
    parts = [f"{aim.ratio:g}x"]
    if aim.us is not None:
        parts.append(f"{aim.us:g} us")
    if aim.rate is not None:
        parts.append(f"{aim.rate:g} GB/s")
    return ", ".join(parts)


HEADINGS = ["operation", "in all", "iris", "variant", "GB/s bus", "best",
            "its variant", "peer us", "peer", "ratio", "limit us", "limit",
            "/limit", "aim", ""]


def cells(row):
    def time(entry):
        return f"{entry['us']:.2f}" if entry else ""

    def name(entry):
        if not entry:
            return ""
        text = entry.get("variant") or ""
        if entry["peer"] not in ("iris", "limit"):
            text = f"{entry['peer']} {text}".strip()
        if entry.get("programs"):
            text += f" x{entry['programs']}"
        return text

    def ratio(entry):
        return f"{row.iris['us'] / entry['us']:.2f}" if entry else ""
    return [row.op, format_size(row.total),
            time(row.iris) + ("" if row.chosen else "*"), name(row.iris),
            f"{row.iris.get('busbw_GBs', 0):.1f}", time(row.best),
            name(row.best), time(row.peer), name(row.peer), ratio(row.peer),
            time(row.limit), name(row.limit), ratio(row.limit),
            format_aim(row.aim), row.outcome]


def print_text(table):
    widths = [max(map(len, column)) for column in zip(HEADINGS, *table)]
    numbers = {"in all", "iris", "GB/s bus", "best", "peer us", "ratio",
               "limit us", "/limit"}
    for line in [HEADINGS] + table:
        print("  ".join(
            text.rjust(width) if heading in numbers else text.ljust(width)
            for heading, text, width in zip(HEADINGS, line, widths)).rstrip())


def print_markdown(table):
    for number, line in enumerate([HEADINGS] + table):
        print("| " + " | ".join(line) + " |")
        if number == 0:
            print("|" + "---|" * len(HEADINGS))


def print_summary(rows):
    """Prints how many aims are met, for each operation."""
    print()
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        if row.outcome:
            counts[row.op][row.outcome.split(":")[0].split(",")[0]] += 1
    for op, outcomes in counts.items():
        print(f"{op}: " + ", ".join(
            f"{number} {outcome}" for outcome, number in outcomes.items())
            + f" of {sum(outcomes.values())}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--selected", action="append", default=[],
                        metavar="FILE", help="lines of Iris with the "
                        "selector's config")
    parser.add_argument("--variants", action="append", default=[],
                        metavar="FILE", help="lines of Iris, all variants")
    parser.add_argument("--ranks", type=int, help="only lines of this number of ranks "
                        "(needed if there are several)")
    parser.add_argument("--dtype", default="bf16", help="default bf16")
    parser.add_argument("--mode", default="graph", help="default graph")
    parser.add_argument("--ops", help="only these, separated by commas")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--strict", action="store_true",
                        help="exit status 1 if an aim is missed")
    arguments = parser.parse_args()
    if not arguments.files + arguments.selected + arguments.variants:
        parser.error("no files")
    if arguments.ranks is None:
        arguments.ranks = find_ranks(arguments)
    ops = arguments.ops.split(",") if arguments.ops else None
    rows = make_rows(collect(arguments), arguments.ranks, ops)
    if not rows:
        print("compare.py: no matching line of Iris", file=sys.stderr)
        return 2
    table = [cells(row) for row in rows]
    (print_markdown if arguments.markdown else print_text)(table)
    print_summary(rows)
    missed = any(row.outcome.startswith("MISSED") for row in rows)
    return 1 if arguments.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
