# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replacement of single instructions of the emulator."""


def replace(emulator, make):
    """Lets `make(launch, pc, entry)` replace each instruction of the module
    `emulator` when it is fetched for the first time.

    An entry is (function, numbers of its arguments, memory access, scope,
    instruction, name); None keeps it. Later replacements get the results of
    earlier ones.
    """
    machine = emulator.Emu
    original = machine.fetch

    def fetch(self, launch, pc):
        is_known = pc in self.prog
        entry = original(self, launch, pc)
        if not is_known:
            made = make(launch, pc, entry)
            if made:
                self.prog[pc] = entry = made
        return entry

    machine.fetch = fetch
