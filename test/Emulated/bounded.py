# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounded waits on emulated AMD devices: for tests of waits that time out."""
import sys

import machine  # first: it switches to an interpreter that has NumPy
from emulate import CONTROL_BYTES, World

HANG = 128  # offset of the record in IrisRtControl
READY, ABORT_HANG = 2, 1


class BoundedWorld(World):
    def context(self, rank):
        fields = super().context(rank)
        fields[7] = 2000  # waitLimit, in instructions
        return fields


def check_all(run, missing, seeds):
    """Calls run(image, seed, memory, missing) for every value of `missing`;
    run returns the problem, if any. The program's argument names the code
    object. Returns the exit status."""
    image = machine.CodeObject(sys.argv[1])
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
