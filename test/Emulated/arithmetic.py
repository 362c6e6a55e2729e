#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic on special values: an emulated AMD device compared with the
host.

    arithmetic.py generate   [--types ...] [--forms ...] [--count N] > kernels.mlir
    arithmetic.py check HOST HSACO [the same options] [--wave 64]

Kernels compute chains of operations (expressions.py) on all pairs of the
special values of a type: signed zeros, denormals, infinities, NaN, the
largest and smallest numbers, rounding ties. `check` executes the machine code
of both targets and compares the bits of all results, except the bits of NaN.

A chain has up to three forms: `wide`, a tile with many elements per thread;
`single`, a tile with one; `scalar`, a uniform value. The same options give
the same kernels.
"""
import argparse
import ctypes
import random
import sys

import machine  # first: it switches to an interpreter that has NumPy
import expressions
from expressions import BITS, COUNT, FLOATS, FORMAT, INTEGERS
import numpy as np

PAIRS = COUNT * COUNT
TOGETHER = 8  # chains per kernel
SCALAR_STEP = 7  # the scalar loop uses every SCALAR_STEP-th pair
FORMS = ["wide", "single", "scalar"]


def unsigned(element):
    return np.dtype(f"u{BITS[element] // 8}")


class Program:
    """IrisRtHostProgram for a single program."""

    def __init__(self):
        self.arena = (ctypes.c_uint8 * ((1 << 20) + 64))()
        aligned = (ctypes.addressof(self.arena) + 63) & ~63
        self.words = (ctypes.c_uint64 * 6)(0, 1 << 32, 1 << 32 | 1, aligned)


class Kernel:
    """Some chains of a type in one form."""

    def __init__(self, element, form, number, chains, wave):
        self.element, self.form, self.chains = element, form, chains
        self.name = f"{element}_{form}_{number}"
        self.shape = {"wide": PAIRS, "single": wave, "scalar": None}[form]
        self.ops = expressions.Ops(self.shape)
        self.results = [chain(self.ops, "%x", "%y")
                        for chain in chains.values()]

    def emit(self):
        def memref(element):
            return f"memref<{PAIRS}x{element}>"

        def access(buffer, element, value=None):
            """Text of a load, or of a store of `value`."""
            kind = "memref" if self.form == "scalar" else "tile"
            verb = f"{kind}.store {value}," if value else f"{kind}.load"
            text = f"{verb} %{buffer}[%i] : "
            if self.form == "scalar":
                return text + memref(element)
            types = [memref(element), self.ops.type(element)]
            return text + (f"{types[1]}, {types[0]}" if value
                           else f"{types[0]} -> {types[1]}")

        buffers = [("a", self.element), ("b", self.element)]
        outputs = [(f"o{n}", element)
                   for n, (_, element) in enumerate(self.results)]
        step = {"wide": PAIRS, "single": self.shape, "scalar": SCALAR_STEP}
        lines = ["%zero = arith.constant 0 : index",
                 f"%pairs = arith.constant {PAIRS} : index",
                 f"%step = arith.constant {step[self.form]} : index",
                 "scf.for %i = %zero to %pairs step %step {",
                 f"%x = {access('a', self.element)}",
                 f"%y = {access('b', self.element)}", *self.ops.lines]
        for (buffer, _), (value, element) in zip(outputs, self.results):
            lines.append(access(buffer, element, value))
        arguments = ", ".join(f"%{name}: {memref(element)}"
                              for name, element in buffers + outputs)
        return "\n".join(
            [f"gpu.func @{self.name}({arguments})",
             "    kernel attributes {iris.num_warps = 1 : i32} {",
             *lines, "}", "gpu.return", "}"])

    def inputs(self):
        values = np.array(expressions.special_values(self.element),
                          unsigned(self.element))
        return [np.repeat(values, COUNT), np.tile(values, COUNT)]

    def on_host(self, library):
        results = [np.zeros(PAIRS, unsigned(e)) for _, e in self.results]
        buffers = self.inputs() + results
        arguments = (ctypes.c_uint64 * len(buffers))(
            *(b.ctypes.data for b in buffers))
        program = Program()
        library[f"iris.{self.name}"](arguments, program.words)
        return results

    def on_device(self, image):
        memory = machine.Memory(1 << 20)
        sizes = [PAIRS * BITS[e] // 8 for _, e in self.results]
        addresses = [memory.put(b) for b in self.inputs()]
        addresses += [memory.put(np.zeros(size, np.uint8)) for size in sizes]
        image.run(self.name, memory, addresses)
        return [memory.get(address, unsigned(element), PAIRS)
                for address, (_, element) in zip(addresses[2:], self.results)]


def is_nan(bits, element):
    if element in INTEGERS:
        return np.zeros(bits.shape, bool)
    exponent, fraction = FORMAT[element]
    infinity = ((1 << exponent) - 1) << fraction
    return (bits & bits.dtype.type((1 << BITS[element] - 1) - 1)) > infinity


def compare(kernel, want, got, verbose):
    """Names of the chains whose results differ."""
    wrong = []
    inputs = kernel.inputs()
    for name, (_, element), w, g in zip(kernel.chains, kernel.results, want,
                                        got):
        differ = (w != g) & ~(is_nan(w, element) & is_nan(g, element))
        indices = np.nonzero(differ)[0]
        if not indices.size:
            continue
        wrong.append(name)
        for index in indices[:verbose]:
            x, y = (values[index] for values in inputs)
            print(f"{kernel.element} {kernel.form}: {name}, x = {x:#x}, "
                  f"y = {y:#x}: got {g[index]:#x}, the host gives "
                  f"{w[index]:#x} ({indices.size} of {PAIRS} pairs)")
    return wrong


def kernels(options):
    choose = random.Random(options.seed)
    for element in options.types:
        chains = {name: chain
                  for name, chain in expressions.expressions(element).items()
                  if (not options.only or options.only in name)
                  and options.exact in (None, name)}
        for form in options.forms:
            names = list(chains)
            if options.count and options.count < len(names):
                picked = set(choose.sample(names, options.count))
                names = [name for name in names if name in picked]
            for start in range(0, len(names), TOGETHER):
                part = {name: chains[name]
                        for name in names[start:start + TOGETHER]}
                yield Kernel(element, form, start // TOGETHER, part,
                             options.wave)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["generate", "check"])
    parser.add_argument("host", nargs="?", help="shared object for the host")
    parser.add_argument("hsaco", nargs="?")
    parser.add_argument("--types", default=",".join(FLOATS + INTEGERS),
                        type=lambda text: text.split(","))
    parser.add_argument("--forms", default=",".join(FORMS),
                        type=lambda text: text.split(","))
    parser.add_argument("--only", help="chains whose names contain this")
    parser.add_argument("--exact", help="the chain of this name")
    parser.add_argument("--count", type=int, default=0,
                        help="number of chains of each type and form, picked at "
                             "random; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wave", type=int, default=64)
    parser.add_argument("--verbose", type=int, default=1,
                        help="differences shown of a chain; default: 1")
    options = parser.parse_args()
    if options.action == "generate":
        print("gpu.module @kernels {")
        for kernel in kernels(options):
            print(kernel.emit())
        print("}")
        return 0

    library = ctypes.CDLL(options.host)
    image = machine.CodeObject(options.hsaco)
    chains, wrong = 0, 0
    for kernel in kernels(options):
        try:
            got = kernel.on_device(image)
        except RuntimeError as error:
            sys.exit(f"{kernel.name}: {error}")
        wrong += len(compare(kernel, kernel.on_host(library), got,
                             options.verbose))
        chains += len(kernel.chains)
    print(f"{chains} chains on {image.arch}, {wrong} differ from the host")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
