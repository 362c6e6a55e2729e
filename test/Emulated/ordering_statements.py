# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The statements of generated kernels within one program; see
`ordering_kernels`.
"""
import numpy as np

import ordering_ops as ops
from ordering_ops import TYPES, wrap32

ATOMICS = ["add", "add", "add", "sub", "xchg", "and", "or", "xor", "min", "max",
           "umin", "umax"]
SEMS = ["relaxed", "relaxed", "acquire", "release", "acq_rel"]
INTEGERS = ("i8", "i16", "i32", "i64")


def tile_type(shape, element, layout=""):
    return "tensor<%s%s%s>" % ("".join("%dx" % n for n in shape), element,
                               ", " + layout if layout else "")


class Tile:
    def __init__(self, name, shape, element, layout):
        self.name, self.shape, self.element = name, tuple(shape), element
        self.layout, self.uses = layout, 0
        self.type = tile_type(shape, element, layout)


class Statements:
    """Mixed into `Kernel`, which has names, operands and blocks."""

    def at(self, offsets):
        return lambda env: [env[o] for o in offsets]

    def window_of(self, view):
        shape = self.shape_for(view)
        return shape, [self.offset(size, extent)
                       for size, extent in zip(view.shape, shape)]

    # Windows ------------------------------------------------------------------

    def load(self, view=None):
        view = view or self.view()
        shape, offsets = self.window_of(view)
        tile = Tile(None, shape, view.element, self.layout(shape))
        at = self.at(offsets)
        tile.name = self.define(
            "t", "tile.load %s[%s] : %s -> %s" % (
                view.name, ", ".join(offsets), view.type, tile.type),
            lambda env: ops.load(self.own(env, view.name), at(env), shape))
        return self.keep(tile)

    def store(self):
        view = self.view()
        tile = self.tile_for(view)
        offsets = [self.offset(size, extent)
                   for size, extent in zip(view.shape, tile.shape)]
        at = self.at(offsets)
        self.add("tile.store %s, %s[%s] : %s, %s" % (
            tile.name, view.name, ", ".join(offsets), tile.type, view.type),
            lambda env: ops.store(self.own(env, view.name), at(env),
                                  env[tile.name]))

    def own_by_rank(self):
        """Local memory, named by a rank: the compiler cannot know."""
        view = self.view()
        if self.often(0.5):
            shape, offsets = self.window_of(view)
            tile = Tile(None, shape, view.element, self.layout(shape))
            at = self.at(offsets)
            tile.name = self.define(
                "t", "iris.load %%ctx, %s[%s] from %%rank : %s -> %s" % (
                    view.name, ", ".join(offsets), view.type, tile.type),
                lambda env: ops.load(self.own(env, view.name), at(env), shape))
            self.keep(tile)
            return
        tile = self.tile_for(view)
        offsets = [self.offset(size, extent)
                   for size, extent in zip(view.shape, tile.shape)]
        at = self.at(offsets)
        self.add("iris.store %%ctx, %s, %s[%s] to %%rank : %s, %s" % (
            tile.name, view.name, ", ".join(offsets), tile.type, view.type),
            lambda env: ops.store(self.own(env, view.name), at(env),
                                  env[tile.name]))

    def transfer(self):
        """get, put or copy, from and to local memory."""
        source = self.view()
        chosen = [v for v in self.views if v.element == source.element
                  and len(v.shape) == len(source.shape)]
        target = self.rng.choice(chosen)
        shape, here = self.window_of(source)
        there = [self.offset(size, extent)
                 for size, extent in zip(target.shape, shape)]
        kind = self.rng.choice(["get", "put", "copy"])
        clause = {"get": "from %rank", "put": "to %rank",
                  "copy": "from %rank to %rank"}[kind]
        at, to = self.at(here), self.at(there)

        def run(env):
            tile = ops.load(self.own(env, source.name), at(env), shape)
            ops.store(self.own(env, target.name), to(env), tile)
        self.add("iris.%s %%ctx, %s[%s], %s[%s] %s shape [%s] : %s, %s" % (
            kind, source.name, ", ".join(here), target.name, ", ".join(there),
            clause, ", ".join(map(str, shape)), source.type, target.type), run)

    def narrow(self):
        """A view of a view."""
        view = self.view()
        offsets, shape, steps = [], [], []
        for size in view.shape:
            step = self.rng.choice([1, 1, 1, 2]) if size >= 16 else 1
            extent = max(1, (size // step) // self.rng.choice([1, 2, 2, 4]))
            last = size - ((extent - 1) * step + 1)
            if self.indices and last > 0 and self.often(0.4):
                offsets.append(self.index_in(last + 1))
            else:
                offsets.append(str(self.rng.choice([0, last // 2, last])))
            shape.append(extent)
            steps.append(step)
        self.views.append(self.subview(view, offsets, shape, steps))

    # Elements -----------------------------------------------------------------

    def permutation(self, size):
        """Distinct indices of a tile of `size`, permuted."""
        shape = (size,)
        type_ = tile_type(shape, "index")
        odd, first = self.rng.choice([1, 3, 5, size // 2 + 1 | 1]), self.rng.choice(
            [0, 0, size // 2, self.rng.randrange(size)])
        base = (self.rng.choice(self.indices)
                if self.indices and self.often(0.3) else self.index(first))
        lane = self.define("x", "tile.range : %s" % type_,
                           lambda env: np.arange(size))
        by = self.define("x", "tensor.splat %s : %s" % (self.index(odd), type_),
                         lambda env: np.full(shape, odd))
        plus = self.define("x", "tensor.splat %s : %s" % (base, type_),
                           lambda env: np.full(shape, env[base]))
        limit = self.define("x", "tensor.splat %s : %s" % (self.index(size - 1),
                                                           type_),
                            lambda env: np.full(shape, size - 1))
        for op, other, function in (("muli", by, np.multiply),
                                    ("addi", plus, np.add),
                                    ("andi", limit, np.bitwise_and)):
            def run(env, lane=lane, other=other, function=function):
                return function(env[lane], env[other])
            lane = self.define("x", "arith.%s %s, %s : %s" % (op, lane, other,
                                                              type_), run)
        return lane, type_

    def gather(self):
        view = self.view(rank=1)
        if not view:
            return self.load()
        shape = self.shape_for(view)
        indices, type_ = self.permutation(shape[0])
        tile = Tile(None, shape, view.element, "")

        def run(env):
            array, where = self.own(env, view.name), env[indices]
            inside = where < array.shape[0]
            return np.where(inside, array[np.where(inside, where, 0)],
                            0).astype(array.dtype)
        tile.name = self.define("t", "tile.gather %s[%s] : %s, %s -> %s" % (
            view.name, indices, view.type, type_, tile.type), run)
        return self.keep(tile)

    def scatter(self):
        view = self.view(rank=1)
        if not view:
            return self.store()
        tile = self.tile(view.element, 1)
        if not tile or tile.layout:
            return self.store()
        indices, type_ = self.permutation(tile.shape[0])
        mask, text = None, ""
        if self.often(0.3):
            mask, mask_type = self.mask(tile)
            text = " mask " + mask

        def run(env):
            array, where = self.own(env, view.name), env[indices]
            chosen = where < array.shape[0]
            if mask:
                chosen &= env[mask]
            array[where[chosen]] = env[tile.name][chosen]
        self.add("tile.scatter %s, %s[%s]%s : %s, %s, %s" % (
            tile.name, view.name, indices, text, tile.type, view.type, type_), run)

    def mask(self, tile):
        """Every other element, or the upper half."""
        type_ = tile_type(tile.shape, "i32", tile.layout)
        mask_type = tile_type(tile.shape, "i1", tile.layout)
        last = len(tile.shape) - 1
        lane = self.define("x", "tile.range dim %d : %s" % (last, type_),
                           lambda env: np.broadcast_to(
                               np.arange(tile.shape[last], dtype=np.int32),
                               tile.shape).copy())
        bit = self.rng.choice([1, max(1, tile.shape[last] // 2)])
        some = Tile(lane, tile.shape, "i32", tile.layout)
        low = self.arithmetic("andi", lane, self.dense(bit, some), type_)
        zero = self.dense(0, some)
        name = self.define("m", "arith.cmpi ne, %s, %s : %s" % (low, zero, type_),
                           lambda env: env[low] != 0)
        return name, mask_type

    def load_scalar(self):
        view = self.view()
        where = self.coordinates_in(view)
        at = self.at(where)
        is_float = view.element.startswith("f")
        name = self.define(
            "s", "memref.load %s[%s] : %s" % (view.name, ", ".join(where),
                                              view.type),
            lambda env: (int if not is_float else float)(
                self.own(env, view.name)[tuple(at(env))]))
        self.take_scalar(name, view.element)

    def store_scalar(self):
        view = self.view()
        where = self.coordinates_in(view)
        at, value = self.at(where), self.scalar_of(view.element)

        def run(env):
            self.own(env, view.name)[tuple(at(env))] = env[value]
        self.add("memref.store %s, %s[%s] : %s" % (value, view.name,
                                                   ", ".join(where), view.type),
                 run)

    # Atomics ------------------------------------------------------------------

    def ordering(self):
        scope = self.rng.choice(["", "", "scope(sys) ", "scope(gpu) "])
        return "sem(%s) %s" % (self.rng.choice(SEMS), scope)

    def atomic_scalar(self):
        view = self.view(INTEGERS)
        where, kind = self.coordinates_in(view), self.rng.choice(ATOMICS)
        at, value = self.at(where), self.scalar_of(view.element)
        dtype = TYPES[view.element]

        def run(env):
            shape = (1,) * len(view.shape)
            old = ops.atomic(kind, self.own(env, view.name), at(env),
                             np.full(shape, env[value], np.int64).astype(dtype))
            return int(old.reshape(-1)[0])
        name = self.define("s", "iris.atomic_rmw %s %%ctx, %s, %s[%s] %s: %s, %s" % (
            kind, value, view.name, ", ".join(where), self.ordering(),
            view.element, view.type), run)
        if self.often(0.6):
            self.take_scalar(name, view.element)

    def atomic_tile(self):
        view = self.view(INTEGERS)
        tile, kind = self.tile_for(view), self.rng.choice(ATOMICS)
        offsets = [self.offset(size, extent)
                   for size, extent in zip(view.shape, tile.shape)]
        at, text, mask = self.at(offsets), "", None
        if self.often(0.25):
            mask, _ = self.mask(tile)
            text = "mask %s " % mask
        old = Tile(None, tile.shape, tile.element, tile.layout)
        old.name = self.define(
            "t", "iris.atomic_rmw %s %%ctx, %s, %s[%s] %s%s: %s, %s" % (
                kind, tile.name, view.name, ", ".join(offsets), text,
                self.ordering(), tile.type, view.type),
            lambda env: ops.atomic(kind, self.own(env, view.name), at(env),
                                   env[tile.name], env[mask] if mask else None))
        if self.often(0.6):
            self.keep(old)

    def compare_and_swap(self):
        view = self.view(INTEGERS)
        where = self.coordinates_in(view)
        at, dtype = self.at(where), TYPES[view.element]
        compare, value = (self.scalar_of(view.element) for _ in range(2))
        if self.often(0.6):  # expects the current value
            self.load_scalar_at(view, where)
            compare = self.last_read

        def run(env):
            old = self.own(env, view.name)[tuple(at(env))]
            if old == np.int64(env[compare]).astype(dtype):
                self.own(env, view.name)[tuple(at(env))] = env[value]
            return int(old)
        name = self.define("s", "iris.atomic_cas %%ctx, %s, %s, %s[%s] %s: %s, %s" % (
            compare, value, view.name, ", ".join(where), self.ordering(),
            view.element, view.type), run)
        self.take_scalar(name, view.element)

    def load_scalar_at(self, view, where):
        at = self.at(where)
        self.last_read = self.define(
            "s", "memref.load %s[%s] : %s" % (view.name, ", ".join(where),
                                              view.type),
            lambda env: int(self.own(env, view.name)[tuple(at(env))]))

    # Own flags ----------------------------------------------------------------

    def flag_view(self):
        return self.view(("i32",)) if self.often(0.7) else None

    def signal(self, view=None, where=None, value=None, kind=None):
        view = view or self.view(("i32",))
        where = where or self.coordinates_in(view)
        value = value or self.scalar()
        kind = kind or self.rng.choice(["set", "add"])
        at = self.at(where)
        sem = self.rng.choice(["", "", "sem(release) ", "sem(relaxed) "])

        def run(env):
            array, place = self.own(env, view.name), tuple(at(env))
            array[place] = wrap32((env[value] if kind == "set"
                                   else int(array[place]) + env[value]))
        self.add("iris.signal %s %%ctx, %s, %s[%s] %s: i32, %s" % (
            kind, value, view.name, ", ".join(where), sem, view.type), run)
        if self.often(0.5):
            self.load_scalar_at(view, where)
            self.scalars.append(self.last_read)

    def signal_and_wait(self):
        """Signals and waits on its own flag; accesses between them change
        other memory."""
        view = self.view(("i32",))
        where, value = self.coordinates_in(view), self.scalar()
        self.signal(view, where, value, "set")
        for _ in range(self.rng.randrange(2)):
            self.rng.choice([self.load, self.mix, self.load_scalar])()
        at = self.at(where)
        sem = self.rng.choice(["", "sem(acquire) ", "sem(relaxed) ",
                               "sem(relaxed) "])
        name = self.define("s", "iris.wait %%ctx, %s[%s] %s %s %s: i32, %s" % (
            view.name, ", ".join(where), self.rng.choice(["eq", "ge", "le"]),
            value, sem, view.type),
            lambda env: int(self.own(env, view.name)[tuple(at(env))]))
        self.scalars.append(name)

    def fence(self):
        self.add("iris.fence %s scope(sys)" % self.rng.choice(
            ["release", "acquire", "acq_rel"]))

    # Values -------------------------------------------------------------------

    def mix(self):
        """Combines one or two tiles."""
        tile = self.tile()
        if not tile or tile.element.startswith("f"):
            return self.load()
        others = [t for t in self.tiles if t.type == tile.type]
        other = self.rng.choice(others)
        if other is tile:
            scalar = self.scalar_of(tile.element)
            dtype = TYPES[tile.element]
            name = self.define("t", "tensor.splat %s : %s" % (scalar, tile.type),
                               lambda env: np.full(tile.shape, env[scalar],
                                                   np.int64).astype(dtype))
        else:
            name = other.name
            other.uses += 1
        result = self.arithmetic(
            self.rng.choice(["addi", "addi", "subi", "xori", "muli"]),
            tile.name, name, tile.type)
        return self.keep(Tile(result, tile.shape, tile.element, tile.layout))

    def reduced(self, tile, kind, dim):
        shape = tile.shape[:dim] + tile.shape[dim + 1:]
        function = {"sum": lambda v: v.sum(axis=dim, dtype=v.dtype),
                    "xor": lambda v: np.bitwise_xor.reduce(v, axis=dim),
                    "max": lambda v: v.max(axis=dim),
                    "min": lambda v: v.min(axis=dim)}[kind]
        result = tile_type(shape, tile.element) if shape else tile.element

        def run(env):
            value = function(env[tile.name])
            return value if shape else value.item()
        name = self.define("r", "tile.reduce %s %s dim %d : %s -> %s" % (
            kind, tile.name, dim, tile.type, result), run)
        return Tile(name, shape, tile.element, "") if shape else name

    def reduce(self):
        tile = self.tile()
        if not tile or tile.element.startswith("f"):
            return self.load()
        kind = self.rng.choice(["sum", "xor", "max", "min"])
        result = self.reduced(tile, kind, self.rng.randrange(len(tile.shape)))
        if isinstance(result, str):
            self.take_scalar(result, tile.element)
        else:
            self.keep(result)

    def convert(self):
        """Converts to another layout, transposes, or changes the element
        type."""
        tile = self.tile()
        if not tile:
            return self.load()
        choice = self.rng.randrange(3)
        if choice == 0:
            layout = self.layout(tile.shape)
            other = Tile(None, tile.shape, tile.element, layout)
            if other.type == tile.type:
                return self.load()
            other.name = self.define(
                "t", "tile.convert_layout %s : %s -> %s" % (tile.name, tile.type,
                                                            other.type),
                lambda env: env[tile.name])
            return self.keep(other)
        if choice == 1 and len(tile.shape) == 2 and not tile.layout:
            other = Tile(None, tile.shape[::-1], tile.element, "")
            other.name = self.define(
                "t", "tile.transpose %s [1, 0] : %s -> %s" % (
                    tile.name, tile.type, other.type),
                lambda env: env[tile.name].T.copy())
            return self.keep(other)
        elements = {v.element for v in self.views} - {tile.element}
        if not elements or tile.element.startswith("f"):
            return self.mix()
        return self.narrowed(tile, self.rng.choice(sorted(elements)))
