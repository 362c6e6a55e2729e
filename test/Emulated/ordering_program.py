# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated kernels as a program that checks itself, for `iris-run`.

@main fills the buffers of each kernel, launches it, and compares a checksum
of every buffer with that of a single-threaded execution. The host run
verifies the expected values; a GPU run verifies the order of its threads.
"""
import numpy as np

import ordering_ops as ops

SPACE = "#iris.symmetric"
CHUNK = 256


def rank_of(param):
    return len(param.shape)


def kind_of(param):
    return "%s_%d" % (param.element, rank_of(param))


def dynamic(param):
    return "memref<%s%s, %s>" % ("?x" * rank_of(param), param.element, SPACE)


def words(count, salt):
    """Text: i32 words of `ops.hashed` for the elements from %start32 on."""
    tile = "tensor<%dxi32>" % count
    lines = ["%%range = tile.range : %s" % tile,
             "%%starts = tensor.splat %%start32 : %s" % tile,
             "%%i = arith.addi %%range, %%starts : %s" % tile,
             "%%salts = tensor.splat %s : %s" % (salt, tile)]
    for name, value in (("m1", 0x9E3779B1 - 2**32), ("m2", 0x2C1B3C6D), ("f", 15),
                        ("t", 12)):
        lines.append("%%%s = arith.constant dense<%d> : %s" % (name, value, tile))
    for result, op, left, right in (
            ("h0", "muli", "i", "m1"), ("h1", "addi", "h0", "salts"),
            ("h2", "shrui", "h1", "f"), ("h3", "xori", "h1", "h2"),
            ("h4", "muli", "h3", "m2"), ("h5", "shrui", "h4", "t"),
            ("word", "xori", "h4", "h5")):
        lines.append("%%%s = arith.%s %%%s, %%%s : %s" % (result, op, left, right,
                                                          tile))
    return lines


def cast(value, source, target, result):
    """Text: converts 32-bit integers to an element type, or back."""
    to, count = "tensor<%dx%s>" % (CHUNK, target), "tensor<%dx%s>" % (CHUNK, source)
    bits = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
    if target.startswith("f"):
        op = "sitofp"
    elif source.startswith("f"):
        op = "fptosi"
    elif bits[source] == bits[target]:
        return "%s = tile.convert_layout %s : %s -> %s" % (result, value, count, to)
    else:
        op = "extsi" if bits[target] > bits[source] else "trunci"
    return "%s = arith.%s %s : %s to %s" % (result, op, value, count, to)


def helper(param, what):
    """A kernel that fills buffers of a kind, or computes their checksum: each
    program processes CHUNK elements. Rows of two-dimensional buffers are
    concatenated."""
    kind, type_, rank = kind_of(param), dynamic(param), rank_of(param)
    data = "tensor<%dx%s>" % (CHUNK, param.element)
    index = "tensor<%dxindex>" % CHUNK
    lines = ["gpu.func @%s_%s(%%ctx: !iris.ctx, %%buffer: %s, %%sum: memref<?xi32, "
             "%s>, %%value: i32)" % (what, kind, type_, SPACE),
             "    kernel attributes {iris.num_warps = 4 : i32} {",
             "%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
             "%%chunk = arith.constant %d : index" % CHUNK,
             "%pid = gpu.block_id x",
             "%start = arith.muli %pid, %chunk : index",
             "%start32 = arith.index_cast %start : index to i32"]
    lines.append("%rows = memref.dim %buffer, %c0 : " + type_)
    if rank == 2:
        lines += ["%columns = memref.dim %buffer, %c1 : " + type_,
                  "%size = arith.muli %rows, %columns : index"]
    else:
        lines.append("%size = arith.muli %rows, %c1 : index")
    lines += ["%%lane = tile.range : %s" % index,
              "%%first = tensor.splat %%start : %s" % index,
              "%%at = arith.addi %%lane, %%first : %s" % index,
              "%%end = tensor.splat %%size : %s" % index,
              "%%inside = arith.cmpi ult, %%at, %%end : %s" % index]
    where = "%at"
    if rank == 2:
        lines += ["%%width = tensor.splat %%columns : %s" % index,
                  "%%row = arith.divui %%at, %%width : %s" % index,
                  "%%column = arith.remui %%at, %%width : %s" % index]
        where = "%row, %column"
    indices = ", ".join([index] * rank)
    if what == "fill":
        lines += words(CHUNK, "%value")
        word = "%word"
        if param.element.startswith("f"):
            lines += ["%%seven = arith.constant dense<7> : tensor<%dxi32>" % CHUNK,
                      "%%low = arith.andi %%word, %%seven : tensor<%dxi32>" % CHUNK]
            word = "%low"
        lines += [cast(word, "i32", param.element, "%data"),
                  "tile.scatter %%data, %%buffer[%s] mask %%inside : %s, %s, %s" % (
                      where, data, type_, indices)]
    else:
        lines += ["%minus = arith.constant -1 : i32"] + words(CHUNK, "%minus")
        lines += ["%%data = tile.gather %%buffer[%s] mask %%inside : %s, %s -> %s" % (
                      where, type_, indices, data),
                  cast("%data", param.element, "i32", "%wide"),
                  "%%one = arith.constant dense<1> : tensor<%dxi32>" % CHUNK,
                  "%%weight = arith.ori %%word, %%one : tensor<%dxi32>" % CHUNK,
                  "%%each = arith.muli %%wide, %%weight : tensor<%dxi32>" % CHUNK,
                  "%%all = tile.reduce sum %%each dim 0 : tensor<%dxi32> -> i32"
                  % CHUNK,
                  "%old = iris.atomic_rmw add %ctx, %all, %sum[%c0] sem(relaxed) "
                  "scope(gpu) : i32, memref<?xi32, #iris.symmetric>"]
    return "\n  ".join(lines + ["gpu.return"]) + "\n}\n"


COMPARE = """gpu.func @compare(%ctx: !iris.ctx, %sum: memref<?xi32, #iris.symmetric>,
    %want: i32) kernel attributes {iris.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %got = memref.load %sum[%c0] : memref<?xi32, #iris.symmetric>
  iris.expect_eq %got, %want, "checksum" : i32
  %zero = arith.constant 0 : i32
  memref.store %zero, %sum[%c0] : memref<?xi32, #iris.symmetric>
  gpu.return
}
"""


class Main:
    """The text of @main."""

    def __init__(self):
        self.lines, self.constants = [], {}

    def constant(self, value, type_):
        name = "%%%s_%s%d" % (type_, "m" if value < 0 else "", abs(value))
        self.constants[name] = "%s = arith.constant %d : %s" % (name, value, type_)
        return name

    def index(self, value):
        return self.constant(value, "index")

    def launch(self, kernel, programs, operands, types):
        self.lines.append("iris.launch @kernels::@%s programs(%s) args(%s : %s)" % (
            kernel, self.index(programs), ", ".join(["%ctx"] + operands),
            ", ".join(["!iris.ctx"] + types)))

    def by_rank(self, values, name):
        """Selects this rank's value from those of all ranks."""
        chosen = self.constant(values[0], "i32")
        for rank, value in enumerate(values[1:], 1):
            result = "%s_%d" % (name, rank)
            self.lines.append("%s = arith.select %%is%d, %s, %s : i32" % (
                result, rank, self.constant(value, "i32"), chosen))
            chosen = result
        return chosen


def run_kernel(main, kernel, run):
    """Fills, launches and compares, in new buffers."""
    sum_type = "memref<?xi32, %s>" % SPACE
    shown = kernel.params
    assert not any(p.same for p in shown), "launches refuse such arguments"
    names, flat = {}, {}
    for param in shown:
        name = "%%%s_%d_%s" % (kernel.name, run, param.name[1:])
        sizes = [] if param.is_static else [main.index(n) for n in param.shape]
        main.lines.append("%s = iris.alloc(%s) : %s" % (
            name, ", ".join(sizes), param.type))
        names[param.name] = flat[param.name] = name
        if param.is_static:
            flat[param.name] = name + "_d"
            main.lines.append("%s_d = memref.cast %s : %s to %s" % (
                name, name, param.type, dynamic(param)))

    def helper_on(what, param, value):
        count = int(np.prod(param.shape))
        main.launch("%s_%s" % (what, kind_of(param)), -(-count // CHUNK),
                    [flat[param.name], "%sum", value],
                    [dynamic(param), sum_type, "i32"])
    for param in shown:
        if param not in kernel.internal:  # those are zero
            helper_on("fill", param, main.by_rank(
                [ops.wrap32(kernel.salt_of(param, rank))
                 for rank in range(kernel.ranks)], names[param.name] + "_s"))
    main.lines.append("iris.sync %ctx")
    main.launch(kernel.name, kernel.programs,
                [names[param.name] for param in shown],
                [param.type for param in shown])
    main.lines.append("iris.sync %ctx")
    wanted = kernel.expected()
    for param in shown:
        if param is kernel.state:
            continue
        helper_on("sum", param, main.constant(0, "i32"))
        want = [ops.checksum(array) for array in wanted[param.name]]
        main.launch("compare", 1, ["%sum", main.by_rank(
            want, names[param.name] + "_w")], [sum_type, "i32"])
    main.lines.append("iris.sync %ctx")
    for param in reversed(shown):
        main.lines.append("iris.dealloc %s : %s" % (names[param.name], param.type))


def program(kernels, rounds=1):
    main, kinds = Main(), {}
    main.lines.append("%%sum = iris.alloc(%s) : memref<?xi32, %s>" % (
        main.index(1), SPACE))
    main.lines.append("%rank = iris.rank %ctx : index")
    for rank in range(1, kernels[0].ranks):
        main.lines.append("%%is%d = arith.cmpi eq, %%rank, %s : index" % (
            rank, main.index(rank)))
    for kernel in kernels:
        for run in range(rounds):
            run_kernel(main, kernel, run)
        for param in kernel.params:
            kinds.setdefault(kind_of(param), param)
    main.lines.append("iris.dealloc %%sum : memref<?xi32, %s>" % SPACE)
    text = ["gpu.module @kernels {\n"]
    for _, param in sorted(kinds.items()):
        text += [helper(param, "fill"), helper(param, "sum")]
    text.append(COMPARE)
    text += [kernel.emit() for kernel in kernels]
    text.append("}\nfunc.func @main(%ctx: !iris.ctx) {\n  ")
    text.append("\n  ".join(sorted(main.constants.values()) + main.lines
                            + ["return"]))
    return "".join(text) + "\n}\n"
