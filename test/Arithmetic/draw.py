# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws random kernels of arithmetic, with the results of every op.

A kernel loads its inputs, computes, and stores half of its values, and all that
no other op uses: compilers rewrite values that are used once. It is evaluated
while it is drawn, for COUNT sets of inputs: an op that is undefined for one of
them is not drawn. Besides single ops there are patterns, which are the shapes
that compilers rewrite.
"""
import random
import re

import exact_floats as floats
import operations as ops
from operations import FLOATS, INTEGERS, width

COUNT = 32  # sets of inputs
INPUTS = ["i8", "i16", "i32", "i64", "i32", "i64", "f16", "bf16", "f32", "f64"]


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
              floats.rounded(t, floats.Fraction(13, 4)), top + 1]
    return values + [v | 1 << bits - 1 for v in values]


def draw_input(choose, t):
    """Bits of COUNT values."""
    if t in INTEGERS:
        known = edges(t)
        return [choose.choice(known) if choose.random() < 0.75
                else choose.getrandbits(width(t)) for _ in range(COUNT)]
    known = special_floats(t)
    return [choose.choice(known) if choose.random() < 0.6
            else choose.getrandbits(width(t)) for _ in range(COUNT)]


class Value:
    def __init__(self, name, t, results):
        self.name, self.t, self.results = name, t, results


class Kernel:
    """A kernel in one form: `tile` of 64 or 256 elements, or `scalar`."""

    def __init__(self, seed, number):
        self.choose = random.Random(f"{seed}/{number}")
        self.name = f"k{number}"
        self.form = self.choose.choice(["scalar", "tile", "tile"])
        self.elements = (COUNT if self.form == "scalar"
                         else self.choose.choice([64, 256]))
        self.lines, self.values, self.inputs = [], [], []
        self.count = 0
        kinds = self.choose.sample(INPUTS, 3)
        for t in [*kinds, self.choose.choice(kinds)]:
            raw = draw_input(self.choose, t)
            results = raw if t in INTEGERS else [floats.canonical(t, v)
                                                 for v in raw]
            value = Value(f"%x{len(self.inputs)}", t, results)
            self.inputs.append((t, raw))
            self.values.append(value)
        steps = self.choose.randrange(4, 14)
        while steps:
            steps -= self.step()
        self.kept = self.draw_outputs()

    # Emission ------------------------------------------------------------

    def type(self, t):
        return t if self.form == "scalar" else f"tensor<{self.elements}x{t}>"

    def emit(self, text, t, results):
        """The value of an op, or None if it is undefined for an input."""
        if any(r is None for r in results):
            return None
        self.count += 1
        value = Value(f"%v{self.count}", t, results)
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)
        return value

    def constant(self, t, bits):
        if t in FLOATS:
            text = f"0x{bits:0{width(t) // 4}X}"
        elif t == "i1":
            text = "true" if bits else "false"
        else:
            text = str(ops.signed(t, bits))
        if self.form != "scalar":
            text = f"dense<{text}>"
        result = floats.canonical(t, bits) if t in FLOATS else bits
        value = self.emit(f"arith.constant {text} : {self.type(t)}", t,
                          [result] * COUNT)
        self.values.pop()  # not an operand of later ops, and not stored
        return value

    def apply(self, name, t, function, *operands):
        names = ", ".join(v.name for v in operands)
        return self.emit(f"{name} {names} : {self.type(t)}", t,
                         [function(t, *row)
                          for row in zip(*(v.results for v in operands))])

    def integer(self, name, a, b):
        return self.apply(f"arith.{name}", a.t, ops.INTEGER_BINARY[name], a, b)

    def cast(self, name, value, target, function):
        return self.emit(f"arith.{name} {value.name} : {self.type(value.t)} to "
                         f"{self.type(target)}", target,
                         [function(r) for r in value.results])

    def extend(self, value, target, is_signed):
        if width(target) <= width(value.t) or "index" in (value.t, target):
            return None
        return self.cast("extsi" if is_signed else "extui", value, target,
                         lambda r: ops.wrap(target, ops.signed(value.t, r))
                         if is_signed else r)

    def truncate(self, value, target):
        if width(target) >= width(value.t) or "index" in (value.t, target):
            return None
        return self.cast("trunci", value, target,
                         lambda r: ops.wrap(target, r))

    def compare(self, predicate, a, b):
        if a.t in FLOATS:
            relations = ops.FLOAT_COMPARISONS[predicate]
            results = [int(floats.compare(a.t, x, y) in relations)
                       for x, y in zip(a.results, b.results)]
            name = "cmpf"
        else:
            results = [int(ops.COMPARISONS[predicate](a.t, x, y))
                       for x, y in zip(a.results, b.results)]
            name = "cmpi"
        return self.emit(f"arith.{name} {predicate}, {a.name}, {b.name} : "
                         f"{self.type(a.t)}", "i1", results)

    def select(self, condition, a, b):
        types = f"{self.type('i1')}, " if self.form != "scalar" else ""
        return self.emit(f"arith.select {condition.name}, {a.name}, {b.name} : "
                         f"{types}{self.type(a.t)}", a.t,
                         [x if c else y for c, x, y in zip(
                             condition.results, a.results, b.results)])

    # Operands ------------------------------------------------------------

    def pick(self, *types):
        """A value of one of the types; None: there is none."""
        found = [v for v in self.values if v.t in types]
        if not found:
            return None
        # Late values make chains.
        return found[-1 - min(int(self.choose.expovariate(0.5)),
                              len(found) - 1)]

    def any_integer(self):
        return self.pick("i8", "i16", "i32", "i64", "index")

    def partner(self, value):
        """Another value of the type, or a constant."""
        if self.choose.random() < 0.35:
            known = (edges(value.t) if value.t in INTEGERS
                     else special_floats(value.t))
            return self.constant(value.t, self.choose.choice(known))
        return self.pick(value.t)

    # Steps ---------------------------------------------------------------

    def step(self):
        """Draws an op or a pattern; returns whether it is one."""
        patterns = [self.integer_op] * 5 + [self.float_op] * 3 + [
            self.integer_cast, self.float_cast, self.comparison,
            self.selection, self.counting, self.known_bits, self.division,
            self.shifting, self.wide_operation, self.packing, self.halves,
            self.chosen_constant, self.to_float, self.carry,
            self.guarded_shift, self.signed_quotient, self.loop]
        return self.choose.choice(patterns)() is not None

    def integer_op(self):
        a = self.any_integer()
        b = a and self.partner(a)
        names = [n for n in ops.INTEGER_BINARY
                 if n not in ops.DIVISIONS + ops.SHIFTS]
        return b and self.integer(self.choose.choice(names), a, b)

    def float_op(self):
        a = self.pick(*FLOATS)
        if a is None:
            return None
        if self.choose.random() < 0.2:
            name = self.choose.choice(list(ops.FLOAT_UNARY))
            return self.apply(name, a.t, ops.FLOAT_UNARY[name], a)
        if self.choose.random() < 0.15:
            return self.apply("math.fma", a.t, floats.fused, a,
                              self.partner(a), self.partner(a))
        name = self.choose.choice(list(ops.FLOAT_BINARY))
        return self.apply(name, a.t, ops.FLOAT_BINARY[name], a,
                          self.partner(a))

    def integer_cast(self):
        a = self.any_integer()
        if a is None:
            return None
        if a.t == "index" or (self.choose.random() < 0.3 and a.t in
                              ("i32", "i16", "i64")):
            target = (self.choose.choice(["i32", "i64"]) if a.t == "index"
                      else "index")
            name = self.choose.choice(["index_cast", "index_castui"])
            return self.cast(name, a, target, lambda r: ops.wrap(
                target, ops.signed(a.t, r) if name == "index_cast" else r))
        target = self.choose.choice(["i8", "i16", "i32", "i64"])
        return (self.extend(a, target, self.choose.random() < 0.5)
                or self.truncate(a, target))

    def float_cast(self):
        a = self.pick(*FLOATS)
        target = self.choose.choice(FLOATS)
        if a is None or width(a.t) == width(target):
            return None
        name = "extf" if width(target) > width(a.t) else "truncf"
        return self.cast(name, a, target,
                         lambda r: floats.convert(a.t, target, r))

    def to_float(self):
        """Integers to floats, directly and by way of a wider one; and back."""
        a = self.pick("i8", "i16", "i32", "i64")
        if a is None:
            return None
        if self.choose.random() < 0.2:
            x = self.pick(*FLOATS)
            target = self.choose.choice(["i8", "i16", "i32", "i64"])
            name = self.choose.choice(["fptosi", "fptoui"])
            return x and self.cast(name, x, target, lambda r:
                                   ops.float_to_integer(name, x.t, target, r))
        target = self.choose.choice(FLOATS)
        name = self.choose.choice(["sitofp", "uitofp"])
        value = self.cast(name, a, target, lambda r:
                          ops.integer_to_float(name, a.t, target, r))
        narrow = self.choose.choice(FLOATS)
        if value and width(narrow) < width(target):
            return self.cast("truncf", value, narrow, lambda r:
                             floats.convert(target, narrow, r))
        return value

    def comparison(self):
        a = self.pick(*INTEGERS, *FLOATS)
        if a is None or a.t == "i1":
            return None
        names = ops.FLOAT_COMPARISONS if a.t in FLOATS else ops.COMPARISONS
        return self.compare(self.choose.choice(list(names)), a, self.partner(a))

    def selection(self):
        condition, a = self.pick("i1"), self.pick(*INTEGERS, *FLOATS)
        if condition is None or a is None or a.t == "i1":
            return None
        return self.select(condition, a, self.partner(a))

    def counting(self):
        a = self.any_integer()
        name = self.choose.choice(list(ops.INTEGER_UNARY))
        return a and self.apply(name, a.t, ops.INTEGER_UNARY[name], a)

    def known_bits(self):
        """Values with bits that the compiler knows."""
        a = self.pick("i16", "i32", "i64", "index")
        if a is None:
            return None
        masks = [m for m in (0xFF, 0xFFFF, 0xFFFFFF, 0x3FFFFF, 0x7FFFFFFF,
                             0xFFFFFFFF) if m < 1 << width(a.t)]
        return self.integer("andi", a,
                            self.constant(a.t, self.choose.choice(masks)))

    def nonzero(self, value):
        return self.integer("ori", value, self.constant(value.t, 1))

    def division(self):
        a = self.any_integer()
        if a is None:
            return None
        b = self.partner(a)
        if a.t in ("i32", "i64", "index") and self.choose.random() < 0.5:
            a = self.integer("andi", a, self.constant(a.t, 0xFFFFFF))
            b = self.integer("andi", b, self.constant(a.t, 0xFF))
        if 0 in b.results:
            b = self.nonzero(b)
        return self.integer(self.choose.choice(ops.DIVISIONS), a, b)

    def signed_quotient(self):
        """Numbers of few bits by 1 or -1: the least one has no quotient."""
        a, b = self.pick("i8", "i16", "i32"), self.pick("i8", "i16", "i32")
        if a is None or b is None:
            return None
        shift = self.constant(b.t, width(b.t) - 1)
        sign = self.nonzero(self.integer("shrsi", b, shift))
        wide = "i64" if "i32" in (a.t, b.t) else "i32"
        return self.integer(self.choose.choice(["divsi", "remsi"]),
                            self.extend(a, wide, True),
                            self.extend(sign, wide, True))

    def amount(self, value):
        if self.choose.random() < 0.6:
            return self.constant(value.t, self.choose.randrange(width(value.t)))
        return self.integer("andi", self.pick(value.t),
                            self.constant(value.t, width(value.t) - 1))

    def shifting(self):
        a = self.any_integer()
        return a and self.integer(self.choose.choice(ops.SHIFTS), a,
                                  self.amount(a))

    def wide_operation(self):
        """64 bits that hold 32, signed or not: operations on them."""
        a = self.pick("i32", "i16")
        if a is None:
            return None
        b, how = self.partner(a), self.choose.random()
        target = self.choose.choice(["i64", "index"])

        def widen(value):
            if target == "i64":
                return self.extend(value, "i64", how < 0.5)
            name = "index_cast" if how < 0.5 else "index_castui"
            return self.cast(name, value, "index", lambda r: ops.wrap(
                "index", ops.signed(value.t, r) if how < 0.5 else r))
        x, y = widen(a), widen(b)
        which = self.choose.random()
        if which < 0.3:
            return self.compare(self.choose.choice(list(ops.COMPARISONS)), x, y)
        if which < 0.5:
            return self.integer(self.choose.choice(ops.SHIFTS), x,
                                self.amount(x))
        if which < 0.75:
            y = self.nonzero(y) if 0 in y.results else y
            return self.integer(self.choose.choice(ops.DIVISIONS), x, y)
        return self.integer(self.choose.choice(
            ["minsi", "maxsi", "minui", "maxui", "addi", "subi", "muli"]), x, y)

    def packing(self):
        """Four bytes, of shifted and plain words, in one word."""
        a = self.pick("i32")
        if a is None:
            return None
        sources = [a]
        for _ in range(self.choose.randrange(1, 3)):
            name = self.choose.choice(["shrsi", "shrsi", "shrui", "shli"])
            sources.append(self.integer(name, self.choose.choice(sources),
                                        self.constant("i32", self.choose.choice(
                                            [8, 16, 24]))))
        result = None
        for byte in range(4):
            value = self.choose.choice(sources)
            offset = 8 * (byte - self.choose.randrange(4))
            if offset:
                value = self.integer("shli" if offset > 0 else "shrui", value,
                                     self.constant("i32", abs(offset)))
            value = self.integer("andi", value,
                                 self.constant("i32", 0xFF << 8 * byte))
            result = value if result is None else self.integer(
                "ori", result, value)
        return result

    def halves(self):
        """A signed narrow value, widened in two ways."""
        a = self.pick("i8", "i16")
        middle = {"i8": "i16", "i16": "i32"}.get(a.t) if a else None
        if middle is None:
            return None
        b = self.extend(a, middle, True)
        c = self.extend(b, "i64" if middle == "i32" else "i32", False)
        return self.apply("math.ctlz", c.t, ops.INTEGER_UNARY["math.ctlz"], c)

    def chosen_constant(self):
        """A selection whose arm is the constant of its comparison."""
        a = self.pick(*FLOATS)
        if a is None:
            return None
        k = self.constant(a.t, floats.rounded(a.t, floats.Fraction(13, 4)))
        condition = self.compare(self.choose.choice(
            list(ops.FLOAT_COMPARISONS)), a, k)
        b = self.pick(a.t)
        arms = (b, k) if self.choose.random() < 0.5 else (k, b)
        return self.select(condition, *arms)

    def carry(self):
        """Sums with a carry; extended ones are for scalars only."""
        a = self.pick("i32", "i64")
        if a is None:
            return None
        b = self.partner(a)
        low = self.integer("addi", a, b)
        condition = self.compare("ult", low, a)
        extra = self.extend(condition, a.t, False)
        upper = self.integer("addi", self.pick(a.t), self.pick(a.t))
        if self.form == "scalar":
            bits = width(a.t)
            sums = [x + y for x, y in zip(upper.results, extra.results)]
            self.count += 1
            result = Value(f"%v{self.count}#0", a.t,
                           [s & (1 << bits) - 1 for s in sums])
            over = Value(f"%v{self.count}#1", "i1", [s >> bits for s in sums])
            self.lines.append(
                f"%v{self.count}:2 = arith.addui_extended {upper.name}, "
                f"{extra.name} : {a.t}, i1")
            self.values += [result, over]
            return over
        total = self.integer("addi", upper, extra)
        return self.compare("ult", total, upper)

    def guarded_shift(self):
        """A shift that is chosen only if its amount is in range."""
        a = self.pick("i64", "i32")
        if a is None:
            return None
        bits, n = width(a.t), self.pick(a.t)
        limit, zero = self.constant(a.t, bits), self.constant(a.t, 0)
        inside = self.compare("ult", n, limit)
        name = self.choose.choice(["shli", "shrui"])
        function = ops.INTEGER_BINARY[name]
        shifted = self.emit(
            f"arith.{name} {a.name}, {n.name} : {self.type(a.t)}", a.t,
            [function(a.t, x, m) or 0 for x, m in zip(a.results, n.results)])
        self.values.pop()  # poison for some inputs: only for the selection
        return self.select(inside, shifted, zero)

    def loop(self):
        """Few trips between wide bounds; scalars only."""
        x = self.pick("i32", "i64")
        if x is None or self.form != "scalar":
            return None
        step = (1 << 28) + self.choose.randrange(1 << 20)
        if x.t == "i64":
            x = self.integer("andi", x, self.constant("i64", 0xFFFFFFFF))
            name = "index_cast"
        else:
            name = self.choose.choice(["index_cast", "index_castui"])
        bound = self.cast(name, x, "index", lambda r: ops.wrap(
            "index", ops.signed(x.t, r) if name == "index_cast" else r))
        start = self.constant("index", self.choose.choice([0, 1 << 20]))
        size = self.constant("index", step)
        first = start.results[0]

        def trips(limit):
            total = 0
            for i in range(first, ops.signed("index", limit), step):
                total = ops.wrap("index", total * 3 + i)
            return total
        three = self.constant("index", 3)
        zero = self.constant("index", 0)
        n = self.count + 1
        return self.emit(
            f"scf.for %i{n} = {start.name} to {bound.name} step {size.name} "
            f"iter_args(%a{n} = {zero.name}) -> (index) {{\n"
            f"%m{n} = arith.muli %a{n}, {three.name} : index\n"
            f"%s{n} = arith.addi %m{n}, %i{n} : index\n"
            f"scf.yield %s{n} : index\n}}", "index",
            [trips(r) for r in bound.results])

    # The kernel ----------------------------------------------------------

    def draw_outputs(self):
        """Half of the values, and all that no op uses."""
        chosen = {v.name for v in self.values if self.choose.random() < 0.5}
        text = "\n".join(line.split(" = ", 1)[-1] for line in self.lines)
        used = set(re.findall(r"%v\d+(?:#\d)?", text))
        return [v for v in self.values[len(self.inputs):]
                if v.name not in used or v.name in chosen]

    def outputs(self):
        """The values that are stored."""
        return self.kept

    def stored(self, value):
        """The element type of a value's buffer."""
        return {"i1": "i8", "index": "i64"}.get(value.t, value.t)

    def text(self):
        scalar = self.form == "scalar"
        kind = "memref" if scalar else "tile"
        size = self.elements

        def buffer(t):
            return f"memref<{size}x{t}>"
        lines = ["%zero = arith.constant 0 : index"]
        if scalar:
            lines += [f"%size = arith.constant {size} : index",
                      "%one = arith.constant 1 : index",
                      "scf.for %i = %zero to %size step %one {"]
        at = "%i" if scalar else "%zero"
        for n, (t, _) in enumerate(self.inputs):
            tail = "" if scalar else f" -> {self.type(t)}"
            lines.append(f"%x{n} = {kind}.load %a{n}x[{at}] : {buffer(t)}{tail}")
        lines += self.lines
        for n, value in enumerate(self.outputs()):
            t, name = self.stored(value), value.name
            if value.t == "i1":
                lines.append(f"%o{n}c = arith.extui {name} : "
                             f"{self.type('i1')} to {self.type('i8')}")
                name = f"%o{n}c"
            elif value.t == "index":
                lines.append(f"%o{n}c = arith.index_cast {name} : "
                             f"{self.type('index')} to {self.type('i64')}")
                name = f"%o{n}c"
            tail = buffer(t) if scalar else f"{self.type(t)}, {buffer(t)}"
            lines.append(f"{kind}.store {name}, %b{n}x[{at}] : {tail}")
        lines += ["}"] if scalar else []
        arguments = [f"%a{n}x: {buffer(t)}"
                     for n, (t, _) in enumerate(self.inputs)]
        arguments += [f"%b{n}x: {buffer(self.stored(v))}"
                      for n, v in enumerate(self.outputs())]
        return "\n".join([
            f"gpu.func @{self.name}({', '.join(arguments)}) kernel",
            "    attributes {iris.num_warps = 1 : i32} {", *lines,
            "gpu.return", "}"])
