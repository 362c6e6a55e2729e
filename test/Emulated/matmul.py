#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls, executed on an emulated AMD device or, as PTX, by ptx.py.

    matmul.py generate CHIP        > kernels.mlir
    matmul.py check    CHIP HSACO-OR-PTX [--vector-bytes=N]

One kernel per case: a tile of the matrix product of two buffers with hashed
data, for every element type of the chip, k-blocks, layouts of the buffers,
ragged sizes, pitches and unaligned pointers, an initial value, and operands
that the region yields. `check` compares with the product in double precision,
within a bound derived from k, and checks that nothing else was written and, of
AMD code, that barriers order what waves do with LDS.
--vector-bytes: as hosts with vectors of N bytes execute AMD code.
"""
import argparse
import dataclasses
import sys

import machine  # first: it switches to an interpreter that has NumPy
import numpy as np
import ptx

UNTOUCHED = 77  # initial value of the destination
MARGIN = 64  # elements around a buffer

# Exponent bits, mantissa bits, bias, and whether there is a negative zero.
FLOAT8 = {"f8E4M3FN": (4, 3, 7, True), "f8E5M2": (5, 2, 15, True),
          "f8E4M3FNUZ": (4, 3, 8, False), "f8E5M2FNUZ": (5, 2, 16, False)}


def hashed(count, salt):
    """`count` numbers of 32 bits."""
    with np.errstate(over="ignore"):
        h = np.arange(count, dtype=np.uint32) * np.uint32(2654435761)
        h = h + np.uint32(salt * 40503 + 12345)
        h = (h ^ (h >> np.uint32(15))) * np.uint32(739982445)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(2246822519)
    return h ^ (h >> np.uint32(16))


def decode_float8(bits, kind):
    exponent_bits, mantissa_bits, bias, _ = FLOAT8[kind]
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    sign = np.where(bits >> 7, -1.0, 1.0)
    normal = (1 + mantissa / 2.0 ** mantissa_bits) * 2.0 ** (
        exponent.astype(np.float64) - bias)
    subnormal = mantissa / 2.0 ** mantissa_bits * 2.0 ** (1 - bias)
    return sign * np.where(exponent == 0, subnormal, normal)


def make_data(count, kind, salt):
    """Hashed data as stored in memory, and their values."""
    h = hashed(count, salt)
    if kind in FLOAT8:
        # Exponents around that of 1: no infinities and no NaN.
        exponent_bits, mantissa_bits, bias, _ = FLOAT8[kind]
        exponent = bias - 3 + (h >> 8) % 5
        bits = ((h & 1) << 7 | exponent << mantissa_bits
                | (h >> 4) & ((1 << mantissa_bits) - 1))
        return bits.astype(np.uint8), decode_float8(bits.astype(np.int64), kind)
    if kind == "i8":
        data = (h & 255).astype(np.uint8).view(np.int8)
        return data, data.astype(np.float64)
    values = (h >> 8).astype(np.float64) / 2 ** 23 - 1
    if kind == "f16":
        data = values.astype(np.float16)
        return data, data.astype(np.float64)
    single = values.astype(np.float32)
    if kind == "f32":
        return single, single.astype(np.float64)
    assert kind == "bf16"
    bits = (single.view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(
        np.float64)


@dataclasses.dataclass
class Case:
    """One kernel. Layouts name the contiguous dimension: `k`, `r` (rows of a,
    columns of b), or `n` for none."""
    tile: tuple = (32, 32)
    block: int = 32
    warps: int = 4
    kind: str = "f16"
    kind_b: str = ""  # of b; if empty, that of a
    orders: str = "kk"
    sizes: tuple = ()  # of the result; if empty, the tile's
    k: int = 96
    at: tuple = (0, 0)  # offset of the window
    limit: int = -1  # k(...), if less than the buffers hold
    pad: tuple = (0, 0)  # elements between the lines of a and b
    shift: tuple = (0, 0)  # elements off an aligned address
    init: bool = False
    yields: str = ""  # "a" or "ab": other buffers in odd blocks
    tf32: bool = False
    reduces: bool = False  # k, of a tile

    def __post_init__(self):
        self.sizes = self.sizes or self.tile
        self.kind_b = self.kind_b or self.kind
        self.result = "i32" if self.kind == "i8" else "f32"
        self.element = "i8" if self.kind in FLOAT8 else self.kind


class OperandTile:
    """a or b of a case: rows by k values in memory."""

    def __init__(self, case, side, salt):
        self.order, self.kind = case.orders[side], (case.kind, case.kind_b)[side]
        self.is_b = side == 1
        rows, k = case.sizes[side], case.k
        inner = 3 if self.order == "n" else 1
        lines, neighbours = (k, rows) if self.order == "r" else (rows, k)
        pitch = neighbours * inner + case.pad[side]
        self.lines, self.pitch, self.inner = lines, pitch, inner
        self.shift = case.shift[side]
        data, values = make_data(lines * pitch, self.kind, salt)
        self.data = data
        view = values.reshape(lines, pitch)[:, :neighbours * inner:inner]
        self.values = view.T if self.order == "r" else view  # rows by k
        self.rows, self.k = rows, k

    def type(self, element):
        strides = {"k": "?, 1", "r": "1, ?", "n": "?, ?"}[self.order]
        if self.is_b:
            strides = ", ".join(reversed(strides.split(", ")))
        return f"memref<?x?x{element}, strided<[{strides}]>>"

    def arguments(self, memory):
        size = self.data.itemsize
        image = np.zeros((len(self.data) + self.shift + 2 * MARGIN) * size,
                         np.uint8)
        start = (MARGIN + self.shift) * size
        image[start:start + self.data.nbytes] = self.data.view(np.uint8)
        sizes = [self.rows, self.k]
        strides = [self.pitch] + ([self.inner] if self.order == "n" else [])
        if self.is_b:
            sizes.reverse()
            strides.reverse()
        return [memory.put(image) + start] + sizes + strides


class Kernel:
    def __init__(self, number, case):
        self.name, self.case = f"k{number}", case
        self.operand_tiles = [OperandTile(case, 0, 1), OperandTile(case, 1, 2)]
        self.others = [OperandTile(case, side, 3 + side)
                       for side in range(len(case.yields))]

    def emit(self):
        case = self.case
        types = [operand_tile.type(case.element) for operand_tile in self.operand_tiles]
        c = f"memref<?x?x{case.result}>"
        tile = f"tensor<{case.tile[0]}x{case.tile[1]}x{case.result}>"
        parameters = [f"%a: {types[0]}", f"%b: {types[1]}", f"%c: {c}"]
        parameters += [f"%{'de'[side]}: {types[side]}"
                       for side in range(len(self.others))]
        parameters += ["%i: index", "%j: index", "%k: index"]
        lines = [f"  gpu.func @{self.name}({', '.join(parameters)})",
                 f"      kernel attributes {{iris.num_warps = {case.warps}"
                 " : i32} {", "    %z = arith.constant 0 : index"]
        k = "%k"
        if case.reduces:
            type_ = "tensor<32xi32>"
            lines += ["    %k32 = arith.index_cast %k : index to i32",
                      f"    %all = tensor.splat %k32 : {type_}",
                      f"    %range = tile.range dim 0 : {type_}",
                      f"    %tile = arith.addi %all, %range : {type_}",
                      f"    %min = tile.reduce min %tile dim 0 : {type_} -> i32",
                      "    %from_tile = arith.index_cast %min : i32 to index"]
            k = "%from_tile"
        init = region = named = ""
        if case.init:
            lines.append(f"    %init = tile.load %c[%i, %j] : {c} -> {tile}")
            init = " init(%init)"
        if case.kind in FLOAT8:
            named = f" as({case.kind}, {case.kind_b})"
        if case.tf32:
            named = " precision(tf32)"
        if case.yields:
            operands = ["%p[%i, %first]", "%q[%first, %j]"][:len(case.yields)]
            region = f""" {{
    ^bb0(%kb: index):
      %one = arith.constant 1 : index
      %size = arith.constant {case.block} : index
      %first = arith.muli %kb, %size : index
      %bit = arith.andi %kb, %one : index
      %odd = arith.cmpi eq, %bit, %one : index
      %p = arith.select %odd, %d, %a : {types[0]}
""" + (f"      %q = arith.select %odd, %e, %b : {types[1]}\n"
                if len(case.yields) == 2 else "") + f"""\
      tile.yield {', '.join(operands)} : {', '.join(types[:len(case.yields)])}
    }}"""
        lines += [f"    %r = tile.matmul %a[%i, %z], %b[%z, %j] k({k})"
                  f" block({case.block}){init}{named}{region}",
                  f"        : {types[0]}, {types[1]} -> {tile}",
                  f"    tile.store %r, %c[%i, %j] : {tile}, {c}",
                  "    gpu.return", "  }"]
        return "\n".join(lines) + "\n"

    def get_factor(self, side, used):
        """The operand's window as the loop reads it: rows by k, zero-padded."""
        case = self.case
        values = self.operand_tiles[side].values[:, :used].copy()
        if side < len(self.others):
            other = self.others[side].values
            for first in range(case.block, used, 2 * case.block):
                block = slice(first, min(first + case.block, used))
                values[:, block] = other[:, block]
        window = np.zeros((case.tile[side], used))
        for row in range(case.tile[side]):
            if 0 <= row + case.at[side] < values.shape[0]:
                window[row] = values[row + case.at[side]]
        return window

    def run(self, emulator, code, wave, seed):
        """How many elements are wrong, and the largest error, as a part of the
        bound."""
        case = self.case
        memory = emulator.Memory(1 << 22)
        number = np.int32 if case.result == "i32" else np.float32
        rows, columns = case.sizes
        before = np.full((rows, columns), UNTOUCHED, number)
        before += (hashed(before.size, 9) % 16).reshape(before.shape).astype(
            number)
        target = memory.put(before.view(np.uint8).reshape(-1))
        limit = case.k if case.limit < 0 else case.limit
        arguments = [x for operand_tile in self.operand_tiles
                     for x in operand_tile.arguments(memory)]
        arguments += [target, rows, columns]
        arguments += [x for operand_tile in self.others
                      for x in operand_tile.arguments(memory)]
        launch = emulator.Launch(
            code, self.name, grid=(1, 1, 1), block=(case.warps * wave, 1, 1),
            args=arguments + [*case.at, limit], mem=memory, device=0)
        order = {} if emulator is ptx else {"checks_order": True}
        emulator.Emu(memory, seed=seed, budget=50_000_000, **order).run([launch])
        got = memory.get(target, number, before.size).reshape(before.shape)

        used = max(0, min(limit, case.k))
        a, b = self.get_factor(0, used), self.get_factor(1, used)
        product, bound = a @ b.T, np.abs(a) @ np.abs(b).T
        expected = before.astype(np.float64)
        tolerance = np.zeros(before.shape)
        # The part of the window inside the result, and the same elements of the
        # tile.
        begins = [max(0, at) for at in case.at]
        ends = [min(size, at + extent) for size, at, extent
                in zip(case.sizes, case.at, case.tile)]
        if all(begin < end for begin, end in zip(begins, ends)):
            window = tuple(map(slice, begins, ends))
            part = tuple(slice(begin - at, end - at) for begin, end, at
                         in zip(begins, ends, case.at))
            start = expected[window] if case.init else 0
            expected[window] = start + product[part]
            rounding = (used + 2) * 2.0 ** -23 + (2.0 ** -9 if case.tf32 else 0)
            tolerance[window] = rounding * (bound[part] + np.abs(start))
        if case.result == "i32":
            return np.count_nonzero(got != expected), 0
        error = np.abs(got - expected)
        wrong = np.count_nonzero(~(error <= tolerance))
        return wrong, (error / np.maximum(tolerance, 1e-30)).max()


def get_kinds(chip):
    kinds = ["f16", "bf16", "i8"]
    if chip.startswith(("gfx9", "gfx1250", "sm_")):
        kinds.append("f32")
    if chip == "gfx942":
        kinds += ["f8E4M3FNUZ", "f8E5M2FNUZ"]
    if chip in ("gfx950", "gfx1201", "gfx1250") or (
            chip.startswith("sm_") and chip not in ("sm_80", "sm_86")):
        kinds += ["f8E4M3FN", "f8E5M2"]
    return kinds


def get_cases(chip):
    kinds = get_kinds(chip)
    small = [kind for kind in kinds if kind == "i8" or kind in FLOAT8]
    cases = []
    # Every type, with every layout, with a ragged last block.
    for kind in kinds:
        block = 64 if kind in small else 32
        for orders in ("kk", "kr", "rk", "rr"):
            cases.append(Case(kind=kind, orders=orders, block=block,
                              tile=(64, 32), k=2 * block + 48))
    for kind in kinds:
        if kind in FLOAT8:
            mixed = [k for k in kinds if k in FLOAT8 and k != kind]
            cases.append(Case(kind=kind, kind_b=mixed[0], block=64, k=128))
    # The smallest and the largest k-blocks.
    cases.append(Case(block=128, k=300))
    if chip != "gfx1250":  # its instructions take 32 values of f16
        cases.append(Case(block=16, k=40))
    cases.append(Case(block=64 if chip == "gfx1250" else 32, k=64,
                      kind=kinds[-1], tile=(16, 64)))
    # Shapes of tiles and numbers of waves.
    cases.append(Case(tile=(16, 16), warps=1))
    cases.append(Case(tile=(32, 16), warps=2, k=64))
    cases.append(Case(tile=(16, 128), warps=8, k=64))
    cases.append(Case(tile=(128, 64), warps=2, block=64, k=128, orders="kr"))
    # More waves than there are places: copies.
    cases.append(Case(tile=(16, 16), k=72))
    cases.append(Case(tile=(16, 16), warps=16, k=136, block=64, orders="rr"))
    cases.append(Case(tile=(16, 32), k=64, orders="kr", init=True))
    cases.append(Case(tile=(32, 16), warps=8, k=64, orders="rk",
                      sizes=(40, 24), at=(16, 16)))
    cases.append(Case(tile=(16, 16), warps=8, k=96, kind=kinds[-1], block=64,
                      yields="ab"))
    # More threads than elements that are loaded one by one.
    if "f32" in kinds:
        cases.append(Case(tile=(64, 16), warps=16, k=64, kind="f32",
                          orders="kr"))
    # Transposes with enough elements per thread for whole vectors in LDS.
    for orders in ("kr", "rk", "rr"):
        cases.append(Case(tile=(64, 64), warps=2, block=64, k=176,
                          orders=orders, sizes=(72, 104), at=(8, 40)))
    cases.append(Case(tile=(128, 256), warps=8, block=64, k=136, orders="rr"))
    cases.append(Case(tile=(256, 32), warps=4, block=32, k=64, orders="rr",
                      kind=kinds[1], shift=(8, 16)))
    # More blocks than a pipeline has stages.
    if chip.startswith("sm_"):
        for orders in ("kk", "rr"):
            cases.append(Case(block=16, k=200, orders=orders))
    # Windows over the edges, some with whole chunks and some without.
    cases.append(Case(sizes=(40, 48), at=(32, 32), k=128))
    cases.append(Case(sizes=(37, 41), at=(32, 32), k=72))
    cases.append(Case(sizes=(40, 48), at=(32, 32), orders="rr", k=64))
    cases.append(Case(sizes=(37, 41), at=(32, 32), orders="rr", k=72))
    cases.append(Case(sizes=(16, 16), at=(32, 0), k=64))
    cases.append(Case(sizes=(16, 24), at=(-8, -8), k=64))
    # Pitches and pointers.
    cases.append(Case(pad=(8, 16), k=64))
    cases.append(Case(pad=(1, 0), k=64))
    cases.append(Case(pad=(0, 3), k=64, orders="kr"))
    cases.append(Case(shift=(1, 0), k=64))
    cases.append(Case(shift=(8, 4), k=64, orders="rk"))
    cases.append(Case(orders="nn", k=48))
    cases.append(Case(orders="nk", k=48, kind=kinds[1], block=64))
    # k ends before the buffers end, after them, and at 0.
    cases.append(Case(k=96, limit=72))
    cases.append(Case(k=96, limit=50, orders="rr"))
    cases.append(Case(k=50, limit=100))
    cases.append(Case(k=64, limit=0, init=True))
    cases.append(Case(k=8, init=True))
    # Initial values.
    cases.append(Case(init=True, sizes=(40, 48), at=(8, 16)))
    if "i8" in kinds:
        cases.append(Case(init=True, kind="i8", block=64))
    # Operands from the region.
    cases.append(Case(yields="a", k=160))
    cases.append(Case(yields="ab", k=100, orders="kr"))
    cases.append(Case(yields="ab", k=64, shift=(1, 0)))
    cases.append(Case(yields="a", k=96, sizes=(40, 48), at=(32, 32)))
    if "f32" in kinds:
        # The emulator has no xf32.
        cases.append(Case(kind="f32", tf32=chip != "gfx942", k=64))
        cases.append(Case(kind="f32", block=16, k=40, orders="rk"))
    if chip.startswith("sm_"):
        for orders in ("kr", "rk"):
            cases.append(Case(kind="f32", tf32=True, orders=orders, k=64))
    if chip == "sm_90a":
        # Without producer warps, which do not know k: ptx.py has no WGMMA.
        # Kernels of one or two warps have none anyway.
        for case in cases:
            case.reduces = case.warps >= 4
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["generate", "check"])
    parser.add_argument("chip")
    parser.add_argument("image", nargs="?")
    parser.add_argument("--only", type=int, help="number of one case")
    parser.add_argument("--vector-bytes", type=int, default=64)
    options = parser.parse_args()
    cases = list(enumerate(get_cases(options.chip)))
    if options.only is not None:
        cases = [cases[options.only]]
    kernels = [Kernel(number, case) for number, case in cases]
    if options.action == "generate":
        print("gpu.module @kernels {")
        print("".join(kernel.emit() for kernel in kernels) + "}")
        return 0

    if options.chip.startswith("sm_"):
        # Each order of warps, and each time at which copies may happen.
        emulator, seeds = ptx, (1, 2)
    else:
        emulator, seeds = machine, (1,)
        machine.load_library().emulatorLimitVectors(options.vector_bytes)
    code = emulator.CodeObject(options.image)
    wave = 64 if options.chip.startswith("gfx9") else 32
    failures = 0
    for kernel in kernels:
        try:
            wrong, worst = max(kernel.run(emulator, code, wave, seed)
                               for seed in seeds)
        except RuntimeError as error:  # out of bounds, hang, trap
            failures += 1
            print(f"{kernel.name}: {error}: {kernel.case}")
            continue
        if wrong:
            failures += 1
            print(f"{kernel.name}: {wrong} elements are wrong, error up to "
                  f"{worst:.3g} of the bound: {kernel.case}")
    print(f"{len(kernels)} kernels, {failures} wrong")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
