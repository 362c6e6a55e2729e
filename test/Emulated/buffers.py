# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffer loads and stores as the emulator treats all others.

It executes them on memory itself: past the caches of weak memory, and with no
look at what is allocated. What is done here makes them global accesses to it, at
the addresses that their descriptors say.
"""
CONSTANTS = 128  # operands from here on are no registers but small numbers


def teach(emulator):
    """Does so in the module `emulator`."""
    machine, inner = emulator.Emu, emulator.E
    original_fetch, original_addresses = machine.fetch, machine.addrs

    def is_buffer(instruction):
        return isinstance(instruction, emulator.irc.MUBUF)

    def fetch(self, launch, pc):
        is_known = pc in self.prog
        entry = original_fetch(self, launch, pc)
        if not is_known and is_buffer(entry[4]) and entry[5].startswith(
                ("BUFFER_LOAD", "BUFFER_STORE")):
            function, operands, _, scope, instruction, name = entry
            entry = (function, operands, 1, scope, instruction, name)
            self.prog[pc] = entry
        return entry

    def addresses(self, wave, instruction):
        """(lane, address) of all lanes that the descriptor lets through."""
        if not is_buffer(instruction):
            return original_addresses(self, wave, instruction)
        assert not int(instruction.idxen), "no structures in buffers"
        state = wave.st
        scalars, vectors = state._sgpr_mv, state._vgpr_mv
        width = state.wave_size
        first = instruction.srsrc.offset
        base = (scalars[first] | scalars[first + 1] << 32) & (1 << 48) - 1
        size, extra = scalars[first + 2], instruction.soffset.offset
        extra = scalars[extra] if extra < CONSTANTS else extra - CONSTANTS
        lanes = scalars[inner.EXEC_LO.offset]
        if width == 64:
            lanes |= scalars[inner.EXEC_LO.offset + 1] << 32
        register = instruction.vaddr.offset - 256
        result = []
        for lane in range(width):
            if not lanes >> lane & 1:
                continue
            offset = int(instruction.offset)
            if int(instruction.offen):
                offset += vectors[register * width + lane]
            if offset & 0xFFFFFFFF < size:
                result.append((lane, base + extra + (offset & 0xFFFFFFFF)))
        return result

    machine.fetch, machine.addrs = fetch, addresses
