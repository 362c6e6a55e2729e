#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the cost model of the collectives' selector to measurements.

    fit-cost-model.py RESULTS.jsonl... [--older=OLD.jsonl]... [--device=NAME]
        [--most=N] [--misses=N] [--model=FILE.json] [--compiler=iris-compile]

Reads the lines of `iris-bench --json` (graph replay, buffers on the heap, not
in place; all others are skipped) and prints the "kernels" of a model in
runtime/src/ccl/models, and, as comments, the quality of the model's
selections. A line must give tile and warps; 0 is the generator's default.

The model
---------
A kernel is a variant with a tile and a number of warps. The time of a call is

    us = start + programs * program + (iterations * iteration with bytes / rate)

* start: the launch, and barriers or packets one way. It grows with the number
of peers: start + startPeers * peers / 7.
* iterations: tiles that the busiest program processes in sequence, and the
time of one of them that no other program hides; it grows with the peers as
well. So this term is what more programs reduce.
* program: the cost of each further program, mostly of its flags in barriers.
* bytes: those that cross the busiest link, and its rate.
* with: the sum, or for kernels whose iterations overlap with the transfer the
root of the sum of the squares, whichever fits better.

What follows from the variant alone (how many ranks share the tiles, how many
chunks cross the link, how large a chunk fits into the workspace, the default
tile, whether the selector may choose it) is in the table that `iris-compile
--list-collectives` prints, from include/iris/Plan/CollectiveWork.h; the
numbers of programs and the accepted slowdown are in the device's model, which
the library embeds. The constants are the non-negative ones with
the least squares of relative errors. A measurement has the less weight the
slower it is relative to the best of its size, since such a kernel is not
selected. As long as all measurements of a kernel have one group size, the
fraction of each term that depends on the peers is that of the variant's
nearest tile with several group sizes, or half. A last tile that does not end
at a multiple of 16 bytes costs `partial` for each element of a thread and
peer, since its elements are stored one by one.

Which kernels
-------------
Each kernel has to be compiled and loaded. Of all measured kernels, the table
contains those that lose the least time against the best measurement of each
size: they are added one at a time, at most --most per variant, until one
gains less than 0.15 % on average.

Older measurements
------------------
If no machine of some size is available, lines of older kernels (--older) are
used instead: those of the same kernels and of group sizes that the results
lack, each reduced by the speedup of its variant (or else its operation),
which is the median over the small measurements (at most 20 us) that both
have, on other group sizes. Buffered variants are skipped, since their slots
had another size. The report counts older measurements like all others.

The report
----------
Per operation, the fraction of measured points (operation, ranks, size) where
the selected kernel takes at most 1.05 times the fastest measurement, once
fitted to all points, and cross-validated: the model is fitted to every other
size and evaluated on the rest, and vice versa. The cross-validation uses
first the kernels selected from all points, including the evaluated ones, and
then those selected from the fitted sizes alone. A selected number of programs
that was not measured counts as the measured one with the nearest number of
iterations; points where the kernel was not measured at all are not evaluated.
Only variants that the selector may use count, packets and buffered ones for
chunks that fit into the workspace at once; --all counts the remaining ones as
well.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

from measurements import read_lines

TOLERANCE = 1.05
SMALL_US = 20  # for --older

MODELS = pathlib.Path(__file__).parent.parent / "runtime/src/ccl/models"


class Table:
    """What the library knows of the collectives and of the device's links."""

    def __init__(self, compiler, model):
        rows = json.loads(subprocess.run(
            [compiler, "--list-collectives"], check=True,
            capture_output=True, text=True).stdout)
        self.variants = {(row["name"], variant["name"]): variant
                         for row in rows for variant in row["variants"]}
        self.reducing = {row["name"] for row in rows if row["reduces"]}
        links = json.loads(pathlib.Path(model).read_text())["links"]
        self.programs = links["programs"]
        self.accepted_slowdown = links["acceptedSlowdown"]

    def variant(self, op, name):
        if (op, name) not in self.variants:
            sys.exit(f"{op} has no variant {name}; measure again, or use the "
                     "compiler of the measurements (--compiler)")
        return self.variants[op, name]

    def ways(self, kernel, size):
        """Number of ranks among which the tiles of a chunk are distributed."""
        return self.variant(kernel.op, kernel.variant)["ways"][size - 1]

    def link_chunks(self, kernel, size):
        """Bytes that cross the busiest rank's links, in units of a chunk."""
        return self.variant(kernel.op, kernel.variant)["link_chunks"][size - 1]

    def round_bytes(self, kernel, size):
        """The largest chunk that fits into the workspace at once."""
        rounds = self.variant(kernel.op, kernel.variant).get("round_bytes")
        return rounds[size - 1] if rounds else math.inf

    def uses_workspace(self, kernel):
        return "round_bytes" in self.variant(kernel.op, kernel.variant)

    def eligible(self, op, name):
        """Whether the selector may use the variant by default."""
        variant = self.variant(op, name)
        return not variant["only_by_name"] and not variant["any_order"]


TABLE = None  # set by main()


def dtype_bytes(name):
    """Bytes of "f64", "bf16", "f8e4m3fn"."""
    return int(re.search(r"\d+", name).group()) // 8


Kernel = collections.namedtuple("Kernel", "op variant tile warps")
Kernel.__doc__ = "The tile is in bytes."


class Point:
    """A measurement."""

    def __init__(self, entry):
        self.op, self.variant = entry["op"], entry["variant"]
        self.bytes, self.ranks = entry["bytes"], entry["ranks"]
        self.programs, self.us = entry["programs"], entry["us"]
        self.element = 1
        if self.op in TABLE.reducing:
            self.element = dtype_bytes(entry["dtype"])
        defaults = TABLE.variant(self.op, self.variant)
        self.kernel = Kernel(
            self.op, self.variant,
            entry["tile"] * self.element or defaults["tile_bytes"],
            entry["warps"] or defaults["warps"])
        self.case = (self.op, self.ranks, self.bytes)
        self.weight = 1.0


def weigh(points):
    """The weight of a measurement: it decreases with its time relative to the
    best."""
    best = {}
    for point in points:
        best[point.case] = min(best.get(point.case, math.inf), point.us)
    for point in points:
        point.weight = (best[point.case] / point.us) ** 3
    return points


def carry_over(older, points):
    """Older measurements of group sizes that `points` lack, scaled to the
    current speed."""
    now = {(p.kernel, p.case, p.programs): p.us for p in points}
    changes = collections.defaultdict(list)
    for p in older:
        if p.us <= SMALL_US and (p.kernel, p.case, p.programs) in now:
            change = now[p.kernel, p.case, p.programs] - p.us
            changes[p.op, p.variant].append(change)
            changes[p.op].append(change)
    ranks = {p.ranks for p in points}
    kernels = {p.kernel for p in points}
    carried = [p for p in older if p.ranks not in ranks
               and p.kernel in kernels and changes[p.op]
               and not p.variant.endswith("buffered")]
    for p in carried:
        p.us += statistics.median(changes[p.op, p.variant] or changes[p.op])
    return carried


def read(paths, device):
    points = []
    for path in paths:
        for entry in read_lines(path):
            if (entry["peer"] == "iris" and entry["mode"] == "graph"
                    and not entry["staged"] and not entry["in_place"]
                    and entry["variant"] != "copy_engine"
                    and device in entry["device"]):
                points.append(Point(entry))
    return points


# --- The model --------------------------------------------------------------

def iterations_of(kernel, ranks, size, programs):
    tiles = -(-size // kernel.tile)
    return math.ceil(math.ceil(tiles / TABLE.ways(kernel, ranks)) / programs)


def features(kernel, ranks, size, programs):
    peers = (ranks - 1) / 7
    iterations = iterations_of(kernel, ranks, size, programs)
    link = TABLE.link_chunks(kernel, ranks) * size
    return (1, peers, iterations, iterations * peers, programs, link / 1e6)


def partial_elements(kernel, ranks, size, element):
    """Elements and peers that a thread stores one by one after whole tiles:
    none if the last tile ends at a multiple of 16 bytes."""
    if size % 16 == 0 or TABLE.uses_workspace(kernel):
        return 0
    return kernel.tile / element / (32 * kernel.warps) * (ranks - 1)


def solve(gram, right):
    """Gaussian elimination; None if there is no unique solution."""
    rows = [list(row) + [value] for row, value in zip(gram, right)]
    count = len(rows)
    for i in range(count):
        pivot = max(range(i, count), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-12:
            return None
        for r in range(count):
            if r != i:
                scale = rows[r][i] / rows[i][i]
                rows[r] = [x - scale * y for x, y in zip(rows[r], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def least_squares(rows, wanted):
    """Non-negative x with the least |rows x - wanted|: the best of all
    choices of zeros."""
    count = len(rows[0])
    columns = list(zip(*rows))
    # Scaled, so that a tiny penalty has the same effect on all columns.
    norms = [math.sqrt(sum(v * v for v in column)) or 1.0 for column in columns]
    columns = [[v / n for v in c] for c, n in zip(columns, norms)]
    gram = [[sum(map(float.__mul__, a, b)) for b in columns] for a in columns]
    right = [sum(map(float.__mul__, a, wanted)) for a in columns]
    for i in range(count):
        gram[i][i] += 1e-7
    best, least = [0.0] * count, 0.0
    for bits in range(1, 1 << count):
        some = [i for i in range(count) if bits >> i & 1]
        x = solve([[gram[i][j] for j in some] for i in some],
                  [right[i] for i in some])
        if x is None or min(x) < 0:
            continue
        # |Ax - b|^2 - |b|^2, since x solves the normal equations.
        loss = -sum(v * right[i] for v, i in zip(x, some))
        if loss < least:
            least, best = loss, [0.0] * count
            for v, i in zip(x, some):
                best[i] = v / norms[i]
    return best


class Constants:
    """Constants of one kernel: those of `features`, and whether iterations
    overlap."""

    def __init__(self, values, overlaps):
        self.values, self.overlaps = values, overlaps

    def parts(self, some):
        """Times of the constant part, of the iterations, and of the transfer."""
        x = [value * f for value, f in zip(self.values, some)]
        return x[0] + x[1] + x[4], x[2] + x[3], x[5]

    def us(self, some):
        rest, iterations, transfer = self.parts(some)
        if self.overlaps:
            return rest + math.hypot(iterations, transfer)
        return rest + iterations + transfer


def peer_fractions(constants, peers):
    """The fractions of the start and of an iteration that depend on the
    peers."""
    def fraction(alone, with_peers):
        more = with_peers * peers / 7
        return more / (alone + more) if alone + more else 0.5

    x = constants.values
    return fraction(x[0], x[1]), fraction(x[2], x[3])


def fit(points, link, sibling=None):
    """The constants of the kernel of the points, with no rate above the
    link's. Those of `sibling` supply what points of one group size cannot
    determine."""
    cases = [(p, features(p.kernel, p.ranks, p.bytes, p.programs))
             for p in points]

    def error(constants):
        return sum((p.weight * (constants.us(f) / p.us - 1)) ** 2
                   for p, f in cases)

    best = fit_sum(cases, link, [(1.0, 1.0)] * len(cases), sibling)
    least, last = error(best), best
    # hypot(a, b) is a * a / hypot + b * b / hypot: a sum with factors, which
    # converge in a few rounds.
    for _ in range(30):
        factors = []
        for _, some in cases:
            _, iterations, transfer = last.parts(some)
            root = math.hypot(iterations, transfer) or 1.0
            factors.append((max(iterations / root, 0.02),
                            max(transfer / root, 0.02)))
        found = fit_sum(cases, link, factors, sibling)
        last = Constants([(a + b) / 2 for a, b in
                          zip(last.values, found.values)], True)
        if error(last) < least:
            least, best = error(last), last
    return best


def fit_sum(cases, link, factors, sibling):
    """The constants, with the times of iterations and bytes scaled."""
    least = 1e3 / link
    rows, wanted = [], []
    for (p, f), (of_turns, of_bytes) in zip(cases, factors):
        scale = p.weight / p.us
        rows.append([scale * f[0], scale * f[1], scale * f[2] * of_turns,
                     scale * f[3] * of_turns, scale * f[4],
                     scale * f[5] * of_bytes])
        wanted.append(p.weight - least * rows[-1][5])
    sizes = {p.ranks for p, _ in cases}
    if len(sizes) > 1:
        x = least_squares(rows, wanted)
    else:
        # The constant part and the part that grows with the peers cannot be
        # separated.
        peers = max(sizes.pop() - 1, 1)
        scale = 7 / peers
        y = least_squares([[r[0], r[2], r[4], r[5]] for r in rows], wanted)
        start, iteration = (peer_fractions(sibling, peers) if sibling
                            else (0.5, 0.5))
        x = [y[0] * (1 - start), y[0] * start * scale,
             y[1] * (1 - iteration), y[1] * iteration * scale, y[2], y[3]]
    x[5] += least
    return Constants(x, False)


def serves(kernel, ranks, size):
    """Whether chunks of that size fit into the kernel's workspace at once."""
    return size <= TABLE.round_bytes(kernel, ranks)


class Model:
    """Constants of kernels."""

    def __init__(self, points, link):
        self.constants, self.partial = {}, 0.0
        groups = collections.defaultdict(list)
        for point in points:
            groups[point.kernel].append(point)
        rest = []
        # Kernels with one group size come last: they use the others' fractions.
        known = {}
        order = sorted(groups, key=lambda kernel: len(
            {p.ranks for p in groups[kernel]}) == 1)
        for kernel in order:
            mine = groups[kernel]
            whole = [p for p in mine if p.bytes % kernel.tile == 0
                     and serves(kernel, p.ranks, p.bytes)]
            if len({p.bytes for p in whole}) < 2:
                continue
            siblings = [k for k in known if k.op == kernel.op
                        and k.variant == kernel.variant]
            nearest = min(siblings, default=None, key=lambda k: abs(
                math.log(k.tile / kernel.tile)))
            constants = fit(whole, link, known.get(nearest))
            self.constants[kernel] = constants
            if len({p.ranks for p in whole}) > 1:
                known[kernel] = constants
            rest += [(p, partial_elements(kernel, p.ranks, p.bytes, p.element))
                     for p in mine if p.bytes % kernel.tile]
        # One constant for all: the median, since few points determine it.
        slopes = [(p.us - self.estimate(p.kernel, p.ranks, p.bytes, p.programs))
                  / count for p, count in rest if count]
        if slopes:
            self.partial = max(0.0, statistics.median(slopes))

    def keep(self, kernels):
        """Keeps only these kernels."""
        self.constants = {kernel: self.constants[kernel] for kernel in kernels
                          if kernel in self.constants}
        return self

    def estimate(self, kernel, ranks, size, programs, element=1):
        us = self.constants[kernel].us(
            features(kernel, ranks, size, programs))
        return us + self.partial * partial_elements(kernel, ranks, size,
                                                    element)

    def choose(self, op, ranks, size, element):
        """(kernel, programs) as in the selector: the fastest kernel, with the
        fewest programs that cost little."""
        times = {}
        for kernel in self.constants:
            if kernel.op == op and serves(kernel, ranks, size):
                for programs in TABLE.programs:
                    times[kernel, programs] = self.estimate(
                        kernel, ranks, size, programs, element)
        if not times:
            return None
        kernel, best = min(times, key=times.get)
        return kernel, min(p for p in TABLE.programs if times[kernel, p]
                           <= TABLE.accepted_slowdown * times[kernel, best])


# --- Which kernels ----------------------------------------------------------

def pick_kernels(model, points, most):
    """The few kernels per operation that are worth compiling."""
    picked = []
    for op in sorted({p.op for p in points}):
        mine = [p for p in points if p.op == op]
        kernels = sorted({p.kernel for p in mine} & set(model.constants))
        least = {k: min(p.bytes for p in mine if p.kernel == k)
                 for k in kernels}
        cases = []  # times of the kernels relative to the fastest
        for case in sorted({p.case for p in mine}):
            here = [p for p in mine if p.case == case]
            best = min(p.us for p in here)
            times = {}
            for k in kernels:
                measured = [p.us for p in here if p.kernel == k]
                if measured:
                    times[k] = min(measured) / best
                elif serves(k, case[1], case[2]) and case[2] > least[k]:
                    us = min(model.estimate(k, case[1], case[2], programs,
                                            here[0].element)
                             for programs in TABLE.programs)
                    times[k] = max(us / best, 1.0)
            cases.append(times)

        def loss(chosen):
            return statistics.mean(
                math.log(min([times[k] for k in chosen if k in times] + [10]))
                for times in cases)

        chosen = []
        while True:
            rest = [k for k in kernels if k not in chosen and len(
                [1 for c in chosen if c.variant == k.variant]) < most]
            if not rest:
                break
            best = min(rest, key=lambda k: loss(chosen + [k]))
            if chosen and loss(chosen) - loss(chosen + [best]) < 0.0015:
                break
            chosen.append(best)
        picked += chosen
    return sorted(picked)


# --- The report -------------------------------------------------------------

def judge(model, points, cases=None):
    """{op: [(ratio, case, kernel, programs, best point)]}, with a ratio of None
    where the chosen kernel was not measured."""
    by_case = collections.defaultdict(list)
    for p in points:
        by_case[p.case].append(p)
    result = collections.defaultdict(list)
    for case, mine in sorted(by_case.items()):
        if cases is not None and case not in cases:
            continue
        op, ranks, size = case
        chosen = model.choose(op, ranks, size, mine[0].element)
        if not chosen:
            continue
        kernel, programs = chosen
        best = min(mine, key=lambda p: p.us)
        same = [p for p in mine if p.kernel == kernel]
        ratio = None
        if same:
            # With equal numbers of iterations, additional programs are idle.
            iterations = iterations_of(kernel, ranks, size, programs)
            us = min(same, key=lambda p: (
                abs(math.log(iterations_of(kernel, ranks, size, p.programs)
                             / iterations)),
                abs(math.log(p.programs / programs)))).us
            ratio = us / best.us
        result[op].append((ratio, case, kernel, programs, best))
    return result


def print_report(title, result, misses):
    print(f"// {title}:")
    everything = []
    for op, judged in sorted(result.items()):
        ratios = [r[0] for r in judged if r[0]]
        everything += [r for r in judged if r[0]]
        within = len([r for r in ratios if r <= TOLERANCE])
        line = f"//   {op:15} {within} of {len(ratios)} within 5 %"
        if ratios:
            line += f", mean {statistics.mean(ratios) - 1:.1%}"
        if len(ratios) < len(judged):
            line += f"; {len(judged) - len(ratios)} not judged"
        print(line)
    within = len([r for r in everything if r[0] <= TOLERANCE])
    print(f"//   all             {within} of {len(everything)} = "
          f"{within / max(len(everything), 1):.1%}")
    everything.sort(key=lambda r: -r[0])
    for ratio, (op, ranks, size), kernel, programs, best in everything[:misses]:
        if ratio > 1.02:
            print(f"//     {op} x{ranks} {size}: {ratio:.3f} with "
                  f"{kernel.variant} t{kernel.tile} w{kernel.warps} "
                  f"p{programs}; best {best.kernel.variant} "
                  f"t{best.kernel.tile} w{best.kernel.warps} "
                  f"p{best.programs} {best.us:.2f} us")


def print_table(model, points):
    print(f"# {len(points)} measurements; "
          f'"unalignedElementUs": {model.partial:.4f}')
    rows = []
    for kernel, constants in sorted(model.constants.items()):
        # Kernels that take more than twice the best time do not matter.
        errors = [model.estimate(kernel, p.ranks, p.bytes, p.programs,
                                 p.element) / p.us - 1
                  for p in points if p.kernel == kernel and p.weight > 0.1]
        rms = math.sqrt(statistics.mean(e * e for e in errors or [0]))
        x = constants.values
        rows.append(json.dumps({
            "op": kernel.op, "variant": kernel.variant,
            "tileBytes": kernel.tile, "warps": kernel.warps,
            "startUs": round(x[0], 2), "startPeersUs": round(x[1], 2),
            "tileUs": round(x[2], 3), "tilePeersUs": round(x[3], 3),
            "programUs": round(x[4], 4), "bytesPerUs": round(1e6 / x[5]),
            "overlaps": constants.overlaps,
            "fit": f"{rms:.1%} of {len(errors)}"}))
    print('  "kernels": [\n    ' + ",\n    ".join(rows) + "\n  ]")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--older", action="append", default=[],
                        metavar="FILE", help="measurements of older kernels")
    parser.add_argument("--device", default="H200",
                        help="substring of the device name")
    parser.add_argument("--link", type=float, default=450,
                        help="GB/s that no call exceeds, to all peers together")
    parser.add_argument("--most", type=int, default=2,
                        help="most kernels of a variant")
    parser.add_argument("--misses", type=int, default=10,
                        help="how many of the worst to print")
    parser.add_argument("--all", action="store_true",
                        help="judge all variants, eligible or not")
    parser.add_argument("--model", default=MODELS / "nvidia-h200.json",
                        help="the device's model, for numbers of programs")
    parser.add_argument("--compiler", default="iris-compile",
                        help="lists the collectives")
    options = parser.parse_args()
    global TABLE
    TABLE = Table(options.compiler, options.model)
    points = read(options.files, options.device)
    points = weigh(points + carry_over(read(options.older, options.device),
                                       points))
    if not points:
        sys.exit(f"no measurements of {options.device}")
    judged = [p for p in points if options.all or TABLE.eligible(p.op, p.variant)]
    model = Model(points, options.link)
    kernels = pick_kernels(model, judged, options.most)
    model.keep(kernels)
    print_table(model, points)
    print_report("fitted to all", judge(model, judged), options.misses)
    cases = sorted({p.case for p in judged})
    for again in (False, True):
        crossed = collections.defaultdict(list)
        for half in (0, 1):
            held = set()
            for op, ranks in {c[:2] for c in cases}:
                mine = [c for c in cases if c[:2] == (op, ranks)]
                held |= set(mine[half::2])
            part = Model([p for p in points if p.case not in held],
                         options.link)
            part.keep(pick_kernels(part, [p for p in judged
                                          if p.case not in held], options.most)
                      if again else kernels)
            for op, some in judge(part, judged, held).items():
                crossed[op] += some
        print_report("every other size fitted, the rest evaluated; kernels "
                     "selected from " + ("the fitted ones" if again else "all"),
                     crossed, options.misses)


if __name__ == "__main__":
    main()
