# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers, tiles, scalars and indices of generated kernels; see `ordering_kernels`.
"""
import random

import numpy as np

import ordering_ops as ops
from ordering_ops import TYPES, wrap32
from ordering_statements import Tile, tile_type

SPACE = "#iris.symmetric"
SINK = 1024  # elements of a buffer that collects undefined values
SINKS = 10  # number of them: most such stores then have a sink of their own


class Param:
    """A buffer argument of the kernel; `same` is another one that it aliases,
    from element `shift` of it on."""

    def __init__(self, name, shape, element, is_static, same=None, shift=0):
        self.name, self.shape, self.element = name, tuple(shape), element
        self.is_static, self.same, self.shift = is_static, same, shift
        self.type = "memref<%s%s, %s>" % (
            "".join("%sx" % (n if is_static else "?") for n in shape), element,
            SPACE)

    def sizes(self):
        return () if self.is_static else self.shape


def split(rng, bits, rank):
    extents = [1] * rank
    for _ in range(bits):
        extents[rng.randrange(rank)] *= 2
    return extents


class Operands:
    """Mixed into `Kernel`."""

    def view(self, elements=None, rank=None):
        chosen = [v for v in self.views
                  if (elements is None or v.element in elements)
                  and (rank is None or len(v.shape) == rank)]
        return self.rng.choice(chosen) if chosen else None

    def layout(self, shape):
        """A pinned layout, or none. The same one for half of the tiles of a
        shape."""
        if not self.often(0.4):
            return ""
        which = self.rng.randrange(2)
        key = (tuple(shape), which)
        cache = self.__dict__.setdefault("pinned", {})
        if key not in cache:
            rng, rank = random.Random("%s-%s" % (self.layouts.random(), key)), len(shape)
            order = list(range(rank))
            rng.shuffle(order)
            cache[key] = ("#tile.blocked<size_per_thread = %s, "
                          "threads_per_warp = %s, warps_per_cta = %s, "
                          "order = %s>" % (
                              split(rng, rng.randrange(3), rank),
                              split(rng, self.wave.bit_length() - 1, rank),
                              split(rng, self.warps.bit_length() - 1, rank),
                              order))
        return cache[key]

    def shape_for(self, view):
        shape = self.shape1 if len(view.shape) == 1 else self.shape2
        if self.often(0.15):
            shape = tuple(max(1, n // 2) for n in shape)
        return shape

    def tile(self, element=None, rank=None, shape=None):
        """An existing value, if any; preferably an unused one."""
        chosen = [t for t in self.tiles
                  if (element is None or t.element == element)
                  and (rank is None or len(t.shape) == rank)
                  and (shape is None or t.shape == tuple(shape))]
        if not chosen:
            return None
        unused = [t for t in chosen if not t.uses]
        tile = self.rng.choice(unused or chosen[-4:])
        tile.uses += 1
        return tile

    def tile_for(self, view):
        tile = self.tile(view.element, len(view.shape))
        if tile is None or self.often(0.1):
            tile = self.make_tile(view.element, self.shape_for(view))
        tile.uses += 1
        return tile

    def make_tile(self, element, shape):
        """A tile computed from coordinates and, if there is one, a scalar."""
        layout = self.layout(shape)
        dim = self.rng.randrange(len(shape))
        # Floats represent small integers.
        first = "i64" if element == "i64" else "i32"
        type_ = tile_type(shape, first, layout)
        scalar = self.scalar()

        def coordinates(env):
            extents = [1] * len(shape)
            extents[dim] = shape[dim]
            return np.broadcast_to(np.arange(shape[dim], dtype=TYPES[first])
                                   .reshape(extents), shape).copy()
        name = self.define("t", "tile.range dim %d : %s" % (dim, type_),
                           coordinates)
        if first == "i32":
            splat = self.define("t", "tensor.splat %s : %s" % (scalar, type_),
                                lambda env: np.full(shape, env[scalar], np.int32))
            name = self.arithmetic("addi", name, splat, type_)
        return self.narrowed(Tile(name, shape, first, layout), element)

    def arithmetic(self, op, left, right, type_):
        """An operation on integer tiles."""
        function = {"addi": np.add, "subi": np.subtract, "muli": np.multiply,
                    "xori": np.bitwise_xor, "andi": np.bitwise_and}[op]

        def run(env):
            with np.errstate(over="ignore"):
                return function(env[left], env[right])
        return self.define("t", "arith.%s %s, %s : %s" % (op, left, right, type_),
                           run)

    def narrowed(self, tile, element):
        """Converts a tile of integers to another element type; to floats only
        the last 3 bits."""
        if tile.element == element:
            return self.keep(tile)
        source, target = tile.type, tile_type(tile.shape, element, tile.layout)
        name, dtype = tile.name, TYPES[element]
        bits = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
        if element.startswith("f"):
            seven = self.dense(7, tile)
            low = self.arithmetic("andi", name, seven, source)
            op, run = "sitofp", lambda env: env[low].astype(dtype)
            name = low
        elif tile.element.startswith("f"):
            op, run = "fptosi", lambda env, n=name: env[n].astype(dtype)
        else:
            op = "trunci" if bits[tile.element] > bits[element] else "extsi"
            run = lambda env, n=name: env[n].astype(dtype)
        name = self.define("t", "arith.%s %s : %s to %s" % (op, name, source,
                                                            target), run)
        return self.keep(Tile(name, tile.shape, element, tile.layout))

    def dense(self, value, tile):
        return self.define("d", "arith.constant dense<%d> : %s" % (value, tile.type),
                           lambda env: np.full(tile.shape, value,
                                               TYPES[tile.element]))

    def keep(self, tile):
        if tile not in self.tiles:
            self.tiles.append(tile)
        return tile

    def scalar(self):
        """An i32 value."""
        if self.scalars and self.often(0.7):
            return self.rng.choice(self.scalars[-4:])
        if self.indices and self.often(0.5):
            name = self.rng.choice(self.indices)
            return self.define("s", "arith.index_cast %s : index to i32" % name,
                               lambda env: wrap32(env[name]))
        return self.integer(self.rng.randrange(-5, 100))

    def scalar_of(self, element):
        scalar = self.scalar()
        if element == "i32":
            return scalar
        if element == "i64":
            return self.define("s", "arith.extsi %s : i32 to i64" % scalar,
                               lambda env: env[scalar])
        if element.startswith("f"):
            seven = self.integer(7)
            low = self.define("s", "arith.andi %s, %s : i32" % (scalar, seven),
                              lambda env: env[scalar] & 7)
            return self.define("s", "arith.sitofp %s : i32 to %s" % (low, element),
                               lambda env: env[low])
        return self.define("s", "arith.trunci %s : i32 to %s" % (scalar, element),
                           lambda env: int(np.int32(env[scalar])
                                           .astype(TYPES[element])))

    def take_scalar(self, name, element):
        """Makes a scalar that was read available as an operand."""
        if element == "i32":
            self.scalars.append(name)
        elif element.startswith("i"):
            op = "trunci" if element == "i64" else "extsi"
            self.scalars.append(self.define(
                "s", "arith.%s %s : %s to i32" % (op, name, element),
                lambda env: wrap32(env[name])))
        else:
            self.scalars.append(self.define(
                "s", "arith.fptosi %s : %s to i32" % (name, element),
                lambda env: wrap32(env[name])))

    def offset(self, size, extent):
        """The offset of a window: anywhere, also past the edge."""
        rng = self.rng
        if self.indices and self.often(0.4):
            name, step = rng.choice(self.indices), rng.choice(
                [1, extent, extent // 2, extent // 4 or 1, 8])
            scaled = self.define("o", "arith.muli %s, %s : index" % (
                name, self.index(step)), lambda env: env[name] * step)
            if self.often(0.6):
                return scaled
            more = self.index(rng.choice([0, 1, extent // 2, extent]))
            return self.define("o", "arith.addi %s, %s : index" % (scaled, more),
                               lambda env: env[scaled] + env[more])
        if self.scalars and self.often(0.2):
            return self.index_in(size)
        return self.index(rng.choice([0, 0, 0, 0, extent // 2, extent, 1,
                                      extent // 4, size - extent,
                                      rng.randrange(-extent, size)]))

    def index_in(self, size):
        """An in-bounds index, computed from a scalar."""
        scalar = self.scalar()
        low = self.define("s", "arith.andi %s, %s : i32" % (
            scalar, self.integer(2**20 - 1)), lambda env: env[scalar] & 2**20 - 1)
        wide = self.define("o", "arith.index_cast %s : i32 to index" % low,
                           lambda env: env[low])
        return self.define("o", "arith.remui %s, %s : index" % (
            wide, self.index(size)), lambda env: env[wide] % size)

    def coordinates_in(self, view):
        """In-bounds coordinates of one element."""
        result = []
        for size in view.shape:
            if self.often(0.3) and (self.scalars or self.indices):
                result.append(self.index_in(size))
            else:
                result.append(self.index(self.rng.choice(
                    [0, 0, size // 2, min(3, size - 1),
                     self.rng.randrange(size)])))
        return result

    def sink_all(self, tiles, scalars):
        """Stores the read value, so that a wrong read by any thread changes
        the result."""
        for tile in tiles:
            if not tile.uses and self.sunk < 40:
                self.sink(tile)
        for scalar in scalars:
            if self.sunk < 40:
                shape = (64 * self.warps,)
                splat = self.define(
                    "t", "tensor.splat %s : %s" % (scalar, tile_type(shape, "i32")),
                    lambda env, scalar=scalar: np.full(shape, env[scalar],
                                                       np.int32))
                self.sink(Tile(splat, shape, "i32", ""))

    def sink(self, tile):
        """Adds it to the output at the end, with a relaxed atomic."""
        tile.uses += 1
        self.sunk += 1
        wide = self.narrowed(tile, "i32")
        wide.uses += 1
        if len(wide.shape) != 1:
            kind = self.rng.choice(["sum", "xor"])
            for _ in wide.shape[1:]:
                wide = self.reduced(wide, kind, len(wide.shape) - 1)
        if len(self.outs) < SINKS:
            self.outs.append(Param("%%out%d" % len(self.outs),
                                   (SINK * self.programs,), "i32", False))
        out = self.outs[self.sunk % len(self.outs)] if len(
            self.outs) == SINKS else self.outs[-1]
        name = wide.name
        self.define("u", "iris.atomic_rmw add %%ctx, %s, %s[%%sink] sem(relaxed) "
                    "scope(gpu) : %s, %s" % (name, out.name, wide.type, out.type),
                    lambda env: ops.atomic(
                        "add", self.own(env, out.name), [env["%sink"]],
                        env[name]))

    @staticmethod
    def own(env, name):
        return env[name].arrays[env["%rank"]]
