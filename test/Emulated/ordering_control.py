# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conditions and loops of generated kernels; see `ordering_kernels`."""
import ordering_ops as ops
from ordering_ops import Nest
from ordering_statements import Tile


class ControlFlow:
    """Mixed into `Kernel`."""

    def condition(self):
        """A condition that is uniform over the threads of a program."""
        kind = self.rng.randrange(4)
        if kind == 0 and self.indices:
            name = self.rng.choice(self.indices)
            low = self.define("o", "arith.remui %s, %s : index" % (
                name, self.index(2)), lambda env: env[name] % 2)
            return self.define("q", "arith.cmpi eq, %s, %s : index" % (
                low, self.index(0)), lambda env: env[low] == 0)
        if kind == 1:
            name = self.rng.choice(["%pid", "%rank"])
            return self.define("q", "arith.cmpi eq, %s, %s : index" % (
                name, self.index(0)), lambda env: env[name] == 0)
        if not self.scalars:
            self.load_scalar()
        scalar = self.scalar()
        bit = self.integer(self.rng.choice([1, 2, 4]))
        low = self.define("s", "arith.andi %s, %s : i32" % (scalar, bit),
                          lambda env: env[scalar] & env[bit])
        return self.define("q", "arith.cmpi %s, %s, %s : i32" % (
            "eq", low, self.integer(0)), lambda env: env[low] == 0)

    def branch(self):
        condition = self.condition()
        carried = self.tile() if self.often(0.35) else None
        self.counts.append(None)
        then, inside = self.inner()
        other, inside2 = [], []
        if carried or self.often(0.5):
            other, inside2 = self.inner(1, 3)
        self.counts.pop()
        parts = ["scf.if %s {" % condition, then]
        names = None
        if carried:
            result = self.fresh("t")
            names = [self.last_like(carried, inside),
                     self.last_like(carried, inside2)]
            parts[0] = "%s = scf.if %s -> (%s) {" % (result, condition,
                                                     carried.type)
            for block, name in zip((then, other), names):
                block.append(ops.Line("scf.yield %s : %s" % (name, carried.type)))
            self.keep(Tile(result, carried.shape, carried.element,
                           carried.layout))
        if other:
            parts += ["} else {", other]
        parts.append("}")

        def run(env):
            which = 0 if env[condition] else 1
            yield from ops.execute((then, other)[which], env)
            if names:
                env[result] = env[names[which]]
        self.block.append(Nest(parts, run))

    @staticmethod
    def last_like(tile, tiles):
        alike = [t for t in tiles if t.type == tile.type]
        alike[-1].uses += 1
        return alike[-1].name

    def loop(self):
        """A trip count: a constant, or read from memory."""
        known = self.often(0.75)
        count = self.rng.choice([1, 2, 2, 3])
        if self.trips * count > 24:
            return self.load()
        if known:
            lower, step = self.rng.choice([(0, 1), (0, 1), (1, 2), (2, 1)])
            upper = self.index(lower + count * step)
        else:
            lower, step = 0, 1
            upper = self.index_in(4)
        saved, self.trips = self.trips, self.trips * (count if known else 3)
        carried = self.tile() if self.often(0.35) else None
        iv, self_tiles = self.fresh("i"), list(self.tiles)
        simple = known and (lower, step) == (0, 1)
        self.counts.append((iv, count) if simple else None)
        self.indices.append(iv)
        if carried:
            inner = Tile(self.fresh("a"), carried.shape, carried.element,
                         carried.layout)
            inner.uses = 1
            self.tiles.append(inner)
        block, inside = self.inner()
        self.indices.remove(iv)
        self.tiles = self_tiles
        self.counts.pop()
        self.trips = saved
        head = "scf.for %s = %s to %s step %s" % (iv, self.index(lower), upper,
                                                  self.index(step))
        if carried:
            result = self.fresh("t")
            yielded = self.last_like(carried, inside)
            block.append(ops.Line("scf.yield %s : %s" % (yielded, carried.type)))
            head = "%s = %s iter_args(%s = %s) -> (%s)" % (
                result, head, inner.name, carried.name, carried.type)
            self.keep(Tile(result, carried.shape, carried.element,
                           carried.layout))

        def run(env):
            if carried:
                env[inner.name] = env[carried.name]
            for value in range(lower, env[upper], step):
                env[iv] = value
                yield from ops.execute(block, env)
                if carried:
                    env[inner.name] = env[yielded]
            if carried:
                env[result] = env[inner.name]
        self.block.append(Nest([head + " {", block, "}"], run))

    def while_(self):
        """A loop of at most three iterations whose condition reads memory."""
        view = self.view(("i32",))
        first, now, again, inside = (self.fresh("i") for _ in range(4))
        if self.trips * 3 > 24:
            return self.load()
        saved, block = self.block, []
        self.block = before = []
        where = self.coordinates_in(view)
        self.load_scalar_at(view, where)
        seen = self.last_read
        low = self.define("s", "arith.andi %s, %s : i32" % (seen, self.integer(3)),
                          lambda env: env[seen] & 3)
        more = self.define("q", "arith.cmpi ne, %s, %s : i32" % (
            low, self.integer(0)), lambda env: env[low] != 0)
        few = self.define("q", "arith.cmpi slt, %s, %s : index" % (
            now, self.index(3)), lambda env: env[now] < 3)
        both = self.define("q", "arith.andi %s, %s : i1" % (more, few),
                           lambda env: env[more] and env[few])
        before.append(ops.Line("scf.condition(%s) %s : index" % (both, now)))
        self.block = saved
        trips, self.trips = self.trips, self.trips * 3
        self.indices.append(inside)
        self.counts.append(None)
        block, _ = self.inner()
        self.counts.pop()
        self.indices.remove(inside)
        self.trips = trips
        one = self.index(1)
        block.append(ops.Line("%s = arith.addi %s, %s : index" % (again, inside,
                                                                  one)))
        block.append(ops.Line("scf.yield %s : index" % again))

        def run(env):
            env[now] = 0
            while True:
                yield from ops.execute(before, env)
                if not env[both]:
                    break
                env[inside] = env[now]
                yield from ops.execute(block, env)
                env[now] += 1
        zero = self.index(0)
        self.block.append(Nest([
            "%s = scf.while (%s = %s) : (index) -> index {" % (first, now, zero),
            before, "} do {\n^bb0(%s: index):" % inside, block, "}"], run))
