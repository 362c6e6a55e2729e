#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels on tiles, executed on an emulated AMD device.

    tiles.py generate    [--seed N] [--count N] [--wave 64] > kernels.mlir
    tiles.py check HSACO [--seed N] [--count N] [--wave 64]

Every kernel loads a window of one buffer, transforms the tile and stores the
result to a window of another: random extents, element types, pinned layouts
or none, strides, misaligned buffers, windows past every edge. The same seed
gives the same kernels; `check` compares the final memory, byte by byte and
around the buffers, with its own reference.
"""
import argparse
import random
import sys

import machine  # first: it switches to an interpreter that has NumPy
import numpy as np

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
UNTOUCHED = 77  # initial value of the destination
MARGIN = 64  # elements around a buffer that must not change


class Chance:
    """The random choices of one seed."""

    def __init__(self, seed, wave):
        self.random = random.Random(seed)
        self.wave_bits = wave.bit_length() - 1

    def often(self, probability):
        return self.random.random() < probability

    def split(self, bits, rank):
        """2**bits as a product of `rank` powers of two."""
        extents = [1] * rank
        for _ in range(bits):
            extents[self.random.randrange(rank)] *= 2
        return extents

    def permutation(self, rank):
        result = list(range(rank))
        self.random.shuffle(result)
        return result

    def layout(self, rank, warps):
        return ("#tile.blocked<size_per_thread = %s, threads_per_warp = %s, "
                "warps_per_cta = %s, order = %s>" % (
                    self.split(self.random.randrange(5), rank),
                    self.split(self.wave_bits, rank),
                    self.split(warps.bit_length() - 1, rank),
                    self.permutation(rank)))


class Buffer:
    """A memref argument and its memory."""

    def __init__(self, chance, tile, element, filled):
        choose = chance.random.choice
        rank = len(tile)
        self.element = element
        self.sizes = [
            choose([0, 1, t - 1, t, t + 1, 2 * t, 2 * t + 3])
            if chance.often(0.5) else choose([t, 2 * t, 3 * t]) for t in tile]
        dense = chance.often(0.4)
        inner = 1 if dense else choose([1, 1, 1, 2, 3])
        self.strides = [0] * rank
        extent = inner
        for dim in reversed(range(rank)):
            self.strides[dim] = extent
            extent *= self.sizes[dim] if dense else max(1, self.sizes[dim])
            if not dense and chance.often(0.5):
                extent = (extent + choose([0, 1, 8]) + 7) // 8 * 8
        self.offset = 0 if dense else choose([0, 0, 8, 1, 5])
        self.shift = choose([0, 0, 0, 1, 4])  # elements off a 64-byte line

        # Each size and stride is static or dynamic.
        shape = [size if chance.often(0.3) else None for size in self.sizes]
        layout = ""
        self.dynamic = [size for size, known in zip(self.sizes, shape)
                        if known is None]
        if not dense:
            known = [chance.often(0.4) for _ in range(rank)]
            if chance.often(0.7):
                known[-1] = True
            self.dynamic += [s for s, k in zip(self.strides, known) if not k]
            layout = ", strided<[%s], offset: %d>" % (
                ", ".join(str(s) if k else "?"
                          for s, k in zip(self.strides, known)), self.offset)
        self.type = "memref<%s%s%s>" % (
            "".join("%sx" % ("?" if n is None else n) for n in shape), element,
            layout)

        total = MARGIN + self.offset + max(extent, 1) + MARGIN
        self.data = np.full(total, UNTOUCHED, TYPES[element])
        if filled:
            self.data[:] = [chance.random.randrange(-8, 8)
                            for _ in range(total)]

    def position(self, coordinates):
        """Index into `data`, or nothing if out of bounds."""
        if any(c < 0 or c >= n for c, n in zip(coordinates, self.sizes)):
            return None
        return MARGIN + self.offset + sum(
            c * s for c, s in zip(coordinates, self.strides))

    def window_offsets(self, chance, tile):
        return [chance.random.choice([0, 0, 0, t // 2, -1, -t, n - t, n - 1,
                                      chance.random.randrange(-t, n + t), 8])
                for n, t in zip(self.sizes, tile)]

    def load(self, offsets, tile):
        result = np.zeros(tile, self.data.dtype)
        for index in np.ndindex(*tile):
            position = self.position([o + i for o, i in zip(offsets, index)])
            if position is not None:
                result[index] = self.data[position]
        return result

    def stored(self, offsets, tile):
        result = self.data.copy()
        for index in np.ndindex(*tile.shape):
            position = self.position([o + i for o, i in zip(offsets, index)])
            if position is not None:
                result[position] = tile[index]
        return result


def tile_type(shape, element, layout=""):
    return "tensor<%s%s%s>" % ("".join("%dx" % n for n in shape), element,
                               ", " + layout if layout else "")


#===-----------------------------------------------------------------------===#
# Operations between load and store: text, type and value of the result
#===-----------------------------------------------------------------------===#

def do_copy(k):
    return "", "%v", k.type, k.value


def do_add(k):
    op = "addf" if k.is_float else "addi"
    return ("%%r = arith.%s %%v, %%v : %s" % (op, k.type), "%r", k.type,
            (k.value + k.value).astype(k.value.dtype))


def do_convert(k):
    other = tile_type(k.shape, k.element, k.chance.layout(k.rank, k.warps))
    return ("%%r = tile.convert_layout %%v : %s -> %s" % (k.type, other), "%r",
            other, k.value)


def do_transpose(k):
    order = k.chance.permutation(k.rank)
    layout = k.chance.layout(k.rank, k.warps) if k.chance.often(0.5) else ""
    other = tile_type([k.shape[d] for d in order], k.element, layout)
    return ("%%r = tile.transpose %%v %s : %s -> %s" % (order, k.type, other),
            "%r", other, k.value.transpose(order))


def do_reduce(k):
    dim = k.chance.random.randrange(k.rank)
    kind = k.chance.random.choice(
        ["sum", "max", "min"] + ([] if k.is_float else ["xor", "and"]))
    with np.errstate(all="ignore"):
        value = {"sum": lambda v: v.sum(axis=dim, dtype=v.dtype),
                 "max": lambda v: v.max(axis=dim),
                 "min": lambda v: v.min(axis=dim),
                 "xor": lambda v: np.bitwise_xor.reduce(v, axis=dim),
                 "and": lambda v: np.bitwise_and.reduce(v, axis=dim),
                 }[kind](k.value)
    shape = k.shape[:dim] + k.shape[dim + 1:]
    if shape:
        other = tile_type(shape, k.element)
        return ("%%r = tile.reduce %s %%v dim %d : %s -> %s" % (
            kind, dim, k.type, other), "%r", other, value)
    # To a scalar, which is then splat to another tile.
    other = tile_type([64], k.element)
    return ("%%s = tile.reduce %s %%v dim 0 : %s -> %s\n"
            "    %%r = tensor.splat %%s : %s" % (
                kind, k.type, k.element, other), "%r", other,
            np.full([64], value, k.value.dtype))


def do_broadcast(k):
    dim = k.chance.random.randrange(k.rank)
    if k.rank == 1:
        return do_copy(k)
    layout = "#tile.slice<dim = %d, parent = %s>" % (dim, k.layout)
    slice_type = tile_type(k.shape[:dim] + k.shape[dim + 1:], k.element,
                           layout if k.layout else "")
    thin = tile_type(k.shape[:dim] + [1] + k.shape[dim + 1:], k.element,
                     k.layout)
    op = "subf" if k.is_float else "subi"
    text = ("%%m = tile.reduce max %%v dim %d : %s -> %s\n"
            "    %%e = tile.expand_dims %%m dim %d : %s -> %s\n"
            "    %%b2 = tile.broadcast %%e : %s -> %s\n"
            "    %%r = arith.%s %%v, %%b2 : %s" % (
                dim, k.type, slice_type, dim, slice_type, thin, thin, k.type,
                op, k.type))
    value = k.value - k.value.max(axis=dim, keepdims=True)
    return text, "%r", k.type, value.astype(k.value.dtype)


def do_loop(k):
    op, zero = ("addf", "0.0") if k.is_float else ("addi", "0")
    text = ("%%lo = arith.constant 0 : index\n"
            "    %%hi = arith.constant 3 : index\n"
            "    %%st = arith.constant 1 : index\n"
            "    %%z = arith.constant dense<%s> : %s\n"
            "    %%r = scf.for %%it = %%lo to %%hi step %%st "
            "iter_args(%%acc = %%z) -> (%s) {\n"
            "      %%n = arith.%s %%acc, %%v : %s\n"
            "      scf.yield %%n : %s\n"
            "    }" % (zero, k.type, k.type, op, k.type, k.type))
    return text, "%r", k.type, (k.value * 3).astype(k.value.dtype)


ACTIONS = {"copy": do_copy, "add": do_add, "convert": do_convert,
         "transpose": do_transpose, "reduce": do_reduce,
         "broadcast": do_broadcast, "loop": do_loop}


class Kernel:
    def __init__(self, number, chance, actions, bits):
        self.name = "k%d" % number
        self.chance = chance
        self.warps = chance.random.choice([1, 2, 4])
        self.element = chance.random.choice(sorted(TYPES))
        self.is_float = self.element.startswith("f")
        self.rank = chance.random.choice([1, 2, 2, 2, 3])
        self.shape = chance.split(chance.random.randrange(*bits), self.rank)
        self.layout = (chance.layout(self.rank, self.warps)
                       if chance.often(0.5) else "")
        self.type = tile_type(self.shape, self.element, self.layout)
        self.source = Buffer(chance, self.shape, self.element, filled=True)
        self.from_ = self.source.window_offsets(chance, self.shape)
        self.value = self.source.load(self.from_, self.shape)

        action = ACTIONS[actions[number % len(actions)]]
        self.text, self.result, self.result_type, value = action(self)
        self.target = Buffer(chance, value.shape, self.element, filled=False)
        self.to = self.target.window_offsets(chance, value.shape)
        self.expected = self.target.stored(self.to, value)
        self.rank_out = value.ndim

    def emit(self):
        def indices(letter, rank):
            return ", ".join("%%%s%d" % (letter, d) for d in range(rank))
        offsets = ", ".join("%%%s%d: index" % (letter, d) for letter in "io"
                            for d in range(3))
        return """  gpu.func @%s(%%a: %s, %%b: %s, %s)
      kernel attributes {iris.num_warps = %d : i32} {
    %%v = tile.load %%a[%s] : %s -> %s
    %s
    tile.store %s, %%b[%s] : %s, %s
    gpu.return
  }
""" % (self.name, self.source.type, self.target.type, offsets, self.warps,
            indices("i", self.rank), self.source.type, self.type, self.text,
            self.result, indices("o", self.rank_out), self.result_type,
            self.target.type)

    def run(self, code):
        memory = machine.Memory(1 << 22)

        def put(buffer):
            """Address of the buffer's memory, as far off a line as wanted."""
            shift = buffer.shift * buffer.data.itemsize
            image = np.zeros(buffer.data.nbytes + shift, np.uint8)
            image[shift:] = buffer.data.view(np.uint8)
            return memory.put(image) + shift

        def argument(address, buffer):
            # Of the first element: the type's offset is not added.
            first = MARGIN + buffer.offset
            return [address + first * buffer.data.itemsize, *buffer.dynamic]

        def three(values):
            return (list(values) + [0, 0, 0])[:3]

        source, target = put(self.source), put(self.target)
        code.run(self.name, memory, argument(source, self.source)
                 + argument(target, self.target)
                 + three(self.from_) + three(self.to))
        return memory.get(target, self.expected.dtype, self.expected.size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["generate", "check"])
    parser.add_argument("hsaco", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=14)
    parser.add_argument("--wave", type=int, default=64)
    parser.add_argument("--actions", default=",".join(ACTIONS),
                        help="the kernels' operations; default: %(default)s")
    parser.add_argument("--bits", default=[0, 10], nargs=2, type=int,
                        help="tiles have 2**b elements, b from the first number "
                             "up to below the second; default: 0 10")
    options = parser.parse_args()
    chance = Chance(options.seed, options.wave)
    actions = options.actions.split(",")
    kernels = [Kernel(n, chance, actions, options.bits)
               for n in range(options.count)]
    if options.action == "generate":
        print("gpu.module @kernels {")
        print("".join(kernel.emit() for kernel in kernels) + "}")
        return 0

    code = machine.CodeObject(options.hsaco)
    wrong = 0
    for kernel in kernels:
        got = kernel.run(code)
        places = np.nonzero(got != kernel.expected)[0]
        if places.size:
            wrong += 1
            print("%s differs at %s: got %s, expected %s\n%s" % (
                kernel.name, places[:4], got[places[:4]],
                kernel.expected[places[:4]], kernel.emit()))
    print("%d kernels, %d wrong" % (len(kernels), wrong))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
