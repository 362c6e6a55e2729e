# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products alone and with communication: every kind and variant, ragged shapes,
epilogues, and calls back to back whose inputs change.

All cases are parts of one product of matrices whose elements are small whole
numbers, hashes of their places in the *whole* matrix: ranks fill what they have
of a and b, and compare what they get of c with sums of products of the same
hashes. Sums are exact in any order.
"""
import matmul
from tilegen import Program, buffer, tile

SHAPE = (1, 64)  # of the tiles that check
FILL = (16, 16)
PROGRAMS = 3
VARIANTS = {"matmul": ["tiles"],
            "all_gather_matmul": ["pull", "hbm_buffer", "push"],
            "matmul_all_gather": ["push", "specialized"],
            "matmul_reduce_scatter": ["push", "specialized"],
            "matmul_all_reduce": ["two_shot", "one_shot", "atomic",
                                  "specialized"]}
SHARDS = {"matmul": ["m"], "all_gather_matmul": ["k", "m"],
          "matmul_all_gather": ["m", "n"], "matmul_reduce_scatter": ["m"],
          "matmul_all_reduce": ["k"]}


def sum_type(element):
    return "i32" if element == "i8" else "f32"


def seed(k, salt, turn, rank):
    """What tells the numbers of a matrix from those of others."""
    value = k.add(k.mul(turn, k.index(8)), rank)
    return k.add(k.mul(value, k.index(4)), k.index(salt))


def fill_kernel(element, salt):
    """The part of a matrix from (row0, column0) on."""
    def body(k):
        type_ = matmul.storage(element)
        sizes = [k.value(f"memref.dim %out, {k.index(d)} : {k.types['out']}")
                 for d in (0, 1)]
        i = k.loop(k.mul(k.pid, k.index(FILL[0])), sizes[0],
                   k.mul(k.programs, k.index(FILL[0])))
        j = k.loop(k.index(0), sizes[1], k.index(FILL[1]))
        places = k.coordinates(FILL, [k.add(i, "%row0"), k.add(j, "%column0")])
        number = matmul.number(k, FILL, element, seed(k, salt, "%turn", "%who"),
                               *places, salt)
        k.store(matmul.convert(k, FILL, element, number), "%out", [i, j], FILL,
                type_)
        k.close()
        k.close()
    return body


def bias_number(k, shape, place, turn):
    """i32: the bias of a row or column."""
    who = seed(k, 3, turn, k.index(0))
    h = k.narrow(shape, "i32", k.hash(shape, "i32", who, place), 28)
    return k.op("arith.subi", shape, "i32", h, k.dense(shape, "i32", 8))


def bias_kernel(result):
    def body(k):
        shape = (64,)
        size = k.value(f"memref.dim %out, {k.index(0)} : {k.types['out']}")
        i = k.loop(k.mul(k.pid, k.index(64)), size,
                   k.mul(k.programs, k.index(64)))
        place = k.coordinates(shape, [k.add(i, "%first")])[0]
        value = bias_number(k, shape, place, "%turn")
        if result != "i32":
            value = k.cast("arith.sitofp", shape, value, "i32", result)
        k.store(value, "%out", [i], shape, result)
        k.close()
    return body


def clear_kernel(result):
    def body(k):
        sizes = [k.value(f"memref.dim %out, {k.index(d)} : {k.types['out']}")
                 for d in (0, 1)]
        i = k.loop(k.mul(k.pid, k.index(FILL[0])), sizes[0],
                   k.mul(k.programs, k.index(FILL[0])))
        j = k.loop(k.index(0), sizes[1], k.index(FILL[1]))
        k.store(k.dense(FILL, result, matmul.POISON), "%out", [i, j], FILL,
                result)
        k.close()
        k.close()
    return body


class Case:
    """A kind with what its kernel is made for."""

    def __init__(self, kind, variant, shard, element, result, layouts=("row",
                 "row"), bias=None, scale=False, activation="none",
                 config=None):
        self.kind, self.variant, self.shard = kind, variant, shard
        self.element, self.result, self.layouts = element, result, layouts
        self.bias, self.scale, self.activation = bias, scale, activation
        self.config = config or {}
        # Whether a and b belong to one rank alone.
        self.own_a = kind == "matmul"
        self.own_b = kind in ("matmul", "all_gather_matmul")

    def check_kernel(self):
        def body(k):
            rows, columns = (k.value(f"memref.dim %c, {k.index(d)} : "
                                     f"{k.types['c']}") for d in (0, 1))
            i = k.loop(k.pid, rows, k.programs)
            j = k.loop(k.index(0), columns, k.index(SHAPE[1]))
            row, column = k.coordinates(SHAPE, [k.add(i, "%row0"), j])
            want = self.finish(k, self.total(k, row, column), row, column)
            inside = k.compare("ult", SHAPE, "i32", column,
                               k.splat(k.to_i32(columns), SHAPE, "i32"))
            want = k.select(SHAPE, self.result, inside, want,
                            k.dense(SHAPE, self.result, 0))
            got = k.load("%c", [i, j], SHAPE, self.result)
            k.expect(got, want, f"{self.kind} {self.variant} {self.shard}",
                     SHAPE, self.result)
            k.close()
            k.close()
        return body

    def total(self, k, row, column):
        k.counter += 3
        result, at, carried = (f"%{k.counter - n}" for n in (2, 1, 0))
        k.open(f"{result} = scf.for {at} = {k.index(0)} to %depth step "
               f"{k.index(1)} iter_args({carried} = "
               f"{k.dense(SHAPE, 'i32', 0)}) -> ({tile(SHAPE, 'i32')}) {{")
        place = k.splat(k.to_i32(at), SHAPE, "i32")
        none = k.index(0)
        me = k.value("iris.group_index %ctx : index")
        x = matmul.number(k, SHAPE, self.element,
                          seed(k, 1, "%turn", me if self.own_a else none),
                          row, place, 1)
        y = matmul.number(k, SHAPE, self.element,
                          seed(k, 2, "%turn", me if self.own_b else none),
                          place, column, 2)
        product = k.op("arith.muli", SHAPE, "i32", x, y)
        next_ = k.op("arith.addi", SHAPE, "i32", carried, product)
        k.emit(f"scf.yield {next_} : {tile(SHAPE, 'i32')}")
        k.close()
        return result

    def finish(self, k, total, row, column):
        bias = None
        if self.bias:
            bias = bias_number(k, SHAPE, row if self.bias == "row" else column,
                               "%turn")
        if self.result == "i32":
            if bias:
                total = k.op("arith.addi", SHAPE, "i32", total, bias)
            if self.activation == "relu":
                total = k.op("arith.maxsi", SHAPE, "i32", total,
                             k.dense(SHAPE, "i32", 0))
            return total
        x = k.cast("arith.sitofp", SHAPE, total, "i32", "f32")
        if self.scale:
            x = k.op("arith.mulf", SHAPE, "f32", x, k.dense(SHAPE, "f32", 0.25))
        if bias:
            x = k.op("arith.addf", SHAPE, "f32", x,
                     k.cast("arith.sitofp", SHAPE, bias, "i32", "f32"))
        if self.activation == "relu":
            x = k.op("arith.maximumf", SHAPE, "f32", x,
                     k.dense(SHAPE, "f32", 0.0))
        if self.activation == "gelu":
            half = k.op("arith.mulf", SHAPE, "f32", x,
                        k.dense(SHAPE, "f32", 0.5))
            scaled = k.op("arith.mulf", SHAPE, "f32", x,
                          k.dense(SHAPE, "f32", 0.70710678118654752))
            x = k.op("arith.addf", SHAPE, "f32",
                     k.op("math.erf", SHAPE, "f32", scaled),
                     k.dense(SHAPE, "f32", 1.0))
            x = k.op("arith.mulf", SHAPE, "f32", half, x)
        if self.result == "f32":
            return x
        return k.cast("arith.truncf", SHAPE, x, "f32", self.result)


class Cases:
    def __init__(self, group=None):
        p = self.p = Program()
        self.group = group
        self.size, self.me = p.ranks, p.value("iris.rank %ctx : index")
        if group:
            # Ranks that are no members launch nothing.
            self.size, rank, self.me = p.index(len(group)), self.me, p.index(0)
            for place, member in enumerate(group):
                same = p.value(f"arith.cmpi eq, {rank}, {p.index(member)} : "
                               "index")
                self.me = p.value(f"arith.select {same}, {p.index(place)}, "
                                  f"{self.me} : index")

    def clause(self):
        return f" group([{', '.join(map(str, self.group))}])" \
            if self.group else ""

    def launch(self, kernel, programs, *arguments):
        self.p.launch(kernel, programs, *arguments)
        self.p.lines[-1] = self.p.lines[-1].replace(
            ") args(", f"){self.clause()} args(", 1)

    def matrix(self, element, layout, rows, columns):
        """A buffer, and the matrix in it as a call takes it."""
        p, type_ = self.p, matmul.storage(element)
        memory = p.alloc(type_, [columns, rows] if layout == "column"
                         else [rows, columns])
        if layout == "row":
            return memory, memory
        view = (f"memref<?x?x{type_}, strided<[1, ?]>, #iris.symmetric>")
        value = p.value(
            f"memref.reinterpret_cast {memory[0]} to offset: [0], sizes: "
            f"[{rows}, {columns}], strides: [1, {rows}] : {memory[1]} to {view}")
        return memory, (value, view)

    def run(self, case, m, n, k, turns=1):
        """m, n and k are what one rank has of a dimension that is shared."""
        p, zero = self.p, self.p.index(0)
        kind, shard = case.kind, case.shard
        sizes = {d: p.index(v) for d, v in (("m", m), ("n", n), ("k", k))}
        whole = {d: p.mul(v, self.size) for d, v in sizes.items()}
        first = {d: p.mul(v, self.me) for d, v in sizes.items()}
        # Of a, b and c: rows and columns, and where they begin in the whole.
        M, N, K = sizes["m"], sizes["n"], sizes["k"]
        a, b, c = ([M, K], [zero, zero]), ([K, N], [zero, zero]), ([M, N], zero)
        depth = K
        if kind == "all_gather_matmul" and shard == "k":
            a, b, depth = (a[0], [zero, first["k"]]), ([whole["k"], N],
                                                       [zero, zero]), whole["k"]
        elif kind == "all_gather_matmul":
            a, c = (a[0], [first["m"], zero]), ([whole["m"], N], zero)
        elif kind == "matmul_all_gather" and shard == "m":
            a, c = (a[0], [first["m"], zero]), ([whole["m"], N], zero)
        elif kind == "matmul_all_gather":
            b, c = (b[0], [zero, first["n"]]), ([M, whole["n"]], zero)
        elif kind != "matmul":
            a = ([whole["m"] if kind == "matmul_reduce_scatter" else M, K],
                 [zero, first["k"]])
            b, depth = (b[0], [first["k"], zero]), whole["k"]
            if kind == "matmul_reduce_scatter":
                c = ([M, N], first["m"])
        ma, va = self.matrix(case.element, case.layouts[0], *a[0])
        mb, vb = self.matrix(case.element, case.layouts[1], *b[0])
        mc = p.alloc(case.result, c[0])
        bias = p.alloc(case.result, [c[0][0] if case.bias == "row" else
                                     c[0][1]]) if case.bias else None
        for turn in range(turns):
            self.fill(case.element, 1, va, a[1], turn,
                      self.me if case.own_a else zero)
            self.fill(case.element, 2, vb, b[1], turn,
                      self.me if case.own_b else zero)
            if bias:
                kernel = p.kernel(f"bias_{case.result}", [
                    ("out", bias[1]), ("first", "index"), ("turn", "index")],
                    bias_kernel(case.result))
                self.launch(kernel, 1, bias, (c[1] if case.bias == "row" else zero,
                                           "index"), turn)
            clear = p.kernel(f"clear_{case.result}", [("out", mc[1])],
                             clear_kernel(case.result))
            self.launch(clear, PROGRAMS, mc)
            self.call(case, va, vb, mc, bias)
            self.check(case, mc, c[1], depth, turn)
            p.cases += 1
        p.sync()
        for memory in filter(None, [bias, mc, mb, ma]):
            p.dealloc(memory)

    def fill(self, element, salt, view, first, turn, who):
        p = self.p
        layout = "column" if "strided" in view[1] else "row"
        kernel = p.kernel(f"fill_{element}_{salt}_{layout}", [
            ("out", view[1]), ("row0", "index"), ("column0", "index"),
            ("turn", "index"), ("who", "index")], fill_kernel(element, salt))
        self.launch(kernel, PROGRAMS, view, (first[0], "index"),
                 (first[1], "index"), turn, (who, "index"))

    def check(self, case, memory, row0, depth, turn):
        p = self.p
        name = "_".join(["check", case.kind, case.variant, case.shard,
                         case.element, case.result, case.bias or "none",
                         case.activation, str(int(case.scale))])
        kernel = p.kernel(name, [("c", memory[1]), ("row0", "index"),
                                 ("depth", "index"), ("turn", "index")],
                          case.check_kernel())
        self.launch(kernel, PROGRAMS, memory, (row0, "index"), (depth, "index"),
                 turn)

    def call(self, case, a, b, c, bias):
        p = self.p
        config = dict(case.config)
        if case.kind != "matmul":
            config.update(variant=f'"{case.variant}"', shard=f'"{case.shard}"')
        if case.bias == "row":
            config["bias"] = '"row"'
        if case.activation != "none":
            config["activation"] = f'"{case.activation}"'
        text = ", ".join(f"{k} = {v}" for k, v in config.items())
        options = f" bias({bias[0]} : {bias[1]})" if bias else ""
        if case.scale:
            scale = p.value("arith.constant 0.25 : f32")
            options += f" scale({scale})"
        if case.element in matmul.FLOAT8:
            options += f" as {case.element}"
        options += self.clause()
        p.emit(f"iris.{case.kind} %ctx, {a[0]}, {b[0]}, {c[0]}{options} "
               f"{{{text}}} : {a[1]}, {b[1]}, {c[1]}")


# The smallest tiles that all targets take.
SMALL = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "group_m": 3, "programs": 5}


def matmul_ops(element, full):
    """iris.matmul: types, layouts, epilogues."""
    cases = Cases()
    results = {"f16": ["f16", "f32"], "bf16": ["bf16", "f32"], "f32": ["f32"],
               "i8": ["i32", "f32"]}.get(element, ["f16"])
    layouts = [(a, b) for a in ("row", "column") for b in ("row", "column")]
    epilogues = [(None, False, "none"), ("column", False, "relu"),
                 ("row", True, "gelu"), ("column", True, "none")]
    turn = 0
    for result in results:
        for la, lb in layouts:
            for bias, scale, activation in epilogues:
                turn += 1
                # Half of the pairs, each epilogue with some layout.
                if not full and (turn + turn // 4) % 2:
                    continue
                if result == "i32":
                    scale, activation = False, activation.replace("gelu",
                                                                  "relu")
                config = dict(SMALL, xcds=turn % 3 + 1)
                # Programs that share k-blocks: more than there are blocks, too.
                if turn % 3:
                    config["split_k"] = 2 ** (turn % 4)
                case = Case("matmul", "tiles", "m", element, result, (la, lb),
                            bias, scale, activation, config)
                # Counts of what is split go on from call to call.
                cases.run(case, 141, 150, 100, turns=2)
                if full:
                    cases.run(case, 256, 128, 128)
                    cases.run(case, 1, 3, 5)
    return cases.p


def staged_configs():
    """Few and many programs, more fetchers than programs, ragged stages."""
    return [{"programs": 5, "num_fetch_programs": 2, "k_per_flag": 1},
            {"programs": 1, "num_fetch_programs": 1, "k_per_flag": 3},
            {"programs": 4, "num_fetch_programs": 1, "num_fetch_stages": 3,
             "first_stage_fetch_programs": 3, "k_per_flag": 2},
            {"programs": 3, "num_fetch_programs": 3, "num_fetch_stages": 2,
             "k_per_flag": 2, "group_m": 1,
             "staged_layout": '"m_contiguous"'},
            {"programs": 4, "num_fetch_programs": 2, "k_per_flag": 1,
             "tiles_per_comm_program": 1}]


def fused(kind):
    """All variants of one kind: calls back to back on inputs that change, with
    no rank waiting for another but in the kernels."""
    def suite(element, full, group=None):
        cases = Cases(group)
        result = ("i32" if element == "i8" else
                  "f16" if element in matmul.FLOAT8 else element)
        turn = 0
        for variant in VARIANTS[kind]:
            for shard in SHARDS[kind]:
                staged = variant in ("hbm_buffer", "push") and \
                    kind == "all_gather_matmul"
                configs = staged_configs() if staged else [
                    {"programs": 5}, {"programs": 2, "xcds": 2}]
                if variant == "specialized":
                    configs = [{"programs": 5, "num_fetch_programs": 2},
                               {"programs": 1},
                               {"programs": 4, "num_fetch_programs": 2,
                                "tiles_per_comm_program": 2}]
                # Shares that are rounded; small numbers stay what they are.
                if element == "f16" and variant != "atomic" and kind in (
                        "matmul_reduce_scatter", "matmul_all_reduce"):
                    configs.append({"programs": 3, "partial_type": '"result"'})
                # Tiles that are narrower than their type.
                configs.append(dict(configs[0], tile_n=48))
                for config in configs:
                    turn += 1
                    atomic = variant == "atomic"
                    case = Case(kind, variant, shard, element,
                                sum_type(element) if atomic else result,
                                bias=[None, "column", "row"][turn % 3],
                                scale=element != "i8" and turn % 2 == 0,
                                activation="relu" if turn % 2 and not atomic
                                else "none", config=dict(SMALL, **config))
                    cases.run(case, 74, 90, 52, turns=3)
                    if full or turn % 2:
                        cases.run(case, 128, 64, 96, turns=2)
                    if full:
                        cases.run(case, 3, 70, 129, turns=3)
        return cases.p
    return suite


SUITES = {"fused-" + kind.replace("_", "-"): fused(kind)
          for kind in VARIANTS if kind != "matmul"}
