# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffer loads and stores with the checks of all other accesses.

The emulator executes them directly on memory: past the caches of weak memory,
and without checking what is allocated. This module turns them into global
accesses to the addresses in their descriptors.
"""
import instructions

CONSTANTS = 128  # operands from here on are inline constants, not registers


class Access:
    """The operands of one instruction."""

    def __init__(self, instruction):
        assert not int(instruction.idxen), "no structures in buffers"
        self.descriptor = instruction.srsrc.offset
        self.extra = instruction.soffset.offset
        self.offset = int(instruction.offset)
        self.register = None
        if int(instruction.offen):
            self.register = instruction.vaddr.offset - 256

    def addresses(self, state, lanes):
        """(lane, address) of the lanes that are in the descriptor's bounds."""
        scalars, vectors = state._sgpr_mv, state._vgpr_mv
        first, width = self.descriptor, state.wave_size
        base = (scalars[first] | scalars[first + 1] << 32) & (1 << 48) - 1
        size = scalars[first + 2]
        base += (scalars[self.extra] if self.extra < CONSTANTS
                 else self.extra - CONSTANTS)
        result = []
        for lane in range(width):
            if lanes >> lane & 1:
                offset = self.offset
                if self.register is not None:
                    offset += vectors[self.register * width + lane]
                    offset &= 0xFFFFFFFF
                if offset < size:
                    result.append((lane, base + offset))
        return result


def teach(emulator):
    """Patches the module `emulator`."""
    machine, execution_mask = emulator.Emu, emulator.E.EXEC_LO.offset
    original_addresses = machine.addrs

    def make(_launch, _pc, entry):
        function, operands, _, scope, instruction, name = entry
        if isinstance(instruction, emulator.irc.MUBUF) and name.startswith(
                ("BUFFER_LOAD", "BUFFER_STORE")):
            return function, operands, 1, scope, Access(instruction), name
        return None

    def addresses(self, wave, instruction):
        if not isinstance(instruction, Access):
            return original_addresses(self, wave, instruction)
        scalars = wave.st._sgpr_mv
        lanes = scalars[execution_mask]
        if wave.st.wave_size == 64:
            lanes |= scalars[execution_mask + 1] << 32
        return instruction.addresses(wave.st, lanes)

    instructions.replace(emulator, make)
    machine.addrs = addresses
