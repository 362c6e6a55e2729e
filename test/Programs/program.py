# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws whole programs: buffers, kernels that compute (kernel.py), collectives.

@main fills buffers with a hash of rank and index. In each of its phases a kernel, or
two, reads any buffers of any rank and writes one of its own, or a collective makes a
new one; after an `iris.sync` every buffer may be read. There are no checks: what a
program computes is compared with the reference, at every sync.
"""
from kernel import FLOATS, INTS, Buffer, Kernel, is_float, width

EXTENTS = {1: [16, 5, 33, 64, 100, 1], 2: [8, 3, 16, 5, 20], 3: [4, 3, 8]}
FILLED = 64  # elements at once
# What kernels call.
MIX = """\
  func.func private @mix(%value: i32, %index: index) -> i32 {
    %other = arith.index_cast %index : index to i32
    %seven = arith.constant 7 : i32
    %amount = arith.andi %other, %seven : i32
    %shifted = arith.shrui %value, %amount : i32
    %mixed = arith.xori %shifted, %value : i32
    func.return %mixed : i32
  }"""


class Program:
    def __init__(self, choices, ranks):
        self.choices, self.ranks = choices, ranks
        self.kernels, self.main, self.buffers, self.count = [], [], [], 0
        self.elements = set()
        for _ in range(2 + choices.number(3)):
            self.fill(self.allocate(self.extents()))
        self.sync()
        for _ in range(1 + choices.number(3)):
            self.phase()
            self.sync()
        if choices.chance(30):
            freed = self.buffers.pop(choices.number(len(self.buffers)))
            self.add(f"iris.dealloc {freed.name} : {freed.type}")

    def add(self, line):
        self.main.append("  " + line)

    def sync(self):
        self.add("iris.sync %ctx")

    def constant(self, number):
        self.count += 1
        self.add(f"%n{self.count} = arith.constant {number} : index")
        return f"%n{self.count}"

    def extents(self):
        rank = self.choices.pick([2, 1, 2, 1, 3])
        return [self.choices.pick(EXTENTS[rank]) for _ in range(rank)]

    def allocate(self, extents, element=None, keep=True):
        self.count += 1
        buffer = Buffer(f"%b{self.count}", element or self.choices.pick(
            INTS + FLOATS), extents)
        sizes = ", ".join([self.constant(n) for n in extents])
        self.add(f"{buffer.name} = iris.alloc({sizes}) : {buffer.type}")
        if keep:
            self.buffers.append(buffer)
        return buffer

    def flat(self, buffer):
        """A view with one dimension."""
        if len(buffer.extents) == 1:
            return buffer
        self.count += 1
        size = 1
        for n in buffer.extents:
            size *= n
        view = Buffer(f"%f{self.count}", buffer.element, [size])
        dims = ", ".join(map(str, range(len(buffer.extents))))
        self.add(f"{view.name} = memref.collapse_shape {buffer.name} [[{dims}]] : "
                 f"{buffer.type} into {view.type}")
        return view

    def launch(self, kernel, programs, values, types):
        self.add(f"iris.launch @kernels::@{kernel} programs({programs}) args("
                 f"{', '.join(values)} : {', '.join(types)})")

    def fill(self, buffer):
        self.elements.add(buffer.element)
        view, salt = self.flat(buffer), self.constant(self.count)
        self.launch(f"fill_{buffer.element}", self.constant(1),
                    ["%ctx", view.name, salt], ["!iris.ctx", view.type, "index"])

    def phase(self):
        if self.choices.chance(25):
            self.collective()
            return
        # A rank may be at the second kernel while another is at the first.
        inputs, outputs = list(self.buffers), []
        for _ in range(1 + self.choices.number(2)):
            outputs.append(
                self.allocate(self.extents())
                if self.choices.chance(50) or len(inputs) < 2
                else inputs.pop(self.choices.number(len(inputs))))
        for output in outputs:
            self.kernel(inputs, output)

    def kernel(self, inputs, output):
        shift = self.choices.pick([None, 1, None, 0, 2])
        kernel = Kernel(self.choices, f"k{len(self.kernels)}",
                        [self.argument(b, f"%in{n}") for n, b in enumerate(inputs)],
                        self.argument(output, "%out"), shift)
        output.is_small = False
        self.kernels.append(kernel)
        extra = [self.allocate(b.extents, b.element, keep=False)
                 for b in kernel.extra]
        buffers = inputs + [output] + extra
        grid = self.choices.pick([(1,), (2,), (3,), (4,), (1, 2), (2, 2), (1, 4)])
        self.launch(kernel.name, ", ".join([self.constant(n) for n in grid]),
                    ["%ctx"] + [b.name for b in buffers],
                    ["!iris.ctx"] + [b.type for b in buffers])

    @staticmethod
    def argument(buffer, name):
        argument = Buffer(name, buffer.element, buffer.extents)
        argument.is_small = buffer.is_small
        return argument

    def collective(self):
        """To a new buffer. Sums are of integers, because those of floats depend
        on the variant's order."""
        source = self.choices.pick(self.buffers)
        view = self.flat(source)
        size, root = view.extents[0], f" root({self.constant(self.ranks - 1)})"
        reduction = " max" if is_float(source.element) else " " + self.choices.pick(
            ["sum", "max", "min"])
        many, few = size * self.ranks, size // self.ranks
        kinds = [("all_reduce" + reduction, "", size), ("all_gather", "", many),
                 ("broadcast", root, size), ("gather_to", root, many),
                 ("reduce" + reduction, root, size)]
        if size % self.ranks == 0:
            kinds += [("reduce_scatter" + reduction, "", few),
                      ("all_to_all", "", size), ("scatter_from", root, few)]
        operation, tail, elements = self.choices.pick(kinds)
        output = self.allocate([elements], source.element)
        output.is_small = source.is_small and "reduce" not in operation
        self.add(f"iris.{operation} %ctx, {view.name}, {output.name}{tail} : "
                 f"{view.type}, {output.type}")

    # Text -------------------------------------------------------------------

    def text(self):
        return "\n".join(
            ["gpu.module @kernels {", MIX] +
            [fill_kernel(e) for e in sorted(self.elements)] +
            [kernel.text() for kernel in self.kernels] +
            ["}", "func.func @main(%ctx: !iris.ctx) {"] + self.main +
            ["  return", "}", ""])


def fill_kernel(element):
    """Element i is a hash of i, the rank and the salt: in all bits of an integer,
    for floats a multiple of 1/4 from -32 to less than 32."""
    tile, result = f"tensor<{FILLED}xi32>", f"tensor<{FILLED}x{element}>"
    memref = f"memref<?x{element}, #iris.symmetric>"
    if is_float(element):
        last = [f"%byte = arith.trunci %word : {tile} to tensor<{FILLED}xi8>",
                f"%quarters = arith.sitofp %byte : tensor<{FILLED}xi8> to {result}",
                f"%quarter = arith.constant dense<0.25> : {result}",
                f"%v = arith.mulf %quarters, %quarter : {result}"]
    elif width(element) == 32:
        last = [f"%zero = arith.constant dense<0> : {tile}",
                f"%v = arith.addi %word, %zero : {tile}"]
    else:
        op = "extsi" if width(element) > 32 else "trunci"
        last = [f"%v = arith.{op} %word : {tile} to {result}"]
    words = []
    for name, op, left, right in [
            ("h0", "muli", "i", "m1"), ("h1", "addi", "h0", "salts"),
            ("h2", "shrui", "h1", "f"), ("h3", "xori", "h1", "h2"),
            ("h4", "muli", "h3", "m2"), ("h5", "shrui", "h4", "t"),
            ("word", "xori", "h4", "h5")]:
        words.append(f"%{name} = arith.{op} %{left}, %{right} : {tile}")
    body = [f"%range = tile.range : {tile}",
            "%from32 = arith.index_cast %from : index to i32",
            f"%starts = tensor.splat %from32 : {tile}",
            f"%i = arith.addi %range, %starts : {tile}",
            f"%salts = tensor.splat %seed32 : {tile}"] + [
                f"%{name} = arith.constant dense<{value}> : {tile}"
                for name, value in (("m1", 0x9E3779B1 - 2**32), ("m2", 0x2C1B3C6D),
                                    ("f", 15), ("t", 12))
            ] + words + last + [f"tile.store %v, %b[%from] : {result}, {memref}"]
    return "\n".join(
        [f"  gpu.func @fill_{element}(%ctx: !iris.ctx, %b: {memref}, %salt: index) "
         "kernel {",
         "    %zero_ = arith.constant 0 : index",
         f"    %step = arith.constant {FILLED} : index",
         "    %many = arith.constant 1000003 : index",
         f"    %size = memref.dim %b, %zero_ : {memref}",
         "    %rank = iris.rank %ctx : index",
         "    %seed0 = arith.muli %rank, %many : index",
         "    %seed = arith.addi %seed0, %salt : index",
         "    %seed32 = arith.index_cast %seed : index to i32",
         "    scf.for %from = %zero_ to %size step %step {"] +
        ["      " + line for line in body] + ["    }", "    gpu.return", "  }"])
