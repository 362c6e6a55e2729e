# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""64-bit atomics as specified by the ISA, where the emulator deviates.

Of the four registers of a compare-and-swap (the new value, then the
comparison value), it reads one. Of the result of an f64 addition, it writes
the lower half.
"""
import ctypes
import struct
import types

import instructions

WORD = ctypes.c_uint32


def as_f64(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def compare_and_swap(old, data, compared):
    return data if old == compared() else old


def add_f64(old, data, _):
    total = as_f64(old) + as_f64(data)
    return struct.unpack("<Q", struct.pack("<d", total))[0]


KINDS = {"ATOMIC_CMPSWAP_X2": compare_and_swap,
         "ATOMIC_CMPSWAP_B64": compare_and_swap, "ATOMIC_ADD_F64": add_f64}


class Atomic:
    """One instruction, with the signature of a compiled one."""

    def __init__(self, emulator, original_addresses, launch, instruction,
                 combine):
        self.combine = combine
        self.size, self.width = instruction.size(), launch.wave_size
        self.addresses = lambda state: original_addresses(
            None, types.SimpleNamespace(st=state), instruction)
        data = getattr(instruction, "data", None) or instruction.vsrc
        self.data, self.result = data.offset - 256, instruction.vdst.offset - 256
        self.returns = emulator.E._iattr(instruction, "glc")
        self.pc = emulator.E.PC_LO_IDX
        self.num_scalars = emulator.E.SGPR_COUNT
        assert not int(getattr(instruction, "acc", 0) or 0), "no accumulators"

    def __call__(self, scalars, vectors, distance):
        """`distance`: from addresses to the wave's view of memory."""
        scalars = (WORD * self.num_scalars).from_address(scalars.value)
        vectors = (WORD * (256 * self.width)).from_address(vectors.value)
        state = types.SimpleNamespace(_sgpr_mv=scalars, _vgpr_mv=vectors,
                                      wave_size=self.width)

        def register(number, lane):
            return number * self.width + lane

        def pair(number, lane):
            return (vectors[register(number, lane)]
                    | vectors[register(number + 1, lane)] << 32)

        for lane, address in self.addresses(state):
            memory = ctypes.c_uint64.from_address(address + distance.value)
            old = memory.value
            memory.value = self.combine(old, pair(self.data, lane),
                                        lambda: pair(self.data + 2, lane))
            if self.returns:
                vectors[register(self.result, lane)] = old & 0xFFFFFFFF
                vectors[register(self.result + 1, lane)] = old >> 32
        pc = (scalars[self.pc] | scalars[self.pc + 1] << 32) + self.size
        scalars[self.pc], scalars[self.pc + 1] = pc & 0xFFFFFFFF, pc >> 32


def teach(emulator):
    """Patches the module `emulator`."""
    original_addresses = emulator.Emu.addrs

    def make(launch, _, entry):
        kind = KINDS.get(entry[5].split("_", 1)[-1])
        return kind and (
            Atomic(emulator, original_addresses, launch, entry[4], kind),
            (0, 1, 2), *entry[2:])

    instructions.replace(emulator, make)
