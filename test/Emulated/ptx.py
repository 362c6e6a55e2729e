#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes PTX as the PTX ISA describes it, without a GPU.

The subset that LLVM emits for kernels of one device: arithmetic of integers and
floats, control flow, loads and stores, `bar.sync`, `shfl.sync`, `cp.async`,
`ldmatrix` and `mma.sync`. Anything else is an error. It has the interface of
the AMD emulator that matmul.py uses: CodeObject, Memory, Launch, Emu.

What hides mistakes on hardware is made as bad as the ISA allows:
  * warps run one at a time, in an order drawn from the seed, each to its next
    barrier: an exchange through shared memory without a barrier reads what was
    there before;
  * `cp.async` reads and writes when its group is waited for, not before, or,
    with odd seeds, at once;
  * shared memory holds NaNs at first, a register any bits, and accesses outside
    of a buffer or not aligned are errors;
  * lanes that leave `ldmatrix` or `mma.sync` out are an error.
"""
import random
import re

import numpy as np

from ptx_arithmetic import Error, WARP, WIDTHS
from ptx_warp import PARAMETER_BASE, PARAMETER_BYTES, SHARED_BASE, Warp


# Code -----------------------------------------------------------------------


class Instruction:
    def __init__(self, text):
        self.text = " ".join(text.split())
        guard, self.negated, body = None, False, self.text
        if body.startswith("@"):
            guard, body = body[1:].split(None, 1)
            self.negated = guard.startswith("!")
            guard = guard.lstrip("!")
        self.guard = guard
        name, _, rest = body.partition(" ")
        self.name = name.split(".")
        self.operands = split_operands(rest)
        self.type = next((p for p in reversed(self.name) if p in WIDTHS), None)
        self.width = WIDTHS.get(self.type, 4)

    @property
    def needs_warp(self):
        return self.name[0] in ("ldmatrix", "mma", "shfl")

    @property
    def is_signed(self):
        return self.type is not None and self.type.startswith("s")


def split_operands(text):
    """Operands by commas; `{...}` are lists, `[...]` addresses."""
    result, depth, current = [], 0, ""
    for c in text:
        depth += (c in "{[") - (c in "}]")
        if c == "," and depth == 0:
            result.append(current.strip())
            current = ""
        else:
            current += c
    if current.strip():
        result.append(current.strip())
    return [[part.strip() for part in operand[1:-1].split(",")]
            if operand.startswith("{") else operand for operand in result]


class Kernel:
    def __init__(self, name, parameters, body, globals_):
        self.name, self.parameters = name, parameters
        self.code, self.labels, self.shared = [], {}, dict(globals_)
        self.branch_targets = {}  # lists of labels, by their own label
        # Comments, and positions in the source.
        body = re.sub(r"//[^\n]*|^\s*\.loc\b[^\n]*", "", body, flags=re.M)
        for statement in body.split(";"):
            statement, label = statement.strip(), None
            while match := re.match(r"(\$?[\w$]+):\s*", statement):
                label = match[1]
                self.labels[label] = len(self.code)
                statement = statement[match.end():]
            if match := re.match(r"\.shared .*?\.b8 ([\w$]+)\[(\d*)\]",
                                 statement, re.S):
                self.shared[match[1]] = int(match[2] or 0)
            elif statement.startswith(".branchtargets"):
                self.branch_targets[label] = [
                    target.strip() for target in statement.removeprefix(
                        ".branchtargets").split(",")]
            elif statement and not statement.startswith("."):
                self.code.append(Instruction(statement))


class CodeObject:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        shared = {m[1]: int(m[2] or 0) for m in re.finditer(
            r"^\.?(?:extern )?\.?shared[^;\n]*\.b8 ([\w$]+)\[(\d*)\];",
            text, re.M)}
        self.kernels = {}
        for match in re.finditer(
                r"\.entry (\w+)\((.*?)\)\s*(?:\.[a-z]+[^\n{]*\n)*\s*\{\n(.*?)\n\}",
                text, re.S):
            parameters = [(p[1], p[0]) for p in re.findall(
                r"\.param \.(\w+)[^,]*?(\w+_param_\d+)", match[2])]
            self.kernels[match[1]] = Kernel(match[1], parameters, match[3],
                                            shared)


# Memory ---------------------------------------------------------------------


class Memory:
    """Global memory: buffers, and between them nothing."""

    def __init__(self, size):
        self.base, self.top = 1 << 32, 64
        self.bytes = np.full(size, 0xFF, np.uint8)
        self.exists = np.zeros(size, bool)

    def put(self, data):
        data = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
        start = self.top
        self.top = (start + len(data) + 511) & ~255
        self.bytes[start:start + len(data)] = data
        self.exists[start:start + len(data)] = True
        return self.base + start

    def get(self, address, dtype, count):
        start = address - self.base
        size = np.dtype(dtype).itemsize * count
        return self.bytes[start:start + size].view(dtype).copy()

    def indices(self, addresses, width):
        index = (addresses.astype(np.int64) - self.base)[:, None] + np.arange(
            width)
        if (index < 0).any() or (index >= len(self.bytes)).any() or (
                not self.exists[index].all()):
            raise Error("access outside of a buffer")
        if (index[:, 0] % width).any():
            raise Error("access that is not aligned")
        return index


class Launch:
    def __init__(self, code, name, grid, block, args, mem, device=0):
        self.kernel, self.grid, self.block = code.kernels[name], grid, block
        self.args, self.memory = args, mem


# Execution ------------------------------------------------------------------


class Block:
    def __init__(self, emulation, launch, index):
        self.emulation, self.kernel, self.index = (emulation, launch.kernel,
                                                   index)
        self.code, self.memory = launch.kernel.code, launch.memory
        self.threads = launch.block[0]
        self.parameters = [int(value) & (2 ** 64 - 1) for _, value in zip(
            launch.kernel.parameters, launch.args, strict=True)]
        self.parameter_addresses = {
            name: PARAMETER_BASE + PARAMETER_BYTES * n
            for n, (name, _) in enumerate(launch.kernel.parameters)}
        # Static variables first; dynamic memory has no size of its own.
        self.shared, top = {}, SHARED_BASE
        for name, size in sorted(launch.kernel.shared.items(),
                                 key=lambda item: item[1] == 0):
            top = (top + 1023) & ~1023
            self.shared[name] = top
            top += size
        self.bytes = np.full(top - SHARED_BASE + emulation.dynamic_bytes, 0xFF,
                             np.uint8)
        self.warps = [Warp(self, w) for w in range(self.threads // WARP)]

    def run(self, order):
        while any(warp.alive.any() for warp in self.warps):
            for warp in order.sample(self.warps, len(self.warps)):
                warp.run()
            # A barrier is complete when all that are left have arrived.
            for warp in self.warps:
                if (warp.alive & ~warp.waiting).any():
                    raise Error("a warp does not come to the barrier")
                warp.waiting[:] = False


class Emu:
    def __init__(self, memory, seed=1, budget=50_000_000,
                 dynamic_bytes=227 << 10):
        self.order = random.Random(seed)
        self.undefined = np.random.default_rng(seed)
        self.copies_at_once = seed % 2 == 1
        self.budget, self.dynamic_bytes = budget, dynamic_bytes

    def count(self):
        self.budget -= 1
        if self.budget < 0:
            raise Error("the kernel does not end")

    def run(self, launches):
        for launch in launches:
            for index in range(launch.grid[0]):
                Block(self, launch, index).run(self.order)
