# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single ops, and the shapes that compilers rewrite, with random operands."""
import exact_floats as floats
import operations as ops
from operations import FLOATS, INTEGERS, width
from program import Op, Undefined, Value

WORDS = ("i8", "i16", "i32", "i64")


class Patterns:
    """Steps of draw.Kernel: each adds ops to the kernel's current block."""

    STEPS = (["integer_op"] * 5 + ["float_op"] * 3 + ["packing"] * 3 + [
        "float_unary", "integer_cast", "float_cast", "comparison", "selection",
        "counting", "known_bits", "division", "shifting", "wide_operation",
        "halves", "chosen_constant", "to_float", "carry", "extended",
        "guarded_shift", "signed_quotient", "reinterpretation", "short_float",
        "clamp", "spread", "tile_reduction", "logic", "rounding_chain", "tie",
        "masked_or", "nested_extremum"])
    REGIONS = ["branch", "branch", "loop", "wide_loop", "halving"]

    # Integers ------------------------------------------------------------

    def integer_op(self):
        a = self.any_integer()
        names = [n for n in ops.INTEGER_BINARY
                 if n not in ops.DIVISIONS + ops.SHIFTS]
        self.integer(self.choose.choice(names), a, self.partner(a))

    def logic(self):
        """Truth values."""
        a = self.pick("i1")
        names = [n for n in ops.INTEGER_BINARY
                 if n not in ops.DIVISIONS + ops.SHIFTS]
        which = self.choose.random()
        if which < 0.6:
            self.integer(self.choose.choice(names), a, self.partner(a))
        elif which < 0.8:
            self.extend(a, self.choose.choice(WORDS), self.choose.random() < 0.5)
        else:
            self.truncate(self.pick(*WORDS), "i1")

    def integer_cast(self):
        a = self.any_integer()
        if a.t == "index" or (self.choose.random() < 0.3 and a.t in
                              ("i32", "i16", "i64")):
            target = (self.choose.choice(["i32", "i64"]) if a.t == "index"
                      else "index")
            self.cast(self.choose.choice(["index_cast", "index_castui"]), a,
                      target)
            return
        target = self.choose.choice(WORDS)
        if width(target) > width(a.t):
            self.extend(a, target, self.choose.random() < 0.5)
        else:
            self.truncate(a, target)

    def counting(self):
        a = self.any_integer()
        self.apply(self.choose.choice(list(ops.INTEGER_UNARY)), a.t, a)

    def known_bits(self):
        """Values with bits that the compiler knows."""
        a = self.pick("i16", "i32", "i64", "index")
        masks = [m for m in (0xFF, 0xFFFF, 0xFFFFFF, 0x3FFFFF, 0x7FFFFFFF,
                             0xFFFFFFFF) if m < 1 << width(a.t)]
        self.integer("andi", a, self.constant(a.t, self.choose.choice(masks)))

    def nonzero(self, value):
        return self.integer("ori", value, self.constant(value.t, 1))

    def division(self):
        a = self.any_integer()
        b = self.partner(a)
        if a.t in ("i32", "i64", "index") and self.choose.random() < 0.5:
            a = self.integer("andi", a, self.constant(a.t, 0xFFFFFF))
            b = self.integer("andi", b, self.constant(a.t, 0xFF))
        if 0 in b.results:
            b = self.nonzero(b)
        self.integer(self.choose.choice(ops.DIVISIONS), a, b)

    def signed_quotient(self):
        """Numbers of few bits by 1, -1 or what is negative: the least one has
        no quotient by -1."""
        a, b = self.pick("i8", "i16", "i32"), self.pick("i8", "i16", "i32")
        shift = self.constant(b.t, width(b.t) - 1)
        sign = (self.nonzero(self.integer("shrsi", b, shift))
                if self.choose.random() < 0.7 else
                self.integer("minsi", b, self.constant(b.t, (1 << width(b.t)) - 1)))
        wide = "i64" if "i32" in (a.t, b.t) else "i32"
        self.integer(self.choose.choice(["divsi", "remsi"]),
                     self.extend(a, wide, True), self.extend(sign, wide, True))

    def amount(self, value):
        if self.choose.random() < 0.6:
            return self.constant(value.t, self.choose.randrange(width(value.t)))
        return self.integer("andi", self.pick(value.t),
                            self.constant(value.t, width(value.t) - 1))

    def shifting(self):
        a = self.any_integer()
        self.integer(self.choose.choice(ops.SHIFTS), a, self.amount(a))

    def widen(self, value, target, is_signed):
        if target == "i64":
            return self.extend(value, "i64", is_signed)
        return self.cast("index_cast" if is_signed else "index_castui", value,
                         "index")

    def wide_operation(self):
        """64 bits that hold 32, signed or not: operations on them."""
        a = self.pick("i32", "i16")
        b, is_signed = self.partner(a), self.choose.random() < 0.5
        target = self.choose.choice(["i64", "index"])
        x, y = (self.widen(v, target, is_signed) for v in (a, b))
        which = self.choose.random()
        if which < 0.3:
            self.compare(self.choose.choice(list(ops.COMPARISONS)), x, y)
        elif which < 0.5:
            self.integer(self.choose.choice(ops.SHIFTS), x, self.amount(x))
        elif which < 0.75:
            y = self.nonzero(y) if 0 in y.results else y
            self.integer(self.choose.choice(ops.DIVISIONS), x, y)
        else:
            self.integer(self.choose.choice(
                ["minsi", "maxsi", "minui", "maxui", "addi", "subi", "muli"]),
                x, y)

    # Bytes ---------------------------------------------------------------

    def packing(self):
        """Bytes of one or two words, shifted and plain, in one word. Those of
        words that were packed are less likely found together again."""
        plain = [v for v in self.values if v.t == "i32" and v.shape == self.work]
        if not plain:
            raise Undefined
        known = len(self.values)
        words = [self.choose.choice(plain)
                 for _ in range(self.choose.choice([1, 1, 1, 2]))]
        sources = list(words)
        for _ in range(self.choose.choice([1, 1, 2])):
            name = self.choose.choice(["shrsi", "shrsi", "shrsi", "shrui", "shli"])
            sources.append(self.integer(
                name, self.choose.choice(sources),
                self.constant("i32", self.choose.choice([8, 8, 16, 24]))))
        places = list(range(4))
        self.choose.shuffle(places)
        how = self.choose.choice([self.masked_byte, self.masked_byte,
                                  self.truncated_byte])
        parts = [how(self.choose.choice(sources), place) for place in places]
        if self.choose.random() < 0.3:
            parts = [self.integer("ori", *parts[:2]),
                     self.integer("ori", *parts[2:])]
        result = parts[0]
        for part in parts[1:]:
            result = self.integer("ori", result, part)
        if self.choose.random() < 0.75:  # bytes that are used again stay apart
            self.values[known:] = [result]

    def masked_byte(self, word, place):
        """A byte of a word, at a place of another word."""
        offset = 8 * (place - self.choose.randrange(4))
        mask = self.constant("i32", 0xFF << 8 * place)
        if offset:
            word = self.integer("shli" if offset > 0 else "shrui", word,
                                self.constant("i32", abs(offset)))
        return self.integer("andi", word, mask)

    def truncated_byte(self, word, place):
        """The same by way of i8."""
        start = 8 * self.choose.randrange(4)
        if start:
            word = self.integer(self.choose.choice(["shrui", "shrsi"]), word,
                                self.constant("i32", start))
        byte = self.extend(self.truncate(word, "i8"), "i32", False)
        return (self.integer("shli", byte, self.constant("i32", 8 * place))
                if place else byte)

    def halves(self):
        """A signed narrow value, widened in two ways."""
        a = self.pick("i8", "i16")
        middle = "i16" if a.t == "i8" else "i32"
        b = self.extend(a, middle, True)
        c = self.extend(b, "i64" if middle == "i32" else "i32", False)
        self.apply("math.ctlz", c.t, c)

    def masked_or(self):
        """Ones in one part of a word, any bits in another part."""
        a = self.pick("i16", "i32", "i64")
        ones = (1 << self.choose.randrange(1, width(a.t) + 1)) - 1
        if self.choose.random() < 0.3:
            ones ^= (1 << width(a.t)) - 1
        b = self.integer("ori", a, self.constant(a.t, ones))
        self.integer(self.choose.choice(["ori", "andi", "xori"]), b,
                     self.pick(a.t))

    # Carries and words of two results ----------------------------------------

    def carry(self):
        """Sums with a carry; extended ones are not for tiles."""
        a = self.pick("i32", "i64")
        low = self.integer("addi", a, self.partner(a))
        extra = self.extend(self.compare("ult", low, a), a.t, False)
        upper = self.integer("addi", self.pick(a.t), self.pick(a.t))
        if not self.work or self.form == "vector":
            self.emit("arith.addui_extended", [upper, extra], [a.t, "i1"])
            return
        total = self.integer("addi", upper, extra)
        self.compare("ult", total, upper)

    def extended(self):
        if self.work and self.form == "tile":
            raise Undefined
        a = self.pick(*WORDS)
        name = self.choose.choice(["arith.mului_extended",
                                   "arith.mulsi_extended",
                                   "arith.addui_extended"])
        targets = [a.t, "i1" if name == "arith.addui_extended" else a.t]
        self.emit(name, [a, self.partner(a)], targets)

    def guarded_shift(self):
        """A shift that is chosen only if its amount is in range."""
        a = self.pick("i64", "i32")
        bits, n = width(a.t), self.pick(a.t)
        limit, zero = self.constant(a.t, bits), self.constant(a.t, 0)
        inside = self.compare("ult", n, limit)
        name = self.choose.choice(["shli", "shrui", "shrsi"])
        shifted = self.emit(f"arith.{name}", [a, n], [a.t], may_be_poison=True,
                            is_operand=False)[0]
        self.select(inside, shifted, zero)

    # Floats --------------------------------------------------------------

    def float_op(self):
        a = self.pick(*FLOATS)
        if self.choose.random() < 0.15:
            self.fma(a, self.partner(a), self.partner(a))
            return
        self.apply(self.choose.choice(list(ops.FLOAT_BINARY)), a.t, a,
                   self.partner(a))

    def fma(self, x, y, z):
        self.apply("vector.fma" if self.work and self.form == "vector"
                   else "math.fma", x.t, x, y, z)

    def float_unary(self):
        a = self.pick(*FLOATS)
        if self.choose.random() < 0.2:
            self.apply(self.choose.choice(list(ops.FLOAT_CHECKS)), "i1", a)
            return
        self.apply(self.choose.choice(list(ops.FLOAT_UNARY)), a.t, a)

    def float_cast(self):
        a = self.pick(*FLOATS)
        target = self.choose.choice(FLOATS)
        if width(a.t) == width(target):
            raise Undefined
        self.cast("extf" if width(target) > width(a.t) else "truncf", a, target)

    def rounding_chain(self):
        """An op between an extension and a truncation."""
        a = self.pick(*FLOATS)
        target = self.choose.choice([t for t in FLOATS
                                     if width(t) > width(a.t)] or [a.t])
        if target == a.t:
            raise Undefined
        x, y = (self.cast("extf", v, target) for v in (a, self.partner(a)))
        z = self.apply(self.choose.choice(list(ops.FLOAT_BINARY)), target, x, y)
        self.cast("truncf", z, a.t)

    def tie(self):
        """Values halfway between two floats, and beside that by less than a
        wider format may hold."""
        if self.choose.random() < 0.4:
            x = self.pick(*FLOATS)
            bits, exponent, fraction = floats.FORMATS[x.t]
            one_and_half = ((1 << exponent) - 1) << fraction - 1
            least = self.choose.choice([1, 1 << bits - 1 | 1])
            self.fma(x, self.constant(x.t, one_and_half), self.constant(x.t, least))
            return
        a, target = self.pick("i16", "i32", "i64"), self.choose.choice(FLOATS)
        digits = floats.FORMATS[target][2] + 1
        if width(a.t) < digits + 4:
            raise Undefined
        a = self.integer("andi", a, self.constant(a.t, (1 << digits) - 1))
        a = self.integer("ori", a, self.constant(a.t, 1 << digits | 1))
        amount = self.choose.randrange(2, width(a.t) - digits - 1)
        a = self.integer("shli", a, self.constant(a.t, amount))
        beside = self.choose.choice(["ori", "subi", ""])
        if beside:
            a = self.integer(beside, a, self.constant(a.t, 1))
        self.cast(self.choose.choice(["sitofp", "uitofp"]), a, target)

    def short_float(self):
        """By way of a type of 8 bits."""
        a, t = self.pick(*FLOATS), self.choose.choice(ops.FLOATS8)
        if not self.has(t):
            raise Undefined
        value = (self.cast("truncf", a, t) if self.choose.random() < 0.5 else
                 self.emit("arith.bitcast", [self.pick("i8")], [t])[0])
        self.cast("extf", value, self.choose.choice(FLOATS))

    def reinterpretation(self):
        """The bits of a float; those of a NaN are not defined."""
        if self.choose.random() < 0.5:
            x = self.pick("i16", "i32", "i64")
            self.cast("bitcast", x, self.choose.choice(
                [t for t in FLOATS if width(t) == width(x.t)]))
            return
        x = self.pick(*FLOATS)
        if floats.NAN in x.results:
            zero = self.constant(x.t, 0)
            x = self.select(self.compare("ord", x, x), x, zero)
        self.cast("bitcast", x, f"i{width(x.t)}")

    def to_float(self):
        """Integers to floats, directly and by way of a wider one; and back."""
        which = self.choose.random()
        if which < 0.2:
            self.cast(self.choose.choice(["fptosi", "fptoui"]),
                      self.pick(*FLOATS), self.choose.choice(WORDS))
            return
        a = self.pick(*WORDS)
        target = self.choose.choice(FLOATS)
        value = self.cast(self.choose.choice(["sitofp", "uitofp"]), a, target)
        other = self.choose.choice(FLOATS)
        if width(other) != width(target):
            self.cast("truncf" if width(other) < width(target) else "extf",
                      value, other)

    # Comparisons and selections ----------------------------------------------

    def predicates(self, t):
        return list(ops.FLOAT_COMPARISONS if t in FLOATS else ops.COMPARISONS)

    def comparison(self):
        a = self.pick(*WORDS, "index", *FLOATS)
        self.compare(self.choose.choice(self.predicates(a.t)), a,
                     self.partner(a))

    def selection(self):
        scalar = self.choose.random() < 0.2
        condition = self.pick("i1", shape=() if scalar else self.work)
        a = self.pick(*INTEGERS, *FLOATS)
        self.select(condition, a, self.partner(a))

    def chosen_constant(self):
        """A selection whose arm is the constant of its comparison."""
        a = self.pick(*FLOATS, *FLOATS, "i32", "i64")
        bits = (floats.rounded(a.t, floats.Fraction(13, 4)) if a.t in FLOATS
                else self.choose.choice([3, 1 << 31]))
        arms = [self.pick(a.t), self.constant(a.t, bits)]
        x, k = a, arms[1]
        if a.t in ("f16", "f32") and self.choose.random() < 0.3:
            x, k = (self.cast("extf", v, "f64") for v in (x, k))
        condition = self.compare(self.choose.choice(self.predicates(a.t)), x, k)
        self.choose.shuffle(arms)
        self.select(condition, *arms)

    def ordered(self, a, b):
        """A minimum or maximum, as an op or as a selection."""
        if self.choose.random() < 0.3:
            names = (["arith.minimumf", "arith.maximumf", "arith.minnumf",
                      "arith.maxnumf"] if a.t in FLOATS else
                     ["arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui"])
            return self.apply(self.choose.choice(names), a.t, a, b)
        predicate = self.choose.choice([
            p for p in self.predicates(a.t) if p[-2] in "lg"])
        condition = self.compare(predicate, a, b)
        arms = [a, b] if self.choose.random() < 0.5 else [b, a]
        return self.select(condition, *arms)

    def clamp(self):
        """Between two constants."""
        a = self.pick(*FLOATS, "i16", "i32", "i64")
        for _ in range(2):
            a = self.ordered(a, self.any_constant(a.t))

    def nested_extremum(self):
        """With one constant twice, maybe extended between."""
        a = self.pick(*FLOATS, *FLOATS, "i32")
        number = floats.Fraction(13, 4)
        is_float = a.t in FLOATS

        def limit(t):
            return self.constant(t, floats.rounded(t, number) if is_float else 3)
        low = self.ordered(a, limit(a.t))
        if is_float and a.t in ("f16", "f32") and self.choose.random() < 0.3:
            low = self.cast("extf", low, self.choose.choice(
                [t for t in ("f32", "f64") if width(t) > width(a.t)]))
        self.ordered(low, limit(low.t))

    # Shapes --------------------------------------------------------------

    def spread(self):
        """A scalar in all elements."""
        if not self.shape:
            raise Undefined
        self.work = self.shape
        a = self.pick(*INTEGERS, *FLOATS, shape=())
        name = "vector.broadcast" if self.form == "vector" else "tensor.splat"
        self.emit(name, [a], [a.t])

    def tile_reduction(self):
        """To a scalar; lines of a tile are spread again."""
        if self.form != "tile":
            raise Undefined
        self.work = self.shape
        a = self.pick(*WORDS, *FLOATS)
        kind = self.choose.choice(list(
            ops.FLOAT_REDUCTIONS if a.t in FLOATS else ops.REDUCTIONS))
        dim = self.choose.randrange(len(self.shape))
        shape = tuple(n for i, n in enumerate(self.shape) if i != dim)
        target = ("f32" if a.t in ("f16", "bf16") and self.choose.random() < 0.5
                  else a.t)
        value = self.emit("tile.reduce", [a], [target], (kind, dim), shape,
                          is_operand=not shape)[0]
        if not shape:
            return
        thin = tuple(1 if i == dim else n for i, n in enumerate(self.shape))
        value = self.emit("tile.expand_dims", [value], [target], dim, thin,
                          is_operand=False)[0]
        self.emit("tile.broadcast", [value], [target])

    # Control flow --------------------------------------------------------

    def branch(self):
        """Each side draws its own values of the same types."""
        condition = self.pick("i1", shape=())
        blocks, targets = [self.new_block(), self.new_block()], None
        for block, wanted in zip(blocks, (1, 0)):
            active = [a and c == wanted
                      for a, c in zip(self.active, condition.results)]
            targets = self.draw_block(block, active,
                                      self.choose.randrange(1, 5), targets)
        self.append(Op("scf.if", [condition], self.like(targets),
                       blocks=blocks))

    def counted_loop(self, start, bound, step, steps):
        initial = [self.pick(*INTEGERS, *FLOATS, shape=shape) for shape in
                   self.choose.choice([[()], [self.shape], [(), self.shape]])]
        counter = Value(start.t, (), start.results)
        block = self.new_block([counter, *self.carried(initial)])
        runs = [a and ops.signed(start.t, f) < ops.signed(start.t, b)
                for a, f, b in zip(self.active, start.results, bound.results)]
        self.draw_block(block, runs, steps, initial)
        self.append(Op("scf.for", [start, bound, step, *initial],
                       self.like(initial), blocks=[block]))

    def loop(self):
        """Few iterations, of any counter."""
        self.work = ()
        t = self.choose.choice(["index", "index", "i32", "i64"])
        start, size = self.choose.randrange(3), self.choose.randrange(1, 4)
        bound = (self.constant(t, start + size * self.choose.randrange(5))
                 if self.choose.random() < 0.7 else self.integer(
                     "andi", self.pick(t), self.constant(t, 7)))
        self.counted_loop(self.constant(t, start), bound,
                          self.constant(t, size), self.choose.randrange(1, 5))

    def wide_loop(self):
        """Few iterations between bounds of more than 31 bits."""
        self.work = ()
        x = self.pick("i32", "i64", "index")
        if x.t == "i64" or x.t == "index":
            x = self.integer("andi", x, self.constant(x.t, self.choose.choice(
                [0xFFFFFFFF, 0x7FFFFFFF, 0x1FFFFFFFF, (1 << 40) - 1])))
        if x.t != "index":
            x = self.cast(self.choose.choice(["index_cast", "index_castui"]), x,
                          "index")
        first = self.choose.choice([0, 1 << 20, -(1 << 31), -(1 << 31) - 5,
                                    (1 << 31) - 3, 1 << 32, (1 << 32) - 1])
        span = max((ops.signed("index", r) for r, a in zip(
            x.results, self.active) if a), default=first) - first
        trips = self.choose.randrange(2, 12)
        step = max(span // trips + self.choose.randrange(1 << 16), 1)
        self.counted_loop(self.constant("index", ops.wrap("index", first)), x,
                          self.constant("index", step),
                          self.choose.randrange(1, 4))

    def halving(self):
        """While a number is large, it is shifted; counts the iterations."""
        self.work = ()
        x = self.pick("i16", "i32", "i64", "index")
        count = self.constant(x.t, 0)
        limit, one = self.any_constant(x.t), self.constant(x.t, 1)
        amount = self.constant(x.t, self.choose.randrange(1, 9))
        before = self.new_block(self.carried([x, count]))
        after = self.new_block(self.like([x, count]))
        condition = Value("i1", ())
        before.ops = [Op("arith.cmpi", [before.arguments[0], limit], [condition],
                         "ugt")]
        before.yields = [condition, *before.arguments]
        shifted, counted = self.like([x, count])
        after.ops = [Op("arith.shrui", [after.arguments[0], amount], [shifted]),
                     Op("arith.addi", [after.arguments[1], one], [counted])]
        after.yields = [shifted, counted]
        self.append(Op("scf.while", [x, count], self.like([x, count]),
                       blocks=[before, after]))
