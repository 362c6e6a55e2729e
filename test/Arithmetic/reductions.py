#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums and products of tiles of floats, bit by bit.

    reductions.py --target=gfx942 --seed=1 --count=100
    reductions.py --target=ptx:sm_90a --first=17 --count=1 --print

A case reduces a tile along one dimension, in a drawn layout on a drawn number of
warps. Its expected bits come from the definition of tile.reduce: neighbours are
combined until one element is left, x[2i] op x[2i + 1], rounded each time, in f32
for f16 and bf16. Targets are those of arithmetic_fuzz.py.

The elements are such that other orders give other bits: the summary counts the
results that also differ from halving, x[i] op x[i + n/2], and from the sequence.
"""
import argparse
import math
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arithmetic_fuzz as fuzz  # noqa: E402
import targets  # noqa: E402

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
FORMAT = {"f16": "e", "f32": "f", "f64": "d"}
BATCH = 25
MOST_REGISTERS = 256  # of a thread


# Numbers --------------------------------------------------------------------


def to_bits(t, value):
    """Of a number, rounded to the type."""
    if t == "bf16":
        bits = to_bits("f32", value)
        return bits + 0x7FFF + (bits >> 16 & 1) >> 16
    try:
        raw = struct.pack("<" + FORMAT[t], value)
    except OverflowError:
        raw = struct.pack("<" + FORMAT[t], math.copysign(math.inf, value))
    return int.from_bytes(raw, "little")


def from_bits(t, bits):
    if t == "bf16":
        t, bits = "f32", bits << 16
    return struct.unpack("<" + FORMAT[t], bits.to_bytes(BYTES[t], "little"))[0]


def rounded(t, value):
    """f64 has more than twice the bits of f32: its rounding does no harm."""
    return value if t == "f64" else from_bits(t, to_bits(t, value))


def hashed(rank, index):
    h = (rank * 0x9E3779B1 + index * 0x85EBCA6B + 0x27D4EB2F) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return h ^ h >> 16


def element(t, kind, rank, index):
    """Bits of an element: of terms, of about 13 magnitudes; of factors, near 1."""
    h = hashed(rank, index)
    fraction = 1 + (h & 0xFFFFF) / 2 ** 20 + hashed(rank + 1, index) / 2 ** 52
    exponent = ((h >> 20) % 13 - 6 if kind == "sum" else
                -1 if fraction > math.sqrt(2) else 0)
    return to_bits(t, math.ldexp(fraction * (-1) ** (h >> 31), exponent))


# Orders ---------------------------------------------------------------------


def neighbours(step, x):
    while len(x) > 1:
        x = [step(a, b) for a, b in zip(x[0::2], x[1::2])]
    return x[0]


def halves(step, x):
    while len(x) > 1:
        n = len(x) // 2
        x = [step(a, b) for a, b in zip(x[:n], x[n:])]
    return x[0]


def sequence(step, x):
    total = x[0]
    for value in x[1:]:
        total = step(total, value)
    return total


# Cases ----------------------------------------------------------------------


def blocked(choose, shape, wave, warps):
    """Threads along the dimensions in any way, duplicates included; none if they
    have too many."""
    def split(count):
        result = [1] * len(shape)
        while count > 1:
            result[choose.randrange(len(shape))] *= 2
            count //= 2
        return result
    order = list(range(len(shape)))
    choose.shuffle(order)
    size, lanes = split(choose.choice([1, 2, 4, 8])), split(wave)
    groups = split(warps)
    different = math.prod(min(n // min(n, s), l * w) for n, s, l, w in zip(
        shape, size, lanes, groups))
    if math.prod(shape) // different > MOST_REGISTERS:
        return ""
    return (", #tile.blocked<size_per_thread = %s, threads_per_warp = %s, "
            "warps_per_cta = %s, order = %s>" % (size, lanes, groups, order))


def linear(choose, shape, wave, warps):
    """Bits of the coordinates in any place; some of a dimension mixed."""
    bits = [[1 << b if d == e else 0 for e in range(len(shape))]
            for d, n in enumerate(shape) for b in range(n.bit_length() - 1)]
    choose.shuffle(bits)
    if choose.random() < 0.5:
        for dim in range(len(shape)):
            own = [b for b in bits if b[dim]]
            for above, below in zip(own, own[1:]):
                if choose.random() < 0.5:
                    above[dim] ^= below[dim]
    threads = (wave * warps).bit_length() - 1
    # Some bits of the thread's number may have none.
    spread = choose.randrange(max(0, len(bits) - 6), len(bits) + 1)
    used, registers = bits[:min(spread, threads)], bits[min(spread, threads):]
    used += [[0] * len(shape) for _ in range(threads - len(used))]
    choose.shuffle(used)
    lanes = wave.bit_length() - 1
    return ", #tile.linear<register = %s, lane = %s, warp = %s>" % (
        registers, used[:lanes], used[lanes:])


class Case:
    def __init__(self, seed, number, wave):
        choose = random.Random(f"{seed}/{number}")
        self.name, self.number = f"k{number}", number
        self.kind = choose.choice(["sum", "sum", "prod"])
        self.t = choose.choice(sorted(BYTES))
        self.result = ("f32" if BYTES[self.t] == 2 and choose.random() < 0.5
                       else self.t)
        self.warps = choose.choice([1, 2, 4, 8])
        rank = choose.choice([1, 2, 2, 3])
        self.shape = [1] * rank
        for _ in range(choose.randrange(14)):
            self.shape[choose.randrange(rank)] *= 2
        self.dim = choose.randrange(rank)
        self.layout = ""
        if choose.random() < 0.7:
            draw = choose.choice([blocked, linear])
            self.layout = draw(choose, self.shape, wave, self.warps)
        self.elements = [element(self.t, self.kind, number, i)
                         for i in range(math.prod(self.shape))]

    @property
    def left(self):
        return self.shape[:self.dim] + self.shape[self.dim + 1:]

    def step(self):
        t = self.t if self.t == "f64" else "f32"
        if self.kind == "sum":
            return lambda a, b: rounded(t, a + b)
        return lambda a, b: rounded(t, a * b)

    def results(self, order):
        """Bits, by the definition."""
        inner = math.prod(self.shape[self.dim + 1:])
        extent, step = self.shape[self.dim], self.step()
        values = [from_bits(self.t, bits) for bits in self.elements]
        for i in range(len(values) // extent):
            first = i // inner * inner * extent + i % inner
            line = values[first:first + extent * inner:inner]
            yield to_bits(self.result, order(step, line))

    def text(self):
        def tile(shape, t, layout=""):
            return f"tensor<{'x'.join(map(str, [*shape, t]))}{layout}>"

        def memory(shape, t):
            return f"memref<{'x'.join(map(str, [*shape, t]))}>"
        source = memory(self.shape, self.t)
        target = memory(self.left or [1], self.result)
        loaded = tile(self.shape, self.t, self.layout)
        reduced = tile(self.left, self.result) if self.left else self.result
        zeros = lambda n: ", ".join(["%c0"] * n)
        store = (f"tile.store %r, %out[{zeros(len(self.left))}] : {reduced}, "
                 f"{target}" if self.left else
                 f"memref.store %r, %out[%c0] : {target}")
        return f"""
gpu.func @{self.name}(%in: {source}, %out: {target}) kernel
    attributes {{iris.num_warps = {self.warps} : i32}} {{
  %c0 = arith.constant 0 : index
  %v = tile.load %in[{zeros(len(self.shape))}] : {source} -> {loaded}
  %r = tile.reduce {self.kind} %v dim {self.dim} : {loaded} -> {reduced}
  {store}
  gpu.return
}}"""

    def call(self):
        raw = b"".join(b.to_bytes(BYTES[self.t], "little") for b in self.elements)
        return (self.name, [raw],
                [max(1, math.prod(self.left)) * BYTES[self.result]])

    def differences(self, output):
        size = BYTES[self.result]
        got = [int.from_bytes(output[i:i + size], "little")
               for i in range(0, len(output), size)]
        return [(i, g, w) for i, (g, w) in enumerate(
            zip(got, self.results(neighbours), strict=True)) if g != w]

    def sensitive(self):
        """Results that differ in other orders."""
        return sum(len({*row}) == 3 for row in zip(*(
            self.results(order) for order in (neighbours, halves, sequence))))


# The run --------------------------------------------------------------------


def check(options, cases):
    """The cases that fail, with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        image, error = fuzz.compile_kernels(options, cases, folder)
        if error:
            return [(cases[0], "not compiled: " + error.strip())]
        outputs = targets.execute(options.target, image,
                                  [case.call() for case in cases])
    failures = []
    for case, output in zip(cases, outputs, strict=True):
        wrong = output if isinstance(output, str) else case.differences(output[0])
        if wrong:
            failures.append((case, wrong if isinstance(wrong, str) else
                             "%d wrong; element %d: got 0x%x, expected 0x%x" % (
                                 len(wrong), *wrong[0])))
    return failures


def run(options):
    wave = (32 if options.target.split(":")[0] in ("ptx", "cuda")
            else options.wave)
    numbers = range(options.first, options.first + options.count)
    cases = [Case(options.seed, n, wave) for n in numbers]
    if options.print:
        print("\n".join(case.text() for case in cases))
    failures = []
    for first in range(0, len(cases), BATCH):
        failures += check(options, cases[first:first + BATCH])
    for case, text in failures:
        print(f"{case.number}: {case.kind} of {case.t} to {case.result}, "
              f"{case.shape} dim {case.dim}, {case.warps} warps{case.layout}: "
              f"{text}")
    results = sum(max(1, math.prod(case.left)) for case in cases)
    sensitive = sum(case.sensitive() for case in cases)
    print(f"{options.target}: seed {options.seed}, {len(cases)} reductions, "
          f"{results} results, {sensitive} of which depend on the order, "
          f"{len(failures)} reductions wrong")
    return bool(failures) or sensitive == 0


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--wave", type=int, default=64,
                        help="threads of a wave of an AMD chip; default: 64")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--print", action="store_true",
                        help="the kernels, too")
    parser.add_argument("--compiler", default="iris-compile")
    parser.add_argument("--timeout", type=int, default=300)
    options = parser.parse_args()
    options.disable_guards = ""
    return options


def main():
    options = parse()
    if options.target != "host":
        import emulate  # noqa: F401  # it switches to an interpreter with NumPy
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
