# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tile.matmul: element types, layouts of both operands, ragged sizes, k
longer and shorter than the buffers, init, and regions that wait and that read
k-blocks from peers.

Operands are small integers, hashes of (rank, row, column), so that every sum
is exact in any order. The reference sums the products of the same hashes one
k at a time, as i32.
"""
from collectives import FLOAT8, encode
from tilegen import Program, buffer, tile

PROGRAMS = 2
POISON = 113  # fills the memory around the operands
MAX_BLOCKS = 16
LAYOUTS = ["row", "padded", "column", "strided"]
# Views of an argument at multiples of 16 bytes: a tensor map can describe them.
PARTS = ["part", "part_column"]


def storage(element):
    return "i8" if element in FLOAT8 else element


def align(value):
    """The next multiple of 16 elements: every copy engine supports such rows."""
    return -(-value // 16) * 16


def argument_type(element, layout):
    """The kernel argument that a view is made of."""
    if layout != "part_column":
        return buffer(storage(element), 2)
    return f"memref<?x?x{storage(element)}, strided<[1, ?]>, #iris.symmetric>"


def view_type(element, layout, space="symmetric"):
    if layout == "row":
        return f"memref<?x?x{storage(element)}, #iris.{space}>"
    strides = {"padded": "[?, 1]", "column": "[1, ?], offset: ?",
               "strided": "[?, 3], offset: ?", "part": "[?, 1], offset: ?",
               "part_column": "[1, ?], offset: ?"}[layout]
    return (f"memref<?x?x{storage(element)}, strided<{strides}>, "
            f"#iris.{space}>")


def base_sizes(layout, rows, columns):
    """Shape of the buffer that a view of rows x columns elements is cut from."""
    return {"row": [rows, columns], "padded": [rows, columns + 3],
            "column": [columns, rows + 5],
            "part": [rows + 24, align(columns + 24)],
            "part_column": [columns + 24, align(rows + 24)],
            "strided": [2 * rows + 1, 3 * columns + 1]}[layout]


def make_view(k, name, element, layout, rows, columns):
    """The rows x columns matrix in the buffer argument `name`."""
    base, type_ = k.types[name], view_type(element, layout)
    if layout == "row":
        return f"%{name}"
    if layout == "column":
        pitch = k.value(f"memref.dim %{name}, {k.index(1)} : {base}")
        two = k.index(2)
        return k.value(
            f"memref.reinterpret_cast %{name} to offset: [{two}], sizes: "
            f"[{rows}, {columns}], strides: [1, {pitch}] : {base} to {type_}")
    return cut(k, f"%{name}", base, type_, layout, rows, columns)


def cut(k, memory, base, type_, layout, rows, columns):
    """The view of `memory`; one offset is known only at run time."""
    first, steps = {"padded": ("0, 0", "1, 1"), "strided": ("1, 1", "2, 3"),
                    "part": ("%eight, 16", "1, 1"),
                    "part_column": ("16, %eight", "1, 1")}[layout]
    return k.value(f"memref.subview {memory}[{first}] [{rows}, {columns}] "
                   f"[{steps}] : {base} to {type_}")


def number(k, shape, element, rank, row, column, salt):
    """i32: a small integer for (row, column) of a matrix."""
    index = k.op("arith.muli", shape, "i32", row,
                 k.dense(shape, "i32", 1009))
    index = k.op("arith.addi", shape, "i32", index, column)
    h = k.narrow(shape, "i32", k.hash(shape, "i32", rank, index, salt=salt), 29)
    if element in FLOAT8:
        return h  # 0 to 7
    return k.op("arith.subi", shape, "i32", h, k.dense(shape, "i32", 4))


def convert(k, shape, element, value):
    """A value as an element."""
    if element in FLOAT8:
        code = k.dense(shape, "i32", 0)
        for n in range(1, 8):
            same = k.compare("eq", shape, "i32", value, k.dense(shape, "i32", n))
            code = k.select(shape, "i32", same,
                            k.dense(shape, "i32", encode(element, n)), code)
        return k.cast("arith.trunci", shape, code, "i32", "i8")
    if element == "i8":
        return k.cast("arith.trunci", shape, value, "i32", "i8")
    return k.cast("arith.sitofp", shape, value, "i32", element)


def fill_kernel(element, layout, salt):
    shape = (16, 16)

    def body(k):
        type_ = storage(element)
        for sizes, memory, make in [
                (None, "%out", lambda c: k.dense(shape, type_, POISON)),
                (("%rows", "%columns"), None, lambda c: convert(
                    k, shape, element,
                    number(k, shape, element, k.rank, *c, salt)))]:
            if memory is None:
                memory = make_view(k, "out", element, layout, *sizes)
                k.types[memory] = view_type(element, layout)
            else:
                sizes = [k.value(f"memref.dim %out, {k.index(d)} : "
                                 f"{k.types['out']}") for d in (0, 1)]
            # A single program: otherwise one program's poison could overwrite
            # another's data.
            i = k.loop(k.index(0), sizes[0], k.index(shape[0]))
            j = k.loop(k.index(0), sizes[1], k.index(shape[1]))
            k.store(make(k.coordinates(shape, [i, j])), memory, [i, j], shape,
                    type_)
            k.close()
            k.close()
    return body


class Variant:
    """The parameters of one kernel."""

    def __init__(self, a, b, shape, block, la, lb, init, region, columns=None,
                 warps=4, precision=None):
        self.a, self.b, self.shape, self.block = a, b, shape, block
        self.la, self.lb, self.init, self.region = la, lb, init, region
        self.columns = columns  # columns to store; None: all
        self.warps, self.precision = warps, precision
        self.sum = "i32" if a == "i8" else "f32"
        self.name = (f"mm_{a}_{b}_{shape[0]}x{shape[1]}x{block}_{la}_{lb}"
                     f"_{region}{'_init' if init else ''}"
                     f"{f'_{columns}' if columns else ''}"
                     f"{f'_{warps}w' if warps != 4 else ''}"
                     f"{f'_{precision}' if precision else ''}")

    def source(self, k, which, block):
        """The rank that operand `which` of a k-block is read from."""
        if self.region in ("peers", "waits") or (self.region == "peer_a" and
                                                 which == "a"):
            step = block if which == "a" else k.add(block, block)
            return k.rem(k.add(k.rank, step), k.ranks)
        return k.rank

    def kernel(self, k):
        shape, sum_ = self.shape, self.sum
        a = make_view(k, "a", self.a, self.la, "%m", "%k")
        b = make_view(k, "b", self.b, self.lb, "%k", "%n")
        if self.region == "waits":
            self.signal(k)
        i = k.loop(k.mul(k.pid, k.index(shape[0])), "%m",
                   k.mul(k.programs, k.index(shape[0])))
        j = k.loop(k.index(0), "%n", k.index(shape[1]))
        c = k.coordinates(shape, [i, j])
        start = number(k, shape, "i8", k.rank, *c, 3)
        init = ""
        if self.init:
            first = start if sum_ == "i32" else k.cast(
                "arith.sitofp", shape, start, "i32", sum_)
            init = f" init({first})"
        zero = k.index(0)
        as_ = (f" as({self.a}, {self.b})" if self.a in FLOAT8 else "")
        k.counter += 2
        got, block = f"%{k.counter - 1}", f"%{k.counter}"
        types = (f"{view_type(self.a, self.la)}, "
                 f"{view_type(self.b, self.lb)} -> {tile(shape, sum_)}")
        head = (f"{got} = tile.matmul {a}[{i}, {zero}], {b}[{zero}, {j}] "
                f"k(%length) block({self.block})"
                f"{f' columns({self.columns})' if self.columns else ''}"
                f"{init}{as_}"
                f"{f' precision({self.precision})' if self.precision else ''}")
        if self.region == "none":
            k.emit(f"{head} : {types}")
        else:
            k.open(head + " {")
            k.emit(f"^bb0({block}: index):")
            self.run_region(k, a, b, i, j, block)
            k.close(f"}} : {types}")
        want = self.expected(k, c, start)
        if self.columns:
            end = k.to_i32(k.add(j, k.index(self.columns)))
            isWanted = k.compare("ult", shape, "i32", c[1],
                                 k.splat(end, shape, "i32"))
            got = k.select(shape, sum_, isWanted, got, want)
        k.expect(got, want, self.name, shape, sum_)
        k.close()
        k.close()

    def signal(self, k):
        """Signals every rank that each of this rank's k-blocks is ready."""
        rank = k.count(k.ranks)
        block = k.count(k.index(MAX_BLOCKS))
        at = self.flag(k, k.rank, k.pid, block)
        k.emit(f"iris.signal set %ctx, %epoch, %flags[{at}] to {rank} "
               f"scope(sys) : i32, {k.types['flags']}")
        k.close()
        k.close()

    @staticmethod
    def flag(k, source, program, block):
        row = k.add(k.mul(source, k.index(PROGRAMS)), program)
        return k.add(k.mul(row, k.index(MAX_BLOCKS)), block)

    def run_region(self, k, a, b, i, j, block):
        first = k.mul(block, k.index(self.block))
        operands = []
        for which, view, offsets, layout, element in [
                ("a", a, [i, first], self.la, self.a),
                ("b", b, [first, j], self.lb, self.b)]:
            if self.region == "peer_a" and which == "b":
                break
            source = self.source(k, which, block)
            if self.region == "waits":
                at = self.flag(k, source, k.pid, block)
                k.value(f"iris.wait %ctx, %flags[{at}] ge %epoch scope(sys) : "
                        f"i32, {k.types['flags']}")
            peer = view_type(element, layout, "peer")
            if which == "b" and layout in PARTS:
                # A view of the translated buffer, not a translation of the
                # view.
                base = k.types["b"]
                whole = base.replace("symmetric", "peer")
                p = k.value(f"iris.translate %ctx, %b to {source} : {base} -> "
                            f"{whole}")
                p = cut(k, p, whole, peer, layout, "%k", "%n")
            else:
                p = k.value(f"iris.translate %ctx, {view} to {source} : "
                            f"{view_type(element, layout)} -> {peer}")
            operands.append((f"{p}[{offsets[0]}, {offsets[1]}]", peer))
        if self.region == "plain":
            k.emit("tile.yield")
        else:
            k.emit(f"tile.yield {', '.join(p for p, _ in operands)} : "
                   f"{', '.join(t for _, t in operands)}")

    def expected(self, k, c, start):
        shape, sum_ = self.shape, self.sum
        first = start if self.init else k.dense(shape, "i32", 0)
        k.counter += 3
        result, at, carried = (f"%{k.counter - n}" for n in (2, 1, 0))
        k.open(f"{result} = scf.for {at} = {k.index(0)} to %length step "
               f"{k.index(1)} iter_args({carried} = {first}) -> "
               f"({tile(shape, 'i32')}) {{")
        block = k.value(f"arith.divui {at}, {k.index(self.block)} : index")
        index = k.splat(k.to_i32(at), shape, "i32")
        x = self.element(k, self.a, self.source(k, "a", block), c[0], index,
                         "%m", "%k", 1)
        y = self.element(k, self.b, self.source(k, "b", block), index, c[1],
                         "%k", "%n", 2)
        product = k.op("arith.muli", shape, "i32", x, y)
        next_ = k.op("arith.addi", shape, "i32", carried, product)
        k.emit(f"scf.yield {next_} : {tile(shape, 'i32')}")
        k.close()
        if sum_ == "i32":
            return result
        return k.cast("arith.sitofp", shape, result, "i32", sum_)

    def element(self, k, element, rank, row, column, rows, columns, salt):
        """An operand's value, 0 outside its matrix."""
        shape = self.shape
        value = number(k, shape, element, rank, row, column, salt)
        limits = [k.splat(k.to_i32(v), shape, "i32") for v in (rows, columns)]
        inside = k.both(shape, [k.compare("ult", shape, "i32", row, limits[0]),
                                k.compare("ult", shape, "i32", column,
                                          limits[1])])
        return k.select(shape, "i32", inside, value,
                        k.dense(shape, "i32", 0))


class Cases:
    def __init__(self):
        self.p = Program()
        self.epoch = 0
        self.flags = self.p.alloc(
            "i32", [self.p.mul(self.p.ranks,
                               self.p.index(PROGRAMS * MAX_BLOCKS))])

    def operand(self, element, layout, rows, columns, salt):
        """The buffer, and its kernel arguments."""
        p = self.p
        sizes = base_sizes(layout, rows, columns)
        memory = p.alloc(storage(element), sizes)
        argument = (memory[0], argument_type(element, layout))
        if argument[1] != memory[1]:
            argument = (p.value(
                f"memref.reinterpret_cast {memory[0]} to offset: [0], sizes: "
                f"[{sizes[1]}, {sizes[0]}], strides: [1, {sizes[1]}] : "
                f"{memory[1]} to {argument[1]}"), argument[1])
        fill = p.kernel(
            f"fill_{element}_{layout}_{salt}",
            [("out", argument[1]), ("rows", "index"), ("columns", "index"),
             ("eight", "index")],
            fill_kernel(element, layout, salt))
        p.launch(fill, 1, argument, rows, columns, 8)
        return memory, argument

    def case(self, v, m, n, k, length):
        p = self.p
        memory_a, a = self.operand(v.a, v.la, m, k, 1)
        memory_b, b = self.operand(v.b, v.lb, k, n, 2)
        kernel = p.kernel(v.name, [
            ("a", a[1]), ("b", b[1]), ("m", "index"), ("n", "index"),
            ("k", "index"), ("length", "index"), ("flags", self.flags[1]),
            ("epoch", "i32"), ("eight", "index")], v.kernel, warps=v.warps)
        if v.region != "waits":
            p.sync()  # peers' operands are ready
        self.epoch += 1
        p.launch(kernel, PROGRAMS, a, b, m, n, k, length, self.flags,
                 (p.constant("i32", self.epoch), "i32"), 8)
        p.sync()
        p.dealloc(memory_b)
        p.dealloc(memory_a)
        p.cases += 1


# Shapes and k-blocks.
SHAPES = [((64, 64), 32), ((128, 16), 64)]


def matmul(element, full):
    cases = Cases()
    other = "f8E5M2" if element == "f8E4M3FN" else element
    shapes = SHAPES + ([((128, 128), 64)] if full else [])
    layouts = [(la, lb) for la in LAYOUTS for lb in LAYOUTS]
    regions = ["none", "plain", "peer_a", "peers", "waits"]
    iteration = 0
    for shape, block in shapes:
        for la, lb in layouts:
            if not full and (LAYOUTS.index(la) + LAYOUTS.index(lb) +
                             shapes.index((shape, block))) % 2:
                continue
            # All pairs of layouts; alternating regions and init.
            mine = regions if full else [regions[iteration % len(regions)]]
            for region in mine:
                init = iteration % 2 == 0
                # Some use only three quarters of the columns.
                columns = max(1, shape[1] * 3 // 4) if iteration % 4 == 3 else None
                v = Variant(element, other, shape, block, la, lb, init, region,
                            columns)
                m, n, k = shape[0] * 2, shape[1], block * 2
                sizes = [(m + 3, n + 5, k + 7, k + 7)]
                if iteration % 3 == 0:
                    sizes += [(m, n, k, k)]
                if iteration % 3 == 1:
                    sizes += [(m + 1, n + 1, k + 9, k - 3)]
                if iteration % 3 == 2:
                    sizes += [(m, n, k - 5, k + 2), (m, n, k, 0)]
                for size in sizes:
                    cases.case(v, *size)
                iteration += 1
    return cases.p


def other_of(element):
    return "f8E5M2" if element == "f8E4M3FN" else element


REGIONS = ["none", "plain", "peer_a", "peers", "waits"]


def parts(element, full):
    """Operands that are views of arguments surrounded by poison: views that
    end within a tile, tiles of which only some rows or columns exist, k that
    ends within a block or past the view."""
    cases = Cases()
    layouts = [(la, lb) for la in PARTS for lb in PARTS]
    layouts += [("row", "part"), ("part_column", "row")]
    shapes = [((64, 64), 64)] + ([((128, 128), 32), ((32, 64), 64)] if full
                                 else [])
    iteration = 0
    for shape, block in shapes:
        for la, lb in layouts:
            for region in REGIONS if full else [REGIONS[iteration % 2],
                                                REGIONS[2 + iteration % 3]]:
                v = Variant(element, other_of(element), shape, block, la, lb,
                            iteration % 3 == 0, region)
                m, n, k = shape[0] * 2, shape[1], block * 2
                cases.case(v, *[(m, n, k, k), (m + 8, n + 24, k, k),
                                (m - 16, n - 8, k + 16, k - 9),
                                (m + 1, n + 5, k - 16, k + 3)][iteration % 4])
                cases.case(v, m - 3, n + 16, k + 16, k + 32)
                iteration += 1
    return cases.p


def small(element, full):
    """Tiles of 16 and 32 rows, and of 64 rows with few columns."""
    cases = Cases()
    least = 32 if storage(element) == "i8" else 16
    shapes = [(m, n) for m in (16, 32) for n in (16, 32, 64, 128, 256)]
    shapes += [(64, 16), (64, 32)]
    layouts = [(la, lb) for la in ("row", "part", "part_column")
               for lb in ("row", "part", "part_column")] + [("strided", "part")]
    iteration = 0
    for shape in shapes:
        for block in [k for k in (16, 32, 64, 128) if k >= least]:
            for _ in range(2 if full else 1):
                la, lb = layouts[iteration * 7 % len(layouts)]
                region = REGIONS[iteration * 3 % len(REGIONS)]
                warps = 8 if full and iteration % 3 == 2 else 4
                precision = ("tf32" if element == "f32" and iteration % 4 < 3
                             else None)
                v = Variant(element, other_of(element), shape, block, la, lb,
                            iteration % 2 == 0, region,
                            shape[1] * 3 // 4 if iteration % 8 == 5 else None,
                            warps, precision)
                m, n, k = shape[0], shape[1], block * 2
                cases.case(v, *[(m, n, k, k), (m, n * 2, k + 16, k + 16),
                                (m - 3, n - 8, k, k - 5),
                                (m * 3, n + 8, k + 8, k + 11)][iteration % 4])
                iteration += 1
    return cases.p
