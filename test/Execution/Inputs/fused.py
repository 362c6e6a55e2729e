# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls without and with communication: every kind and variant, ragged
shapes, epilogues, and calls back to back whose inputs change.

Every case multiplies matrices of small integers that are hashes of (row,
column) in the *whole* matrix: ranks fill their chunks of a and b, and compare
their chunk of c with sums of the products of the same hashes. Sums are exact
in any order.
"""
import matmul
from tilegen import Program, tile

SHAPE = (1, 64)  # shape of the tiles in check kernels
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


def seed(k, salt, iteration, rank):
    """The salt of a matrix's hash."""
    value = k.add(k.mul(iteration, k.index(8)), rank)
    return k.add(k.mul(value, k.index(4)), k.index(salt))


def fill_kernel(element, salt):
    """The chunk of a matrix from (row0, column0) on."""
    def body(k):
        type_ = matmul.storage(element)
        sizes = [k.value(f"memref.dim %out, {k.index(d)} : {k.types['out']}")
                 for d in (0, 1)]
        i = k.loop(k.mul(k.pid, k.index(FILL[0])), sizes[0],
                   k.mul(k.programs, k.index(FILL[0])))
        j = k.loop(k.index(0), sizes[1], k.index(FILL[1]))
        coordinates = k.coordinates(FILL, [k.add(i, "%row0"), k.add(j, "%column0")])
        number = matmul.number(k, FILL, element, seed(k, salt, "%iteration", "%who"),
                               *coordinates, salt)
        k.store(matmul.convert(k, FILL, element, number), "%out", [i, j], FILL,
                type_)
        k.close()
        k.close()
    return body


def bias_number(k, shape, position, iteration):
    """i32: the bias of a row or column."""
    who = seed(k, 3, iteration, k.index(0))
    h = k.narrow(shape, "i32", k.hash(shape, "i32", who, position), 28)
    return k.op("arith.subi", shape, "i32", h, k.dense(shape, "i32", 8))


def bias_kernel(result):
    def body(k):
        shape = (64,)
        size = k.value(f"memref.dim %out, {k.index(0)} : {k.types['out']}")
        i = k.loop(k.mul(k.pid, k.index(64)), size,
                   k.mul(k.programs, k.index(64)))
        position = k.coordinates(shape, [k.add(i, "%first")])[0]
        value = bias_number(k, shape, position, "%iteration")
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
    """One kind and the parameters of its kernel."""

    def __init__(self, kind, variant, shard, element, result, layouts=("row",
                 "row"), bias=None, scale=False, activation="none",
                 config=None):
        self.kind, self.variant, self.shard = kind, variant, shard
        self.element, self.result, self.layouts = element, result, layouts
        self.bias, self.scale, self.activation = bias, scale, activation
        self.config = config or {}
        # Whether every rank has matrices a and b of its own.
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
        position = k.splat(k.to_i32(at), SHAPE, "i32")
        none = k.index(0)
        me = k.value("iris.group_index %ctx : index")
        x = matmul.number(k, SHAPE, self.element,
                          seed(k, 1, "%iteration", me if self.own_a else none),
                          row, position, 1)
        y = matmul.number(k, SHAPE, self.element,
                          seed(k, 2, "%iteration", me if self.own_b else none),
                          position, column, 2)
        product = k.op("arith.muli", SHAPE, "i32", x, y)
        next_ = k.op("arith.addi", SHAPE, "i32", carried, product)
        k.emit(f"scf.yield {next_} : {tile(SHAPE, 'i32')}")
        k.close()
        return result

    def finish(self, k, total, row, column):
        bias = None
        if self.bias:
            bias = bias_number(k, SHAPE, row if self.bias == "row" else column,
                               "%iteration")
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
            # Ranks outside the group launch nothing.
            self.size, rank, self.me = p.index(len(group)), self.me, p.index(0)
            for position, member in enumerate(group):
                same = p.value(f"arith.cmpi eq, {rank}, {p.index(member)} : "
                               "index")
                self.me = p.value(f"arith.select {same}, {p.index(position)}, "
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

    def run(self, case, m, n, k, iterations=1):
        """m, n and k are sizes per rank in the sharded dimensions."""
        p, zero = self.p, self.p.index(0)
        kind, shard = case.kind, case.shard
        sizes = {d: p.index(v) for d, v in (("m", m), ("n", n), ("k", k))}
        whole = {d: p.mul(v, self.size) for d, v in sizes.items()}
        first = {d: p.mul(v, self.me) for d, v in sizes.items()}
        # Of a, b and c: rows, columns, and the offset in the whole matrix.
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
        for iteration in range(iterations):
            self.fill(case.element, 1, va, a[1], iteration,
                      self.me if case.own_a else zero)
            self.fill(case.element, 2, vb, b[1], iteration,
                      self.me if case.own_b else zero)
            if bias:
                kernel = p.kernel(f"bias_{case.result}", [
                    ("out", bias[1]), ("first", "index"), ("iteration", "index")],
                    bias_kernel(case.result))
                self.launch(kernel, 1, bias, (c[1] if case.bias == "row" else zero,
                                           "index"), iteration)
            clear = p.kernel(f"clear_{case.result}", [("out", mc[1])],
                             clear_kernel(case.result))
            self.launch(clear, PROGRAMS, mc)
            self.call(case, va, vb, mc, bias)
            self.check(case, mc, c[1], depth, iteration)
            p.cases += 1
        p.sync()
        for memory in filter(None, [bias, mc, mb, ma]):
            p.dealloc(memory)

    def fill(self, element, salt, view, first, iteration, who):
        p = self.p
        layout = "column" if "strided" in view[1] else "row"
        kernel = p.kernel(f"fill_{element}_{salt}_{layout}", [
            ("out", view[1]), ("row0", "index"), ("column0", "index"),
            ("iteration", "index"), ("who", "index")], fill_kernel(element, salt))
        self.launch(kernel, PROGRAMS, view, (first[0], "index"),
                 (first[1], "index"), iteration, (who, "index"))

    def check(self, case, memory, row0, depth, iteration):
        p = self.p
        name = "_".join(["check", case.kind, case.variant, case.shard,
                         case.element, case.result, case.bias or "none",
                         case.activation, str(int(case.scale))])
        kernel = p.kernel(name, [("c", memory[1]), ("row0", "index"),
                                 ("depth", "index"), ("iteration", "index")],
                          case.check_kernel())
        self.launch(kernel, PROGRAMS, memory, (row0, "index"), (depth, "index"),
                 iteration)

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


# The smallest tiles that all targets support.
SMALL = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "group_m": 3, "programs": 5}


def matmul_ops(element, full):
    """iris.matmul: types, layouts, epilogues."""
    cases = Cases()
    results = {"f16": ["f16", "f32"], "bf16": ["bf16", "f32"], "f32": ["f32"],
               "i8": ["i32", "f32"]}.get(element, ["f16"])
    layouts = [(a, b) for a in ("row", "column") for b in ("row", "column")]
    epilogues = [(None, False, "none"), ("column", False, "relu"),
                 ("row", True, "gelu"), ("column", True, "none")]
    iteration = 0
    for result in results:
        for la, lb in layouts:
            for bias, scale, activation in epilogues:
                iteration += 1
                # Half of the pairs; every epilogue has some layout.
                if not full and (iteration + iteration // 4) % 2:
                    continue
                if result == "i32":
                    scale, activation = False, activation.replace("gelu",
                                                                  "relu")
                config = dict(SMALL, xcds=iteration % 3 + 1)
                # Split-k, also with more programs than k-blocks.
                if iteration % 3:
                    config["split_k"] = 2 ** (iteration % 4)
                case = Case("matmul", "tiles", "m", element, result, (la, lb),
                            bias, scale, activation, config)
                # Split-k counters are not reset between calls.
                cases.run(case, 141, 150, 100, iterations=2)
                if full:
                    cases.run(case, 256, 128, 128)
                    cases.run(case, 1, 3, 5)
    return cases.p


def staged_configs():
    """Few and many programs, more fetch programs than compute programs,
    ragged stages."""
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
    """All variants of one kind: calls back to back on inputs that change.
    Ranks synchronize only in the kernels."""
    def suite(element, full, group=None):
        cases = Cases(group)
        result = ("i32" if element == "i8" else
                  "f16" if element in matmul.FLOAT8 else element)
        iteration = 0
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
                # Rounded partial sums; the small integers stay exact.
                if element == "f16" and variant != "atomic" and kind in (
                        "matmul_reduce_scatter", "matmul_all_reduce"):
                    configs.append({"programs": 3, "partial_type": '"result"'})
                # Tile extents that are not a multiple of the instruction shape.
                configs.append(dict(configs[0], tile_n=48))
                for config in configs:
                    iteration += 1
                    atomic = variant == "atomic"
                    case = Case(kind, variant, shard, element,
                                sum_type(element) if atomic else result,
                                bias=[None, "column", "row"][iteration % 3],
                                scale=element != "i8" and iteration % 2 == 0,
                                activation="relu" if iteration % 2 and not atomic
                                else "none", config=dict(SMALL, **config))
                    cases.run(case, 74, 90, 52, iterations=3)
                    if full or iteration % 2:
                        cases.run(case, 128, 64, 96, iterations=2)
                    if full:
                        cases.run(case, 3, 70, 129, iterations=3)
        return cases.p
    return suite


SUITES = {"fused-" + kind.replace("_", "-"): fused(kind)
          for kind in VARIANTS if kind != "matmul"}
