# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The instructions of ptx.py: a warp of 32 lanes, its control flow, and what it
does to memory."""
import re

import numpy as np

from ptx_arithmetic import (Arithmetic, Error, REGISTER_WIDTHS, SIGNED, U64,
                            UNSIGNED, WARP, as_floats, as_type, from_floats)

SHARED_BASE = 0x1000  # of the shared window; 0 is no address of a variable
PARAMETER_BASE, PARAMETER_BYTES = 0x100, 8


def decode_float8(bits, exponent_bits, mantissa_bits, bias):
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = (bits & ((1 << mantissa_bits) - 1)) / 2.0 ** mantissa_bits
    value = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias),
                     (1 + mantissa) * 2.0 ** (exponent.astype(float) - bias))
    return np.where(bits >> 7, -value, value)


def unpack(registers, kind):
    """The elements (float64) in 32-bit registers, [register, part, lane]."""
    words = np.stack([r.astype(np.uint32) for r in registers])
    if kind == "tf32":  # the low 13 bits are not looked at
        return (words & np.uint32(0xFFFFE000)).view(np.float32).astype(
            np.float64)[:, None]
    parts = {"f16": 2, "bf16": 2}.get(kind, 4)
    bits = 32 // parts
    fields = np.stack([(words >> np.uint32(bits * i)) & np.uint32(
        (1 << bits) - 1) for i in range(parts)], axis=1)
    if kind == "f16":
        return fields.astype(np.uint16).view(np.float16).astype(np.float64)
    if kind == "bf16":
        return (fields << np.uint32(16)).view(np.float32).astype(np.float64)
    if kind == "s8":
        return fields.astype(np.uint8).view(np.int8).astype(np.float64)
    layout = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15)}[kind]
    return decode_float8(fields.astype(np.int64), *layout)


class Warp(Arithmetic):
    def __init__(self, block, number):
        self.block, self.number = block, number
        self.registers = {}
        self.pc = np.zeros(WARP, np.int64)
        self.alive = np.ones(WARP, bool)
        self.waiting = np.zeros(WARP, bool)  # at bar.sync
        self.copies, self.groups = [], []
        self.lanes = np.arange(WARP, dtype=U64)

    # Operands ----------------------------------------------------------------

    def read(self, operand, instruction=None):
        if operand.startswith("%"):
            if operand == "%tid.x":
                return self.lanes + U64(self.number * WARP)
            if operand in ("%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z"):
                return np.zeros(WARP, U64)
            if operand == "%ctaid.x":
                return np.full(WARP, self.block.index, U64)
            if operand == "%ntid.x":
                return np.full(WARP, self.block.threads, U64)
            if operand not in self.registers:
                self.registers[operand] = self.undefined(operand)
            return self.registers[operand]
        if operand.startswith(("0f", "0d")):
            return np.full(WARP, int(operand[2:], 16), U64)
        if operand.startswith("!"):
            return self.read(operand[1:]) ^ U64(1)
        if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)U?", operand):
            return np.full(WARP, int(operand.rstrip("U"), 0) & (2 ** 64 - 1),
                           U64)
        for addresses in (self.block.shared, self.block.parameter_addresses):
            if operand in addresses:
                return np.full(WARP, addresses[operand], U64)
        raise Error(f"operand {operand}")

    def undefined(self, name):
        """Bits of a register that was not written. LLVM may read one for a value
        that nothing depends on; a result that depends on it is wrong."""
        bits = self.block.emulation.undefined.integers(
            2 ** 64, size=WARP, dtype=U64)
        kind = name.rstrip("0123456789")
        if kind == "%p":
            return bits & U64(1)
        return as_type(bits, REGISTER_WIDTHS.get(kind, 8), False).astype(U64)

    def write(self, name, value, mask, width=8):
        if name == "_":
            return
        value = value.astype(U64)
        if width < 8:
            value = value & U64((1 << 8 * width) - 1)
        if not mask.all():
            value = np.where(mask, value, self.read(name))
        self.registers[name] = value

    def address(self, operand):
        inner = operand[1:-1].strip()
        base, _, offset = inner.partition("+")
        value = self.read(base.strip())
        if offset:
            value = value + U64(int(offset) & (2 ** 64 - 1))
        return value

    # Steps -------------------------------------------------------------------

    def run(self):
        """Runs to the next barrier, or to the end."""
        while True:
            ready = self.alive & ~self.waiting
            if not ready.any():
                return
            pc, mask = self.choose(ready)
            self.block.emulation.count()
            instruction = self.block.code[pc]
            try:
                self.step(instruction, mask, int(pc))
            except Error as error:
                raise Error(f"{error}: {instruction.text}") from error

    def choose(self, ready):
        """Lanes that execute together: those that are least far in the code.
        An instruction of a whole warp waits for lanes that take a detour, which
        the code may have further down."""
        first = int(self.pc[ready].min())
        behind = ready & (self.pc == first)
        if not self.block.code[first].needs_warp:
            return first, behind
        for pc in np.unique(self.pc[ready]):
            mask = ready & (self.pc == pc)
            if not self.block.code[pc].needs_warp or mask.sum() == WARP:
                return pc, mask
        return first, behind

    def step(self, i, mask, pc):
        self.pc[mask] = pc + 1
        if i.guard:
            condition = self.read(i.guard).astype(bool)
            mask = mask & (~condition if i.negated else condition)
            if not mask.any():
                return
        handler = getattr(self, "op_" + i.name[0], None)
        if handler is None:
            raise Error("unknown instruction")
        handler(i, mask)

    def jump(self, label, mask):
        self.pc[mask] = self.block.kernel.labels[label]

    def op_bra(self, i, mask):
        self.jump(i.operands[0], mask)

    def op_brx(self, i, mask):
        """A jump table."""
        targets = self.block.kernel.branch_targets[i.operands[1]]
        index = as_type(self.read(i.operands[0]), 4, False)
        if (index[mask] >= len(targets)).any():
            raise Error("index beyond the list of targets")
        for n, target in enumerate(targets):
            self.jump(target, mask & (index == n))

    def op_ret(self, i, mask):
        self.alive = self.alive & ~mask

    def op_griddepcontrol(self, i, mask):
        """Launches run one after the other."""

    def op_bar(self, i, mask):
        self.waiting = self.waiting | mask

    op_barrier = op_bar

    # Memory --------------------------------------------------------------------

    def space(self, i, addresses, width, mask):
        """Bytes of a space and the indices of the active lanes' accesses."""
        addresses = addresses[mask]
        if "global" in i.name:
            memory = self.block.memory
            return memory.bytes, memory.indices(addresses, width)
        if not any(part.startswith("shared") for part in i.name):
            raise Error("access of no known space")
        index = (addresses.astype(np.int64) - SHARED_BASE)[:, None] + np.arange(
            width)
        if (index < 0).any() or (index >= len(self.block.bytes)).any():
            raise Error("access outside of shared memory")
        if (index[:, 0] % width).any():
            raise Error("access that is not aligned")
        return self.block.bytes, index

    def op_ld(self, i, mask):
        names = i.operands[0]
        names = names if isinstance(names, list) else [names]
        if "param" in i.name:
            return self.load_parameter(i, names, mask)
        total = i.width * len(names)
        memory, index = self.space(i, self.address(i.operands[1]), total, mask)
        data = memory[index]
        for k, name in enumerate(names):
            part = np.ascontiguousarray(
                data[:, k * i.width:(k + 1) * i.width]).view(
                    (SIGNED if i.is_signed else UNSIGNED)[i.width])[:, 0]
            value = np.zeros(WARP, U64)
            value[mask] = part.astype(U64)
            self.write(name, value, mask)
        return None

    def load_parameter(self, i, names, mask):
        start = self.address(i.operands[1]) - U64(PARAMETER_BASE)
        words = np.array(self.block.parameters, U64)
        for k, name in enumerate(names):
            number, offset = np.divmod(start + U64(k * i.width),
                                       U64(PARAMETER_BYTES))
            if (number[mask] >= len(words)).any() or (
                    offset[mask] % U64(i.width)).any():
                raise Error("access outside of a parameter")
            number = np.where(mask, number, U64(0)).astype(np.int64)
            self.write(name, words[number] >> U64(8) * offset, mask, i.width)

    def op_st(self, i, mask):
        names = i.operands[1]
        names = names if isinstance(names, list) else [names]
        total = i.width * len(names)
        memory, index = self.space(i, self.address(i.operands[0]), total, mask)
        data = np.concatenate([
            self.read(name)[mask].astype(UNSIGNED[i.width]).view(
                np.uint8).reshape(-1, i.width) for name in names], axis=1)
        memory[index] = data

    def op_cp(self, i, mask):
        if i.name[1] != "async":
            raise Error("unknown instruction")
        if i.name[2] == "commit_group":
            self.groups.append(self.copies)
            self.copies = []
            return
        if i.name[2] in ("wait_group", "wait_all"):
            pending = int(i.operands[0]) if i.name[2] == "wait_group" else 0
            while len(self.groups) > pending:
                for copy in self.groups.pop(0):
                    self.finish(*copy)
            return
        target, source = (self.address(o) for o in i.operands[:2])
        size = int(i.operands[2])
        bytes_ = (self.read(i.operands[3]) if len(i.operands) > 3
                  else np.full(WARP, size, U64)).astype(np.int64)
        if (bytes_[mask] < 0).any() or (bytes_[mask] > size).any():
            raise Error("copy of more bytes than there are")
        copy = (target.copy(), source.copy(), size, bytes_, mask.copy())
        if self.block.emulation.copies_at_once:
            self.finish(*copy)
        else:
            self.copies.append(copy)

    def finish(self, target, source, size, bytes_, mask):
        memory = self.block.memory
        for lane in np.flatnonzero(mask):
            data = np.zeros(size, np.uint8)
            start, count = int(source[lane]) - memory.base, int(bytes_[lane])
            if count and (start % size or start < 0 or not memory.exists[
                    start:start + count].all()):
                raise Error("copy of what is outside of a buffer")
            data[:count] = memory.bytes[start:start + count] if count else 0
            to = int(target[lane]) - SHARED_BASE
            if to % size or to < 0 or to + size > len(self.block.bytes):
                raise Error("copy to what is outside of shared memory")
            self.block.bytes[to:to + size] = data

    # Whole warps -----------------------------------------------------------------

    def require_warp(self, mask):
        if not mask.all():
            raise Error("lanes are missing")

    def op_shfl(self, i, mask):
        self.require_warp(mask)
        if i.name[2] != "bfly":
            raise Error("unknown instruction")
        target = i.operands[0].split("|")[0]
        other = (self.lanes ^ self.read(i.operands[2])).astype(np.int64)
        self.write(target, self.read(i.operands[1])[other], mask, 4)

    def op_ldmatrix(self, i, mask):
        self.require_warp(mask)
        if "x4" not in i.name or "m8n8" not in i.name or "b16" not in i.name:
            raise Error("unknown instruction")
        memory, index = self.space(i, self.address(i.operands[1]), 16, mask)
        rows = memory[index].view(np.uint16)  # [lane, 8]
        for k, name in enumerate(i.operands[0]):
            matrix = rows[8 * k:8 * k + 8]
            if "trans" in i.name:
                matrix = matrix.T
            words = np.ascontiguousarray(matrix).view(np.uint32).reshape(-1)
            self.write(name, words.astype(U64), mask)

    def op_mma(self, i, mask):
        self.require_warp(mask)
        result, a_kind, b_kind, _ = i.name[-4:]
        shape = re.fullmatch(r"m16n8k(\d+)", i.name[3])
        if i.name[1:3] != ["sync", "aligned"] or i.name[4:6] != ["row", "col"]:
            raise Error("unknown instruction")
        k = int(shape[1])
        d, a, b, c = i.operands
        group, thread = np.arange(WARP) >> 2, np.arange(WARP) % 4
        first = unpack([self.read(r) for r in a], a_kind)
        second = unpack([self.read(r) for r in b], b_kind)
        parts = first.shape[1]
        if len(a) != 4 or len(b) != 2 or k != 8 * parts:
            raise Error("unknown instruction")
        matrix_a, matrix_b = np.zeros((16, k)), np.zeros((k, 8))
        for register in range(4):
            for part in range(parts):
                column = thread * parts + part + register // 2 * 4 * parts
                matrix_a[group + register % 2 * 8, column] = first[register,
                                                                   part]
                if register < 2:
                    row = thread * parts + part + register * 4 * parts
                    matrix_b[row, group] = second[register, part]
        with np.errstate(all="ignore"):
            product = matrix_a @ matrix_b
            for register in range(4):
                part = product[group + register // 2 * 8,
                               thread * 2 + register % 2]
                start = self.read(c[register])
                if result == "s32":
                    value = (part.astype(np.int64) + start.astype(
                        np.uint32).view(np.int32)).astype(U64)
                else:
                    value = from_floats(part + as_floats(start))
                self.write(d[register], value, mask, 4)
