# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives and matmuls that @main of a random program calls.

Sums of floats depend on the order of additions, which the variant decides. So they are
of small numbers, whose sums are exact.
"""
from elements import is_float

SLOT = 8  # elements of a chunk of a counted collective, at most
VARIANTS = {
    "all_reduce": ["two_shot", "two_shot_push", "one_shot", "one_shot_packet",
                   "two_shot_packet", "one_shot_buffered", "ring"],
    "all_gather": ["push", "pull", "packet", "buffered"],
    "reduce_scatter": ["pull", "packet", "buffered"],
    "all_to_all": ["push", "pull", "packet", "buffered"],
    "all_to_all_v": ["push", "pull", "buffered"],
    "all_gather_v": ["push", "pull", "buffered"],
    "broadcast": ["push", "pull", "scatter", "packet"],
    "reduce": ["pull", "two_shot", "packet"],
    "gather_to": ["pull", "push", "packet"],
    "scatter_from": ["push", "pull", "packet"]}
MATMULS = {
    "matmul": ["tiles"],
    "all_gather_matmul": ["pull", "hbm_buffer", "push"],
    "matmul_all_gather": ["push", "specialized"],
    "matmul_reduce_scatter": ["push", "specialized"],
    "matmul_all_reduce": ["two_shot", "one_shot", "specialized"]}


class Calls:
    """Part of Program."""

    def group(self):
        """(members, text): all ranks, or some in any order."""
        if self.ranks == 1 or not self.choices.chance(30):
            return list(range(self.ranks)), ""
        left, members = list(range(self.ranks)), []
        for _ in range(1 + self.choices.number(self.ranks)):
            members.append(left.pop(self.choices.number(len(left))))
        return members, f" group([{', '.join(map(str, members))}])"

    def config(self, operation, table, more=""):
        variant = self.balanced(table[operation], operation)
        return f' {{variant = "{variant}"{more}}}'

    def reduction(self, source, size):
        """(reduction, as) of which the result does not depend on the order."""
        if source.element == "i8" and self.choices.chance(70):
            as_ = {"f8": ["f8E4M3FN", "f8E4M3FNUZ"], "f8inf": ["f8E5M2"]}.get(
                source.mode, ["ui8"])
            as_ = self.choices.pick(as_)
            kinds = ["max", "min", "sum", "avg", "prod"] if as_ == "ui8" else (
                ["max", "min"] + (["sum"] if "E4M3" in as_ else []))
            return self.balanced(kinds, "reduction " + as_), f" as {as_}"
        kinds = ["max", "min"]
        if not is_float(source.element):
            kinds += ["sum", "prod", "avg"]
        elif source.is_small and source.mode == "small":
            kinds += ["sum", "avg"] + (["prod"] if size <= 2 else [])
        return self.balanced(kinds, "reduction"), ""

    def collective(self):
        """To a new buffer."""
        source = self.choices.pick(self.buffers)
        if self.choices.chance(30):
            # Of bytes, or codes of f8.
            source = self.allocate([self.choices.pick([16, 40, 72])], "i8")
            self.fill(source)
            self.sync()
        view = self.flat(source)
        members, group = self.group()
        count, size = len(members), view.extents[0]
        kinds = [k for k in VARIANTS if size % count == 0 or k not in (
            "reduce_scatter", "all_to_all", "scatter_from")]
        operation = self.balanced(kinds, "collective")
        if operation.endswith("_v"):
            self.counted(operation, source.element, group, count)
            return
        elements = {"all_gather": size * count, "gather_to": size * count,
                    "reduce_scatter": size // count,
                    "scatter_from": size // count}.get(operation, size)
        word = as_ = root = ""
        if "reduce" in operation:
            word, as_ = self.reduction(source, count)
            word = " " + word
        if operation in ("broadcast", "reduce", "gather_to", "scatter_from"):
            root = f" root({self.constant(self.choices.number(count))})"
        more = ", tile = 16" if not source.element.endswith("8") and \
            self.choices.chance(50) else ""
        output = self.allocate([elements], source.element)
        output.is_small = source.is_small and "reduce" not in operation
        output.mode = source.mode if output.is_small else "any"
        self.add(f"iris.{operation}{word} %ctx, {view.name}, {output.name}{root}{as_}"
                 f"{group}{self.config(operation, VARIANTS, more)} : {view.type}, "
                 f"{output.type}")

    def counted(self, operation, element, group, count):
        source = self.allocate([SLOT * count], element, keep=False)
        self.fill(source)
        output = self.allocate([SLOT * count], element)
        output.is_small, output.mode = False, "any"
        mine, theirs = 3, 5
        if operation == "all_gather_v":
            mine, tables = 0, [(mine, theirs)]
        else:
            tables = [(mine, theirs), (theirs, mine)]  # sent, received
        names = []
        for own, other in tables:
            pair = [self.allocate([count], "i64", keep=False) for _ in range(2)]
            numbers = [self.constant(n) for n in (
                SLOT, 0 if operation == "all_gather_v" else own, other,
                self.choices.number(4))]
            self.uses_tables = True
            self.add(f"iris.launch @kernels::@tables programs({self.constant(1)})"
                     f"{group} args(%ctx, {pair[0].name}, {pair[1].name}, "
                     f"{', '.join(numbers)} : !iris.ctx, {pair[0].type}, {pair[1].type}, "
                     "index, index, index, index)")
            names.append(f"chunks({pair[0].name}, {pair[1].name})")
        self.sync()
        sent = f" {names[0]}" if len(names) == 2 else ""
        self.add(f"iris.{operation} %ctx, {source.name}{sent}, {output.name} {names[-1]}"
                 f"{group}{self.config(operation, VARIANTS)} : {source.type}, "
                 f"{output.type}, memref<?xi64, #iris.symmetric>")

    def fill_equally(self, buffer):
        """On all ranks: the bias of a result that ranks share is one."""
        own = self.allocate(buffer.extents, buffer.element, keep=False)
        self.fill(own, "small")
        self.add(f"iris.broadcast %ctx, {own.name}, {buffer.name} "
                 f"root({self.constant(0)}) : {own.type}, {buffer.type}")

    def matmul_call(self):
        """Of new operands, to a new buffer."""
        operation = self.balanced(list(MATMULS), "matmul call")
        members, group = self.group()
        count = len(members)
        m, n, k = (self.choices.pick(sizes) for sizes in (
            [16, 5, 40], [16, 40, 7], [64, 16, 72]))
        a, b, c = [m, k], [k, n], [m, n]
        more = ", tile_m = 32, tile_n = 32, tile_k = 64"
        if operation == "all_gather_matmul":
            shard = self.choices.pick(["k", "m"])
            more += f', shard = "{shard}"'
            b, c = ([k * count, n], c) if shard == "k" else (b, [m * count, n])
        elif operation == "matmul_all_gather":
            variant_shards = ["m", "n"]
            shard = self.choices.pick(variant_shards)
            more += f', shard = "{shard}"'
            c = [m * count, n] if shard == "m" else [m, n * count]
        elif operation == "matmul_reduce_scatter":
            a = [m * count, k]
        element = self.balanced(["f16", "i8", "bf16", "f32"], "matmul call element")
        result = "i32" if element == "i8" else self.choices.pick(["f32", "f16", "bf16"])
        a, b = (self.allocate(extents, element, keep=False) for extents in (a, b))
        for operand in (a, b):
            self.fill(operand, "small")
        c = self.allocate(c, result)
        c.is_small, c.mode = False, "any"
        tail = ""
        if self.choices.chance(40):
            by_row = self.choices.chance(30)
            bias = self.allocate([c.extents[0 if by_row else 1]], result, keep=False)
            self.fill_equally(bias)
            tail += f" bias({bias.name} : {bias.type})"
            more += ', bias = "row"' if by_row else ""
        if element != "i8" and self.choices.chance(30):
            self.count += 1
            self.add(f"%n{self.count} = arith.constant 0.5 : f32")
            tail += f" scale(%n{self.count})"
        if self.choices.chance(40):
            more += ', activation = "relu"'
        self.sync()
        self.add(f"iris.{operation} %ctx, {a.name}, {b.name}, {c.name}{tail}{group}"
                 f"{self.config(operation, MATMULS, more)} : {a.type}, {b.type}, "
                 f"{c.type}")
