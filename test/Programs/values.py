# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a kernel, and the digest that shows them.

Every value that no other op uses becomes part of a digest of i32, at the end of its
region: `digest = digest * odd + bits(value)`, which no value hides. Regions carry it, and
the kernel stores it.
"""
import re

from elements import FLOATS, INTS, is_float, specials, tile, width

SHAPES = {1: [(16,), (4,), (64,), (128,)],
          2: [(4, 16), (2, 8), (8, 8), (1, 32), (16, 16), (8, 2)],
          3: [(2, 2, 8), (1, 4, 4), (2, 1, 16)]}
ODD = 16777619
# Of a NaN, whose bits are not specified.
NAN_BITS = 117


class Buffer:
    """A memref of a kernel or of @main, and the extents that it has."""

    def __init__(self, name, element, extents, type_=None):
        self.name, self.element, self.extents = name, element, list(extents)
        self.type = type_ or "memref<%s%s, #iris.symmetric>" % (
            "?x" * len(extents), element)
        # Never written after it was filled with small numbers: sums of products are
        # exact.
        self.is_small = True

    @property
    def is_remote(self):
        """Whether other ranks' copies may be accessed."""
        return "#iris.symmetric" in self.type

    @property
    def is_view(self):
        return "strided" in self.type

    @property
    def dims(self):
        """The extents as in the type: numbers, and ? for what it leaves open."""
        return re.match(r"memref<((?:(?:\d+|\?)x)*)", self.type)[1].split("x")[:-1]


class Value:
    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, tuple(shape), element
        self.type, self.uses = tile(self.shape, element), 0


class Values:
    """Emits ops, and knows the values in scope."""

    def __init__(self, choices, deck):
        self.choices, self.deck = choices, deck
        self.lines, self.scopes, self.count, self.depth = [], [[]], 0, 0
        self.known = {}      # constants, by type and value
        self.constants = []  # their lines
        self.shape = ()
        self.digest = None

    # Choices --------------------------------------------------------------------

    def balanced(self, items, kind=""):
        """One of those that this program has drawn least."""
        least = min(self.deck[kind, item] for item in items)
        item = self.choices.pick([i for i in items if self.deck[kind, i] == least])
        self.deck[kind, item] += 1
        return item

    # Emission -------------------------------------------------------------------

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def add(self, line):
        self.lines.append("  " * (len(self.scopes) + 1) + line)

    def define(self, text, shape, element, keep=True):
        value = Value(self.new(), shape, element)
        self.add(f"{value.name} = {text}")
        if keep:
            self.scopes[-1].append(value)
        return value

    def constant(self, number, element="index", shape=()):
        key = (number, element, shape)
        if key not in self.known:
            value = Value(f"%k{len(self.known)}", shape, element)
            text = f"dense<{number}> : {value.type}" if shape else (
                number if element == "i1" else f"{number} : {element}")
            self.constants.append(f"    {value.name} = arith.constant {text}")
            self.known[key] = value
        return self.known[key]

    def use(self, value):
        value.uses += 1
        return value.name

    def visible(self, accept=lambda v: True):
        return [v for scope in self.scopes for v in scope if accept(v)][::-1]

    def value(self, shape, element):
        """One of the type, or a special value."""
        found = self.visible(lambda v: (v.shape, v.element) == (shape, element))
        if found and not self.choices.chance(20):
            return self.choices.pick(found[:12])
        return self.constant(self.choices.pick(specials(element)), element, shape)

    def unary(self, op, value, keep=True):
        return self.define(f"{op} {self.use(value)} : {value.type}",
                           value.shape, value.element, keep)

    def binary(self, op, left, right, keep=True):
        return self.define(f"{op} {self.use(left)}, {self.use(right)} : "
                           f"{left.type}", left.shape, left.element, keep)

    def convert(self, op, value, element, keep=False):
        return self.define(f"{op} {self.use(value)} : {value.type} to "
                           f"{tile(value.shape, element)}", value.shape, element,
                           keep)

    def select(self, test, one, other, keep=False):
        condition = tile(test.shape, "i1")
        types = condition + ", " + one.type if test.shape else one.type
        return self.define(f"arith.select {self.use(test)}, {self.use(one)}, "
                           f"{self.use(other)} : {types}", one.shape, one.element,
                           keep)

    def splat_of(self, value, shape, keep=False):
        return self.define(f"tensor.splat {self.use(value)} : "
                           f"{tile(shape, value.element)}", shape, value.element, keep)

    def reduction(self, kind, value, dim=0, keep=False):
        shape = value.shape[:dim] + value.shape[dim + 1:]
        return self.define(f"tile.reduce {kind} {self.use(value)} dim {dim} : "
                           f"{value.type} -> {tile(shape, value.element)}", shape,
                           value.element, keep)

    # The digest -----------------------------------------------------------------

    def without_nan(self, value, number):
        """A literal of the type in the place of NaN."""
        test = self.define(f"arith.cmpf ord, {self.use(value)}, {value.name} : "
                           f"{value.type}", value.shape, "i1", False)
        return self.select(test, value,
                           self.constant(number, value.element, value.shape))

    def bits(self, value):
        """All bits of a value, as i32."""
        if value.element == "i1":
            return self.convert("arith.extui", value, "i32")
        if value.element == "index":
            value = self.convert("arith.index_cast", value, "i64")
        if is_float(value.element):
            value = self.without_nan(value, f"-{NAN_BITS}.0")
            value = self.convert("arith.bitcast", value, f"i{width(value.element)}")
        if value.element == "i64":
            upper = self.binary("arith.shrui", value,
                                self.constant(32, "i64", value.shape), False)
            value = self.binary("arith.xori", value, upper, False)
            return self.convert("arith.trunci", value, "i32")
        if value.element != "i32":
            return self.convert("arith.extui", value, "i32")
        return value

    def summary(self, value):
        """A scalar of i32, to which each element adds a multiple of its own."""
        value = self.bits(value)
        for dim in range(len(value.shape)):
            place = self.define(f"tile.range dim {dim} : {tile(value.shape, 'i32')}",
                                value.shape, "i32", False)
            odd = self.binary("arith.muli", place,
                              self.constant(2 * ODD, "i32", value.shape), False)
            odd = self.binary("arith.addi", odd,
                              self.constant(1, "i32", value.shape), False)
            value = self.binary("arith.muli", value, odd, False)
        while value.shape:
            value = self.reduction("sum", value)
        return value

    def show(self, value):
        """Makes a value part of the digest."""
        if value.shape == self.digest.shape:
            bits = self.bits(value)
        else:
            bits = self.summary(value)
            if self.digest.shape:
                bits = self.splat_of(bits, self.digest.shape)
        total = self.binary("arith.muli", self.digest,
                            self.constant(ODD, "i32", self.digest.shape), False)
        self.digest = self.binary("arith.addi", total, bits, False)

    def show_unused(self):
        """All values of the region that nothing uses."""
        for value in [v for v in self.scopes[-1] if not v.uses]:
            if value.element in INTS + FLOATS + ["i1", "index"]:
                self.show(value)
