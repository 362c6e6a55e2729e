# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounded waits on emulated AMD devices: for tests of waits that time out."""
import sys

from emulate import CONTROL_BYTES, Image, World, load_emulator

HANG = 128  # offset of the record in IrisRtControl
READY, ABORT_HANG = 2, 1


class BoundedWorld(World):
    def context(self, rank):
        fields = super().context(rank)
        fields[7] = 2000  # waitLimit, in instructions
        return fields


def start_clock(emulator):
    """The emulator keeps the real-time clock, a spare register of each wave,
    constant: this makes each instruction advance it."""
    step = emulator.Emu.step
    now = [0]

    def advance(self, wave):
        now[0] += 1
        wave.st._write_sgpr(emulator.E.SGPR_COUNT - 16, now[0])
        return step(self, wave)

    emulator.Emu.step = advance


def check_all(run, missing, seeds):
    """Calls run(image, seed, memory, missing) for every value of `missing`;
    run returns the problem, if any. The program's argument names the code
    object. Returns the exit status."""
    emulator = load_emulator()
    start_clock(emulator)
    image = Image(emulator, sys.argv[1])
    assert CONTROL_BYTES == 512
    failures = runs = 0
    for seed in seeds:
        for weak in (None, "device"):
            for what in missing:
                error = run(image, seed, weak, what)
                runs += 1
                if error:
                    failures += 1
                    print(f"seed {seed}, {weak or 'coherent'} memory, without "
                          f"{what}: {error}")
    print(f"{runs} runs, {failures} failures")
    return failures != 0
