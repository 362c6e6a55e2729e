# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws whole programs: buffers, kernels that compute (kernel.py), calls of collectives
and matmuls (calls.py).

@main fills buffers (fills.py). In each of its phases a kernel, or two, reads any buffers
of any rank and writes one of its own, or a call makes a new one; after an `iris.sync`
every buffer may be read. There are no checks: what a program computes is compared with
the reference, at every sync.
"""
import collections

from calls import Calls
from elements import FLOATS, INTS, is_float, specials
from fills import MODES, TABLES, Fill
from functions import FUNCTIONS, LANES, OPTIONS, functions_kernel
from kernel import Kernel
from values import Buffer

EXTENTS = {1: [16, 5, 33, 64, 100, 1], 2: [8, 3, 16, 5, 20], 3: [4, 3, 8]}


class Program(Calls):
    def __init__(self, choices, ranks):
        self.choices, self.ranks = choices, ranks
        self.deck = collections.Counter()  # what was drawn how often
        self.kernels, self.main, self.buffers, self.count = [], [], [], 0
        self.functions, self.fills = {}, {}
        self.options, self.uses_tables = "", False
        for _ in range(2 + choices.number(4)):
            self.fill(self.allocate(self.extents()))
        if choices.chance(40):
            # Operands of matmuls.
            self.fill(self.allocate([choices.pick(EXTENTS[2]) for _ in range(2)],
                                    choices.pick(["f16", "bf16", "i8"])), "small")
        self.sync()
        if choices.chance(30):
            # Many calls cost less than a kernel.
            for _ in range(6 + choices.number(7)):
                self.call()
                self.sync()
        else:
            self.compute()
            self.sync()
            for _ in range(choices.number(4)):
                self.phase()
                self.sync()
        if choices.chance(20):
            self.compute_functions()
        if choices.chance(30):
            freed = self.buffers.pop(choices.number(len(self.buffers)))
            self.add(f"iris.dealloc {freed.name} : {freed.type}")

    balanced = Kernel.balanced

    def add(self, line):
        self.main.append("  " + line)

    def sync(self):
        self.add("iris.sync %ctx")

    def constant(self, number, element="index"):
        self.count += 1
        self.add(f"%n{self.count} = arith.constant {number} : {element}")
        return f"%n{self.count}"

    def extents(self):
        rank = self.choices.pick([2, 1, 2, 1, 3])
        return [self.choices.pick(EXTENTS[rank]) for _ in range(rank)]

    def allocate(self, extents, element=None, keep=True):
        self.count += 1
        buffer = Buffer(f"%b{self.count}", element or self.balanced(
            INTS + FLOATS, "buffer"), extents)
        buffer.mode = "any"
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

    def launch(self, kernel, programs, values, types, group=""):
        self.add(f"iris.launch @kernels::@{kernel} programs({programs}){group} args("
                 f"{', '.join(values)} : {', '.join(types)})")

    def fill(self, buffer, mode=None):
        modes = MODES[is_float(buffer.element)]
        if buffer.element == "i8":
            modes = modes + ["f8", "f8inf"]
        buffer.mode = mode or self.balanced(modes, "fill " + buffer.element)
        buffer.is_small = buffer.mode == "small" or not is_float(buffer.element)
        self.fills.setdefault((buffer.element, buffer.mode), None)
        view, salt = self.flat(buffer), self.constant(self.count)
        self.launch(f"fill_{buffer.mode}_{buffer.element}", self.constant(1),
                    ["%ctx", view.name, salt], ["!iris.ctx", view.type, "index"])

    def phase(self):
        if self.choices.chance(65):
            for _ in range(1 + self.choices.number(3)):
                self.call()
        else:
            self.compute()

    def call(self):
        if self.choices.chance(25):
            self.matmul_call()
        else:
            self.collective()

    def compute(self):
        # A rank may be at the second kernel while another is at the first.
        inputs, outputs = list(self.buffers), []
        for _ in range(1 + self.choices.number(2)):
            outputs.append(
                self.new_output(inputs)
                if self.choices.chance(50) or len(inputs) < 2
                else inputs.pop(self.choices.number(len(inputs))))
        inputs = [b for b in inputs if b not in outputs][-6:]
        for output in outputs:
            self.kernel(inputs, output)

    def new_output(self, inputs):
        """Often of the type of an input, from which rows can be copied."""
        if not self.choices.chance(60):
            return self.allocate(self.extents())
        like = self.choices.pick(inputs)
        return self.allocate([self.choices.pick(EXTENTS[len(like.extents)])
                              for _ in like.extents], like.element)

    def kernel(self, inputs, output):
        shift = self.choices.pick([None, 1, None, 0, 2])
        _, group = self.group()
        scalars = [(f"%s{n}", self.balanced(INTS + FLOATS + ["index"], "scalar"))
                   for n in range(2)]
        digest = self.allocate(output.extents, "i32", keep=False)
        passed = [self.passed(b) for b in inputs]
        kernel = Kernel(self.choices, self.deck, f"k{len(self.kernels)}",
                        [self.argument(b, f"%in{n}") for n, b in enumerate(passed)],
                        self.argument(output, "%out"), self.argument(digest, "%digest"),
                        shift, scalars, group)
        output.is_small, output.mode = False, "any"
        self.kernels.append(kernel)
        self.functions.update(kernel.functions)
        extra = [self.allocate(b.extents, b.element, keep=False)
                 for b in kernel.extra]
        buffers = passed + [output, digest] + extra
        numbers = [self.constant(self.choices.pick(
            [s for s in specials(element) if s != "0"]), element)
            for _, element in scalars]
        grid = self.choices.pick([(1,), (2,), (3,), (4,), (1, 2), (2, 2), (1, 4)])
        self.launch(kernel.name, ", ".join([self.constant(n) for n in grid]),
                    ["%ctx"] + [b.name for b in buffers] + numbers,
                    ["!iris.ctx"] + [b.type for b in buffers] + [e for _, e in scalars],
                    group)

    def passed(self, buffer):
        """The buffer, or a part of it: without its first rows, and with every second
        column."""
        extents, element = buffer.extents, buffer.element
        if not self.choices.chance(25) or extents[0] < 2:
            return buffer
        self.count += 2
        whole = (f"memref<{'x'.join(map(str, extents))}x{element}, #iris.symmetric>")
        self.add(f"%p{self.count - 1} = memref.cast {buffer.name} : {buffer.type} to "
                 f"{whole}")
        start = 1 + self.choices.number(extents[0] // 2)
        strides, rank = [1], len(extents)
        for n in extents[:0:-1]:
            strides.insert(0, strides[0] * n)
        sizes, steps = [extents[0] - start] + extents[1:], [1] * rank
        offset = start * strides[0]
        if rank > 1 and self.choices.chance(40):
            sizes[-1], steps[-1] = (sizes[-1] + 1) // 2, 2
            strides[-1] = 2
        type_ = (f"memref<{'x'.join(map(str, sizes))}x{element}, strided<"
                 f"[{', '.join(map(str, strides))}], offset: {offset}>, "
                 "#iris.symmetric>")
        view = Buffer(f"%p{self.count}", element, sizes, type_)
        self.add(f"{view.name} = memref.subview %p{self.count - 1}"
                 f"[{', '.join(map(str, [start] + [0] * (rank - 1)))}] "
                 f"[{', '.join(map(str, sizes))}] [{', '.join(map(str, steps))}] : "
                 f"{whole} to {type_}")
        view.is_small = buffer.is_small
        return view

    def argument(self, buffer, name):
        type_ = buffer.type
        if name.startswith("%in") and self.choices.chance(15):
            type_ = type_.replace(", #iris.symmetric", "")
        argument = Buffer(name, buffer.element, buffer.extents, type_)
        argument.is_small = buffer.is_small
        return argument

    def compute_functions(self):
        """At the end: their results are inputs of nothing."""
        self.options = OPTIONS
        for element in ("f32", "f16", "bf16"):
            source = [b for b in self.buffers if b.element == element]
            if not source:
                continue
            functions = [self.balanced(FUNCTIONS, "function") for _ in range(8)]
            view = self.flat(self.choices.pick(source))
            output = self.allocate([LANES * len(functions)], element, keep=False)
            name = f"functions_{element}"
            self.functions[name] = functions_kernel(name, element, functions)
            self.launch(name, self.constant(1), ["%ctx", view.name, output.name],
                        ["!iris.ctx", view.type, output.type])

    # Text -------------------------------------------------------------------

    def text(self):
        return "\n".join(
            [self.options + "gpu.module @kernels {"] + ([TABLES] if self.uses_tables
                                                        else []) +
            [Fill(*key).text() for key in sorted(self.fills)] +
            [text for _, text in sorted(self.functions.items())] +
            [kernel.text() for kernel in self.kernels] +
            ["}", "func.func @main(%ctx: !iris.ctx) {"] + self.main +
            ["  return", "}", ""])
