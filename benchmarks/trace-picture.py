#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws one launch of a trace: time to the right, programs below each other.

    benchmarks/trace-picture.py trace.json -o trace.svg [--ranks=0,3]
        [--launch=N] [--rows=48] [--width=1100]

Reads what `iris-run --trace` writes (.gz too) and draws a launch, by default
the last that has a matmul, on the given ranks, by default the first one.
Programs that move data come first, then those that multiply; where there are
more than --rows of a kind, every second, third, ... is drawn. Warps that load
for a program have a thin row of their own below its row. A pixel shows what was
done in most of its time; where spans nest, the inner one.

Prints a table, in Markdown, of all programs of the launch on these ranks: how
long they were in matmuls, how long in waits and barriers (exposed), and the
bytes that their spans moved. Times are in us, of the median program unless the
column says otherwise; GB/s are all bytes over the launch's time.
"""
import argparse
import collections
import gzip
import html
import json
import sys

from measurements import (BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, fail)

COLOURS = {"gemm": BLUE, "fetch": ORANGE, "send": GREEN, "reduce": SKY,
           "wait": RED, "barrier": PINK}
MOVES = ("fetch", "send")
EXPOSED = ("wait", "barrier")
KINDS = {(True, False): "move", (False, True): "multiply",
         (True, True): "both", (False, False): "other"}

Span = collections.namedtuple("Span", "name begin end bytes loads")


def read(path):
    """{(rank, kernel, launch): {program: [Span]}} and the ranks' names."""
    launches = collections.defaultdict(lambda: collections.defaultdict(list))
    names = {}
    try:
        with (gzip.open if path.endswith(".gz") else open)(
                path, "rt", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        rows = {(event["pid"], event["tid"]): event["args"]["name"]
                for event in events if event["name"] == "thread_name"}
        for event in events:
            if event["name"] == "process_name":
                names[event["pid"]] = event["args"]["name"]
            if event["ph"] != "X":
                continue
            args = event["args"]
            loads = rows[event["pid"], event["tid"]].endswith("loads")
            launches[event["pid"], args["kernel"], args["launch"]][
                args["program"]].append(
                    Span(event["name"], event["ts"],
                         event["ts"] + event["dur"], args.get("bytes", 0),
                         loads))
    except OSError as error:
        fail(str(error))
    except (ValueError, KeyError, TypeError) as error:
        fail(f"{path}: no trace of iris-run: {error!r}")
    return launches, names


def flatten(spans):
    """(name, begin, end) that do not overlap: the innermost span counts. Spans
    come in the order in which they ended."""
    result = []
    open_spans = []
    at = None

    def pass_to(time):
        nonlocal at
        while open_spans and open_spans[-1].end <= time:
            inner = open_spans.pop()
            if inner.end > at:
                result.append((inner.name, at, inner.end))
                at = inner.end
        if open_spans and time > at:
            result.append((open_spans[-1].name, at, time))
        at = time

    # Of two that are equally long, the inner one ended first.
    for span in sorted(reversed(spans),
                       key=lambda span: (span.begin, -span.end)):
        if at is None:
            at = span.begin
        pass_to(span.begin)
        open_spans.append(span)
    if open_spans:
        pass_to(max(span.end for span in open_spans))
    return result


def bin_pixels(segments, origin, scale, width):
    """For each pixel the name that has most of it, or None."""
    shares = [collections.Counter() for _ in range(width)]
    for name, begin, end in segments:
        first, last = (begin - origin) * scale, (end - origin) * scale
        for pixel in range(max(int(first), 0), min(int(last) + 1, width)):
            shares[pixel][name] += min(last, pixel + 1) - max(first, pixel)
    pixels = []
    for share in shares:
        idle = 1 - sum(share.values())
        name, most = max(share.items(), key=lambda item: item[1],
                         default=(None, 0))
        pixels.append(name if most > max(idle, 0) else None)
    return pixels


def kind_of(spans):
    names = {span.name for span in spans}
    return KINDS[any(name in names for name in MOVES), "gemm" in names]


def pick_launch(launches, rank, wanted):
    """The key of the launch to draw on a rank."""
    mine = [key for key in launches if key[0] == rank
            and wanted in (None, key[2])]
    matmuls = [key for key in mine
                if any(span.name == "gemm" for spans in launches[key].values()
                       for span in spans)]
    if not mine or (wanted is None and not matmuls):
        fail(f"rank {rank} has no launch "
             + ("with a matmul" if wanted is None else str(wanted)))
    return max(matmuls or mine, key=lambda key: key[2])


class Picture:
    """SVG, built from the top to the bottom."""
    LEFT, ROW, LOADS, GAP = 150, 8, 4, 1

    def __init__(self, width, origin, end):
        self.width, self.origin = width, origin
        self.scale = width / max(end - origin, 1e-9)
        self.end = end
        self.parts, self.y = [], 10
        self.used = set()

    def text(self, x, y, text, anchor="start", size=11):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" '
                          f'text-anchor="{anchor}">{html.escape(text)}</text>')

    def rect(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" '
                          f'height="{height:g}" fill="{colour}"/>')

    def row(self, spans, height):
        pixels = bin_pixels(flatten(spans), self.origin, self.scale,
                            self.width)
        self.rect(self.LEFT, self.y, self.width, height, "#f2f2f2")
        start = 0
        for x in range(1, self.width + 1):
            if x < self.width and pixels[x] == pixels[start]:
                continue
            if pixels[start]:
                self.used.add(pixels[start])
                self.rect(self.LEFT + start, self.y, x - start, height,
                          COLOURS.get(pixels[start], GREY))
            start = x
        self.y += height

    def programs(self, label, programs, rows):
        step = -(-len(programs) // rows)
        top = self.y
        for _, spans in programs[::step]:
            self.row([span for span in spans if not span.loads], self.ROW)
            loads = [span for span in spans if span.loads]
            if loads:
                self.row(loads, self.LOADS)
            self.y += self.GAP
        middle = (top + self.y) / 2
        self.text(self.LEFT - 8, middle, label, "end")
        drawn = "" if step == 1 else f", 1 of {step} drawn"
        self.text(self.LEFT - 8, middle + 12, f"{len(programs)}{drawn}", "end",
                  9)
        self.y += 6

    def axis(self):
        length = self.end - self.origin
        step = 10 ** (len(str(int(length))) - 1)
        while length / step < 5:
            step /= 2
        time = 0
        while time <= length:
            x = self.LEFT + time * self.scale
            self.rect(x, self.y, 1, 4, "black")
            self.text(x, self.y + 15, f"{time:g}", "middle", 10)
            time += step
        self.y += 28
        self.text(self.LEFT + self.width, self.y, "time, µs", "end")

    def legend(self):
        x = self.LEFT
        names = [name for name in COLOURS if name in self.used]
        for name in names + sorted(self.used - set(names)):
            self.rect(x, self.y - 9, 10, 10, COLOURS.get(name, GREY))
            self.text(x + 14, self.y, name)
            x += 30 + 7 * len(name)
        self.y += 10

    def save(self, path):
        width = self.LEFT + self.width + 20
        with open(path, "w", encoding="utf-8") as file:
            file.write('<svg xmlns="http://www.w3.org/2000/svg" '
                       f'width="{width}" height="{self.y}" '
                       f'viewBox="0 0 {width} {self.y}" '
                       'font-family="sans-serif" '
                       'shape-rendering="crispEdges">\n'
                       '<rect width="100%" height="100%" fill="white"/>\n'
                       + "\n".join(self.parts) + "\n</svg>\n")


def median(values):
    return sorted(values)[len(values) // 2]


def total(spans, names):
    return sum(span.end - span.begin for span in spans if span.name in names)


def print_table(rank, kinds, length):
    """Of all programs of one rank, by kind."""
    for kind, programs in kinds:
        exposed = [total(spans, EXPOSED) for _, spans in programs]
        moved = sum(span.bytes for _, spans in programs for span in spans)
        matmuls = [total(spans, ("gemm",)) for _, spans in programs]
        print(f"| {rank} | {kind} | {len(programs)} | {length:.1f} "
              f"| {median(matmuls):.1f} | {median(exposed):.1f} "
              f"| {max(exposed):.1f} "
              f"| {100 * sum(exposed) / len(programs) / length:.1f} % "
              f"| {moved} | {moved / length / 1e3:.1f} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("-o", "--output", metavar="FILE", help="an SVG")
    parser.add_argument("--ranks", default="0",
                        help="separated by commas, or all")
    parser.add_argument("--launch", type=int)
    parser.add_argument("--rows", type=int, default=48,
                        help="programs of a kind that are drawn")
    parser.add_argument("--width", type=int, default=1100,
                        help="pixels of the time")
    parser.add_argument("--title")
    options = parser.parse_args()
    if options.rows < 1 or options.width < 1:
        parser.error("--rows and --width; expected 1 or more")
    launches, names = read(options.trace)
    try:
        ranks = (sorted(names) if options.ranks == "all" else
                 [int(rank) for rank in options.ranks.split(",")])
    except ValueError:
        parser.error(f"--ranks={options.ranks}; expected numbers or all")
    chosen = [pick_launch(launches, rank, options.launch) for rank in ranks]
    everything = [span for key in chosen for spans in launches[key].values()
                  for span in spans]
    begin = min(span.begin for span in everything)
    end = max(span.end for span in everything)

    picture = Picture(options.width, begin, end)
    title = options.title or f"{chosen[0][1]}, launch {chosen[0][2]}"
    picture.text(picture.LEFT, 18, title, size=13)
    picture.y = 30
    print("| rank | programs | number | launch | gemm | exposed | exposed, most "
          "| of the launch, mean | bytes | GB/s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for rank, key in zip(ranks, chosen):
        by_kind = collections.defaultdict(list)
        for program, spans in sorted(launches[key].items()):
            by_kind[kind_of(spans)].append((program, spans))
        kinds = [(kind, by_kind[kind]) for kind in KINDS.values()
                 if kind in by_kind]
        picture.text(picture.LEFT, picture.y + 8, names.get(rank, str(rank)))
        picture.y += 14
        for kind, programs in kinds:
            picture.programs(f"programs that {kind}"
                             if kind in ("move", "multiply")
                             else f"{kind} programs", programs, options.rows)
        mine = [span for spans in launches[key].values() for span in spans]
        print_table(rank, kinds, max(span.end for span in mine)
                    - min(span.begin for span in mine))
    picture.axis()
    picture.legend()
    if options.output:
        picture.save(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
