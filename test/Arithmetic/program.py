# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of arithmetic: values, ops, blocks; their results and their text.

A value has a result for each of COUNT sets of inputs. How a kernel computes
them is its form: `scalar` in a loop over the sets, `vector` with several sets in
a vector, `tile` with a tile that holds all sets, again and again. In the latter
two a value of shape () is a scalar, the same for the sets of one vector or tile.
"""
import exact_floats as floats
import operations as ops
from operations import FLOATS, width

COUNT = 32  # sets of inputs
MOST_TRIPS = 66


class Undefined(Exception):
    """An op that has no result, or that there are no operands for."""


class Value:
    """`results` are bits, NAN for a NaN, None for poison. An input has `raw`
    bits too."""

    def __init__(self, t, shape, results=None, raw=None):
        self.t, self.shape, self.results, self.raw = t, shape, results, raw
        self.name = None


class Block:
    def __init__(self, arguments=()):
        self.arguments, self.ops, self.yields = list(arguments), [], []


class Op:
    """`attribute`: a predicate, a constant's bits, (kind, dim) of a reduction,
    the dim of expand_dims."""

    def __init__(self, name, operands, results, attribute=None, blocks=()):
        self.name, self.operands, self.results = name, operands, results
        self.attribute, self.blocks = attribute, list(blocks)

    @property
    def source(self):
        return self.operands[0].t

    @property
    def target(self):
        return self.results[0].t


def walk(block):
    """The ops of a block, then those of its blocks."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from walk(inner)


class Program:
    def __init__(self, name, form, shape):
        self.name, self.form, self.shape = name, form, shape
        self.inputs, self.outputs, self.body = [], [], Block()

    @property
    def elements(self):
        """Of each buffer."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size if self.form == "tile" else COUNT

    @property
    def group(self):
        """Sets that have the same scalars."""
        return {"scalar": 1, "vector": self.shape[-1] if self.shape else 1,
                "tile": COUNT}[self.form]

    def uniform(self, results):
        """Those of the first set of each group."""
        return [results[i - i % self.group] for i in range(COUNT)]

    # Results ---------------------------------------------------------------

    def evaluate(self):
        """Computes all results again, from those of the inputs."""
        self.evaluate_block(self.body, [True] * COUNT)
        for value in self.outputs:
            if None in value.results:
                raise Undefined

    def evaluate_block(self, block, active):
        for op in block.ops:
            for value, results in zip(op.results, self.compute(op, active)):
                value.results = results

    def compute(self, op, active):
        """Columns of results; only those of `active` sets matter."""
        if op.name == "scf.if":
            return self.compute_if(op, active)
        if op.name == "scf.for":
            return self.compute_for(op, active)
        if op.name == "scf.while":
            return self.compute_while(op, active)
        if op.name == "tile.reduce":
            return [self.reduction(op)]
        if op.name == "arith.constant":
            result = (floats.canonical(op.target, op.attribute)
                      if op.target in FLOATS else op.attribute)
            return [[result] * COUNT]
        if op.name in ops.SAME:
            return [op.operands[0].results]
        rows = [self.compute_set(op, row, is_active) for row, is_active in zip(
            zip(*(v.results for v in op.operands)), active)]
        return [list(column) for column in zip(*rows)]

    def compute_set(self, op, operands, is_active):
        if op.name == "arith.select":
            condition, x, y = operands
            return (None if condition is None else x if condition else y,)
        none = (None,) * len(op.results)
        result = none if None in operands else ops.evaluate(op, operands)
        if result == (None,) and is_active and op.name in ops.TRAPS:
            raise Undefined
        return result

    def compute_if(self, op, active):
        condition = op.operands[0].results
        if any(c is None and a for c, a in zip(condition, active)):
            raise Undefined
        for block, wanted in zip(op.blocks, (1, 0)):
            self.evaluate_block(block, [a and c == wanted for a, c in zip(
                active, condition)])
        return [[x if c else y for c, x, y in zip(
            condition, first.results, second.results)]
                for first, second in zip(*(b.yields for b in op.blocks))]

    def compute_for(self, op, active):
        body, t = op.blocks[0], op.source
        counter, *carried = body.arguments
        first, bounds, steps = ([None if r is None else ops.signed(t, r)
                                 for r in v.results] for v in op.operands[:3])
        columns = [v.results for v in op.operands[3:]]
        now, trips, starts = first, 0, None
        while True:
            if any(a and (i is None or b is None or s is None or s <= 0)
                   for a, i, b, s in zip(active, now, bounds, steps)):
                raise Undefined
            live = [a and i < b for a, i, b in zip(active, now, bounds)]
            counter.results = [0 if i is None else ops.wrap(t, i) for i in now]
            for argument, column in zip(carried, columns):
                argument.results = column
            if not any(live) and starts is not None:
                break
            if trips == MOST_TRIPS:
                raise Undefined
            self.evaluate_block(body, live)
            columns = [[new if is_live else old for new, old, is_live in zip(
                value.results, column, live)]
                for value, column in zip(body.yields, columns)]
            if starts is None:
                starts = self.snapshot(body)
            now = [i + s if is_live else i for i, s, is_live in zip(
                now, steps, live)]
            if any(is_live and i >= 1 << width(t) - 1
                   for i, is_live in zip(now, live)):
                raise Undefined
            trips += 1
        self.restore(starts)
        counter.results = [ops.wrap(t, i or 0) for i in first]
        for argument, value in zip(carried, op.operands[3:]):
            argument.results = value.results
        return columns

    def compute_while(self, op, active):
        before, after = op.blocks
        columns, live = [v.results for v in op.operands], active
        final = [[None] * COUNT for _ in op.results]
        starts = None
        for _ in range(MOST_TRIPS):
            for argument, column in zip(before.arguments, columns):
                argument.results = column
            self.evaluate_block(before, live)
            condition, *passed = before.yields
            if any(a and c is None for a, c in zip(live, condition.results)):
                raise Undefined
            final = [[p if a else f for p, f, a in zip(v.results, column, live)]
                     for v, column in zip(passed, final)]
            live = [a and c == 1 for a, c in zip(live, condition.results)]
            for argument, value in zip(after.arguments, passed):
                argument.results = value.results
            self.evaluate_block(after, live)
            starts = starts or self.snapshot(before) + self.snapshot(after)
            if not any(live):
                self.restore(starts)
                return final
            columns = [[y if a else c for y, c, a in zip(v.results, column, live)]
                       for v, column in zip(after.yields, columns)]
        raise Undefined

    @staticmethod
    def snapshot(block):
        """What the first iteration computed: the results of inner values."""
        return [(v, v.results) for op in walk(block) for v in op.results]

    @staticmethod
    def restore(results):
        for value, column in results:
            value.results = column

    def reduction(self, op):
        """Of each line."""
        kind, dim = op.attribute
        source = op.operands[0]
        if None in source.results:
            return [None] * COUNT
        columns = self.shape[-1]
        line = ((lambda e: 0) if len(self.shape) == 1 else
                (lambda e: e % columns) if dim == 0 else
                (lambda e: e // columns))
        known = {}
        for i in range(COUNT):
            if line(i) not in known:
                known[line(i)] = ops.reduce(
                    kind, op.source, op.target,
                    [source.results[e % COUNT] for e in range(self.elements)
                     if line(e) == line(i)])
        return [known[line(i)] for i in range(COUNT)]

    # Text ------------------------------------------------------------------

    def type(self, t, shape):
        if not shape:
            return t
        kind = "vector" if self.form == "vector" else "tensor"
        return f"{kind}<{'x'.join(map(str, shape))}x{t}>"

    def type_of(self, value):
        return self.type(value.t, value.shape)

    @staticmethod
    def stored(value):
        """The element type of a value's buffer."""
        return {"i1": "i8", "index": "i64"}.get(
            value.t, "i8" if value.t in ops.FLOATS8 else value.t)

    def buffer(self, t):
        extents = self.shape if self.form == "tile" else (COUNT,)
        return f"memref<{'x'.join(map(str, extents))}x{t}{self.space}>"

    space = ""

    def live(self):
        """The inputs and ops that the outputs depend on, in order."""
        needed = set(self.outputs)

        def visit(block):
            needed.update(block.yields)
            for op in reversed(block.ops):
                if needed.intersection(op.results):
                    needed.update(op.operands)
                    for inner in op.blocks:
                        visit(inner)
        visit(self.body)
        return needed

    def text(self):
        return self.kernel_text([], [])

    def kernel_text(self, arguments, checks):
        """`arguments` are in front of the buffers."""
        self.needed = self.live()
        self.names = 0
        lines = ["%zero = arith.constant 0 : index"]
        looped = self.form != "tile"
        if looped:
            lines += [f"%size = arith.constant {COUNT} : index",
                      f"%step = arith.constant {self.group} : index",
                      "scf.for %at = %zero to %size step %step {"]
        inputs = [v for v in self.inputs if v in self.needed]
        for n, value in enumerate(inputs):
            lines += self.load_text(n, value)
        lines += self.block_text(self.body)
        for n, value in enumerate(self.outputs):
            lines += self.store_text(n, value)
        lines += checks + (["}"] if looped else [])
        arguments = arguments + [
            f"%in{n}: {self.buffer(self.stored(v))}"
            for n, v in enumerate(inputs)] + [
            f"%out{n}: {self.buffer(self.stored(v))}"
            for n, v in enumerate(self.outputs)]
        return "\n".join([
            f"gpu.func @{self.name}({', '.join(arguments)}) kernel",
            "    attributes {iris.num_warps = 1 : i32} {", *lines,
            "gpu.return", "}"])

    def at(self):
        return ("%at" if self.form != "tile" else
                ", ".join("%zero" for _ in self.shape))

    def new_name(self, value):
        self.names += 1
        value.name = f"%v{self.names}"
        return value.name

    # How a value is kept in its buffer.
    CASTS = {"i1": ("trunci", "extui"), "index": ("index_cast", "index_cast")}

    def casts(self, value):
        return self.CASTS.get(value.t, ("bitcast", "bitcast"))

    def load_text(self, n, value):
        t, name = self.stored(value), self.new_name(value)
        memory = self.buffer(t)
        load, tail = {
            "vector": ("vector.load", f", {self.type(t, value.shape)}"),
            "tile": ("tile.load", f" -> {self.type(t, value.shape)}")
        }[self.form] if value.shape else ("memref.load", "")
        loaded = name if t == value.t else f"%l{n}"
        lines = [f"{loaded} = {load} %in{n}[{self.at()}] : {memory}{tail}"]
        if loaded != name:
            lines.append(f"{name} = arith.{self.casts(value)[0]} {loaded} : "
                         f"{self.type(t, value.shape)} to "
                         f"{self.type_of(value)}")
        return lines

    def store_text(self, n, value):
        t, name, lines = self.stored(value), value.name, []
        if t != value.t:
            name = f"%s{n}"
            lines.append(f"{name} = arith.{self.casts(value)[1]} {value.name} : "
                         f"{self.type_of(value)} to "
                         f"{self.type(t, value.shape)}")
        store, tail = ({"vector": "vector.store", "tile": "tile.store"}[self.form],
                       self.type(t, value.shape)) if value.shape else (
                           "memref.store", "")
        memory = self.buffer(t)
        types = ({"vector": f"{memory}, {tail}", "tile": f"{tail}, {memory}"}
                 [self.form] if value.shape else memory)
        return lines + [f"{store} {name}, %out{n}[{self.at()}] : {types}"]

    def block_text(self, block):
        lines = []
        for op in block.ops:
            if self.needed.intersection(op.results):
                lines += self.op_text(op)
        return lines

    def op_text(self, op):
        if op.blocks:
            return getattr(self, op.name.replace(".", "_"))(op)
        names = ", ".join(v.name for v in op.operands)
        result = (self.new_name(op.results[0]) if len(op.results) == 1
                  else self.new_names(op))
        return [f"{result} = {op.name} {self.operation(op, names)}"]

    def new_names(self, op):
        self.names += 1
        for n, value in enumerate(op.results):
            value.name = f"%v{self.names}#{n}"
        return f"%v{self.names}:{len(op.results)}"

    def operation(self, op, names):
        """What follows the name."""
        result = self.type_of(op.results[0])
        if op.name == "arith.constant":
            text = self.number(op.target, op.attribute)
            if op.results[0].shape:
                text = f"dense<{text}>"
            return text if result == "i1" else f"{text} : {result}"
        source = self.type_of(op.operands[0])
        if op.name in ("arith.cmpi", "arith.cmpf"):
            return f"{op.attribute}, {names} : {source}"
        if op.name == "arith.select":
            types = f"{source}, " if op.operands[0].shape else ""
            return f"{names} : {types}{result}"
        if op.name == "tile.reduce":
            kind, dim = op.attribute
            return f"{kind} {names} dim {dim} : {source} -> {result}"
        if op.name == "tile.expand_dims":
            return f"{names} dim {op.attribute} : {source} -> {result}"
        if op.name == "tile.broadcast":
            return f"{names} : {source} -> {result}"
        if op.name == "vector.broadcast" or op.name in ops.CASTS:
            return f"{names} : {source} to {result}"
        if op.name.endswith("addui_extended"):
            return f"{names} : {source}, {self.type_of(op.results[1])}"
        if op.name in ("math.isnan", "math.isfinite"):
            return f"{names} : {source}"
        return f"{names} : {result}"

    @staticmethod
    def number(t, bits):
        if t in FLOATS:
            return f"0x{bits:0{width(t) // 4}X}"
        if t == "i1":
            return "true" if bits else "false"
        return str(ops.signed(t, bits))

    def yielded(self, block, name="scf.yield"):
        return (f"{name} {', '.join(v.name for v in block.yields)} : "
                f"{', '.join(map(self.type_of, block.yields))}")

    def scf_if(self, op):
        types = ", ".join(map(self.type_of, op.results))
        condition = op.operands[0].name
        first, second = ([*self.block_text(b), self.yielded(b)]
                         for b in op.blocks)
        return [f"{self.new_names(op)} = scf.if {condition} -> ({types}) {{",
                *first, "} else {", *second, "}"]

    def scf_for(self, op):
        body = op.blocks[0]
        start, bound, step, *initial = (v.name for v in op.operands)
        counter, *carried = map(self.new_name, body.arguments)
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(carried, initial))
        types = ", ".join(map(self.type_of, op.results))
        tail = "" if op.source == "index" else f" : {op.source}"
        lines = [*self.block_text(body), self.yielded(body)]
        return [f"{self.new_names(op)} = scf.for {counter} = {start} to {bound} "
                f"step {step} iter_args({pairs}) -> ({types}){tail} {{",
                *lines, "}"]

    def scf_while(self, op):
        before, after = op.blocks
        pairs = ", ".join(f"{self.new_name(a)} = {v.name}"
                          for a, v in zip(before.arguments, op.operands))
        first = self.block_text(before)
        condition, *passed = before.yields
        types = ", ".join(map(self.type_of, passed))
        first.append(f"scf.condition({condition.name}) "
                     f"{', '.join(v.name for v in passed)} : {types}")
        arguments = ", ".join(f"{self.new_name(a)}: {self.type_of(a)}"
                              for a in after.arguments)
        second = [*self.block_text(after), self.yielded(after)]
        initial = ", ".join(map(self.type_of, op.operands))
        return [f"{self.new_names(op)} = scf.while ({pairs}) : ({initial}) -> "
                f"({types}) {{", *first, "} do {", f"^bb0({arguments}):",
                *second, "}"]
