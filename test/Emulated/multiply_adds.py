# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""f32 multiply-adds of gfx90a that round twice, as specified by the ISA.

The emulator executes gfx90a as gfx942, which has no v_mad_f32, v_mac_f32,
v_madmk_f32 and v_madak_f32. They round the product, then the sum, and take
denormals for zeros.
"""
import ctypes

import numpy as np

WORD = ctypes.c_uint32
LANES, FIRST_VECTOR, LITERAL = 64, 256, 255
# The first constant of each sign: 128 is 0, 193 is -1.
ZERO, MINUS_ONE, FIRST_FLOAT = 128, 193, 240
FLOATS = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494]
LONG, LONG_MAD, LONG_MAC = 0b110100, 0x1C1, 0x116
SHORT_MAC, SHORT_MADMK, SHORT_MADAK = 0x16, 0x17, 0x18


def without_denormals(values):
    tiny = np.abs(values) < np.float32(2.0 ** -126)
    return np.where(tiny, np.copysign(np.float32(0), values), values)


class MultiplyAdd:
    """One instruction, with the signature of a compiled one."""

    def __init__(self, decoder, words):
        self.decoder, self.absolute, self.negative = decoder, 0, 0
        self.literal, self.clamp, self.factor = words[1], 0, 0
        word = words[0]
        if word >> 26 == LONG:
            self.size, self.result = 8, word & 0xFF
            self.absolute, self.clamp = word >> 8 & 7, word >> 15 & 1
            self.negative, self.factor = words[1] >> 29, words[1] >> 27 & 3
            self.sources = [words[1] >> shift & 0x1FF for shift in (0, 9, 18)]
            if word >> 16 & 0x3FF == LONG_MAC:
                self.sources[2] = FIRST_VECTOR + self.result
            return
        self.result, operation = word >> 17 & 0xFF, word >> 25
        source, second = word & 0x1FF, FIRST_VECTOR + (word >> 9 & 0xFF)
        self.sources = {
            SHORT_MAC: [source, second, FIRST_VECTOR + self.result],
            SHORT_MADMK: [source, LITERAL, second],
            SHORT_MADAK: [source, second, LITERAL]}[operation]
        self.size = 8 if LITERAL in self.sources else 4

    def read(self, number, scalars, vectors):
        """The values of a source."""
        if number >= FIRST_VECTOR:
            bits = vectors[number - FIRST_VECTOR]
        elif number == LITERAL:
            bits = np.uint32(self.literal)
        elif FIRST_FLOAT <= number < FIRST_FLOAT + len(FLOATS):
            return np.full(LANES, FLOATS[number - FIRST_FLOAT], np.float32)
        elif number >= ZERO:
            value = (number - ZERO if number < MINUS_ONE
                     else MINUS_ONE - 1 - number)
            bits = np.uint32(value & 0xFFFFFFFF)
        else:
            bits = np.uint32(scalars[number])
        return np.full(LANES, bits, np.uint32).view(np.float32)

    def __call__(self, *arguments):
        decoder = self.decoder
        scalars = (WORD * decoder.SGPR_COUNT).from_address(arguments[0].value)
        vectors = np.ctypeslib.as_array((WORD * (LANES * 256)).from_address(
            arguments[1].value)).reshape(256, LANES)
        operands = []
        for k, number in enumerate(self.sources):
            value = self.read(number, scalars, vectors)
            value = np.abs(value) if self.absolute >> k & 1 else value
            value = -value if self.negative >> k & 1 else value
            operands.append(without_denormals(value))
        with np.errstate(all="ignore"):
            product = without_denormals(operands[0] * operands[1])
            total = without_denormals(product + operands[2])
            total = total * np.float32([1, 2, 4, 0.5][self.factor])
            if self.clamp:
                total = np.clip(total, np.float32(0), np.float32(1))
        low = decoder.EXEC_LO.offset
        active = scalars[low] | scalars[low + 1] << 32
        mask = np.array([active >> lane & 1 for lane in range(LANES)], bool)
        vectors[self.result][mask] = total.view(np.uint32)[mask]
        low = decoder.PC_LO_IDX
        after = (scalars[low] | scalars[low + 1] << 32) + self.size
        scalars[low], scalars[low + 1] = after & 0xFFFFFFFF, after >> 32


def find(word):
    """The name of a multiply-add, or None."""
    if word >> 26 == LONG:
        return {LONG_MAD: "V_MAD_F32", LONG_MAC: "V_MAC_F32"}.get(
            word >> 16 & 0x3FF)
    return {SHORT_MAC: "V_MAC_F32", SHORT_MADMK: "V_MADMK_F32",
            SHORT_MADAK: "V_MADAK_F32"}.get(word >> 25)


def teach(emulator):
    """Patches the module `emulator`."""
    machine = emulator.Emu
    original = machine.fetch

    def fetch(self, launch, pc):
        if pc not in self.prog and launch.co.arch == "gfx90a":
            words = (WORD * 2).from_address(pc)
            name = find(words[0])
            if name:
                self.prog[pc] = (MultiplyAdd(emulator.E, tuple(words)),
                                 tuple(range(6)), 0, 0, None, name)
        return original(self, launch, pc)

    machine.fetch = fetch
