# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""v_permlane32_swap_b32 and v_permlane16_swap_b32 as specified by the ISA;
the emulator does not implement them.

They exchange the upper half of the lanes of the first register with the lower
half of the lanes of the second, in the whole wave or in each half of it,
regardless of which lanes are active.
"""
import ctypes

WAVE, REGISTERS, FIRST_REGISTER = 64, 256, 256
VOP1 = 0b0111111


class Exchange:
    """One instruction on groups of 2 * `half` lanes, with the signature of a
    compiled one."""

    def __init__(self, decoder, pc, half):
        self.low, self.half = decoder.PC_LO_IDX, half
        word = ctypes.c_uint32.from_address(pc).value
        self.first = (word >> 17) & 0xFF
        self.second = (word & 0x1FF) - FIRST_REGISTER

    def __call__(self, *arguments):
        lanes = (ctypes.c_uint32 * (WAVE * REGISTERS)).from_address(
            arguments[1].value)
        half = self.half
        for group in range(0, WAVE, 2 * half):
            upper = self.first * WAVE + group + half
            lower = self.second * WAVE + group
            upper, lower = slice(upper, upper + half), slice(lower, lower + half)
            lanes[upper], lanes[lower] = lanes[lower], lanes[upper]
        counter = ctypes.c_uint64.from_address(arguments[0].value + 4 * self.low)
        counter.value += 4


def teach(emulator):
    """Patches the module `emulator`."""
    machine, decoder, isa = emulator.Emu, emulator.E, emulator.irc
    original = machine.fetch
    operations = {isa.VOP1Op[f"V_PERMLANE{half}_SWAP_B32_E32"].value: half
                  for half in (16, 32)}

    def fetch(self, launch, pc):
        if pc not in self.prog and launch.arch == "cdna":
            word = ctypes.c_uint32.from_address(pc).value
            half = operations.get((word >> 9) & 0xFF)
            if word >> 25 == VOP1 and half:
                instruction = decoder.decode_inst(ctypes.string_at(pc, 16),
                                                  launch.arch)
                self.prog[pc] = (Exchange(decoder, pc, half), tuple(range(6)), 0,
                                 0, instruction,
                                 f"V_PERMLANE{half}_SWAP_B32")
        return original(self, launch, pc)

    machine.fetch = fetch
