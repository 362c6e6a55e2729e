# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses of random kernels to buffers, and views of these."""
from elements import FLOATS, INTS, is_float, tile, width
from shapes import Shapes
from values import SHAPES, Buffer

LANES = 4
# The shape that every target computes with 4 warps, and its k-block.
MATMUL, BLOCK = (32, 32), 64


def product(numbers):
    total = 1
    for number in numbers:
        total *= number
    return total


class Accesses(Shapes):
    # Positions ------------------------------------------------------------------

    def index(self, bound):
        """A scalar from 0 to bound - 1, which data may decide."""
        found = self.visible(lambda v: not v.shape and not is_float(v.element)
                             and v.element != "i1")
        if not found or not self.choices.chance(50):
            return self.constant(self.choices.number(bound))
        value = self.cast(self.choices.pick(found[:6]), "index")
        return self.binary("arith.remui", value, self.constant(bound), False)

    def rank(self):
        """This one, or one after it, of the kernel's group."""
        step = self.choices.number(3)
        me = "%me" if self.group else "%rank"
        sum_ = self.define(f"arith.addi {me}, {self.constant(step).name} : index",
                           (), "index", False)
        place = self.define(f"arith.remui {sum_.name}, %ranks : index", (), "index",
                            False)
        if self.group:
            place = self.define(f"iris.group_member %ctx, {place.name} : index", (),
                                "index", False)
        return place.name

    def offset(self, extent, length=1):
        """Of a window of `length` elements: also before the buffer and beyond its end,
        and often at one of them."""
        if self.choices.chance(40):
            return self.constant(self.choices.pick(
                [0, extent - length, extent - length + 1, extent - length + 1, -1,
                 1 - length])).name
        at = self.index(extent + 4)
        two = self.constant(2)
        return self.binary("arith.subi", at, two, False).name

    def source(self, accept=lambda b: True, remote=False):
        found = [b for b in self.views[::-1] + self.inputs
                 if accept(b) and (b.is_remote or not remote)]
        return self.choices.pick(found) if found else None

    def window(self, buffer):
        shapes = SHAPES[len(buffer.extents)]
        if len(buffer.extents) == len(self.shape):
            shapes = [self.shape] * 4 + shapes
        shape = self.choices.pick(shapes)
        return shape, ", ".join(map(self.offset, buffer.extents, shape))

    def coordinates(self, buffer, shape):
        """Tiles of indices, of which some are before the buffer or beyond its end."""
        tiles = []
        for n in buffer.extents:
            value = self.operand(self.choices.pick(["i32", "i16", "i64"]), shape)
            at = self.convert("arith.index_cast", value, "index")
            bound = self.constant(n + 3, "index", shape)
            at = self.binary("arith.remui", at, bound, False)
            two = self.constant(2, "index", shape)
            tiles.append(self.binary("arith.subi", at, two, False).name)
        return ", ".join(tiles), ", ".join([tile(shape, "index")] * len(tiles))

    def mask(self, shape):
        if not self.choices.chance(50):
            return ""
        return " mask " + self.use(self.operand("i1", shape))

    def other(self, element):
        if not self.choices.chance(50):
            return ""
        return " else " + self.use(self.value((), element))

    # Loads ------------------------------------------------------------------------

    def fresh(self, element, shape):
        """A tile of a buffer, or a constant."""
        buffer = self.source(lambda b: (b.element, len(b.extents)) == (
            element, len(shape))) if shape else None
        if not buffer:
            return super().fresh(element, shape)
        at = ", ".join(map(self.offset, buffer.extents, shape))
        return self.define(f"tile.load {buffer.name}[{at}] : {buffer.type} -> "
                           f"{tile(shape, element)}", shape, element)

    def load(self):
        remote = self.choices.chance(40)
        buffer = self.source(remote=remote)
        if not buffer:
            return self.range()
        shape, at = self.window(buffer)
        result, other = tile(shape, buffer.element), self.other(buffer.element)
        if remote:
            return self.define(f"iris.load %ctx, {buffer.name}[{at}] from "
                               f"{self.rank()}{other} : {buffer.type} -> {result}",
                               shape, buffer.element)
        return self.define(f"tile.load {buffer.name}[{at}]{other} : {buffer.type} "
                           f"-> {result}", shape, buffer.element)

    def element(self):
        buffer = self.source()
        at = ", ".join(self.index(n).name for n in buffer.extents)
        name, type_ = buffer.name, buffer.type
        if buffer.is_remote and not buffer.is_view and self.choices.chance(30):
            # By the address of another rank's copy.
            type_, name = buffer.type.replace("symmetric", "peer"), self.new()
            self.add(f"{name} = iris.translate %ctx, {buffer.name} to {self.rank()} : "
                     f"{buffer.type} -> {type_}")
        return self.define(f"memref.load {name}[{at}] : {type_}", (), buffer.element)

    def gathered(self):
        remote = self.choices.chance(60)
        buffer, shape = self.source(remote=remote), self.shape
        if not buffer:
            return self.range()
        at, types = self.coordinates(buffer, shape)
        mask, other = self.mask(shape), self.other(buffer.element)
        where, op = (f" from {self.rank()}", "iris.gather %ctx, ") if remote else (
            "", "tile.gather ")
        return self.define(f"{op}{buffer.name}[{at}]{where}{mask}{other} : "
                           f"{buffer.type}, {types} -> {tile(shape, buffer.element)}",
                           shape, buffer.element)

    def extent(self):
        """A size of a buffer, of a dimension that data may decide."""
        buffer = self.source()
        dim = self.index(len(buffer.extents)).name
        return self.define(f"memref.dim {buffer.name}, {dim} : {buffer.type}", (),
                           "index")

    # Views --------------------------------------------------------------------------

    def view(self):
        """Part of an input, or an input in another shape."""
        fits = {"part": lambda b: True, "metadata": lambda b: True,
                "cast": lambda b: True, "aligned": lambda b: True,
                "space": lambda b: b.is_remote,
                "transpose": lambda b: len(b.extents) == 2,
                "collapse": lambda b: len(b.extents) > 1,
                "expand": lambda b: len(b.extents) == 1,
                "view": lambda b: len(b.extents) == 1 and b.element == "i8" and
                b.extents[0] > 7}
        sources = [b for b in self.views[::-1] + self.inputs if not b.is_view]
        kinds = [k for k, fit in fits.items() if any(map(fit, sources))]
        if not kinds:
            return
        # Few buffers fit the last kind.
        kind = kinds[-1] if self.choices.chance(20) else self.balanced(kinds, "view")
        buffer = self.choices.pick([b for b in sources if fits[kind](b)])
        extents, name = buffer.extents, self.new()
        space = ", #iris.symmetric" if buffer.is_remote else ""
        element, rank = buffer.element, len(buffer.extents)
        if kind == "transpose":
            rows, columns = buffer.dims
            view = Buffer(name, element, extents[::-1],
                          f"memref<{columns}x{rows}x{element}, "
                          f"strided<[1, {columns}]>{space}>")
            self.add(f"{name} = memref.transpose {buffer.name} (i, j) -> (j, i) : "
                     f"{buffer.type} to {view.type}")
        elif kind == "collapse":
            size = "?" if "?" in buffer.dims else product(extents)
            view = Buffer(name, element, [product(extents)],
                          f"memref<{size}x{element}{space}>")
            dims = ", ".join(str(d) for d in range(rank))
            self.add(f"{name} = memref.collapse_shape {buffer.name} [[{dims}]] : "
                     f"{buffer.type} into {view.type}")
        elif kind == "expand":
            rows = self.choices.pick([n for n in (1, 2, 3, 4, 5) if
                                      extents[0] % n == 0])
            sizes = [rows, extents[0] // rows]
            is_open = buffer.dims == ["?"]
            view = Buffer(name, element, sizes, "memref<%dx%sx%s%s>" % (
                rows, "?" if is_open else sizes[1], element, space))
            columns = self.constant(sizes[1]).name if is_open else sizes[1]
            self.add(f"{name} = memref.expand_shape {buffer.name} [[0, 1]] output_shape "
                     f"[{rows}, {columns}] : {buffer.type} into {view.type}")
        elif kind == "space":
            view = Buffer(name, element, extents,
                          f"memref<{'x'.join([*buffer.dims, element])}>")
            self.add(f"{name} = memref.memory_space_cast {buffer.name} : {buffer.type} "
                     f"to {view.type}")
        elif kind == "cast":
            view = Buffer(name, element, extents, "memref<%s%s%s>" % (
                "".join(f"{n}x" for n in extents), element, space))
            self.add(f"{name} = memref.cast {buffer.name} : {buffer.type} to "
                     f"{view.type}")
        elif kind == "aligned":
            view = Buffer(name, element, extents, buffer.type)
            self.add(f"{name} = memref.assume_alignment {buffer.name}, "
                     f"{width(element) // 8} : {buffer.type}")
        elif kind == "view":
            # Bytes as integers of four.
            start = 4 * self.choices.number(2)
            size = (extents[0] - start) // 4
            view = Buffer(name, "i32", [size], f"memref<?xi32{space}>")
            self.add(f"{name} = memref.view {buffer.name}[{self.constant(start).name}]"
                     f"[{self.constant(size).name}] : {buffer.type} to {view.type}")
        elif kind == "metadata":
            view = self.reinterpreted(buffer, name, space)
        else:
            view = self.part(buffer, name, space)
        view.is_small = buffer.is_small
        self.views.append(view)

    def part(self, buffer, name, space):
        extents, element = buffer.extents, buffer.element
        steps = [self.choices.pick([1, 1, 2]) for _ in extents]
        halves = [max(n // 2, 1) for n in extents]
        starts = [self.index(n).name for n in halves]
        sizes = [max((n - half) // s, 1) for n, half, s in zip(extents, halves, steps)]
        strides = ", ".join(["?"] * (len(extents) - 1) + [str(steps[-1])])
        view = Buffer(name, element, sizes, "memref<%s%s, strided<[%s], offset: ?>%s>"
                      % ("".join(f"{n}x" for n in sizes), element, strides, space))
        self.add(f"{name} = memref.subview {buffer.name}[{', '.join(starts)}] "
                 f"[{', '.join(map(str, sizes))}] [{', '.join(map(str, steps))}] : "
                 f"{buffer.type} to {view.type}")
        return view

    def reinterpreted(self, buffer, name, space):
        """All but the first elements, by what the descriptor says."""
        rank, element = len(buffer.extents), buffer.element
        base, at = self.new(), self.new()
        sizes = [f"{at}s{d}" for d in range(rank)]
        strides = [f"{at}t{d}" for d in range(rank)]
        self.add(f"{base}, {', '.join([at] + sizes + strides)} = "
                 f"memref.extract_strided_metadata {buffer.name} : {buffer.type} -> "
                 f"memref<{element}{space}>, {', '.join(['index'] * (2 * rank + 1))}")
        extents = list(buffer.extents)
        start = self.choices.number(extents[0])
        extents[0] -= start
        first = self.define(f"arith.muli {self.constant(start).name}, {strides[0]} : "
                            "index", (), "index", False)
        sizes[0] = self.constant(extents[0]).name
        view = Buffer(name, element, extents,
                      f"memref<{'?x' * rank}{element}, "
                      f"strided<[{', '.join(['?'] * (rank - 1) + ['1'])}], offset: ?>"
                      f"{space}>")
        strides[-1] = "1"
        self.add(f"{name} = memref.reinterpret_cast {buffer.name} to offset: "
                 f"[{first.name}], sizes: [{', '.join(sizes)}], strides: "
                 f"[{', '.join(strides)}] : {buffer.type} to {view.type}")
        return view

    # Memory of the program --------------------------------------------------------

    def scratch(self):
        value = self.choices.pick(self.visible(
            lambda v: not v.shape and v.element in INTS + FLOATS)[:6] or
            [self.element()])
        memory, at = self.new(), self.index(LANES).name
        type_ = f"memref<{LANES}x{value.element}>"
        self.add(f"{memory} = memref.alloca() : {type_}")
        for n in range(LANES):
            other = self.value((), value.element)
            self.add(f"memref.store {self.use(other)}, {memory}"
                     f"[{self.constant(n).name}] : {type_}")
        self.add(f"memref.store {self.use(value)}, {memory}[{at}] : {type_}")
        if self.choices.chance(30):
            # Several loads and stores by maps, in an order that matters.
            counter, old = self.new(), self.new()
            self.add(f"affine.for {counter} = 0 to {LANES - 1} {{")
            self.add(f"  {old} = affine.load {memory}[{counter} + 1] : {type_}")
            self.add(f"  affine.store {old}, {memory}[({counter} * 3) mod {LANES}] : "
                     f"{type_}")
            self.add("}")
        if self.choices.chance(30) and value.element != "bf16":
            vector = f"vector<{LANES}x{value.element}>"
            name = self.new()
            first, turned = self.new(), self.new()
            zero = self.constant(0).name
            self.add(f"{first} = vector.load {memory}[{zero}] : {type_}, {vector}")
            self.add(f"{turned} = vector.shuffle {first}, {first} [1, 3, 0, 2] : "
                     f"{vector}, {vector}")
            self.add(f"vector.store {turned}, {memory}[{zero}] : {type_}, {vector}")
            self.add(f"{name} = vector.load {memory}[{zero}] : {type_}, {vector}")
            return self.define(f"vector.extract {name}[{self.choices.number(LANES)}] : "
                               f"{value.element} from {vector}", (), value.element)
        return self.define(f"memref.load {memory}[{self.index(LANES).name}] : {type_}",
                           (), value.element)

    # Vectors ------------------------------------------------------------------------

    def vector(self):
        """Ops on elements of one row of a buffer; each element of the last becomes a
        scalar."""
        buffer = self.source(lambda b: b.extents[-1] >= LANES and b.element != "bf16" and
                             not b.is_view)
        if not buffer:
            return self.element()
        element = buffer.element
        at = ", ".join(self.index(n).name for n in buffer.extents[:-1] +
                       [buffer.extents[-1] - LANES + 1])
        type_ = f"vector<{LANES}x{element}>"
        names = [self.new()]
        self.add(f"{names[0]} = vector.load {buffer.name}[{at}] : {buffer.type}, {type_}")
        for _ in range(2 + self.choices.number(5)):
            names.append(self.vector_op(names, element, type_))
        for lane in range(LANES):
            where, more = f"{lane}", ""
            if self.choices.chance(20):
                where = self.index(LANES).name
            self.define(f"vector.extract {names[-1]}[{where}]{more} : {element} from "
                        f"{type_}", (), element)
        return self.scopes[-1][-1]

    def vector_op(self, names, element, type_):
        result, last = self.new(), names[-1]
        pair = f"{last}, {self.choices.pick(names)}"
        kinds = ["shuffle", "broadcast", "insert", "slice", "from", "op"]
        kind = self.balanced(kinds + (["fma"] if is_float(element) else []), "vector")
        half = f"vector<{LANES // 2}x{element}>"
        if kind == "shuffle":
            order = ", ".join(str(self.choices.number(2 * LANES)) for _ in range(LANES))
            self.add(f"{result} = vector.shuffle {pair} [{order}] : {type_}, {type_}")
        elif kind == "broadcast":
            scalar, wide = self.value((), element), self.new()
            self.add(f"{wide} = vector.broadcast {self.use(scalar)} : {element} to "
                     f"{type_}")
            op = "arith.minimumf" if is_float(element) else "arith.xori"
            self.add(f"{result} = {op} {last}, {wide} : {type_}")
        elif kind == "insert":
            scalar = self.value((), element)
            where = self.choices.pick([str(self.choices.number(LANES)),
                                       self.index(LANES).name])
            self.add(f"{result} = vector.insert {self.use(scalar)}, {last} [{where}] : "
                     f"{element} into {type_}")
        elif kind == "slice":
            part, start = self.new(), self.choices.number(LANES // 2 + 1)
            self.add(f"{part} = vector.extract_strided_slice {last} {{offsets = [{start}],"
                     f" sizes = [{LANES // 2}], strides = [1]}} : {type_} to {half}")
            start = self.choices.number(LANES // 2 + 1)
            self.add(f"{result} = vector.insert_strided_slice {part}, "
                     f"{self.choices.pick(names)} {{offsets = [{start}], strides = [1]}} "
                     f": {half} into {type_}")
        elif kind == "from":
            scalars = ", ".join(self.use(self.value((), element)) for _ in range(LANES))
            made = self.new()
            self.add(f"{made} = vector.from_elements {scalars} : {type_}")
            op = "arith.maximumf" if is_float(element) else "arith.addi"
            self.add(f"{result} = {op} {last}, {made} : {type_}")
        elif kind == "fma":
            self.add(f"{result} = vector.fma {pair}, {self.choices.pick(names)} : "
                     f"{type_}")
        else:
            op = self.balanced(["addf", "subf", "mulf", "minimumf", "divf"] if
                               is_float(element) else
                               ["subi", "muli", "minsi", "maxui", "andi", "ori"],
                               "vector op")
            self.add(f"{result} = arith.{op} {pair} : {type_}")
        return result

    # Matmuls ------------------------------------------------------------------------

    def matmul(self):
        def fits(buffer):
            return (len(buffer.extents) == 2 and buffer.is_small and
                    buffer.element in ("f16", "i8", "bf16"))
        a = self.source(fits)
        if not a:
            return self.load()
        element = a.element
        b = self.source(lambda b: fits(b) and b.element == element)
        k = self.constant(self.choices.pick([16, 5, 64, 40, 100]))
        at = [self.index(n).name for n in a.extents + b.extents]
        result = tile(MATMUL, "i32" if element == "i8" else "f32")
        init = ""
        if self.choices.chance(40):
            start = self.new()
            self.add(f"{start} = arith.constant dense<{'3' if element == 'i8' else '2.0'}>"
                     f" : {result}")
            init = f" init({start})"
        body = ""
        if self.choices.chance(30):
            # The next k-block of a, in the order that they have without a region.
            block, first, start = self.new(), self.new(), self.new()
            body = (f" {{\n^bb0({block}: index):\n  {first} = arith.muli {block}, "
                    f"{self.constant(BLOCK).name} : index\n  {start} = arith.addi {first}, "
                    f"{at[1]} : index\n  tile.yield {a.name}[{at[0]}, {start}] : "
                    f"{a.type}\n}}")
        self.warps = 0
        return self.define(f"tile.matmul {a.name}[{at[0]}, {at[1]}], "
                           f"{b.name}[{at[2]}, {at[3]}] k({k.name}) block({BLOCK}){init}{body} : "
                           f"{a.type}, {b.type} -> {result}",
                           MATMUL, "i32" if element == "i8" else "f32")

    # Stores ---------------------------------------------------------------------------

    def own_rows(self):
        """Offsets in the output of this tile's rows."""
        zero = self.constant(0).name
        return ", ".join(["%row"] + [zero] * (len(self.shape) - 1))

    def stored(self, value, out=None):
        """Stores a value of the output's shape and element to own rows."""
        at, out = self.own_rows(), out or self.output
        if self.shift is None:
            self.add(f"tile.store {self.use(value)}, {out.name}[{at}] : "
                     f"{value.type}, {out.type}")
            return
        self.add(f"iris.store %ctx, {self.use(value)}, {out.name}[{at}] to %peer : "
                 f"{value.type}, {out.type}")

    def early_store(self):
        """A store whose result is read again, or part of which is overwritten."""
        if not self.has_rows:
            return
        element = self.output.element
        self.stored(self.cast(self.operand(element, self.shape), element))
        self.read_back()

    def read_back(self):
        """Own rows, if they are on this rank."""
        out = self.output
        if self.shift is None:
            self.define(f"tile.load {out.name}[{self.own_rows()}] : {out.type} -> "
                        f"{tile(self.shape, out.element)}", self.shape, out.element)

    def copied(self):
        """Rows of an input of the same type, without a tile."""
        out = self.output
        if not self.has_rows:
            return
        # A masked copy, or one of few rows, leaves the others as they are.
        buffer = self.source(lambda b: (b.element, len(b.extents)) == (
            out.element, len(out.extents)), remote=True)
        if not buffer:
            return
        at = ", ".join(map(self.offset, buffer.extents, self.shape))
        shape = ", ".join(map(str, self.shape))
        mask, other = self.mask(self.shape), self.other(out.element)
        op, where = ("get", f"from {self.rank()}") if self.shift is None else (
            ("put", "to %peer") if self.choices.chance(30) else
            ("copy", f"from {self.rank()} to %peer"))
        self.add(f"iris.{op} %ctx, {buffer.name}[{at}], {out.name}"
                 f"[{self.own_rows()}] {where} shape [{shape}]{mask}{other} : "
                 f"{buffer.type}, {out.type}")
        self.read_back()

    def scattered(self):
        """Stores to own rows in another order of the last dimension."""
        if not self.has_rows:
            return
        out, shape = self.output, self.shape
        value = self.operand(out.element, shape)
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
        mask = self.mask(shape)
        op, where = ("tile.scatter ", "") if self.shift is None else (
            "iris.scatter %ctx, ", " to %peer")
        self.add(f"{op}{self.use(value)}, {out.name}[{', '.join(tiles)}]{where}"
                 f"{mask} : {value.type}, {out.type}, "
                 f"{', '.join([type_] * len(shape))}")
        self.read_back()
