# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws random kernels of arithmetic, with the results of every op.

A kernel loads its inputs, computes, and stores some of its values, and all that
no other op uses: compilers rewrite values that are used once. It is evaluated
while it is drawn, for all sets of inputs: an op that is undefined for one of
them is not drawn. Besides single ops there are patterns (patterns.py), which are
the shapes that compilers rewrite.
"""
import random

import exact_floats as floats
import operations as ops
from operations import FLOATS, INTEGERS, width
from patterns import Patterns
from program import COUNT, Block, Op, Program, Undefined, Value, walk

INPUTS = ["i8", "i16", "i32", "i64", "i32", "i64", "f16", "bf16", "f32", "f64"]
FORMS = [("scalar", ()), ("scalar", ()), ("vector", (2,)), ("vector", (4,)),
         ("vector", (8,)), ("tile", (64,)), ("tile", (64,)), ("tile", (64,)),
         ("tile", (256,)), ("tile", (256,)), ("tile", (8, 8)),
         ("tile", (16, 16)), ("tile", (2, 64))]
MOST_DEPTH = 2  # of loops and branches


def edges(t):
    """Integers at the edges of every narrower type."""
    bits, values = width(t), {0, 1, 2, 3, 5, 7, 10, 100}
    for k in (7, 8, 15, 16, 22, 23, 24, 31, 32, 33, 47, 53, 62, 63):
        if k <= bits:
            for d in (-2, -1, 0, 1, 2):
                values |= {(1 << k) + d, -(1 << k) + d}
    return sorted({v & (1 << bits) - 1 for v in values})


def special_floats(t):
    bits, exponent, fraction = floats.FORMATS[t]
    one = ((1 << exponent - 1) - 1) << fraction
    top = floats.infinity(t)
    values = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, one - 1, one,
              one + 1, one + (1 << fraction), top - 1, top, top - (1 << fraction),
              one + (1 << max(fraction - 8, 0)),
              floats.rounded(t, floats.Fraction(13, 4)), floats.quiet(t, top + 1)]
    return values + [v | 1 << bits - 1 for v in values]


def draw_input(choose, t):
    """Bits of COUNT values."""
    if t in INTEGERS:
        known = edges(t)
        return [choose.choice(known) if choose.random() < 0.75
                else choose.getrandbits(width(t)) for _ in range(COUNT)]
    known = special_floats(t)
    return [choose.choice(known) if choose.random() < 0.6
            else floats.quiet(t, choose.getrandbits(width(t)))
            for _ in range(COUNT)]


class Kernel(Program, Patterns):
    def __init__(self, seed, number):
        self.choose = random.Random(f"{seed}/{number}")
        form, shape = self.choose.choice(FORMS)
        super().__init__(f"k{number}", form, shape)
        self.here = self.body       # the block that ops are added to
        self.active = [True] * COUNT
        self.depth = 0
        self.work = shape           # the shape that is computed with
        self.values = []            # operands of later ops
        self.draw_inputs()
        steps = self.choose.randrange(4, 14)
        while steps:
            steps -= self.step()
        self.draw_outputs()

    def draw_inputs(self):
        known = [t for t in INPUTS if self.has(t)]
        kinds = self.choose.sample(known, 3)
        for t in [*kinds, self.choose.choice(kinds)]:
            self.add_input(t, self.shape)
        if self.shape:
            for t in self.choose.sample(known, 2):
                self.add_input(t, ())

    def add_input(self, t, shape):
        raw = draw_input(self.choose, t)
        raw = raw if shape == self.shape else self.uniform(raw)
        results = raw if t in INTEGERS else [floats.canonical(t, v) for v in raw]
        value = Value(t, shape, results, raw)
        self.inputs.append(value)
        self.values.append(value)

    def has(self, *types):
        """Whether values of the shape may have these types."""
        return not (self.form == "vector" and self.work and any(
            t == "bf16" or t in ops.FLOATS8 for t in types))

    # Emission ------------------------------------------------------------

    def emit(self, name, operands, targets, attribute=None, shape=None,
             may_be_poison=False, is_operand=True):
        """The values of an op; Undefined if it has none for a set of inputs."""
        shape = self.work if shape is None else shape
        if not self.has(*targets):
            raise Undefined
        op = Op(name, operands, [Value(t, shape) for t in targets], attribute)
        for value, results in zip(op.results, self.compute(op, self.active)):
            if not may_be_poison and any(
                    r is None and a for r, a in zip(results, self.active)):
                raise Undefined
            value.results = results
        self.here.ops.append(op)
        if is_operand:
            self.values += op.results
        return op.results

    def constant(self, t, bits):
        return self.emit("arith.constant", [], [t], bits, is_operand=False)[0]

    def apply(self, name, t, *operands):
        return self.emit(name, list(operands), [t])[0]

    def integer(self, name, a, b):
        return self.apply(f"arith.{name}", a.t, a, b)

    def cast(self, name, value, target):
        return self.emit(f"arith.{name}", [value], [target])[0]

    def extend(self, value, target, is_signed):
        if width(target) <= width(value.t) or "index" in (value.t, target):
            raise Undefined
        return self.cast("extsi" if is_signed else "extui", value, target)

    def truncate(self, value, target):
        if width(target) >= width(value.t) or "index" in (value.t, target):
            raise Undefined
        return self.cast("trunci", value, target)

    def compare(self, predicate, a, b):
        name = "cmpf" if a.t in FLOATS else "cmpi"
        return self.emit(f"arith.{name}", [a, b], ["i1"], predicate)[0]

    def select(self, condition, a, b):
        return self.emit("arith.select", [condition, a, b], [a.t])[0]

    # Operands ------------------------------------------------------------

    def pick(self, *types, shape=None):
        """A value of one of the types."""
        shape = self.work if shape is None else shape
        found = [v for v in self.values if v.t in types and v.shape == shape]
        if not found:
            raise Undefined
        # Late values make chains.
        return found[-1 - min(int(self.choose.expovariate(0.5)),
                              len(found) - 1)]

    def any_integer(self):
        return self.pick("i8", "i16", "i32", "i64", "index")

    def any_constant(self, t):
        return self.constant(t, self.choose.choice(
            edges(t) if t in INTEGERS else special_floats(t)))

    def partner(self, value):
        """Another value of the type, or a constant."""
        if self.choose.random() < 0.35:
            return self.any_constant(value.t)
        return self.pick(value.t)

    # Steps ---------------------------------------------------------------

    def step(self):
        """Draws an op or a pattern; returns whether it is one. Some compute
        with scalars. Sometimes nothing but the pattern uses what it computes on the
        way: compilers rewrite only that."""
        scalars = self.shape and self.choose.random() < 0.2
        self.work = () if scalars else self.shape
        choices = self.STEPS + self.REGIONS * (self.depth < MOST_DEPTH)
        known = len(self.values)
        try:
            getattr(self, self.choose.choice(choices))()
            if self.choose.random() < 0.3:
                self.values[known:] = self.values[known:][-1:]
            return True
        except Undefined:
            return False
        finally:
            self.work = self.shape

    # Blocks --------------------------------------------------------------

    def draw_block(self, block, active, steps, targets=None):
        """Draws ops into a block, and yields of the types and shapes of
        `targets`; by default of one or two values."""
        outer = (self.here, self.active, self.values)
        self.here, self.active = block, active
        self.values = outer[2] + block.arguments
        self.depth += 1
        try:
            tries = 4 * steps
            while steps and tries:
                steps -= self.step()
                tries -= 1
            if targets is None:
                targets = [self.pick(*INTEGERS, *FLOATS)
                           for _ in range(self.choose.randrange(1, 3))]
            block.yields = [self.pick(v.t, shape=v.shape) for v in targets]
            return block.yields
        finally:
            self.here, self.active, self.values = outer
            self.depth -= 1

    def append(self, op):
        """An op with blocks, if it is defined in all iterations."""
        for value, results in zip(op.results, self.compute(op, self.active)):
            if any(r is None and a for r, a in zip(results, self.active)):
                raise Undefined
            value.results = results
        self.here.ops.append(op)
        self.values += op.results

    @staticmethod
    def like(values):
        return [Value(v.t, v.shape) for v in values]

    def carried(self, initial):
        """Arguments of a block with the results of the first iteration."""
        return [Value(v.t, v.shape, v.results) for v in initial]

    def new_block(self, arguments=()):
        return Block(arguments)

    # The kernel ----------------------------------------------------------

    def draw_outputs(self):
        """Some of the values, and all that no op uses."""
        share = self.choose.choice([0, 0.2, 0.5, 0.5, 1])
        used = set()
        for op in walk(self.body):
            used.update(op.operands)
            for block in op.blocks:
                used.update(block.yields)
        self.outputs = [
            v for op in self.body.ops for v in op.results
            if v in self.values and (v not in used
                                     or self.choose.random() < share)]
