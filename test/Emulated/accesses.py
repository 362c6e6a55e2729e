# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores as specified by the ISA, where the emulator deviates.

It rounds the address of an access of 16 bits or more down to the next dword, or
loses the bytes that are in the next one. AMD's Linux driver lets all addresses
be used (SH_MEM_CONFIG.alignment_mode = unaligned), and LLVM relies on it
(`unaligned-access-mode`): it merges accesses of neighbouring bytes.

A load of 8 or 16 bits from LDS into one half of a register (D16) keeps the other
half. The emulator writes the whole register.
"""
import ctypes
import re
import types

import instructions

WORD = ctypes.c_uint32
REGISTERS, FIRST_REGISTER, FIRST_SPECIAL = 256, 256, 124
# Bytes in memory, whether the sign is extended.
ELEMENTS = {"U8": (1, False), "I8": (1, True),
            "USHORT": (2, False), "SSHORT": (2, True), "SHORT": (2, False),
            "U16": (2, False), "I16": (2, True), "B16": (2, False),
            "DWORD": (4, False), "DWORDX2": (8, False), "DWORDX3": (12, False),
            "DWORDX4": (16, False), "B32": (4, False), "B64": (8, False),
            "B96": (12, False), "B128": (16, False)}
# D16 is before the element on some chips and after it on others. Accesses of
# pairs of addresses (DS_READ2_B32) are always aligned.
NAME = re.compile(r"(GLOBAL|FLAT|DS)_(LOAD|READ|STORE|WRITE)_(?:(D16(?:_HI)?)_)?"
                  r"([A-Z]+\d*(?:X[234])?)(?:_(D16(?:_HI)?))?")


class Form:
    """What an instruction's name says."""

    def __init__(self, memory, access, half, element, half_after):
        self.is_local, self.is_store = memory == "DS", access in (
            "STORE", "WRITE")
        self.size, self.is_signed = ELEMENTS[element]
        self.half = half or half_after
        self.is_half_from_lds = bool(
            self.half and self.is_local and not self.is_store)


def form_of(name):
    """None for an instruction that the emulator always executes well."""
    match = NAME.fullmatch(name)
    form = Form(*match.groups()) if match and match[4] in ELEMENTS else None
    return form if form and (form.size > 1 or form.is_half_from_lds) else None


def field(instruction, *names):
    return next(value for value in (getattr(instruction, name, None)
                                    for name in names) if value is not None)


class Access:
    """One instruction, with the signature of a compiled one."""

    def __init__(self, emulator, original_addresses, launch, entry, form):
        self.compiled, self.parameters = entry[:2]
        instruction = self.instruction = entry[4]
        self.form, self.numpy = form, emulator.np
        self.size, self.lanes = instruction.size(), launch.wave_size
        self.program_counter = emulator.E.PC_LO_IDX
        self.exec_low = emulator.E.EXEC_LO.offset
        self.num_scalars = emulator.E.SGPR_COUNT
        self.original_addresses = original_addresses
        self.file = 5 if int(getattr(instruction, "acc", 0) or 0) else 1
        # The names of fields differ between kinds of memory and chips.
        self.address = self.register("addr", "vaddr")
        self.register_of_data = (self.register("data0", "data", "vsrc")
                                 if form.is_store else self.register("vdst"))
        self.offset = (int(instruction.offset0) | int(instruction.offset1) << 8
                       if form.is_local else 0)

    def register(self, *names):
        return field(self.instruction, *names).offset - FIRST_REGISTER

    def __call__(self, *arguments):
        scalars = (WORD * self.num_scalars).from_address(arguments[0].value)
        vectors = (WORD * (self.lanes * REGISTERS)).from_address(
            arguments[1].value)
        if not self.form.is_half_from_lds and self.is_aligned(
                scalars, vectors):
            self.compiled(*[arguments[number] for number in self.parameters])
            return
        data = (WORD * (self.lanes * REGISTERS)).from_address(
            arguments[self.file].value)
        # All addresses first: a load may overwrite their registers.
        targets = self.targets(scalars, vectors)
        move = self.store if self.form.is_store else self.load
        distance = arguments[3 if self.form.is_local else 2].value
        for lane, address in targets:
            move(address + distance, data, lane)
        pc = self.program_counter
        after = (scalars[pc] | scalars[pc + 1] << 32) + self.size
        scalars[pc], scalars[pc + 1] = after & 0xFFFFFFFF, after >> 32

    def active(self, scalars):
        low = scalars[self.exec_low]
        return (low | scalars[self.exec_low + 1] << 32 if self.lanes == 64
                else low)

    def is_aligned(self, scalars, vectors):
        np, mask = self.numpy, min(self.form.size, 4) - 1
        constant, first = self.offset, self.address * self.lanes
        if not self.form.is_local:
            constant = int(field(self.instruction, "offset", "ioffset"))
            base = getattr(self.instruction, "saddr", None)
            if base is not None and base.offset < FIRST_SPECIAL:
                constant += scalars[base.offset]
        low = np.frombuffer(vectors, np.uint32)[first:first + self.lanes]
        if not ((low + np.uint32(constant & mask)) & np.uint32(mask)).any():
            return True
        return not any(address & mask  # the idle lanes' may be anything
                       for _, address in self.targets(scalars, vectors))

    def targets(self, scalars, vectors):
        """(lane, address) of the active lanes."""
        if not self.form.is_local:
            state = types.SimpleNamespace(_sgpr_mv=scalars, _vgpr_mv=vectors,
                                          wave_size=self.lanes)
            return self.original_addresses(
                None, types.SimpleNamespace(st=state), self.instruction)
        active = self.active(scalars)
        return [(lane, (vectors[self.address * self.lanes + lane] + self.offset)
                 & 0xFFFFFFFF)
                for lane in range(self.lanes) if active >> lane & 1]

    def load(self, address, data, lane):
        form, index = self.form, self.register_of_data * self.lanes + lane
        if form.size > 2:
            words = (WORD * (form.size // 4)).from_buffer_copy(
                ctypes.string_at(address, form.size))
            for n, word in enumerate(words):
                data[index + n * self.lanes] = word
            return
        value = int.from_bytes(ctypes.string_at(address, form.size), "little",
                               signed=form.is_signed) & 0xFFFFFFFF
        if form.half == "D16":
            value = data[index] & 0xFFFF0000 | value & 0xFFFF
        elif form.half == "D16_HI":
            value = data[index] & 0xFFFF | (value & 0xFFFF) << 16
        data[index] = value

    def store(self, address, data, lane):
        form, index = self.form, self.register_of_data * self.lanes + lane
        words = [data[index + n * self.lanes]
                 for n in range(-(-form.size // 4))]
        if form.half == "D16_HI":
            words[0] >>= 16
        ctypes.memmove(address, (WORD * len(words))(*words), form.size)


def teach(emulator):
    """Patches the module `emulator`."""
    original_addresses = emulator.Emu.addrs

    def make(launch, _, entry):
        form = form_of(entry[5]) if entry[0] else None
        return form and (
            Access(emulator, original_addresses, launch, entry, form),
            tuple(range(6)), *entry[2:])

    instructions.replace(emulator, make)
