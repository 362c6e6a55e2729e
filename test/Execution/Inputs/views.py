# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of buffers, memref.subview to memref.view: what a view shows, and what
stores through it change, by scalar accesses, tiles, loads and stores on a peer,
get and put; views of buffers of the program (memref.alloca) by the first two.

A view is defined by the number of its first element in its source, a stride for
each dimension, and sizes. Sources have 64 elements; that of number k is
1000 * rank + k, and 100000 more where it was stored through a view. Operands of
the views are arguments of the kernels, so that the compiler does not know them.
"""
import re
import itertools

COUNT = 64
STORED = 100000
# Arguments of the kernels by name: %n4 is 4.
NUMBERS = (1, 2, 3, 4, 8, 16)


class View:
    """`text` computes %w, of type `type`, from %b, of type `source`."""

    def __init__(self, name, source, text, type_, offset, strides, sizes,
                 remote=True):
        self.name, self.source, self.text, self.type = name, source, text, type_
        self.offset, self.strides, self.sizes = offset, strides, sizes
        self.remote = remote

    def numbers(self):
        """The elements of the source that the view shows."""
        return {self.offset + sum(i * s for i, s in zip(index, self.strides))
                for index in itertools.product(*map(range, self.sizes))}


def views():
    rows, square = "memref<?x8xT, S>", "memref<8x8xT, S>"
    part = "memref<?x4xT, strided<[8, 2], offset: ?>, S>"
    subview = f"memref.subview %b[%n1, 1] [%n4, 4] [1, 2] : {rows} to {part}"
    turned = "memref<4x?xT, strided<[2, 8], offset: ?>, S>"
    yield View("subview", rows, f"%w = {subview}", part, 9, (8, 2), (4, 4))
    row = "memref<4xT, strided<[1], offset: ?>, S>"
    yield View("row", rows, "%w = memref.subview %b[%n2, 3] [1, 4] [1, 1] : "
               f"{rows} to {row}", row, 19, (1,), (4,))
    yield View("cast_to_static", "memref<?x?xT, S>", "%w = memref.cast %b : "
               f"memref<?x?xT, S> to {square}", square, 0, (8, 1), (8, 8))
    free = "memref<?x?xT, strided<[?, ?], offset: ?>, S>"
    yield View("cast_to_dynamic", square, f"%w = memref.cast %b : {square} to "
               f"{free}", free, 0, (8, 1), (8, 8))
    yield View("reinterpret_cast", "memref<?xT, S>",
               "%w = memref.reinterpret_cast %b to offset: [%n3], "
               f"sizes: [%n4, %n4], strides: [%n16, %n2] : memref<?xT, S> to {free}",
               free, 3, (16, 2), (4, 4))
    cube = "memref<?x2x4xT, S>"
    yield View("expand_shape", rows, "%w = memref.expand_shape %b [[0], [1, 2]] "
               f"output_shape [%n8, 2, 4] : {rows} into {cube}", cube,
               0, (8, 4, 1), (8, 2, 4))
    line = "memref<?xT, S>"
    yield View("collapse_shape", rows, "%w = memref.collapse_shape %b [[0, 1]] : "
               f"{rows} into {line}", line, 0, (1,), (64,))
    whole = "memref<?x8xT, strided<[8, 1], offset: ?>, S>"
    piece = "memref<?xT, strided<[1], offset: ?>, S>"
    yield View("collapse_of_subview", rows, "%p = memref.subview %b[%n2, 0] "
               f"[%n4, 8] [1, 1] : {rows} to {whole}\n"
               f"%w = memref.collapse_shape %p [[0, 1]] : {whole} into {piece}",
               piece, 16, (1,), (32,))
    columns = "memref<8x?xT, strided<[1, 8]>, S>"
    yield View("transpose", rows, f"%w = memref.transpose %b (i, j) -> (j, i) : "
               f"{rows} to {columns}", columns, 0, (1, 8), (8, 8))
    yield View("transpose_of_subview", rows, f"%p = {subview}\n"
               f"%w = memref.transpose %p (i, j) -> (j, i) : {part} to {turned}",
               turned, 9, (2, 8), (4, 4))
    table = "memref<?x4xT, S>"
    yield View("view", "memref<?xi8, S>", "%w = memref.view %b[%n16][%n8] : "
               f"memref<?xi8, S> to {table}", table, 4, (4, 1), (8, 4))
    yield View("assume_alignment", rows, "%w = memref.assume_alignment %b, 16 : "
               f"{rows}", rows, 0, (8, 1), (8, 8))
    base = "memref<T, S>"
    yield View("extract_strided_metadata", rows, f"%p = {subview}\n"
               "%base, %first, %sizes:2, %strides:2 = "
               f"memref.extract_strided_metadata %p : {part} -> {base}, index, "
               "index, index, index, index\n"
               "%w = memref.reinterpret_cast %base to offset: [%first], "
               "sizes: [%sizes#1, %sizes#0], strides: [%strides#1, %strides#0] : "
               f"{base} to {free}", free, 9, (2, 8), (4, 4))
    plain = "memref<?x8xT>"
    yield View("memory_space_cast", rows, f"%w = memref.memory_space_cast %b : "
               f"{rows} to {plain}", plain, 0, (8, 1), (8, 8), remote=False)


class Writer:
    """The body of a kernel."""

    def __init__(self, view, element):
        self.view, self.element = view, element
        self.lines, self.count, self.open = [], 0, 0

    def add(self, text):
        for line in text.split("\n"):
            self.lines.append("    " + "  " * self.open + line)

    def value(self, text):
        self.count += 1
        self.add(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def index(self, number):
        return self.value(f"arith.constant {number} : index")

    def sum(self, *terms):
        total = terms[0]
        for term in terms[1:]:
            total = self.value(f"arith.addi {total}, {term} : index")
        return total

    def times(self, value, number):
        return self.value(f"arith.muli {value}, {self.index(number)} : index")

    def convert(self, value):
        value = self.value(f"arith.index_cast {value} : index to i32")
        if self.element == "i32":
            return value
        return self.value(f"arith.sitofp {value} : i32 to {self.element}")

    def data(self, rank, number, stored=False):
        """The value of an element."""
        terms = [self.times(rank, 1000), number]
        return self.convert(
            self.sum(*terms, *([self.index(STORED)] if stored else [])))

    def loop(self, size):
        zero, end, one = self.index(0), self.index(size), self.index(1)
        self.count += 1
        name = f"%v{self.count}"
        self.add(f"scf.for {name} = {zero} to {end} step {one} {{")
        self.open += 1
        return name

    def close(self, loops=1):
        for _ in range(loops):
            self.open -= 1
            self.add("}")

    def each(self):
        """Loops over the view; an element's indices and its number."""
        indices = [self.loop(size) for size in self.view.sizes]
        number = self.sum(self.index(self.view.offset), *(
            self.times(i, s) for i, s in zip(indices, self.view.strides)))
        return ", ".join(indices), number

    def source(self, number, buffer="%b"):
        """Text of the access to an element of the source without a view, and
        its type."""
        type_ = self.view.source
        if "i8" in type_ and self.element != "i8":
            line = self.value(f"memref.view {buffer}[{self.index(0)}]"
                              f"[{self.index(COUNT)}] : {type_} to memref<?xT, S>")
            return f"{line}[{number}] : memref<?xT, S>"
        if "x8x" not in type_ and "?x?" not in type_:
            return f"{buffer}[{number}] : {type_}"
        eight = self.index(8)
        row = self.value(f"arith.divui {number}, {eight} : index")
        column = self.value(f"arith.remui {number}, {eight} : index")
        return f"{buffer}[{row}, {column}] : {type_}"

    def expect(self, got, want, what, type_="T"):
        self.add(f'iris.expect_eq {got}, {want}, "{self.view.name}: {what}" : '
                 f"{type_}")

    def tile(self):
        return f"tensor<{'x'.join(map(str, self.view.sizes))}xT>"

    def origin(self):
        return ", ".join([self.index(0)] * len(self.view.sizes))

    def local(self):
        """The type of %d, a buffer of the view's shape."""
        return f"memref<{'x'.join('?' * len(self.view.sizes))}xT, D>"

    def ranks(self):
        """This rank, and the one whose memory it accesses."""
        rank = self.value("iris.rank %ctx : index")
        ranks = self.value("iris.num_ranks %ctx : index")
        next_ = self.sum(rank, self.index(1))
        return rank, self.value(f"arith.remui {next_}, {ranks} : index"), ranks


def fill(k):
    rank, _, _ = k.ranks()
    for buffer in ("%b", "%c", "%e"):
        number = k.loop(COUNT)
        x = k.data(rank, number)
        k.add(f"memref.store {x}, {k.source(number, buffer)}")
        k.close()


def load(k):
    """Reads through the view."""
    rank, peer, _ = k.ranks()
    k.add(k.view.text)
    index, number = k.each()
    x = k.value(f"memref.load %w[{index}] : {k.view.type}")
    k.expect(x, k.data(rank, number), "memref.load")
    if k.view.remote:
        one = f"tensor<{'1x' * len(k.view.sizes)}T>"
        x = k.value(f"iris.load %ctx, %w[{index}] from {peer} : {k.view.type} "
                    f"-> {one}")
        want = k.value(f"tensor.splat {k.data(peer, number)} : {one}")
        k.expect(x, want, "iris.load", one)
    k.close(len(k.view.sizes))
    moves = [("tile.load", rank)]
    if k.view.remote:
        moves += [("iris.load", peer), ("iris.get", peer)]
    for move, owner in moves:
        if move == "iris.get":
            shape = ", ".join(map(str, k.view.sizes))
            k.add(f"iris.get %ctx, %w[{k.origin()}], %d[{k.origin()}] from {owner} "
                  f"shape [{shape}] : {k.view.type}, {k.local()}")
        else:
            remote = move == "iris.load"
            x = k.value(f"{move} {'%ctx, ' if remote else ''}%w[{k.origin()}] "
                        f"{f'from {owner} ' if remote else ''}: {k.view.type} -> "
                        f"{k.tile()}")
            k.add(f"tile.store {x}, %d[{k.origin()}] : {k.tile()}, {k.local()}")
        index, number = k.each()
        x = k.value(f"memref.load %d[{index}] : {k.local()}")
        k.expect(x, k.data(owner, number), move)
        k.close(len(k.view.sizes))


def store(k):
    """Writes through the view: to %b by scalars, to %c by tiles, and to %e by
    put, the latter two on the peer."""
    rank, peer, _ = k.ranks()
    if not k.view.remote:
        peer = rank
    for buffer in ("%b", "%c", "%e"):
        text = k.view.text
        for name in ("%w", "%p", "%base", "%first", "%sizes", "%strides"):
            text = text.replace(name, name + buffer[1:])
        k.add(text.replace("%b[", f"{buffer}[").replace("%b ", f"{buffer} ")
              .replace("%b,", f"{buffer},"))
    index, number = k.each()
    x = k.data(rank, number, stored=True)
    k.add(f"memref.store {x}, %wb[{index}] : {k.view.type}")
    k.add(f"memref.store {x}, %d[{index}] : {k.local()}")
    k.close(len(k.view.sizes))
    x = k.value(f"tile.load %d[{k.origin()}] : {k.local()} -> {k.tile()}")
    if k.view.remote:
        k.add(f"iris.store %ctx, {x}, %wc[{k.origin()}] to {peer} : {k.tile()}, "
              f"{k.view.type}")
        shape = ", ".join(map(str, k.view.sizes))
        k.add(f"iris.put %ctx, %d[{k.origin()}], %we[{k.origin()}] to {peer} "
              f"shape [{shape}] : {k.local()}, {k.view.type}")
    else:
        for name in ("%wc", "%we"):
            k.add(f"tile.store {x}, {name}[{k.origin()}] : {k.tile()}, "
                  f"{k.view.type}")


def check_source(k, buffer, rank, writer):
    """Compares the elements of the view, which `writer` stored, and the sum of
    all, which also tells whether the others are unchanged."""
    stored = k.view.numbers()
    _, number = k.each()
    x = k.value(f"memref.load {k.source(number, buffer)}")
    k.expect(x, k.data(writer, number, stored=True),
             f"an element stored to {buffer[1:]}")
    k.close(len(k.view.sizes))
    start = k.convert(k.index(0))
    zero, end, one = k.index(0), k.index(COUNT), k.index(1)
    k.count += 1
    total = f"%v{k.count}"
    k.add(f"{total} = scf.for %k = {zero} to {end} step {one} "
          f"iter_args(%sum = {start}) -> (T) {{")
    k.open += 1
    x = k.value(f"memref.load {k.source('%k', buffer)}")
    add = "arith.addi" if k.element == "i32" else "arith.addf"
    k.add(f"scf.yield {k.value(f'{add} %sum, {x} : T')} : T")
    k.close()
    fixed = sum(range(COUNT)) + STORED * len(stored)
    want = k.sum(k.index(fixed), k.times(writer, 1000 * len(stored)),
                 k.times(rank, 1000 * (COUNT - len(stored))))
    k.expect(total, k.convert(want), f"the sum of {buffer[1:]}")


def check(k):
    """Reads the sources."""
    rank, _, ranks = k.ranks()
    before = k.sum(rank, ranks)
    before = k.value(f"arith.subi {before}, {k.index(1)} : index")
    before = k.value(f"arith.remui {before}, {ranks} : index")
    writer = before if k.view.remote else rank
    for buffer, owner in (("%b", rank), ("%c", writer), ("%e", writer)):
        check_source(k, buffer, rank, owner)


def local(k):
    """Reads and writes through the view of a buffer of the program."""
    rank, _, _ = k.ranks()
    static = k.view.source.replace("?xi8", "256xi8")
    static = static.replace("?xT" if static.count("x") == 1 else "?x",
                            f"{COUNT}xT" if static.count("x") == 1 else "8x")
    k.add(f"%s = memref.alloca() : {static}")
    k.add(f"%b = memref.cast %s : {static} to {k.view.source}")
    number = k.loop(COUNT)
    k.add(f"memref.store {k.data(rank, number)}, {k.source(number)}")
    k.close()
    k.add(k.view.text)
    x = k.value(f"tile.load %w[{k.origin()}] : {k.view.type} -> {k.tile()}")
    k.add(f"tile.store {x}, %d[{k.origin()}] : {k.tile()}, {k.local()}")
    index, number = k.each()
    for buffer, type_ in (("%w", k.view.type), ("%d", k.local())):
        x = k.value(f"memref.load {buffer}[{index}] : {type_}")
        k.expect(x, k.data(rank, number), f"{buffer[1:]} of program memory")
    k.add(f"memref.store {k.data(rank, number, stored=True)}, %d[{index}] : "
          f"{k.local()}")
    k.close(len(k.view.sizes))
    x = k.value(f"tile.load %d[{k.origin()}] : {k.local()} -> {k.tile()}")
    k.add(f"tile.store {x}, %w[{k.origin()}] : {k.tile()}, {k.view.type}")
    check_source(k, "%b", rank, rank)


class Views:
    """The program, as gen.py expects it."""

    def __init__(self, element):
        self.element, self.kernels, self.launches = element, [], []
        self.cases = 0
        for view in views():
            self.cases += 1
            for body in (fill, load, store, check, *([local] * view.remote)):
                self.kernel(view, body)

    def typed(self, text):
        width = {"i32": "xi32", "f32": "xf32"}[self.element]
        text = text.replace("xT", width).replace("memref<T", f"memref<{width[1:]}")
        text = text.replace(": T", f": {self.element}").replace(
            "(T)", f"({self.element})")
        return re.sub(", [SD]>", ", #iris.symmetric>", text)

    def kernel(self, view, body):
        k = Writer(view, self.element)
        body(k)
        name = f"{view.name}_{body.__name__}"
        buffers = ["%b", "%c", "%e"]
        if body is local:
            buffers = []
            k.lines = [line.replace(", S>", ">") for line in k.lines]
        types = ([view.source] * len(buffers) + [k.local()]
                 + ["index"] * len(NUMBERS))
        names = buffers + ["%d"] + [f"%n{n}" for n in NUMBERS]
        arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
        self.kernels.append(self.typed(
            f"  gpu.func @{name}(%ctx: !iris.ctx, {arguments}) kernel {{\n"
            + "\n".join(k.lines) + "\n    gpu.return\n  }\n"))
        self.launches.append((name, view, len(buffers), types))

    def main(self):
        lines = ["  %c1 = arith.constant 1 : index"]
        for n in sorted({*NUMBERS, COUNT, 256}):
            lines.append(f"  %n{n} = arith.constant {n} : index")
        made = {}

        def buffer(type_, tag, sizes):
            if (type_, tag) not in made:
                name = made[type_, tag] = f"%m{len(made)}"
                dynamic = ", ".join(
                    f"%n{size}" for size, extent in
                    zip(sizes, type_[7:].split("x")) if extent == "?")
                lines.append(f"  {name} = iris.alloc({dynamic}) : {type_}")
            return made[type_, tag]

        for name, view, sources, types in self.launches:
            extents = (256,) if "i8" in view.source else (
                (8, 8) if view.source[7:].count("x") == 2 else (COUNT,))
            operands = [buffer(view.source, tag, extents)
                        for tag in "bce"[:sources]]
            shape = (8, 8, 8)[:len(view.sizes)] if len(view.sizes) > 1 else (COUNT,)
            operands.append(buffer(types[sources], "d", shape))
            operands += [f"%n{n}" for n in NUMBERS]
            lines.append(f"  iris.launch @kernels::@{name} programs(%c1) args(%ctx, "
                         f"{', '.join(operands)} : !iris.ctx, {', '.join(types)})")
            lines.append("  iris.sync %ctx")
        for (type_, _), name in made.items():
            lines.append(f"  iris.dealloc {name} : {type_}")
        return self.typed("func.func @main(%ctx: !iris.ctx) {\n"
                          + "\n".join(lines) + "\n  return\n}\n")

    def text(self):
        return ("gpu.module @kernels {\n" + "\n".join(self.kernels) + "}\n\n"
                + self.main())


def make(element, _full):
    return Views(element)
