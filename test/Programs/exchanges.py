# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the programs of a random kernel send each other, and atomics, such that the
result depends on no order."""
from elements import FLOATS, INTS, is_float, tile, width
from flow import Flow
from values import NAN_BITS, Buffer, Value

MOST_PROGRAMS = 4
KINDS = ["add", "sub", "xchg", "min", "max"]
KINDS_OF_INTS = KINDS + ["and", "or", "xor", "umin", "umax"]
WINDOW = 16


class Exchanges(Flow):
    def extra_buffer(self, name, element, extents):
        buffer = Buffer(f"%{name}{len(self.extra)}", element, extents)
        self.extra.append(buffer)
        return buffer

    def fence(self):
        if self.choices.chance(30):
            self.add("gpu.barrier")
            return
        order = self.choices.pick(["release", "acquire", "acq_rel"])
        self.add(f"iris.fence {order} scope({self.choices.pick(['sys', 'gpu', 'block'])})")

    # Atomics ----------------------------------------------------------------------

    def update(self):
        """Atomics on elements that only this program updates. So their results are
        defined."""
        if self.depth > 1:
            return  # loops would update an element too often to be worth it
        element = self.balanced(INTS + FLOATS, "update")
        buffer = self.extra_buffer("own", element, [MOST_PROGRAMS * WINDOW + 3])
        start = self.binary("arith.muli", Value("%pid", (), "index"),
                            self.constant(WINDOW), False)
        where = self.choices.pick(["", " to %next"])
        sem = self.choices.pick(["", " sem(relaxed)", " sem(release)", " sem(acquire)"])
        if not where:
            sem += self.choices.pick(["", " scope(gpu)", " scope(block)"])
        for _ in range(1 + self.choices.number(3)):
            shape = self.choices.pick([(), (WINDOW,), (8,), (4,)])
            first = self.choices.number(WINDOW - (shape[0] if shape else 1) + 1)
            at, types = self.binary("arith.addi", start, self.constant(first), False), ""
            if shape and self.choices.chance(40):
                at = self.permuted(start, first, shape)
                types = f", {at.type}"
            value = self.with_nan(self.operand(element, shape), 40)
            place = f"{buffer.name}[{at.name}]{where}"
            kind = self.balanced((KINDS if is_float(element) else
                                  KINDS_OF_INTS + ["cas"]), "rmw" + element)
            if kind == "cas":
                old = self.value(shape, element) if self.choices.chance(50) else \
                    self.constant(0, element, shape)
                self.define(f"iris.atomic_cas %ctx, {self.use(old)}, {self.use(value)}, "
                            f"{place}{sem} : {value.type}, {buffer.type}{types}",
                            shape, element)
                continue
            mask = " mask " + self.use(self.operand("i1", shape)) \
                if self.choices.chance(50) else ""
            self.define(f"iris.atomic_rmw {kind} %ctx, {self.use(value)}, {place}{mask}"
                        f"{sem} : {value.type}, {buffer.type}{types}", shape, element)

    def permuted(self, start, first, shape):
        """Coordinates of different elements of a program's window."""
        at = self.define(f"tile.range dim 0 : {tile(shape, 'index')}", shape, "index",
                         False)
        odd = self.constant(self.choices.pick([3, 1, 5, 7]), "index", shape)
        at = self.binary("arith.muli", at, odd, False)
        at = self.binary("arith.addi", at, self.constant(first, "index", shape), False)
        at = self.binary("arith.remui", at, self.constant(WINDOW, "index", shape), False)
        return self.binary("arith.addi", at, self.splat_of(start, shape), False)

    def accumulate(self):
        """Atomics of all programs whose sum does not depend on the order."""
        element = self.choices.pick(["i32", "i64", "i8", "i16"])
        buffer = self.extra_buffer("sum", element, [WINDOW])
        kind = self.balanced(["add", "sub", "xor", "or", "max", "umin", "and", "min",
                              "umax"], "accumulate")
        shape = self.choices.pick([(), (8,), (4,)])
        value = self.operand(element, shape)
        at, types = self.index(WINDOW - 8).name, ""
        if shape and self.choices.chance(50):
            at, types = self.coordinates(buffer, shape)
            types = f", {types}"
        mask = " mask " + self.use(self.operand("i1", shape)) \
            if self.choices.chance(40) else ""
        self.add(f"{self.new()} = iris.atomic_rmw {kind} %ctx, {self.use(value)}, "
                 f"{buffer.name}[{at}] to {self.rank()}{mask} : {value.type}, "
                 f"{buffer.type}{types}")

    # Exchanges ----------------------------------------------------------------------

    def exchange(self):
        """Sends a tile to the peer program of another rank."""
        kind = self.balanced(["none", "signal", "barrier", "packet"], "exchange")
        if kind == "none":
            return
        shape = self.choices.pick([(16,), (64,)])
        element = self.choices.pick(INTS + FLOATS)
        sent = self.operand(element, shape)
        mark = self.cast(self.define(
            "arith.addi %pid, %rank : index", (), "index", False), "i32")
        marked = self.cast(self.splat_of(mark, shape), element)
        sent = self.binary("arith.addf" if is_float(element) else "arith.addi",
                           sent, marked, False)
        if kind == "packet":
            self.packets(sent)
            return
        box = self.extra_buffer("box", element, [MOST_PROGRAMS, shape[0]])
        word = self.extra_buffer("word", "i32", [4096])
        zero = self.constant(0).name
        row = tile((1,) + shape, element)
        thin = self.define(f"tile.expand_dims {self.use(sent)} dim 0 : {sent.type} -> "
                           f"{row}", (1,) + shape, element, False)
        if kind == "signal":
            peer, one = self.rank(), self.constant(1, "i32").name
            self.add(f"iris.store %ctx, {self.use(thin)}, {box.name}[%pid, {zero}] "
                     f"to {peer} : {row}, {box.type}")
            how = self.choices.pick(["add", "set"])
            self.add(f"iris.signal {how} %ctx, {one}, {word.name}[%pid] to {peer} : "
                     f"i32, {word.type}")
            test = self.choices.pick(["ge", "eq"])
            self.add(f"{self.new()} = iris.wait %ctx, {word.name}[%pid] {test} {one} : "
                     f"i32, {word.type}")
            got = self.define(f"tile.load {box.name}[%pid, {zero}] : {box.type} -> "
                              f"{row}", (1,) + shape, element)
        else:
            self.add(f"tile.store {self.use(thin)}, {box.name}[%pid, {zero}] : {row}, "
                     f"{box.type}")
            group = " group" if self.group else ""
            self.add(f"iris.barrier %ctx, {word.name}{group} : {word.type}")
            got = self.define(f"iris.load %ctx, {box.name}[%pid, {zero}] from "
                              f"{self.rank()} : {box.type} -> {row}", (1,) + shape,
                              element)
        self.reduction("sum", got, 0, True)

    def packets(self, sent):
        """Sends the tile with a flag in every word."""
        if is_float(sent.element):  # the words are compared as integers
            sent = self.without_nan(sent, f"-{NAN_BITS}.0")
        words = sent.shape[0] * width(sent.element) // 32
        box = self.extra_buffer("packet", "i32", [MOST_PROGRAMS * 2 * words])
        at = self.binary("arith.muli", Value("%pid", (), "index"),
                         self.constant(2 * words), False).name
        flag = self.constant(1, "i32").name
        self.add(f"iris.packet_store %ctx, {self.use(sent)}, {box.name}[{at}] to "
                 f"{self.rank()} flag({flag}) : {sent.type}, {box.type}")
        self.define(f"iris.packet_load %ctx, {box.name}[{at}] flag({flag}) : "
                    f"{box.type} -> {sent.type}", sent.shape, sent.element)
