# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""16-bit operations on CDNA as specified by the ISA, where the emulator
deviates.

In the short encodings of RDNA, registers from 128 on are the upper halves of
the first 128, and the emulator assumes this for every chip. The long encoding
of the same operation can name all registers: it is executed instead.

A 16-bit result has zeros in the upper half, also where SDWA selects its
operands: the emulator keeps the sign, or a borrow, there.
"""
import ctypes

import instructions

LONG = 0b110100 << 26  # VOP3A
# Offsets of the short encodings' opcodes in the long encoding.
COMPARE, BINARY, UNARY = 0, 0x100, 0x140
FIRST_REGISTER, FIRST_HALF, LITERAL, VCC = 256, 128, 255, 106
# Long encodings have no literals: a scalar register is borrowed.
LENT = 100


def lengthen(word):
    """The two words of the long encoding."""
    source, second = word & 0x1FF, (word >> 9) & 0xFF
    result, operation = (word >> 17) & 0xFF, (word >> 9) & 0xFF
    if source == LITERAL:
        source = LENT
    if word >> 25 == 0b0111111:
        return LONG | (UNARY + operation) << 16 | result, source
    operands = source | (FIRST_REGISTER + second) << 9
    if word >> 25 == 0b0111110:
        return LONG | (COMPARE + result) << 16 | VCC, operands
    return LONG | (BINARY + (word >> 25)) << 16 | result, operands


class LongForm:
    """One short instruction, with the signature of a compiled one."""

    def __init__(self, decoder, launch, pc):
        self.low, self.count = decoder.PC_LO_IDX, decoder.SGPR_COUNT
        word, self.literal = (ctypes.c_uint32 * 2).from_address(pc)
        self.has_literal = word & 0x1FF == LITERAL
        self.size = 8 if self.has_literal else 4
        self.code = (ctypes.c_uint32 * 4)(*lengthen(word))
        (self.program, self.compiled), _ = decoder._decode_at(
            ctypes.addressof(self.code), launch.arch)

    def __call__(self, *arguments):
        scalars = (ctypes.c_uint32 * self.count).from_address(
            arguments[0].value)
        low, lent = self.low, scalars[LENT]
        after = (scalars[low] | scalars[low + 1] << 32) + self.size
        # The emulator reads operands from the encoding at the pc, through the
        # wave's view of memory.
        here = ctypes.addressof(self.code) - arguments[2].value
        scalars[low], scalars[low + 1] = here & 0xFFFFFFFF, here >> 32
        if self.has_literal:
            scalars[LENT] = self.literal
        self.compiled.fxn(*[arguments[g] for g in self.program.arg.globals])
        scalars[LENT] = lent
        scalars[low], scalars[low + 1] = after & 0xFFFFFFFF, after >> 32


def has_upper_register(instruction):
    """Whether it is a 16-bit operation on a register from 128 on."""
    bits = instruction.canonical_op_bits
    operands = [getattr(instruction, name, None)
                for name in ("src0", "vsrc0", "vsrc1", "vdst")]
    return 16 in (bits["d"], bits["s0"]) and any(
        operand is not None and operand.offset >= FIRST_REGISTER + FIRST_HALF
        for operand in operands)


def teach(emulator):
    """Patches the module `emulator`."""
    decoder, isa = emulator.E, emulator.irc
    original_word, types = decoder._val_to_u32, decoder.dtypes
    # The emulator reads the operands of these as specified.
    selected = (isa.VOP1_SDWA, isa.VOP2_SDWA, isa.VOP2_SDWA_SDST,
                isa.VOPC_SDWA_SDST)

    def make(launch, pc, entry):
        instruction, name = entry[4], entry[5]
        if launch.arch != "cdna" or not isinstance(
                instruction, (isa.VOP1, isa.VOP2, isa.VOPC)) or isinstance(
                    instruction, selected) or not has_upper_register(
                        instruction):
            return None
        if isinstance(instruction, (isa.VOP1_DPP16, isa.VOP2_DPP16)) or (
                "MK_F16" in name or "AK_F16" in name):
            raise RuntimeError(f"{name} with upper registers not modelled")
        return LongForm(decoder, launch, pc), tuple(range(6)), *entry[2:]

    def to_word(value):
        if value.dtype not in (types.int16, types.uint16):
            return original_word(value)
        # The bits of the C expression, which has the type int.
        return decoder.UOp(decoder.Ops.CUSTOMI, types.uint32, (value,),
                           "((unsigned)(unsigned short)({0}))")

    instructions.replace(emulator, make)
    decoder._val_to_u32 = to_word
