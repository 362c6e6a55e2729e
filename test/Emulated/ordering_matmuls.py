# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of generated kernels, whose operands the kernel itself rewrites; see
`ordering_kernels`.

A matmul reads both operands through shared memory, k-block by k-block, and writes
nothing: what has to be ordered are stores to the operands before and after it, and
its copies against those of the next one. So half of the matmuls get an operand that
has just been stored to, half store their result to one, and some are in loops that
do both. f16 operands hold small integers, so that every sum is exact in f32.
"""
import numpy as np

import ordering_ops as ops
from ordering_operands import Param
from ordering_ops import Nest, TYPES
from ordering_statements import Tile

# Rows and columns of results: at least 16 times 16 for each wave.
RESULTS = {1: [(16, 16), (32, 16), (16, 32)], 2: [(16, 32), (32, 16), (32, 32)],
           4: [(32, 32), (16, 64), (64, 16)], 8: [(32, 64), (64, 32)]}
RESULT_ELEMENT = {"f16": "f32", "i8": "i32"}
BLOCKS = {"f16": (16, 32), "i8": (32, 64)}
MATMULS = 5  # in the text of a kernel


class Matmuls:
    """Mixed into `Kernel`."""

    def make_operands(self):
        """Buffers to multiply: more than one, less than two tiles."""
        rng, self.matmuls = self.rng, 0
        for _ in range(rng.choice([2, 2, 3])):
            shape = (rng.choice([32, 48, 64]) + rng.choice([0, 0, 3]),
                     rng.choice([32, 48, 64]) + rng.choice([0, 0, 3, 8]))
            whole = (shape[0] * self.programs, shape[1])
            self.params.append(Param(
                "%%b%d" % len(self.params), whole,
                rng.choice(["f16", "f16", "f16", "i8"]), self.often(0.4)))

    def operands(self):
        """Two views of the same elements, perhaps the same one."""
        chosen = [v for v in self.views
                  if v.element in BLOCKS and len(v.shape) == 2]
        a = self.rng.choice(chosen)
        return a, self.rng.choice([v for v in chosen if v.element == a.element])

    def corner(self, view):
        """Where a window of an operand begins: mostly at its start."""
        return [self.offset(size, 16) if self.often(0.3) else self.index(0)
                for size in view.shape]

    def multiply(self):
        if self.matmuls == MATMULS:
            return self.load()
        a, b = self.operands()
        if self.often(0.5):
            self.rewrite(self.rng.choice([a, b]))
        result = self.matmul(a, b)
        if self.often(0.5):
            self.give_back(result, self.rng.choice([a, b]))
        return result

    def multiply_again(self):
        """A loop in which each matmul's operand is what the last one gave."""
        count = self.rng.choice([2, 3])
        if self.trips * count > 12 or self.matmuls == MATMULS:
            return self.multiply()
        iv, saved = self.fresh("i"), (self.block, list(self.tiles),
                                      list(self.scalars), list(self.views))
        self.block = block = []
        self.trips, self.depth = self.trips * count, self.depth + 1
        self.counts.append((iv, count))
        self.indices.append(iv)
        a, b = self.operands()
        first = self.matmul(a, b)
        self.give_back(first, self.rng.choice([a, b]))
        if self.often(0.4):
            self.statement()
        if self.often(0.5):
            self.matmul(a, b)
        new = [t for t in self.tiles if t not in saved[1]]
        self.sink_all(new, [s for s in self.scalars if s not in saved[2]])
        self.indices.remove(iv)
        self.counts.pop()
        self.trips, self.depth = self.trips // count, self.depth - 1
        self.block, self.tiles, self.scalars, self.views = saved

        def run(env):
            for value in range(count):
                env[iv] = value
                yield from ops.execute(block, env)
        self.block.append(Nest(["scf.for %s = %s to %s step %s {" % (
            iv, self.index(0), self.index(count), self.index(1)), block, "}"],
            run))

    def rewrite(self, view):
        """Stores small numbers to an operand."""
        tile = self.make_tile(view.element, (16, 16))
        self.put(tile, view)

    def give_back(self, result, view):
        """Stores the low bits of a result to an operand."""
        self.put(self.as_operand(result, view.element), view)

    def put(self, tile, view):
        tile.uses += 1
        offsets = self.corner(view)
        self.add("tile.store %s, %s[%s] : %s, %s" % (
            tile.name, view.name, ", ".join(offsets), tile.type, view.type),
            lambda env: ops.store(self.own(env, view.name), self.at(offsets)(env),
                                  env[tile.name]))

    def as_operand(self, tile, element):
        """f32 or i32 to f16 or i8."""
        if tile.element == "f32":
            tile.uses += 1
            name = self.define(
                "t", "arith.fptosi %s : %s to %s" % (
                    tile.name, tile.type, tile.type.replace("f32", "i32")),
                lambda env, source=tile.name: env[source].astype(np.int32))
            tile = Tile(name, tile.shape, "i32", tile.layout)
        return self.narrowed(tile, element)

    def matmul(self, a, b):
        rng = self.rng
        self.matmuls += 1
        shape = rng.choice(RESULTS[self.warps])
        element, block = RESULT_ELEMENT[a.element], rng.choice(BLOCKS[a.element])
        at, to = self.corner(a), self.corner(b)
        count = rng.choice([16, 32, 32, 48, 40])
        limit = self.index_in(count + 1) if self.often(0.15) else self.index(count)
        tile = Tile(None, shape, element, "")
        start = self.tile(element, 2, shape) if self.often(0.3) else None
        start = start if start and start.type == tile.type else None
        parts = ["%s = tile.matmul %s[%s], %s[%s] k(%s) block(%d)%s" % (
            self.fresh("t"), a.name, ", ".join(at), b.name, ", ".join(to), limit,
            block, " init(%s)" % start.name if start else "")]
        tile.name = parts[0].split(" ", 1)[0]
        end = ": %s, %s -> %s" % (a.type, b.type, tile.type)
        other, read_a = a, None
        if self.often(0.25):
            other, read_a, region = self.blocks_of(a, block)
            parts[0] += " {\n^bb0(%s: index):" % region[0]
            parts += [region[1], "} " + end]
        else:
            parts[0] += " " + end

        def run(env):
            dtype, k = TYPES[element], env[limit]
            left, right = self.own(env, a.name), self.own(env, b.name)
            if read_a:
                rows = yield from read_a(env, self.own(env, other.name), shape[0], k)
            else:
                rows = ops.load(left, self.at(at)(env), (shape[0], k))
            columns = ops.load(right, self.at(to)(env), (k, shape[1]))
            with np.errstate(over="ignore"):
                value = rows.astype(dtype) @ columns.astype(dtype)
                env[tile.name] = value + env[start.name] if start else value
        self.block.append(Nest(parts, run))
        return self.keep(tile)

    def blocks_of(self, a, block):
        """A region that names the buffer and the place of each k-block of a."""
        others = [v for v in self.views
                  if v.element == a.element and len(v.shape) == 2
                  and ("strided" in v.type) == ("strided" in a.type)
                  and self.strides_of(v)[0] == self.strides_of(a)[0]]
        other, number = self.rng.choice(others), self.fresh("i")
        saved, self.block = self.block, []
        size, zero = self.index(block), self.index(0)
        first = self.define("o", "arith.muli %s, %s : index" % (number, size),
                            lambda env: env[number] * block)
        inside, self.block = self.block, saved
        inside.append(ops.Line("tile.yield %s[%s, %s] : %s" % (
            other.name, zero, first, other.type)))

        def read(env, array, rows, k):
            result = np.zeros((rows, k), array.dtype)
            for iteration in range(-(-k // block)):
                env[number] = iteration
                yield from ops.execute(inside, env)
                last = min(k, (iteration + 1) * block)
                result[:, iteration * block:last] = ops.load(
                    array, [0, env[first]], (rows, last - iteration * block))
            return result
        return other, read, (number, inside)
