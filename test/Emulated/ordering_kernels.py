# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels whose result is the same in whatever order their threads run.

A kernel's programs work on slices of buffers that are theirs alone, as often as
not on the same elements: the order of one program's accesses is what the
compiler has to keep. What ranks exchange goes through mailboxes, flags, sums and
barriers, by the rules of the memory model (docs/memory-model.md). So the values
are those that one thread per program computes, which `Kernel.expected` does.
"""
import random

import numpy as np

import ordering_ops as ops
from ordering_control import ControlFlow
from ordering_matmuls import Matmuls
from ordering_operands import Operands, Param, SINK, SPACE
from ordering_ops import Line, Ref, TYPES
from ordering_ranks import Exchanges, FLAG_STRIDE, SITES
from ordering_statements import Statements

class View:
    """A memref in the kernel."""

    def __init__(self, name, shape, element, type_, param):
        self.name, self.shape, self.element = name, tuple(shape), element
        self.type, self.param = type_, param


class Kernel(Operands, Statements, ControlFlow, Matmuls, Exchanges):
    """The kernel number `number` of a seed, for waves of `wave` threads and a
    world of `ranks`; the same but for pinned layouts whatever the wave."""

    def __init__(self, seed, number, wave=64, ranks=1, options=()):
        self.name = "k%d" % number
        self.rng = random.Random("%d-%d-%d" % (seed, number, ranks))
        self.layouts = random.Random("%d-%d" % (seed, number))
        self.wave, self.ranks, self.options = wave, ranks, set(options)
        rng = self.rng
        self.salt = rng.randrange(2**31)
        self.warps = rng.choice([1, 2, 2, 4, 4, 4, 8])
        if "warpgroups" in self.options:
            self.warps = max(self.warps, 4)
        self.programs = rng.choice([1, 1, 1, 2])
        self.names, self.constants, self.sites, self.sunk = 0, {}, 0, 0
        self.budget = rng.randrange(8, 20)
        self.shape1 = (2 ** rng.randrange(6, 11),)
        self.shape2 = (2 ** rng.randrange(2, 6), 2 ** rng.randrange(3, 6))
        self.block = self.body = []
        self.tiles, self.scalars, self.indices = [], [], []
        self.make_params()
        self.depth, self.counts, self.trips = 0, [], 1
        self.top()

    # Names, constants ----------------------------------------------------------

    def often(self, probability):
        return self.rng.random() < probability

    def fresh(self, letter):
        self.names += 1
        return "%%%s%d" % (letter, self.names)

    def add(self, text, run=None):
        self.block.append(Line(text, run))

    def index(self, value):
        name = "%%c%d" % value if value >= 0 else "%%cm%d" % -value
        self.constants[name] = (value, "%d : index" % value)
        return name

    def integer(self, value, element="i32"):
        name = "%%%s_%s%d" % (element, "m" if value < 0 else "", abs(value))
        self.constants[name] = (value, "%d : %s" % (value, element))
        return name

    def define(self, letter, text, run):
        name = self.fresh(letter)

        def act(env):
            env[name] = run(env)
        self.add("%s = %s" % (name, text), act)
        return name

    # Buffers -------------------------------------------------------------------

    def make_params(self):
        rng = self.rng
        self.params, self.views = [], []
        count = rng.choice([1, 2, 2, 3])
        for number in range(count):
            element = rng.choice(["i32"] * 6 + ["i16", "i8", "i64", "f32"])
            if number == 0:
                element = "i32"
            if self.often(0.65):
                shape = (self.shape1[0] * rng.choice([1, 1, 2])
                         + rng.choice([0, 0, 0, 3, 17]),)
            else:
                shape = (self.shape2[0] * rng.choice([1, 2]),
                         self.shape2[1] * rng.choice([1, 2])
                         + rng.choice([0, 0, 3]))
            whole = (shape[0] * self.programs,) + shape[1:]
            self.params.append(Param("%%b%d" % number, whole, element,
                                     self.often(0.4)))
        if "matmul" in self.options:
            self.make_operands()
        if "overlap" in self.options:
            same = rng.choice(self.params)
            shift = 0
            shape = same.shape
            if self.often(0.5):
                shift = rng.choice([1, 8, 32, 64])
                shape = (same.shape[0] - shift,) + shape[1:]
            if shape[0] > 0:
                alias = Param("%ba", shape, same.element, shape == same.shape
                              and same.is_static, same, shift)
                # Slices of programs would be those of others.
                if not (shift and self.programs > 1):
                    self.params.append(alias)
        words = FLAG_STRIDE * SITES * self.programs
        self.outs = []
        self.flags = Param("%flags", (words,), "i32", False)
        self.mail = Param("%mail", (2 * SITES * self.shape1[0] * self.programs,),
                          "i32", False)
        self.state = Param("%state", (32 * self.programs * self.ranks,), "i32",
                           False)
        self.internal = [self.flags, self.mail, self.state]

    def slice_of(self, param):
        """The part of a buffer that is this program's."""
        rows = param.shape[0] // self.programs
        shape = (rows,) + param.shape[1:]
        if self.programs == 1 and self.often(0.5):
            return View(param.name, shape, param.element, param.type, param)
        base = self.define("base", "arith.muli %%pid, %s : index"
                           % self.index(rows), lambda env: env["%pid"] * rows)
        return self.subview(View(param.name, param.shape, param.element,
                                 param.type, param),
                            [base] + ["0"] * (len(shape) - 1), shape,
                            [1] * len(shape))

    def subview(self, view, offsets, shape, steps):
        """offsets: constants as numbers in text, or names."""
        def at(env):
            return [env[o] if o.startswith("%") else int(o) for o in offsets]

        def run(env):
            # A view may not leave its source: offsets are chosen so.
            return env[view.name].view(tuple(
                slice(o, o + (n - 1) * s + 1, s)
                for o, n, s in zip(at(env), shape, steps)))
        strides, start = self.strides_of(view)
        known = [s * step if s is not None else None
                 for s, step in zip(strides, steps)]
        for offset, stride in zip(offsets, strides):
            if offset != "0":
                start = (None if start is None or offset.startswith("%")
                         or stride is None else start + int(offset) * stride)
        type_ = "memref<%s%s, strided<[%s], offset: %s>, %s>" % (
            "".join("%dx" % n for n in shape), view.element,
            ", ".join("?" if s is None else str(s) for s in known),
            "?" if start is None else start, SPACE)
        if start == 0:
            type_ = type_.replace(", offset: 0", "")
        name = self.define("w", "memref.subview %s[%s] [%s] [%s] : %s to %s" % (
            view.name, ", ".join(offsets), ", ".join(map(str, shape)),
            ", ".join(map(str, steps)), view.type, type_), run)
        result = View(name, shape, view.element, type_, view.param)
        result.strides, result.start = known, start
        return result

    @staticmethod
    def strides_of(view):
        if hasattr(view, "strides"):
            return view.strides, view.start
        strides, extent = [], 1
        for position, size in enumerate(reversed(view.shape)):
            strides.insert(0, extent)
            is_known = view.param.is_static and extent is not None
            extent = extent * size if is_known else None
        return strides, 0

    # The kernel ----------------------------------------------------------------

    def top(self):
        self.views = [self.slice_of(p) for p in self.params]
        for name, size in (("%sink", SINK), ("%flag0", FLAG_STRIDE * SITES),
                           ("%mail0", 2 * SITES * self.shape1[0])):
            def run(env, name=name, size=size):
                env[name] = env["%pid"] * size
            self.add("%s = arith.muli %%pid, %s : index" % (
                name, self.index(size)), run)
        self.next = self.define(
            "next", "arith.remui %after, %num : index",
            lambda env: (env["%rank"] + 1) % env["%num"])
        while self.budget > 0:
            self.statement()
        self.sink_all(self.tiles, self.scalars)
        self.internal += self.outs
        self.params += self.internal

    def emit(self):
        head = ["gpu.func @%s(%%ctx: !iris.ctx, %s)" % (
            self.name, ", ".join("%s: %s" % (p.name, p.type)
                                 for p in self.params)),
                "    kernel attributes {iris.num_warps = %d : i32} {"
                % self.warps,
                "  %pid = gpu.block_id x",
                "  %rank = iris.rank %ctx : index",
                "  %num = iris.num_ranks %ctx : index"]
        self.index(1)
        lines = []
        for statement in self.body:
            lines += statement.emit("  ")
        head += ["  %s = arith.constant %s" % (name, text)
                 for name, (_, text) in sorted(self.constants.items())]
        head.append("  %after = arith.addi %rank, %c1 : index")
        return "\n".join(head + lines + ["  gpu.return", "}"]) + "\n"

    def start(self, param, rank):
        """What a buffer holds at first."""
        count = int(np.prod(param.shape))
        if param in self.internal:
            return np.zeros(param.shape, TYPES[param.element])
        return ops.initial(param.element, self.salt_of(param, rank),
                           count).reshape(param.shape)

    def salt_of(self, param, rank):
        return self.salt + 977 * self.params.index(param) + 31 * rank

    def expected(self):
        """What every buffer of every rank holds in the end: name -> arrays."""
        memory = {}
        for param in self.params:
            if param.same:
                memory[param.name] = [
                    array[param.shift:] for array in memory[param.same.name]]
            else:
                memory[param.name] = [self.start(param, rank)
                                      for rank in range(self.ranks)]
        counts = np.zeros((self.programs, self.ranks), int)
        programs = []
        for rank in range(self.ranks):
            for pid in range(self.programs):
                env = {name: value for name, (value, _)
                       in self.constants.items()}
                env.update({name: Ref(arrays)
                            for name, arrays in memory.items()})
                env.update({"%rank": rank, "%num": self.ranks, "%pid": pid,
                            "counts": counts[pid]})
                programs.append(ops.execute(self.body, env))
        ops.run_together(programs)
        return {name: arrays for name, arrays in memory.items()
                if name != self.state.name}

    # Statements ----------------------------------------------------------------

    def statement(self):
        self.budget -= 1
        kinds = [(6, self.load), (7, self.store), (3, self.mix),
                 (2, self.gather), (2, self.scatter), (2.5, self.load_scalar),
                 (2, self.store_scalar), (2.5, self.atomic_scalar),
                 (1.5, self.atomic_tile), (1, self.compare_and_swap),
                 (1.2, self.signal), (0.8, self.signal_and_wait),
                 (0.2, self.fence), (1, self.reduce), (1, self.convert),
                 (0.8, self.transfer), (0.8, self.own_by_rank),
                 (0.8, self.narrow)]
        if "matmul" in self.options:
            kinds += [(6, self.multiply), (4, self.multiply_again)]
        if self.depth < 3:
            kinds += [(2.5, self.loop), (1.8, self.branch), (0.4, self.while_)]
        if self.is_uniform() and self.sites < 6 and self.trips <= 6:
            kinds += [(0.6, self.exchange), (0.3, self.pull), (0.3, self.sum),
                      (0.3, self.barrier)]
        weights = [weight for weight, _ in kinds]
        self.rng.choices([kind for _, kind in kinds], weights)[0]()

    def is_uniform(self):
        """True where all ranks and programs come equally often."""
        return None not in self.counts

    def inner(self, few=1, many=5):
        """A block of its own, whose values nobody sees outside."""
        saved = (self.block, list(self.tiles), list(self.scalars),
                 list(self.indices), list(self.views))
        self.block = block = []
        self.depth += 1
        for _ in range(self.rng.randrange(few, many)):
            if self.budget > 0 or not block:
                self.statement()
        new_tiles = [t for t in self.tiles if t not in saved[1]]
        new_scalars = [s for s in self.scalars if s not in saved[2]]
        self.sink_all(new_tiles, new_scalars)
        inside = self.tiles
        self.depth -= 1
        self.block, self.tiles, self.scalars, self.indices, self.views = saved
        return block, inside
