# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of placed litmus tests for iris-run: @main runs each test in rounds,
counts its outcomes on rank 0, and checks that no forbidden one was seen."""
import litmus_model as model
from litmus_kernels import BUFFERS, WORDS, Kernel
from litmus_text import DATA

CHUNK = 256  # words that a program sets to 0
ZERO = f"""  gpu.func @zero(%ctx: !iris.ctx, %buffer: {WORDS})
      kernel attributes {{iris.num_warps = 1 : i32}} {{
    %size = arith.constant {CHUNK} : index
    %zeros = arith.constant dense<0> : tensor<{CHUNK}xi32>
    %program = gpu.block_id x
    %at = arith.muli %program, %size : index
    tile.store %zeros, %buffer[%at] : tensor<{CHUNK}xi32>, {WORDS}
    gpu.return
  }}
"""


class Counted:
    """The outcomes of a placed test: first the forbidden ones that would be seen
    without the axioms, then the allowed ones. An outcome's number has the values as
    its digits, of base `base`; `first` is the place of the count of number 0."""

    def __init__(self, placed, first):
        self.placed, self.first = placed, first
        self.allowed, _ = model.outcomes(placed)
        candidates = set(model.candidate_outcomes(placed)) | self.allowed
        self.outcomes = (sorted(candidates - self.allowed)
                         + sorted(self.allowed))
        self.forbidden = len(candidates) - len(self.allowed)
        values = [value for outcome in self.outcomes for value in outcome]
        assert min(values, default=0) >= 0
        self.base = max(values, default=0) + 1
        self.numbers = self.base ** len(self.outcomes[0])

    def place(self, outcome):
        number = 0
        for value in outcome:
            number = number * self.base + value
        return self.first + number


def counting_kernel(counted, shape):
    """Adds the elements with each outcome to %counts; runs on rank 0, a program
    for each group of instances."""
    placed, tile = counted.placed, f"tensor<{shape.tile}xi32>"
    kernel = Kernel(placed, shape)
    zero, one = kernel.constant(0), kernel.constant(1)
    none = kernel.constant(0, "i32")
    iterations = kernel.constant(shape.iterations)
    numbers = kernel.constant(counted.numbers)
    kernel.line("%program = gpu.block_id x")
    kernel.line(f"%first = arith.muli %program, {iterations} : index")
    kernel.line(f"scf.for %i = {zero} to {iterations} step {one} {{")
    kernel.indent += 1
    kernel.line("%n = arith.addi %first, %i : index")

    def load(buffer, at, rank, elements):
        return kernel.value(
            f"iris.load %ctx, {buffer}[{at}] from {kernel.constant(rank)} : "
            f"{WORDS} -> tensor<{elements}xi32>")
    columns = []
    row = kernel.value(f"arith.muli %n, {kernel.constant(shape.tile)} : index")
    for number, access in enumerate(placed.test.results()):
        start = kernel.constant(number * shape.instances * shape.tile)
        at = kernel.value(f"arith.addi {row}, {start} : index")
        columns.append(load("%results", at, placed.rank_of[access.thread],
                            shape.tile))
    for location in placed.test.final:
        kind, number = kernel.numbers[location]
        at, home = kernel.offset(kind, number, "%n"), placed.home[location]
        if kind == DATA:
            columns.append(load("%data", at, home, shape.tile))
        else:
            word = load("%flags", at, home, 1)
            sum_ = kernel.value(f"tile.reduce sum {word} dim 0 : "
                                "tensor<1xi32> -> i32")
            columns.append(kernel.value(f"tensor.splat {sum_} : {tile}"))
    number = kernel.value(f"tensor.splat {none} : {tile}")
    base = kernel.value(
        f"tensor.splat {kernel.constant(counted.base, 'i32')} : {tile}")
    is_known = None
    for column in columns:
        is_digit = kernel.value(f"arith.cmpi ult, {column}, {base} : {tile}")
        is_known = is_digit if is_known is None else kernel.value(
            f"arith.andi {is_known}, {is_digit} : tensor<{shape.tile}xi1>")
        number = kernel.value(f"arith.muli {number}, {base} : {tile}")
        number = kernel.value(f"arith.addi {number}, {column} : {tile}")
    # No number of an outcome: checking_kernel misses the element.
    unknown = kernel.value(f"tensor.splat {kernel.constant(-1, 'i32')} : {tile}")
    number = kernel.value(f"arith.select {is_known}, {number}, {unknown} : "
                          f"tensor<{shape.tile}xi1>, {tile}")
    kernel.line(f"scf.for %k = {zero} to {numbers} step {one} {{")
    kernel.indent += 1
    word = kernel.value("arith.index_cast %k : index to i32")
    splat = kernel.value(f"tensor.splat {word} : {tile}")
    same = kernel.value(f"arith.cmpi eq, {number}, {splat} : {tile}")
    ones = kernel.value(
        f"arith.extui {same} : tensor<{shape.tile}xi1> to {tile}")
    count = kernel.value(f"tile.reduce sum {ones} dim 0 : {tile} -> i32")
    found = kernel.value(f"arith.cmpi ne, {count}, {none} : i32")
    kernel.line(f"scf.if {found} {{")
    kernel.indent += 1
    at = kernel.value(f"arith.addi %k, {kernel.constant(counted.first)} : index")
    kernel.value(f"iris.atomic_rmw add %ctx, {count}, %counts[{at}] "
                 f"sem(relaxed) : i32, {WORDS}")
    for _ in range(3):
        kernel.indent -= 1
        kernel.line("}")
    return finish(kernel, f"count_{placed.identifier}",
                  ("data", "flags", "results", "counts"))


def checking_kernel(counted, shape, rounds):
    """No forbidden outcome, and no element that has none of the outcomes."""
    kernel = Kernel(counted.placed, shape)
    sum_ = none = kernel.constant(0, "i32")
    for number, outcome in enumerate(counted.outcomes):
        at = kernel.constant(counted.place(outcome))
        count = kernel.value(f"memref.load %counts[{at}] : {WORDS}")
        sum_ = kernel.value(f"arith.addi {sum_}, {count} : i32")
        if number < counted.forbidden:
            text = f"{counted.placed.name} {' '.join(map(str, outcome))}"
            kernel.line(f'iris.expect_eq {count}, {none}, "{text}" : i32')
    all_ = kernel.constant(shape.instances * shape.tile * rounds, "i32")
    kernel.line(f'iris.expect_eq {sum_}, {all_}, "{counted.placed.name}" : i32')
    return finish(kernel, f"check_{counted.placed.identifier}", ("counts",))


def reporting_kernel(counted, shape):
    """Records the count of each outcome that was seen: the bytes of a span. It is
    removed unless the program is compiled with --trace."""
    kernel = Kernel(counted.placed, shape)
    none = kernel.constant(0, "i32")
    for outcome in counted.outcomes:
        at = kernel.constant(counted.place(outcome))
        count = kernel.value(f"memref.load %counts[{at}] : {WORDS}")
        found = kernel.value(f"arith.cmpi ne, {count}, {none} : i32")
        bytes_ = kernel.value(f"arith.index_cast {count} : i32 to index")
        span = f"{counted.placed.name} {' '.join(map(str, outcome))}"
        kernel.line(f"scf.if {found} {{")
        kernel.line(f'  iris.trace begin %ctx, "{span}"')
        kernel.line(f'  iris.trace end %ctx, "{span}" bytes({bytes_})')
        kernel.line("}")
    return finish(kernel, f"report_{counted.placed.identifier}", ("counts",))


def finish(kernel, name, buffers):
    arguments = ", ".join(f"%{each}: {WORDS}" for each in buffers)
    constants = "".join(f"    {line}\n" for line in kernel.constants.values())
    return (f"  gpu.func @{name}(%ctx: !iris.ctx, {arguments})\n"
            "      kernel attributes {iris.num_warps = "
            f"{kernel.shape.warps} : i32}} {{\n{constants}"
            + "\n".join(kernel.lines) + "\n    gpu.return\n  }\n")


class Main:
    def __init__(self):
        self.lines, self.constants = [], {}

    def index(self, number):
        name = f"%c{number}"
        self.constants[name] = f"{name} = arith.constant {number} : index"
        return name

    def launch(self, kernel, programs, buffers):
        types = ", ".join(["!iris.ctx"] + [WORDS] * len(buffers))
        names = ", ".join(["%ctx"] + [f"%{name}" for name in buffers])
        self.lines.append(f"iris.launch @kernels::@{kernel} programs("
                          f"{self.index(programs)}) args({names} : {types})")

    def on_rank_0(self, *launch):
        self.lines.append("scf.if %leads {")
        self.launch(*launch)
        self.lines.append("}")

    def sync(self):
        self.lines.append("iris.sync %ctx")


def program(placed_tests, shape, rounds, aligned):
    """`rounds` launches of each test, one after the other."""
    kernels, tests, first = [ZERO], [], 0
    main = Main()
    for placed in placed_tests:
        tests.append(Counted(placed, first))
        first += tests[-1].numbers
    sizes = [max(sizes) for sizes in zip(*map(shape.words, placed_tests))]
    names = ("data", "flags", "packets", "state", "results")
    for name, size in zip(names + ("counts",), sizes + [first]):
        main.lines.append(f"%{name} = iris.alloc({main.index(size)}) : {WORDS}")
    main.lines += ["%rank = iris.rank %ctx : index",
                   f"%leads = arith.cmpi eq, %rank, {main.index(0)} : index"]
    for counted in tests:
        placed = counted.placed
        kernels += [Kernel(placed, shape, aligned).emit(),
                    counting_kernel(counted, shape),
                    checking_kernel(counted, shape, rounds),
                    reporting_kernel(counted, shape)]
        main.lines.append(f"scf.for %r_{placed.identifier} = {main.index(0)} to "
                          f"{main.index(rounds)} step {main.index(1)} {{")
        for name, size in list(zip(names, shape.words(placed)))[:3]:
            main.launch("zero", -(-size // CHUNK), [name])
        main.sync()
        main.launch(placed.identifier, shape.programs(placed), names)
        main.sync()
        main.on_rank_0(f"count_{placed.identifier}", shape.groups,
                       ("data", "flags", "results", "counts"))
        main.sync()
        main.lines.append("}")
        main.on_rank_0(f"check_{placed.identifier}", 1, ["counts"])
    # Last, because a trace keeps the last events.
    for counted in tests:
        main.on_rank_0(f"report_{counted.placed.identifier}", 1, ["counts"])
    main.sync()
    body = list(main.constants.values()) + main.lines
    return ("gpu.module @kernels {\n" + "".join(kernels) + "}\n"
            "func.func @main(%ctx: !iris.ctx) {\n  " + "\n  ".join(body)
            + "\n  return\n}\n")


def single(placed, shape):
    """One launch of one test, without counts, for iris-run --check."""
    main = Main()
    names = ("data", "flags", "packets", "state", "results")
    for name, size in zip(names, shape.words(placed)):
        main.lines.append(f"%{name} = iris.alloc({main.index(size)}) : {WORDS}")
    main.launch(placed.identifier, shape.programs(placed), names)
    main.sync()
    body = list(main.constants.values()) + main.lines
    return ("gpu.module @kernels {\n" + Kernel(placed, shape).emit() + "}\n"
            "func.func @main(%ctx: !iris.ctx) {\n  " + "\n  ".join(body)
            + "\n  return\n}\n")
