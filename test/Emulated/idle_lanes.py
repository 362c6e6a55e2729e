# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Only active lanes access LDS.

The emulator also evaluates the addresses of inactive lanes, which may be
anything: these are set to 0 while an instruction is executed.
"""
import ctypes

import instructions

REGISTERS, FIRST_REGISTER = 256, 256
WORD = ctypes.c_uint32


class Guarded:
    """One instruction, with the signature of a compiled one."""

    def __init__(self, decoder, entry, lanes):
        self.compiled, self.parameters = entry[:2]
        self.address = (entry[4].addr.offset - FIRST_REGISTER) * lanes
        self.lanes, self.exec_low = lanes, decoder.EXEC_LO.offset
        self.num_scalars = decoder.SGPR_COUNT

    def __call__(self, *arguments):
        scalars = (WORD * self.num_scalars).from_address(arguments[0].value)
        active = scalars[self.exec_low]
        if self.lanes == 64:
            active |= scalars[self.exec_low + 1] << 32
        chosen = [arguments[number] for number in self.parameters]
        if active == (1 << self.lanes) - 1:
            return self.compiled(*chosen)
        registers = (WORD * (self.lanes * REGISTERS)).from_address(
            arguments[1].value)
        idle = [self.address + lane for lane in range(self.lanes)
                if not active >> lane & 1]
        saved = [registers[index] for index in idle]
        for index in idle:
            registers[index] = 0
        self.compiled(*chosen)
        for index, value in zip(idle, saved):
            registers[index] = value
        return None


def teach(emulator):
    """Patches the module `emulator`."""
    kinds = tuple(isa.DS for isa in (emulator.irc, emulator.ir3, emulator.ir4)
                  if hasattr(isa, "DS"))

    def make(launch, _, entry):
        if not isinstance(entry[4], kinds) or not entry[0]:
            return None
        lanes = 64 if launch.arch == "cdna" else 32
        return (Guarded(emulator.E, entry, lanes), tuple(range(6)), *entry[2:])

    instructions.replace(emulator, make)
