#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares Iris' default choices with a matmul and a collective at random
shapes, on CUDA, in one job.

    benchmarks/fused/random_fused.py -n 2 --seed=7 --count=60 \\
        --library=build/lib/libiris_rt.so --json=random.jsonl

M is log-uniform from 1 to 16384; N and K are multiples of 128 up to 16384; the
four kinds of fused matmul and f16 and bf16 alternate. The same seed gives the
same shapes; --list prints them, and needs neither PyTorch nor a GPU.

For each shape, fused.py checks the result and times Iris, the matmul alone
(torch.matmul), the collective alone (NCCL), and the pair, one after the other.
The library chooses as it does by default: IRIS_TUNE and IRIS_CACHE_DIR apply,
and iris-compile (IRIS_COMPILE) makes the kernels. `create_ms` has the times of
the first and the second Matmul::create.

At the end, three figures: the geometric mean and the worst ratio to the faster
pair, and the geometric mean of the ratio to the longer of the matmul and the
collective, which no fused matmul can beat. With --check, the exit status is 1
if one of them is above its aim.
"""
import argparse
import importlib.util
import json
import math
import os
import random
import sys

KINDS = [("all_gather_matmul", "shard=m"),
         ("matmul_all_gather", "shard=m"),
         ("matmul_reduce_scatter", "partial_type=result"),
         ("matmul_all_reduce", "partial_type=result")]
TYPES = ["f16", "bf16"]
UNIT, MOST = 128, 16384
# Aims: the mean and the worst ratio to the pair, and the mean ratio to the
# longer of its parts.
AIMS = {"mean": 0.85, "worst": 1.03, "to_longer": 1.15}


def draw(seed, count, ranks):
    """A spec of fused.py for each shape."""
    source = random.Random(seed)
    specs = []
    for number in range(count):
        m = min(MOST, int(2 ** source.uniform(0, math.log2(MOST + 1))))
        n, k = (UNIT * source.randint(1, MOST // UNIT) for _ in range(2))
        kind, setting = KINDS[number % len(KINDS)]
        if kind != "matmul_all_reduce":
            m = max(ranks, m - m % ranks)  # every rank has m / ranks rows
        k = max(ranks * UNIT, k - k % (ranks * UNIT))
        element = TYPES[number // len(KINDS) % len(TYPES)]
        specs.append(f"{kind},{setting},element={element},chosen=1"
                     f"@{m}x{n}x{k}")
    return specs


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summarize(lines):
    """The three figures, and a text with the losses."""
    ratios = [line["ours"] / min(line["pair"],
                                 line.get("pair_symm", math.inf))
              for line in lines]
    figures = {"mean": mean(ratios), "worst": max(ratios),
               "to_longer": mean([line["to_longer"] for line in lines])}
    sources = {}
    for line in lines:
        source = line["how"].split(":")[0]
        sources[source] = sources.get(source, 0) + 1
    text = [f"{len(lines)} shapes; choices: "
            + ", ".join(f"{count} {source}"
                        for source, count in sorted(sources.items()))]
    for name in ("first", "second"):
        times = sorted(line["create_ms"][name] for line in lines)
        text.append(f"{name} create: median {times[len(times) // 2]:.1f} ms, "
                    f"most {times[-1]:.1f} ms")
    for ratio, line in sorted(zip(ratios, lines), key=lambda pair: -pair[0]):
        if ratio > 0.97:
            text.append(f"  {ratio:.3f} of the pair: {line['op']} "
                        f"{'x'.join(map(str, line['shape']))}, {line['how']}")
    text.append(f"ratio to the faster pair: geometric mean "
                f"{figures['mean']:.3f} (aim {AIMS['mean']}), worst "
                f"{figures['worst']:.3f} (aim {AIMS['worst']})")
    text.append(f"ratio to the longer of matmul and collective: geometric mean "
                f"{figures['to_longer']:.3f} (aim {AIMS['to_longer']})")
    return figures, "\n".join(text)


def parse(arguments):
    def positive(text):
        value = int(text)
        if value < 1:
            raise argparse.ArgumentTypeError(f"{value}; expected at least 1")
        return value

    def ranks(text):
        value = int(text)
        if not 2 <= value <= 8:
            raise argparse.ArgumentTypeError(f"{value} ranks; expected 2 to 8")
        return value

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=ranks, required=True, help="ranks")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=positive, default=60)
    parser.add_argument("--list", action="store_true",
                        help="print the shapes, and stop")
    parser.add_argument("--summary", metavar="JSON",
                        help="summarize the lines of an earlier run, and stop")
    parser.add_argument("--check", action="store_true",
                        help="fail if a figure is above its aim")
    parser.add_argument("--library", default="libiris_rt.so")
    parser.add_argument("--replays", type=positive, default=7)
    parser.add_argument("--json", help="a file to which results are appended")
    parser.add_argument("--commit", default="")
    return parser.parse_args(arguments)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def measure(options):
    """Runs fused.py's job; returns its lines."""
    if importlib.util.find_spec("torch") is None:
        sys.exit("random_fused.py: PyTorch is not installed; it is the peer "
                 "(--list needs none)")
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import fused
    import torch
    found = torch.cuda.device_count()
    if found < options.n:
        sys.exit(f"random_fused.py: {found} CUDA devices; expected at least "
                 f"{options.n}")
    options.specs = draw(options.seed, options.count, options.n)
    options.packages, options.shapes, options.check_only = [], [], False
    options.json = options.json or f"random-fused-{os.getpid()}.jsonl"
    before = len(read(options.json)) if os.path.exists(options.json) else 0
    options.port = fused.free_port()
    torch.multiprocessing.spawn(fused.work, (options,), options.n)
    return read(options.json)[before:]


def main():
    options = parse(sys.argv[1:])
    if options.list:
        print("\n".join(draw(options.seed, options.count, options.n)))
        return 0
    lines = read(options.summary) if options.summary else measure(options)
    if not lines:
        sys.exit("random_fused.py: no results")
    figures, text = summarize(lines)
    print(text)
    is_met = all(figures[name] <= aim for name, aim in AIMS.items())
    return 0 if is_met or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
