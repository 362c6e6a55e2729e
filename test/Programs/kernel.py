# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the kernels of a program (program.py).

The programs of a kernel divide the rows of its output among themselves: each
computes tiles in a loop over its rows and stores them, here or on another rank. What
it reads does not change while the kernel runs, or is its own, or came by a signal or
barrier. So the result depends on no order, and only ops have to be right.

Ops are drawn such that their result is defined: divisors are not 0, shifts less than
the width, floats that become integers fit. Values that no other op uses are added to
what is stored.
"""

INTS = ["i32", "i8", "i16", "i64"]
FLOATS = ["f32", "f16", "bf16", "f64"]
SHAPES = {1: [(16,), (4,), (64,), (128,)],
          2: [(4, 16), (2, 8), (8, 8), (1, 32), (16, 16), (8, 2)],
          3: [(2, 2, 8), (1, 4, 4), (2, 1, 16)]}
MOST_DEPTH = 2


def width(element):
    return int(element.strip("bfi")) if element != "index" else 64


def is_float(element):
    return element in FLOATS


def tile(shape, element):
    return "tensor<%s%s>" % ("".join(f"{n}x" for n in shape), element) if shape \
        else element


class Buffer:
    """A memref of a kernel or of @main, and the extents that it has."""

    def __init__(self, name, element, extents, type_=None):
        self.name, self.element, self.extents = name, element, list(extents)
        self.type = type_ or "memref<%s%s, #iris.symmetric>" % (
            "?x" * len(extents), element)
        # Never written after it was filled: sums of products are exact.
        self.is_small = True


class Value:
    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, tuple(shape), element
        self.type, self.uses = tile(self.shape, element), 0


class Kernel:
    def __init__(self, choices, name, inputs, output, shift):
        """Reads `inputs` of any rank; stores to `output` of the rank that is
        `shift` after this one."""
        self.choices, self.name, self.inputs = choices, name, inputs
        self.output, self.shift = output, shift
        self.lines, self.scopes, self.count, self.depth = [], [[]], 0, 0
        self.known = {}      # constants, by type and value
        self.constants = []  # their lines
        self.extra = []      # buffers of the exchange: name, kind
        self.views = []      # of inputs, in scope
        self.warps = choices.pick([0, 1, 2, 8])  # 0: the default
        self.has_rows = False  # inside of the loop over rows
        self.shape = choices.pick(SHAPES[len(output.extents)])
        self.body()

    # Emission -----------------------------------------------------------------

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
        """One of the type, or a constant."""
        found = self.visible(lambda v: (v.shape, v.element) == (shape, element))
        if found and not self.choices.chance(10):
            return self.choices.pick(found[:12])
        number = self.choices.pick([1, 0, 3, -1, 100, -7])
        if is_float(element):
            number = self.choices.pick(["1.0", "0.5", "-3.0", "0.0"])
        if element == "i1":
            number = self.choices.pick(["true", "false"])
        return self.constant(number, element, shape)

    def unary(self, op, value, suffix="", keep=True):
        return self.define(f"{op} {self.use(value)}{suffix} : {value.type}",
                           value.shape, value.element, keep)

    def binary(self, op, left, right, keep=True):
        return self.define(f"{op} {self.use(left)}, {self.use(right)} : "
                           f"{left.type}", left.shape, left.element, keep)

    def convert(self, op, value, element, keep=False):
        return self.define(f"{op} {self.use(value)} : {value.type} to "
                           f"{tile(value.shape, element)}", value.shape, element,
                           keep)

    # Conversions --------------------------------------------------------------

    def finite(self, value):
        """NaN becomes 0."""
        test = self.define(f"arith.cmpf oeq, {self.use(value)}, {value.name} : "
                           f"{value.type}", value.shape, "i1", False)
        zero = self.constant("0.0", value.element, value.shape)
        return self.select(test, value, zero)

    def select(self, test, one, other, keep=False):
        condition = tile(test.shape, "i1")
        types = condition + ", " + one.type if test.shape else one.type
        return self.define(f"arith.select {self.use(test)}, {self.use(one)}, "
                           f"{self.use(other)} : {types}", one.shape, one.element,
                           keep)

    def cast(self, value, element, keep=False):
        """The value in another type, with a defined result."""
        source = value.element
        if source == element:
            return value
        if source == "i1":
            value = self.convert("arith.extui", value, "i32")
        elif source == "index":
            value = self.convert("arith.index_cast", value, "i32")
        if element == "index":
            value = self.cast(value, "i32") if is_float(value.element) else value
            return self.convert("arith.index_cast", value, "index", keep)
        source = value.element
        if source == element:
            return value
        if not is_float(source) and not is_float(element):
            op = "arith.trunci" if width(element) < width(source) else \
                self.choices.pick(["arith.extsi", "arith.extui"])
            return self.convert(op, value, element, keep)
        if not is_float(source):
            op = self.choices.pick(["arith.sitofp", "arith.uitofp"])
            return self.convert(op, value, element, keep)
        if is_float(element):
            if width(element) == width(source):
                value = self.convert("arith.extf", value, "f32")
                source = "f32"
            op = "arith.extf" if width(element) > width(source) else \
                "arith.truncf"
            return self.convert(op, value, element, keep)
        value = self.finite(value)
        most = self.constant("100.0", source, value.shape)
        least = self.constant("-100.0", source, value.shape)
        value = self.binary("arith.minimumf", value, most, False)
        value = self.binary("arith.maximumf", value, least, False)
        return self.convert("arith.fptosi", value, element, keep)

    def index(self, bound):
        """A scalar from 0 to bound - 1, which data may decide."""
        found = self.visible(lambda v: not v.shape and not is_float(v.element)
                             and v.element != "i1")
        if not found or not self.choices.chance(50):
            return self.constant(self.choices.number(bound))
        value = self.cast(self.choices.pick(found[:6]), "index")
        return self.binary("arith.remui", value, self.constant(bound), False)

    def flag(self):
        """A scalar i1."""
        found = self.visible(lambda v: v.shape == () and v.element in INTS +
                             FLOATS + ["index"])
        if not found:
            return self.constant("true", "i1")
        value = self.choices.pick(found[:6])
        return self.compare(value, self.value((), value.element))

    def compare(self, left, right, keep=False):
        if is_float(left.element):
            op = "arith.cmpf " + self.choices.pick(
                ["olt", "oeq", "une", "ole", "ult", "uno", "ogt", "uge", "ord"])
        else:
            op = "arith.cmpi " + self.choices.pick(
                ["slt", "eq", "ne", "ult", "sge", "ugt", "sle", "uge"])
        return self.define(f"{op}, {self.use(left)}, {self.use(right)} : "
                           f"{left.type}", left.shape, "i1", keep)

    def rank(self):
        """This one, or one after it."""
        step = self.choices.number(3)
        sum_ = self.define(f"arith.addi %rank, {self.constant(step).name} : index",
                           (), "index", False)
        return self.define(f"arith.remui {sum_.name}, %ranks : index", (), "index",
                           False).name

    # Arithmetic ---------------------------------------------------------------

    def operand(self):
        """A value to compute with."""
        found = self.visible(lambda v: v.element != "i1" and (
            v.shape or v.element != "index"))
        if not found:
            return self.load()
        return self.choices.pick(found[:8])

    def arithmetic(self):
        """A few ops, of which each may use the ones before."""
        for _ in range(1 + self.choices.number(6)):
            self.operation()

    def operation(self):
        left = self.operand()
        right = self.value(left.shape, left.element)
        if is_float(left.element):
            return self.float_op(left, right)
        if left.element == "index":
            return self.binary(self.choices.pick(
                ["arith.addi", "arith.muli", "arith.minsi", "arith.maxui"]), left,
                right)
        return self.integer_op(left, right)

    def integer_op(self, left, right):
        kind = self.choices.number(8)
        if kind < 4:
            return self.binary("arith." + self.choices.pick(
                ["addi", "subi", "muli", "xori", "andi", "ori", "minsi", "maxsi",
                 "minui", "maxui"]), left, right)
        if kind == 4:
            most = self.constant(width(left.element) - 1, left.element, left.shape)
            amount = self.binary("arith.andi", right, most, False)
            return self.binary("arith." + self.choices.pick(
                ["shli", "shrui", "shrsi"]), left, amount)
        if kind == 5:
            one = self.constant(1, left.element, left.shape)
            divisor = self.binary("arith.ori", right, one, False)
            return self.binary("arith." + self.choices.pick(
                ["divui", "remui", "ceildivui"]), left, divisor)
        if kind == 6:
            seven = self.constant(7, left.element, left.shape)
            one = self.constant(1, left.element, left.shape)
            divisor = self.binary("arith.andi", right, seven, False)
            divisor = self.binary("arith.addi", divisor, one, False)
            return self.binary("arith." + self.choices.pick(
                ["divsi", "remsi", "floordivsi", "ceildivsi"]), left, divisor)
        return self.unary("math." + self.choices.pick(["ctpop", "ctlz", "cttz"]),
                          left)

    def float_op(self, left, right):
        kind = self.choices.number(8)
        if kind < 5:
            return self.binary("arith." + self.choices.pick(
                ["addf", "mulf", "subf", "minimumf", "maximumf", "divf"]), left,
                right)
        if kind == 5:
            third = self.value(left.shape, left.element)
            return self.define(f"math.fma {self.use(left)}, {self.use(right)}, "
                               f"{self.use(third)} : {left.type}", left.shape,
                               left.element)
        if kind == 6:
            return self.unary("arith.negf", left)
        return self.unary("math." + self.choices.pick(
            ["absf", "floor", "ceil", "trunc", "round", "roundeven", "sqrt"]), left)

    def converted(self):
        value = self.operand()
        if not value.shape and self.choices.chance(30):
            return self.cast(value, "index", True)
        return self.cast(value, self.choices.pick(INTS + FLOATS), True)

    def selected(self):
        left = self.operand()
        test = self.compare(left, self.value(left.shape, left.element))
        other = self.value(left.shape, left.element)
        return self.select(test, left, other, True)

    # Shapes -------------------------------------------------------------------

    def tile_value(self, rank=None):
        found = self.visible(lambda v: v.shape and v.element in INTS + FLOATS and
                             rank in (None, len(v.shape)))
        return self.choices.pick(found[:6]) if found else None

    def reduced(self):
        value = self.tile_value() or self.load()
        dim = self.choices.number(len(value.shape))
        kind = self.choices.pick(["sum", "max", "min"])
        shape = value.shape[:dim] + value.shape[dim + 1:]
        return self.define(f"tile.reduce {kind} {self.use(value)} dim {dim} : "
                           f"{value.type} -> {tile(shape, value.element)}", shape,
                           value.element)

    def widened(self):
        """Repeats a tile of one dimension less."""
        value = self.tile_value(len(self.shape) - 1) if len(self.shape) > 1 \
            else None
        if not value:
            return self.splat()
        fits = [d for d in range(len(self.shape))
                if self.shape[:d] + self.shape[d + 1:] == value.shape]
        if not fits:
            return self.splat()
        dim = self.choices.pick(fits)
        shape = value.shape[:dim] + (1,) + value.shape[dim:]
        thin = self.define(f"tile.expand_dims {self.use(value)} dim {dim} : "
                           f"{value.type} -> {tile(shape, value.element)}", shape,
                           value.element, False)
        return self.define(f"tile.broadcast {self.use(thin)} : {thin.type} -> "
                           f"{tile(self.shape, value.element)}", self.shape,
                           value.element)

    def splat(self):
        found = self.visible(lambda v: not v.shape and v.element in INTS + FLOATS)
        if not found:
            return self.range()
        value = self.choices.pick(found[:6])
        return self.define(f"tensor.splat {self.use(value)} : "
                           f"{tile(self.shape, value.element)}", self.shape,
                           value.element)

    def range(self):
        element = self.choices.pick(["i32", "i64"])
        dim = self.choices.number(len(self.shape))
        return self.define(f"tile.range dim {dim} : {tile(self.shape, element)}",
                           self.shape, element)

    def transposed(self):
        value = self.tile_value(2)
        if not value:
            return self.range()
        shape = value.shape[::-1]
        return self.define(f"tile.transpose {self.use(value)} [1, 0] : {value.type} "
                           f"-> {tile(shape, value.element)}", shape, value.element)

    # Memory -------------------------------------------------------------------

    def source(self, accept=lambda b: True):
        found = [b for b in self.views[::-1] + self.inputs if accept(b)]
        return self.choices.pick(found) if found else None

    def offset(self, extent):
        """Also before the buffer and beyond its end."""
        at = self.index(extent + 4)
        two = self.constant(2)
        return self.binary("arith.subi", at, two, False).name

    def window(self, buffer):
        shapes = SHAPES[len(buffer.extents)]
        if len(buffer.extents) == len(self.shape):
            shapes = [self.shape] + shapes
        return self.choices.pick(shapes), ", ".join(
            self.offset(n) for n in buffer.extents)

    def load(self):
        buffer = self.source()
        shape, at = self.window(buffer)
        result = tile(shape, buffer.element)
        other = ""
        if self.choices.chance(30):
            other = " else " + self.use(self.value((), buffer.element))
        if self.choices.chance(40):
            return self.define(f"iris.load %ctx, {buffer.name}[{at}] from "
                               f"{self.rank()}{other} : {buffer.type} -> {result}",
                               shape, buffer.element)
        return self.define(f"tile.load {buffer.name}[{at}]{other} : {buffer.type} "
                           f"-> {result}", shape, buffer.element)

    def element(self):
        buffer = self.source()
        at = ", ".join(self.index(n).name for n in buffer.extents)
        return self.define(f"memref.load {buffer.name}[{at}] : {buffer.type}", (),
                           buffer.element)

    def gathered(self):
        buffer = self.source()
        count, shape = len(buffer.extents), self.shape
        tiles = []
        for n in buffer.extents:
            value = self.value(shape, self.choices.pick(["i32", "i16", "i64"]))
            at = self.convert("arith.index_cast", value, "index")
            bound = self.constant(n + 2, "index", shape)
            tiles.append(self.binary("arith.remui", at, bound, False).name)
        indices = ", ".join([tile(shape, "index")] * count)
        other = mask = ""
        if self.choices.chance(40):
            value = self.value(shape, "i32")
            mask = " mask " + self.use(self.compare(
                value, self.value(shape, "i32")))
        if self.choices.chance(40):
            other = " else " + self.use(self.value((), buffer.element))
        where, op = "", "tile.gather "
        if self.choices.chance(40):
            where, op = f" from {self.rank()}", "iris.gather %ctx, "
        return self.define(f"{op}{buffer.name}[{', '.join(tiles)}]{where}{mask}"
                           f"{other} : {buffer.type}, {indices} -> "
                           f"{tile(shape, buffer.element)}", shape, buffer.element)

    def view(self):
        """Part of an input, or an input in another shape."""
        buffer = self.source(lambda b: "strided" not in b.type)
        if not buffer:
            return
        extents, name, space = buffer.extents, self.new(), "#iris.symmetric"
        kind = self.choices.number(3)
        if kind == 1 and len(extents) == 2:
            view = Buffer(name, buffer.element, extents[::-1],
                          f"memref<?x?x{buffer.element}, strided<[1, ?]>, {space}>")
            self.add(f"{name} = memref.transpose {buffer.name} (i, j) -> (j, i) : "
                     f"{buffer.type} to {view.type}")
        elif kind == 2 and len(extents) > 1:
            size = 1
            for n in extents:
                size *= n
            view = Buffer(name, buffer.element, [size])
            dims = ", ".join(str(d) for d in range(len(extents)))
            self.add(f"{name} = memref.collapse_shape {buffer.name} [[{dims}]] : "
                     f"{buffer.type} into {view.type}")
        else:
            steps = [self.choices.pick([1, 1, 2]) for _ in extents]
            starts = [self.index(n).name for n in [max(n // 2, 1) for n in extents]]
            sizes = [max((n - max(n // 2, 1)) // s, 1) for n, s in zip(
                extents, steps)]
            strides = ", ".join(["?"] * (len(extents) - 1) + [str(steps[-1])])
            view = Buffer(name, buffer.element, sizes,
                          "memref<%s%s, strided<[%s], offset: ?>, %s>" % (
                              "".join(f"{n}x" for n in sizes), buffer.element,
                              strides, space))
            self.add(f"{name} = memref.subview {buffer.name}[{', '.join(starts)}] "
                     f"[{', '.join(map(str, sizes))}] "
                     f"[{', '.join(map(str, steps))}] : {buffer.type} to {view.type}")
        view.is_small = buffer.is_small
        self.views.append(view)

    def scratch(self):
        """Memory of the program."""
        value = self.choices.pick(self.visible(
            lambda v: not v.shape and v.element in INTS + FLOATS)[:6] or
            [self.element()])
        memory, at = self.new(), self.index(4).name
        type_ = f"memref<4x{value.element}>"
        self.add(f"{memory} = memref.alloca() : {type_}")
        for n in range(4):
            other = self.value((), value.element)
            self.add(f"memref.store {self.use(other)}, {memory}"
                     f"[{self.constant(n).name}] : {type_}")
        self.add(f"memref.store {self.use(value)}, {memory}[{at}] : {type_}")
        return self.define(f"memref.load {memory}[{self.index(4).name}] : {type_}",
                           (), value.element)

    def called(self):
        """Of a function of the kernel's module, which program.py has."""
        value = self.cast(self.operand(), "i32")
        while value.shape:
            value = self.define(f"tile.reduce max {self.use(value)} dim 0 : "
                                f"{value.type} -> {tile(value.shape[1:], 'i32')}",
                                value.shape[1:], "i32", False)
        return self.define(f"func.call @mix({self.use(value)}, {self.index(9).name}) "
                           ": (i32, index) -> i32", (), "i32")

    def matmul(self):
        element = self.choices.pick(["f16", "i8", "bf16"])

        def fits(buffer):
            return (len(buffer.extents) == 2 and buffer.is_small and
                    buffer.element == element)
        a, b = self.source(fits), self.source(fits)
        if not a:
            return self.load()
        k = self.constant(self.choices.pick([16, 5, 32, 40]))
        at = [self.index(n).name for n in a.extents + b.extents]
        result = "i32" if element == "i8" else "f32"
        self.warps = 0
        return self.define(f"tile.matmul {a.name}[{at[0]}, {at[1]}], "
                           f"{b.name}[{at[2]}, {at[3]}] k({k.name}) block(32) : "
                           f"{a.type}, {b.type} -> {tile((16, 16), result)}",
                           (16, 16), result)

    def own_rows(self):
        """Offsets in the output of this tile's rows."""
        zero = self.constant(0).name
        return ", ".join(["%row"] + [zero] * (len(self.shape) - 1))

    def stored(self, value):
        """Stores a value of the output's shape and element to own rows."""
        at, out = self.own_rows(), self.output
        if self.shift is None:
            self.add(f"tile.store {self.use(value)}, {out.name}[{at}] : "
                     f"{value.type}, {out.type}")
            return
        self.add(f"iris.store %ctx, {self.use(value)}, {out.name}[{at}] to %peer : "
                 f"{value.type}, {out.type}")

    def early_store(self):
        """A store whose result is read again, or part of which is overwritten."""
        if not self.has_rows:
            return None
        self.stored(self.cast(self.value(self.shape, self.output.element),
                              self.output.element))
        if self.shift is None:
            out = self.output
            return self.define(f"tile.load {out.name}[{self.own_rows()}] : "
                               f"{out.type} -> {tile(self.shape, out.element)}",
                               self.shape, out.element)
        return None

    def scattered(self):
        """Stores to own rows in another order of the last dimension."""
        if not self.has_rows:
            return
        out, shape = self.output, self.shape
        value = self.cast(self.value(shape, out.element), out.element)
        tiles, type_ = [], tile(shape, "index")
        for dim, extent in enumerate(shape):
            at = self.define(f"tile.range dim {dim} : {type_}", shape, "index",
                             False)
            if dim == len(shape) - 1:
                odd = self.constant(self.choices.pick([1, 3, 5]), "index", shape)
                more = self.constant(self.choices.number(8), "index", shape)
                mask = self.constant(extent - 1, "index", shape)
                at = self.binary("arith.muli", at, odd, False)
                at = self.binary("arith.addi", at, more, False)
                at = self.binary("arith.andi", at, mask, False)
            if dim == 0:
                row = self.define(f"tensor.splat %row : {type_}", shape, "index",
                                  False)
                at = self.binary("arith.addi", at, row, False)
            tiles.append(at.name)
        mask = ""
        if self.choices.chance(40):
            other = self.value(shape, out.element)
            mask = " mask " + self.use(self.compare(value, other))
        op, where = ("tile.scatter ", "") if self.shift is None else (
            "iris.scatter %ctx, ", " to %peer")
        self.add(f"{op}{self.use(value)}, {out.name}[{', '.join(tiles)}]{where}"
                 f"{mask} : {value.type}, {out.type}, "
                 f"{', '.join([type_] * len(shape))}")

    def chosen(self):
        """A vector of elements of one row of a buffer."""
        buffer = self.source(lambda b: b.extents[-1] >= 4 and b.element != "bf16" and
                             "strided" not in b.type)
        if not buffer:
            return self.element()
        at = ", ".join(self.index(n).name for n in buffer.extents[:-1] +
                       [buffer.extents[-1] - 3])
        vector, element = f"vector<4x{buffer.element}>", buffer.element
        name, mixed = self.new(), self.new()
        self.add(f"{name} = vector.load {buffer.name}[{at}] : {buffer.type}, {vector}")
        order = ", ".join(str(self.choices.number(8)) for _ in range(4))
        self.add(f"{mixed} = vector.shuffle {name}, {name} [{order}] : {vector}, "
                 f"{vector}")
        total = self.new()
        op = "arith.maximumf" if is_float(element) else "arith.subi"
        self.add(f"{total} = {op} {mixed}, {name} : {vector}")
        return self.define(f"vector.extract {total}[{self.choices.number(4)}] : "
                           f"{element} from {vector}", (), element)

    def copied(self):
        """Rows of an input of the same type, without a tile."""
        out = self.output
        if not self.has_rows:
            return
        buffer = self.source(lambda b: (b.element, len(b.extents)) == (
            out.element, len(out.extents)))
        if not buffer:
            return
        at = ", ".join(self.offset(n) for n in buffer.extents)
        shape = ", ".join(map(str, self.shape))
        kind = self.choices.number(2)
        op, where = ("get", f"from {self.rank()}") if self.shift is None else (
            ("put", "to %peer") if kind else
            ("copy", f"from {self.rank()} to %peer"))
        self.add(f"iris.{op} %ctx, {buffer.name}[{at}], {out.name}"
                 f"[{self.own_rows()}] {where} shape [{shape}] : {buffer.type}, "
                 f"{out.type}")

    # Control flow -------------------------------------------------------------

    def region(self, names=()):
        self.scopes.append(list(names))
        self.depth += 1
        return len(self.views)

    def end(self, views):
        del self.views[views:]
        self.scopes.pop()
        self.depth -= 1

    def carried(self):
        """Values that a region gives: none, one or two."""
        found = self.visible(lambda v: v.element != "i1")[:6]
        return [self.choices.pick(found)
                for _ in range(1 + self.choices.number(2))] if found else []

    def yields(self, carried):
        return [self.value(v.shape, v.element) for v in carried]

    def words(self, values):
        return ", ".join(self.use(v) for v in values)

    def results(self, carried):
        if not carried:
            return "", []
        name = self.new()
        text = name + (f":{len(carried)}" if len(carried) > 1 else "") + " = "
        return text, [Value(f"{name}#{n}" if len(carried) > 1 else name, v.shape,
                            v.element) for n, v in enumerate(carried)]

    def branch(self):
        carried, test = self.carried(), self.flag()
        text, results = self.results(carried)
        types = ", ".join(v.type for v in carried)
        self.add(f"{text}scf.if {self.use(test)}"
                 f"{' -> (%s)' % types if carried else ''} {{")
        for n in range(2):
            views = self.region()
            self.statements(5)
            self.add(f"scf.yield {self.words(self.yields(carried))} : {types}"
                     if carried else "scf.yield")
            self.end(views)
            self.add("} else {" if n == 0 else "}")
        self.scopes[-1] += results

    def loop(self):
        carried = self.carried()
        text, results = self.results(carried)
        zero, one = self.constant(0).name, self.constant(1).name
        bound = (self.binary("arith.remui", self.cast(self.flag(), "index"),
                             self.constant(5), False) if self.choices.chance(30)
                 else self.constant(1 + self.choices.number(4)))
        inner = [Value(self.new(), v.shape, v.element) for v in carried]
        counter = Value(self.new(), (), "index")
        names = ", ".join(f"{a.name} = {self.use(v)}"
                          for a, v in zip(inner, carried))
        types = ", ".join(v.type for v in carried)
        header = f" iter_args({names}) -> ({types})" if carried else ""
        kind = "scf"
        if self.choices.chance(25):
            kind = "affine"
            self.add(f"{text}affine.for {counter.name} = 0 to "
                     f"{1 + self.choices.number(4)}{header} {{")
        else:
            self.add(f"{text}scf.for {counter.name} = {zero} to {bound.name} step "
                     f"{one}{header} {{")
        views = self.region([counter] + inner)
        self.statements(4)
        if carried:
            self.add(f"{kind}.yield {self.words(self.yields(carried))} : {types}")
        self.end(views)
        self.add("}")
        self.scopes[-1] += results

    def repeat(self):
        """A while loop of at most 4 iterations."""
        carried = self.carried()
        limit, one = self.constant(4), self.constant(1)
        counter = Value(self.new(), (), "index")
        first = [Value(self.new(), v.shape, v.element) for v in carried]
        second = [Value(self.new(), v.shape, v.element) for v in carried]
        again = Value(self.new(), (), "index")
        types = ", ".join(["index"] + [v.type for v in carried])
        text, results = self.results([again] + carried)
        names = ", ".join([f"{counter.name} = {self.constant(0).name}"] + [
            f"{a.name} = {self.use(v)}" for a, v in zip(first, carried)])
        self.add(f"{text}scf.while ({names}) : ({types}) -> ({types}) {{")
        views = self.region([counter] + first)
        self.statements(2)
        less = self.define(f"arith.cmpi ult, {counter.name}, {limit.name} : index",
                           (), "i1", False)
        test = self.binary("arith.andi", less, self.flag(), False)
        passed = self.yields(carried)
        self.add(f"scf.condition({test.name}) " + ", ".join(
            [counter.name] + [self.use(v) for v in passed]) + f" : {types}")
        self.end(views)
        self.add("} do {")
        self.add("^bb0(" + ", ".join(f"{v.name}: {v.type}"
                                     for v in [again] + second) + "):")
        views = self.region([again] + second)
        self.statements(3)
        next_ = self.define(f"arith.addi {again.name}, {one.name} : index", (),
                            "index", False)
        self.add("scf.yield " + ", ".join(
            [next_.name] + [self.use(v) for v in self.yields(carried)]) +
            f" : {types}")
        self.end(views)
        self.add("}")
        self.scopes[-1] += results

    def switch(self):
        element = self.choices.pick(["i32", "f32", "index"])
        name = self.new()
        self.add(f"{name} = scf.index_switch {self.index(4).name} -> {element}")
        for case in ("case 1", "case 2", "default"):
            self.add(case + " {")
            views = self.region()
            self.statements(2)
            self.add(f"scf.yield {self.use(self.value((), element))} : {element}")
            self.end(views)
            self.add("}")
        self.scopes[-1].append(Value(name, (), element))

    def statements(self, most):
        simple = [self.arithmetic, self.load, self.arithmetic, self.converted,
                  self.arithmetic, self.arithmetic, self.arithmetic,
                  self.arithmetic, self.selected, self.element, self.reduced,
                  self.splat, self.range, self.widened, self.transposed,
                  self.gathered, self.view, self.scratch, self.matmul,
                  self.early_store, self.copied, self.scattered, self.chosen, self.called]
        nested = [self.branch, self.loop, self.repeat, self.switch]
        for _ in range(self.choices.number(most + 1)):
            if self.depth < MOST_DEPTH and self.choices.chance(25):
                self.choices.pick(nested)()
            else:
                self.choices.pick(simple)()

    # The kernel ---------------------------------------------------------------

    def exchange(self):
        """Sends a tile to the peer program of another rank."""
        kind = self.choices.number(4)
        if kind == 0:
            return
        shape = self.choices.pick([(16,), (64,)])
        element = self.choices.pick(INTS + FLOATS)
        found = self.visible(lambda v: v.shape == shape and v.element in
                             INTS + FLOATS)
        source = found[0] if found else self.define(
            f"tile.range : {tile(shape, 'i32')}", shape, "i32")
        sent = self.cast(source, element)
        mark = self.cast(self.define(
            "arith.addi %pid, %rank : index", (), "index", False), "i32")
        marks = self.define(f"tensor.splat {self.use(mark)} : "
                            f"{tile(shape, 'i32')}", shape, "i32", False)
        marked = self.cast(marks, element)
        sent = self.binary("arith.addf" if is_float(element) else "arith.addi",
                           sent, marked, False)
        if kind == 3:
            self.packets(sent)
            return
        box = Buffer(f"%box{len(self.extra)}", element, [4, shape[0]])
        word = Buffer(f"%word{len(self.extra)}", "i32", [4096])
        self.extra += [box, word]
        zero = self.constant(0).name
        row = tile((1,) + shape, element)
        thin = self.define(f"tile.expand_dims {self.use(sent)} dim 0 : {sent.type} -> "
                           f"{row}", (1,) + shape, element, False)
        if kind == 1:
            peer, one = self.rank(), self.constant(1, "i32").name
            self.add(f"iris.store %ctx, {self.use(thin)}, {box.name}[%pid, {zero}] "
                     f"to {peer} : {row}, {box.type}")
            self.add(f"iris.signal add %ctx, {one}, {word.name}[%pid] to {peer} : "
                     f"i32, {word.type}")
            self.add(f"{self.new()} = iris.wait %ctx, {word.name}[%pid] ge {one} : "
                     f"i32, {word.type}")
            got = self.define(f"tile.load {box.name}[%pid, {zero}] : {box.type} -> "
                              f"{row}", (1,) + shape, element)
        else:
            self.add(f"tile.store {self.use(thin)}, {box.name}[%pid, {zero}] : {row}, "
                     f"{box.type}")
            self.add(f"iris.barrier %ctx, {word.name} : {word.type}")
            got = self.define(f"iris.load %ctx, {box.name}[%pid, {zero}] from "
                              f"{self.rank()} : {box.type} -> {row}", (1,) + shape,
                              element)
        self.define(f"tile.reduce sum {self.use(got)} dim 0 : {got.type} -> "
                    f"{tile(shape, element)}", shape, element)

    def packets(self, sent):
        """Sends the tile with a flag in every word."""
        words = sent.shape[0] * width(sent.element) // 32
        box = Buffer(f"%box{len(self.extra)}", "i32", [4 * 2 * words])
        self.extra.append(box)
        at = self.binary("arith.muli", Value("%pid", (), "index"),
                         self.constant(2 * words), False).name
        flag = self.constant(1, "i32").name
        self.add(f"iris.packet_store %ctx, {self.use(sent)}, {box.name}[{at}] to "
                 f"{self.rank()} flag({flag}) : {sent.type}, {box.type}")
        self.define(f"iris.packet_load %ctx, {box.name}[{at}] flag({flag}) : "
                    f"{box.type} -> {sent.type}", sent.shape, sent.element)

    def folded(self):
        """The last value of the output's shape, with what nothing uses."""
        out = self.output.element
        total = self.cast(self.value(self.shape, out), out)
        for value in [v for v in self.scopes[-1] if not v.uses][-6:]:
            while value.shape and value.shape != self.shape:
                shape = value.shape[1:]
                if value.element == "i1":
                    value = self.cast(value, "i8")
                value = self.define(f"tile.reduce max {self.use(value)} dim 0 : "
                                    f"{value.type} -> {tile(shape, value.element)}",
                                    shape, value.element, False)
            if is_float(value.element):
                value = self.finite(value)
            value = self.cast(value, out)
            if not value.shape:
                value = self.define(f"tensor.splat {self.use(value)} : "
                                    f"{tile(self.shape, out)}", self.shape, out,
                                    False)
            total = self.binary("arith.addf" if is_float(out) else "arith.addi",
                                total, value, False)
        return total

    def accumulate(self):
        """An atomic whose result does not depend on the order."""
        counter = Buffer(f"%sum{len(self.extra)}", self.choices.pick(["i32", "i64"]),
                         [4])
        self.extra.append(counter)
        kind = self.choices.pick(["add", "xor", "or", "max", "umin", "and"])
        value = self.cast(self.value((), counter.element), counter.element)
        at = self.index(4).name
        self.add(f"{self.new()} = iris.atomic_rmw {kind} %ctx, {self.use(value)}, "
                 f"{counter.name}[{at}] to {self.rank()} : {counter.element}, "
                 f"{counter.type}")

    def body(self):
        rows = self.output.extents[0]
        self.statements(2)
        self.exchange()
        tiles = -(-rows // self.shape[0])
        self.add(f"scf.for %t = %pid to {self.constant(tiles).name} step %programs {{")
        views = self.region([Value("%t", (), "index")])
        self.add(f"%row = arith.muli %t, {self.constant(self.shape[0]).name} : index")
        self.has_rows = True
        self.statements(20)
        self.stored(self.folded())
        if self.choices.chance(30):
            self.accumulate()
        self.end(views)
        self.add("}")

    def text(self):
        arguments = self.inputs + [self.output] + self.extra
        names = ", ".join(f"{b.name}: {b.type}" for b in arguments)
        warps = (f" attributes {{iris.num_warps = {self.warps} : i32}}"
                 if self.warps else "")
        head = [f"  gpu.func @{self.name}(%ctx: !iris.ctx, {names}) kernel{warps} {{"]
        head += ["    %rank = iris.rank %ctx : index",
                 "    %ranks = iris.num_ranks %ctx : index",
                 "    %x = gpu.block_id x",
                 "    %y = gpu.block_id y",
                 "    %columns = gpu.grid_dim x",
                 "    %lines = gpu.grid_dim y",
                 "    %before = arith.muli %y, %columns : index",
                 "    %pid = arith.addi %before, %x : index",
                 "    %programs = arith.muli %columns, %lines : index"]
        shift = [f"    %after = arith.addi %rank, "
                 f"{self.constant(self.shift or 0).name} : index",
                 "    %peer = arith.remui %after, %ranks : index"]
        return "\n".join(head + self.constants + shift + self.lines
                         + ["    gpu.return", "  }"])
