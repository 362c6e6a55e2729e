# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that fill a buffer: element i depends on a hash of i, the rank and a salt.

small    all bits of an integer; for floats a multiple of 1/4 from -32 to less than 32,
         of which sums and products are exact
wide     floats with random mantissas, whose sums round
special  any bits, or wide, and the special values of the type (elements.py)
f8       i8 that as f8 are no NaN, nor a zero with a sign
f8inf    i8 that as f8E5M2 are powers of two, zeros or infinities
"""
from elements import float_bits, hexadecimal, is_float, quiet_nan, specials, width

FILLED = 64  # elements at once
MODES = {True: ["small", "special", "wide"], False: ["small", "special"]}


def binary(name, op, left, right, type_):
    return f"%{name} = arith.{op} %{left}, %{right} : {type_}"


class Fill:
    def __init__(self, element, mode):
        self.element, self.mode = element, mode
        self.ints = f"tensor<{FILLED}xi32>"
        self.flags = f"tensor<{FILLED}xi1>"
        self.result = f"tensor<{FILLED}x{element}>"
        self.memref = f"memref<?x{element}, #iris.symmetric>"
        self.lines = []

    def dense(self, name, value, type_):
        self.lines.append(f"%{name} = arith.constant dense<{value}> : {type_}")

    def scaled(self, name, bits, factor):
        """The upper bits of the hash as a number, times a power of two."""
        self.dense(f"{name}s", 32 - bits, self.ints)
        self.dense(f"{name}f", factor, self.result)
        self.lines += [
            binary(f"{name}u", "shrsi", "word", f"{name}s", self.ints),
            f"%{name}n = arith.sitofp %{name}u : {self.ints} to {self.result}",
            binary(name, "mulf", f"{name}n", f"{name}f", self.result)]

    def integer(self, name):
        bits = width(self.element)
        if bits == 32:
            self.dense(f"{name}z", 0, self.ints)
            self.lines.append(binary(name, "addi", "word", f"{name}z", self.ints))
            return
        op = "extsi" if bits > 32 else "trunci"
        self.lines.append(f"%{name} = arith.{op} %word : {self.ints} to {self.result}")

    def any_bits(self, name):
        """A float of any bits; quiet NaN only."""
        bits = width(self.element)
        type_ = f"tensor<{FILLED}xi{bits}>"
        if bits == 64:
            self.lines.append(f"%{name}w = arith.extui %word : {self.ints} to {type_}")
            self.dense(f"{name}o", 0x5851F42D4C957F2D, type_)
            self.lines.append(binary(f"{name}i", "muli", f"{name}w", f"{name}o", type_))
        elif bits == 16:
            self.lines.append(f"%{name}i = arith.trunci %word : {self.ints} to {type_}")
        else:
            self.dense(f"{name}o", 40503, type_)
            self.lines.append(binary(f"{name}i", "muli", "word", f"{name}o", type_))
        self.dense(f"{name}q", quiet_nan(self.element), self.result)
        self.lines += [
            f"%{name}v = arith.bitcast %{name}i : {type_} to {self.result}",
            f"%{name}t = math.isnan %{name}v : {self.result}",
            f"%{name} = arith.select %{name}t, %{name}q, %{name}v : {self.flags}, "
            f"{self.result}"]

    def special_stores(self):
        """Each special value, at a place that depends on rank and salt."""
        lines = ["%stride = arith.constant 7 : index"]
        last = "seed"
        for n, value in enumerate(specials(self.element)):
            lines += [f"%at{n} = arith.addi %{last}, %stride : index",
                      f"%which{n} = arith.remui %at{n}, %size : index",
                      f"%special{n} = arith.constant {value} : {self.element}",
                      f"memref.store %special{n}, %b[%which{n}] : {self.memref}"]
            last = f"at{n}"
        return lines

    def value(self):
        """Emits it; its name."""
        if self.mode in ("f8", "f8inf"):
            self.integer("code")
            keep, add = (-9, 1) if self.mode == "f8" else (-4, 0)
            self.dense("keep", keep, self.result)
            self.dense("more", add, self.result)
            self.lines += [binary("kept", "andi", "code", "keep", self.result),
                           binary("v", "ori", "kept", "more", self.result)]
            return "v"
        if not is_float(self.element):
            self.integer("v")
            return "v"
        if self.mode == "small":
            self.scaled("v", 8, "0.25")
            return "v"
        self.scaled("w", 16, hexadecimal("f16", float_bits("f16", 6, 0))
                    if self.element == "f16" else "0.00390625")
        if self.mode == "wide":
            return "w"
        self.any_bits("a")
        self.dense("bit", 64, self.ints)
        self.dense("none", 0, self.ints)
        self.lines += [
            binary("which", "andi", "word", "bit", self.ints),
            f"%isAny = arith.cmpi eq, %which, %none : {self.ints}",
            f"%mix = arith.select %isAny, %a, %w : {self.flags}, {self.result}"]
        return "mix"

    def text(self):
        for name, value in (("m1", 0x9E3779B1 - 2**32), ("m2", 0x2C1B3C6D),
                            ("f", 15), ("t", 12)):
            self.dense(name, value, self.ints)
        for name, op, left, right in [
                ("h0", "muli", "i", "m1"), ("h1", "addi", "h0", "salts"),
                ("h2", "shrui", "h1", "f"), ("h3", "xori", "h1", "h2"),
                ("h4", "muli", "h3", "m2"), ("h5", "shrui", "h4", "t"),
                ("word", "xori", "h4", "h5")]:
            self.lines.append(binary(name, op, left, right, self.ints))
        value, memref = self.value(), self.memref
        specials_ = self.special_stores() if self.mode == "special" else []
        body = [f"%range = tile.range : {self.ints}",
                "%from32 = arith.index_cast %from : index to i32",
                f"%starts = tensor.splat %from32 : {self.ints}",
                f"%i = arith.addi %range, %starts : {self.ints}",
                f"%salts = tensor.splat %seed32 : {self.ints}"] + self.lines + [
                    f"tile.store %{value}, %b[%from] : {self.result}, {memref}"]
        return "\n".join(
            [f"  gpu.func @fill_{self.mode}_{self.element}(%ctx: !iris.ctx, "
             f"%b: {memref}, %salt: index) kernel {{",
             "    %zero_ = arith.constant 0 : index",
             f"    %step = arith.constant {FILLED} : index",
             "    %many = arith.constant 1000003 : index",
             f"    %size = memref.dim %b, %zero_ : {memref}",
             "    %rank = iris.rank %ctx : index",
             "    %seed0 = arith.muli %rank, %many : index",
             "    %seed = arith.addi %seed0, %salt : index",
             "    %seed32 = arith.index_cast %seed : index to i32",
             "    scf.for %from = %zero_ to %size step %step {"] +
            ["      " + line for line in body] + ["    }"] +
            ["    " + line for line in specials_] + ["    gpu.return", "  }"])


# Element m of the tables of all_to_all_v and all_gather_v: how many elements go to
# member m, and come from it, and where they are. Chunks are in slots of `slot`.
TABLES = """\
  gpu.func @tables(%ctx: !iris.ctx, %counts: memref<?xi64, #iris.symmetric>,
      %offsets: memref<?xi64, #iris.symmetric>, %slot: index, %mine: index,
      %theirs: index, %rotation: index) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %me = iris.group_index %ctx : index
    %size = iris.group_size %ctx : index
    %own = arith.muli %me, %mine : index
    scf.for %m = %zero to %size step %one {
      %its = arith.muli %m, %theirs : index
      %both = arith.addi %own, %its : index
      %more = arith.addi %both, %one : index
      %count = arith.remui %more, %slot : index
      %sum = arith.addi %m, %rotation : index
      %which = arith.remui %sum, %size : index
      %offset = arith.muli %which, %slot : index
      %count64 = arith.index_cast %count : index to i64
      %offset64 = arith.index_cast %offset : index to i64
      memref.store %count64, %counts[%m] : memref<?xi64, #iris.symmetric>
      memref.store %offset64, %offsets[%m] : memref<?xi64, #iris.symmetric>
    }
    gpu.return
  }"""
