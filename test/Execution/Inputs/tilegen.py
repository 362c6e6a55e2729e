# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds kernels and host programs as MLIR text.

A `Program` holds kernels and the ops of @main. A `Kernel` has one method per
op that the suites need; each emits a line and returns the name of its result.
Constants are emitted at each use: CSE is the compiler's job.
"""

FLOATS = ["f16", "bf16", "f32", "f64"]
INTEGERS = ["i8", "i16", "i32", "i64"]
DTYPES = FLOATS + INTEGERS
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64,
        "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i1": 1}
# Right shift of the 32-bit hash, so that the type represents the remaining bits
# exactly.
HASH_SHIFT = {"f16": 21, "bf16": 24, "f32": 9, "f64": 1,
              "i8": 24, "i16": 16, "i32": 0, "i64": 0}


def tile(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def buffer(element, rank=1):
    return f"memref<{'?x' * rank}{element}, #iris.symmetric>"


def view(element, strides):
    """The result type of memref.subview of a heap buffer; None is a dynamic
    stride."""
    text = ", ".join("?" if s is None else str(s) for s in strides)
    return (f"memref<{'?x' * len(strides)}{element}, "
            f"strided<[{text}], offset: ?>, #iris.symmetric>")


def is_float(element):
    return element in FLOATS


def literal(element, value):
    if is_float(element):
        return repr(float(value))
    bits = BITS[element]
    value &= (1 << bits) - 1
    return str(value - (1 << bits) if value >> (bits - 1) else value)


class Block:
    """Lines of ops with unique names for their results."""

    def __init__(self, indent):
        self.lines, self.indent, self.counter = [], indent, 0

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def value(self, text):
        self.counter += 1
        self.emit(f"%{self.counter} = {text}")
        return f"%{self.counter}"

    def open(self, text):
        self.emit(text)
        self.indent += 1

    def close(self, text="}"):
        self.indent -= 1
        self.emit(text)

    # Scalars -------------------------------------------------------------------

    def index(self, value):
        return self.value(f"arith.constant {value} : index")

    def constant(self, element, value):
        return self.value(f"arith.constant {literal(element, value)} : "
                          f"{element}")

    def scalar(self, op, element, *operands):
        return self.value(f"arith.{op} {', '.join(operands)} : {element}")

    def add(self, a, b):
        return self.scalar("addi", "index", a, b)

    def sub(self, a, b):
        return self.scalar("subi", "index", a, b)

    def mul(self, a, b):
        return self.scalar("muli", "index", a, b)

    def rem(self, a, b):
        return self.scalar("remui", "index", a, b)

    def to_i32(self, value):
        return self.value(f"arith.index_cast {value} : index to i32")

    # Control flow ----------------------------------------------------------------

    def loop(self, lower, upper, step):
        self.counter += 1
        name = f"%{self.counter}"
        self.open(f"scf.for {name} = {lower} to {upper} step {step} {{")
        return name

    def count(self, upper):
        """A loop from 0 to `upper`, an index value."""
        return self.loop(self.index(0), upper, self.index(1))

    def when(self, condition):
        self.open(f"scf.if {condition} {{")


class Kernel(Block):
    def __init__(self, name, arguments, warps=4):
        super().__init__(2)
        self.name, self.arguments, self.warps = name, arguments, warps
        self.types = dict(arguments)
        self.rank = self.value("iris.rank %ctx : index")
        self.ranks = self.value("iris.num_ranks %ctx : index")
        self.pid = self.value("gpu.block_id x")
        self.programs = self.value("gpu.grid_dim x")

    def text(self):
        arguments = ", ".join(["%ctx: !iris.ctx"] +
                              [f"%{n}: {t}" for n, t in self.arguments])
        return "\n".join(
            [f"  gpu.func @{self.name}({arguments})",
             f"      kernel attributes {{iris.num_warps = {self.warps} : i32}}"
             " {"] + self.lines + ["    gpu.return", "  }"])

    def neighbour(self, distance=1):
        """The rank `distance` after this one, modulo the number of ranks."""
        return self.rem(self.add(self.rank, self.index(distance)), self.ranks)

    # Tiles ---------------------------------------------------------------------

    def splat(self, value, shape, element):
        return self.value(f"tensor.splat {value} : {tile(shape, element)}")

    def dense(self, shape, element, value):
        return self.value(f"arith.constant dense<{literal(element, value)}> : "
                          f"{tile(shape, element)}")

    def op(self, name, shape, element, *operands):
        """An elementwise op; `shape` () means scalars."""
        type_ = tile(shape, element) if shape else element
        return self.value(f"{name} {', '.join(operands)} : {type_}")

    def cast(self, name, shape, value, source, target):
        if not shape:
            return self.value(f"{name} {value} : {source} to {target}")
        return self.value(f"{name} {value} : {tile(shape, source)} to "
                          f"{tile(shape, target)}")

    def compare(self, predicate, shape, element, a, b):
        return self.op(f"arith.cmpi {predicate},", shape, element, a, b)

    def select(self, shape, element, condition, a, b):
        if not shape:
            return self.value(f"arith.select {condition}, {a}, {b} : {element}")
        return self.value(f"arith.select {condition}, {a}, {b} : "
                          f"{tile(shape, 'i1')}, {tile(shape, element)}")

    def both(self, shape, masks):
        result = masks[0]
        for mask in masks[1:]:
            result = self.op("arith.andi", shape, "i1", result, mask)
        return result

    def coordinates(self, shape, offsets):
        """i32 tiles: the coordinates of the tile at `offsets`."""
        result = []
        for dim, offset in enumerate(offsets):
            own = self.value(f"tile.range dim {dim} : {tile(shape, 'i32')}")
            base = self.splat(self.to_i32(offset), shape, "i32")
            result.append(self.op("arith.addi", shape, "i32", base, own))
        return result

    def shift(self, shape, coordinates, distances):
        return [self.op("arith.addi", shape, "i32", c,
                        self.dense(shape, "i32", d))
                for c, d in zip(coordinates, distances)]

    def inside(self, shape, coordinates, sizes):
        """Mask: 0 <= coordinate < size; sizes are numbers."""
        return self.both(shape, [
            self.compare("ult", shape, "i32", c, self.dense(shape, "i32", s))
            for c, s in zip(coordinates, sizes)])

    def linear_index(self, shape, coordinates, sizes):
        """Row-major position of the coordinates in a buffer of `sizes`."""
        result = coordinates[0]
        for coordinate, size in list(zip(coordinates, sizes))[1:]:
            pitch = self.dense(shape, "i32", size)
            row = self.op("arith.muli", shape, "i32", result, pitch)
            result = self.op("arith.addi", shape, "i32", row, coordinate)
        return result

    def hash(self, shape, element, rank, index, salt=0):
        """A hash of (rank: index, index: i32, salt: number) as `element`."""
        one = self.constant("i32", salt + 1)
        seed = self.scalar("addi", "i32", self.to_i32(rank), one)
        seed = self.scalar("muli", "i32", seed, self.constant("i32", 0x85EBCA6B))
        const = (lambda v: self.dense(shape, "i32", v)) if shape else (
            lambda v: self.constant("i32", v))
        seed = self.splat(seed, shape, "i32") if shape else seed
        h = self.op("arith.muli", shape, "i32", index, const(0x9E3779B1))
        h = self.op("arith.addi", shape, "i32", h, seed)
        high = self.op("arith.shrui", shape, "i32", h, const(15))
        h = self.op("arith.xori", shape, "i32", h, high)
        h = self.op("arith.muli", shape, "i32", h, const(0x2C1B3C6D))
        return self.narrow(shape, element, h, HASH_SHIFT[element])

    def narrow(self, shape, element, h, shift):
        """The upper 32 - `shift` bits of the i32 `h` as `element`."""
        if shift:
            amount = (self.dense(shape, "i32", shift) if shape
                      else self.constant("i32", shift))
            h = self.op("arith.shrui", shape, "i32", h, amount)
        if element == "i32":
            return h
        if element in ("i8", "i16"):
            return self.cast("arith.trunci", shape, h, "i32", element)
        if element == "i64":
            wide = self.cast("arith.extui", shape, h, "i32", "i64")
            factor = 0x9E3779B97F4A7C15
            factor = (self.dense(shape, "i64", factor) if shape
                      else self.constant("i64", factor))
            return self.op("arith.muli", shape, "i64", wide, factor)
        return self.cast("arith.sitofp", shape, h, "i32", element)

    # Memory ----------------------------------------------------------------------

    def subview(self, name, strides, offsets, sizes, steps=None):
        """A view of the buffer argument `name`; offsets are index values or
        numbers, sizes numbers."""
        source = self.types[name]
        element = source.split(",")[0].split("x")[-1]
        steps = steps or [1] * len(sizes)
        type_ = (f"memref<{'x'.join(map(str, sizes))}x{element}, "
                 f"strided<[{', '.join(strides)}], offset: ?>, "
                 "#iris.symmetric>")
        text = self.value(
            f"memref.subview %{name}[{', '.join(map(str, offsets))}] "
            f"[{', '.join(map(str, sizes))}] [{', '.join(map(str, steps))}] : "
            f"{source} to {type_}")
        self.types[text] = type_
        return text

    def type_of(self, memory):
        return self.types[memory if memory in self.types else memory[1:]]

    def load(self, memory, offsets, shape, element, options=""):
        return self.value(f"tile.load {memory}[{', '.join(offsets)}]{options} "
                          f": {self.type_of(memory)} -> "
                          f"{tile(shape, element)}")

    def store(self, value, memory, offsets, shape, element, options=""):
        self.emit(f"tile.store {value}, {memory}[{', '.join(offsets)}]{options}"
                  f" : {tile(shape, element)}, {self.type_of(memory)}")

    def expect(self, got, want, what, shape, element):
        type_ = tile(shape, element) if shape else element
        self.emit(f'iris.expect_eq {got}, {want}, "{what}" : {type_}')


class Program(Block):
    """A gpu.module and a @main that uses it."""

    def __init__(self):
        super().__init__(1)
        self.kernels = {}
        self.cases = 0  # lower bound of the cases that one rank tests
        self.ranks = self.value("iris.num_ranks %ctx : index")

    def kernel(self, name, arguments, body, **options):
        """Adds a kernel unless there is one of that name."""
        if name not in self.kernels:
            kernel = Kernel(name, arguments, **options)
            body(kernel)
            self.kernels[name] = kernel
        return name

    def alloc(self, element, sizes):
        sizes = [self.index(s) if isinstance(s, int) else s for s in sizes]
        type_ = buffer(element, len(sizes))
        return self.value(f"iris.alloc({', '.join(sizes)}) : {type_}"), type_

    def dealloc(self, memory):
        self.emit(f"iris.dealloc {memory[0]} : {memory[1]}")

    def sync(self):
        self.emit("iris.sync %ctx")

    def launch(self, kernel, programs, *arguments):
        """Arguments are (value, type) pairs, or ints for index arguments."""
        pairs = [(self.index(a), "index") if isinstance(a, int) else a
                 for a in arguments]
        values = ", ".join(["%ctx"] + [v for v, _ in pairs])
        types = ", ".join(["!iris.ctx"] + [t for _, t in pairs])
        count = self.index(programs)
        self.emit(f"iris.launch @kernels::@{kernel} programs({count}) "
                  f"args({values} : {types})")

    def text(self):
        kernels = "\n\n".join(k.text() for k in self.kernels.values())
        main = "\n".join(self.lines)
        return ("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
                f"// {self.cases} cases in {len(self.kernels)} kernels.\n"
                "gpu.module @kernels {\n" + kernels + "\n}\n\n"
                "func.func @main(%ctx: !iris.ctx) {\n" + main +
                "\n  return\n}\n")
