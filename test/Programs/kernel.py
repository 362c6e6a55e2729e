# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the kernels of a program (program.py).

The programs of a kernel divide the rows of its output among themselves: each
computes tiles in a loop over its rows and stores them, here or on another rank. What
it reads does not change while the kernel runs, or is its own, or came by a signal or
barrier. So the result depends on no order, and only ops have to be right.

Ops are drawn such that their result is defined: divisors are not 0, shifts less than
the width, floats that become integers fit. Values that no other op uses are part of a
digest (values.py), which is stored beside the output.
"""
from exchanges import Exchanges
from values import SHAPES, Value


class Kernel(Exchanges):
    def __init__(self, choices, deck, name, inputs, output, digest, shift, scalars,
                 group):
        """Reads `inputs` of any rank; stores to `output` and `digest` of the rank that
        is `shift` after this one, among those of the group."""
        super().__init__(choices, deck)
        self.name, self.inputs, self.group = name, inputs, group
        self.output, self.digests, self.shift = output, digest, shift
        self.scalars = scalars
        self.extra = []      # buffers of the exchange
        self.views = []      # of inputs, in scope
        self.functions = {}  # that the kernel calls, by name
        self.warps = choices.pick([0, 1, 2, 8])  # 0: the default
        self.has_rows = False  # inside of the loop over rows
        self.shape = choices.pick(SHAPES[len(output.extents)])
        self.body()

    def called(self):
        """Of a function of the kernel's module."""
        value = self.operand("i32", self.choices.pick([(), self.shape]))
        name = "mix" + "".join(f"_{n}" for n in value.shape)
        if value.shape:
            ints = f"tensor<{'x'.join(map(str, value.shape))}xi32>"
            shift = ["%amounts = tensor.splat %amount : " + ints]
            amount = "%amounts"
        else:
            ints, shift, amount = "i32", [], "%amount"
        self.functions[name] = "\n".join(
            [f"  func.func private @{name}(%value: {ints}, %index: index) -> {ints} {{",
             "    %other = arith.index_cast %index : index to i32",
             "    %seven = arith.constant 7 : i32",
             "    %amount = arith.andi %other, %seven : i32"] +
            ["    " + line for line in shift] +
            [f"    %shifted = arith.shrui %value, {amount} : {ints}",
             f"    %mixed = arith.xori %shifted, %value : {ints}",
             f"    func.return %mixed : {ints}", "  }"])
        return self.define(f"func.call @{name}({self.use(value)}, {self.index(9).name}) "
                           f": ({ints}, index) -> {ints}", value.shape, "i32")

    def body(self):
        rows = self.output.extents[0]
        self.scopes[0] += [Value(name, (), element) for name, element in self.scalars]
        self.digest = self.constant(len(self.name), "i32", self.shape)
        self.statements(2)
        self.exchange()
        self.show_unused()
        tiles = -(-rows // self.shape[0])
        # Values from before the loop are shown by it.
        before = self.digest
        self.add(f"scf.for %t = %pid to {self.constant(tiles).name} step %programs {{")
        views = self.region([Value("%t", (), "index")])
        self.add(f"%row = arith.muli %t, {self.constant(self.shape[0]).name} : index")
        self.has_rows = True
        self.digest = before
        self.statements(16, 5)
        if self.choices.chance(30):
            self.accumulate()
        if self.choices.chance(20):
            self.fence()
        out = self.output.element
        self.stored(self.cast(self.value(self.shape, out), out))
        # What the rows keep.
        for _ in range(self.choices.number(4)):
            getattr(self, self.balanced(["copied", "scattered"], "last"))()
        self.show_unused()
        self.stored(self.digest, self.digests)
        self.end(views)
        self.add("}")

    def text(self):
        arguments = self.inputs + [self.output, self.digests] + self.extra
        names = ", ".join([f"{b.name}: {b.type}" for b in arguments] +
                          [f"{name}: {element}" for name, element in self.scalars])
        warps = (f" attributes {{iris.num_warps = {self.warps} : i32}}"
                 if self.warps else "")
        head = [f"  gpu.func @{self.name}(%ctx: !iris.ctx, {names}) kernel{warps} {{",
                "    %rank = iris.rank %ctx : index",
                "    %x = gpu.block_id x",
                "    %y = gpu.block_id y",
                "    %columns = gpu.grid_dim x",
                "    %lines = gpu.grid_dim y",
                "    %before = arith.muli %y, %columns : index",
                "    %pid = arith.addi %before, %x : index",
                "    %programs = arith.muli %columns, %lines : index"]
        steps = [(self.shift or 0, "%after", "%peer"), (1, "%after1", "%next")]
        if self.group:
            head += ["    %ranks = iris.group_size %ctx : index",
                     "    %me = iris.group_index %ctx : index"]
        else:
            head += ["    %ranks = iris.num_ranks %ctx : index"]
        shifts = []
        for step, sum_, peer in steps:
            me, place = ("%me", sum_ + "place") if self.group else ("%rank", peer)
            shifts += [f"    {sum_} = arith.addi {me}, {self.constant(step).name} : "
                       "index",
                       f"    {place} = arith.remui {sum_}, %ranks : index"]
            if self.group:
                shifts.append(f"    {peer} = iris.group_member %ctx, {place} : index")
        return "\n".join(head + self.constants + shifts + self.lines
                         + ["    gpu.return", "  }"])
