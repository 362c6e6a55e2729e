# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Placed litmus tests on emulated AMD devices, all of one process
(../Emulated/machine.py): every order of waves is repeatable, and instructions can
be removed."""
import collections
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Emulated"))
import machine  # noqa: E402; first: it switches to an interpreter with NumPy
import emulate  # noqa: E402
import numpy as np  # noqa: E402

from litmus_kernels import FLAG_WORDS  # noqa: E402
from litmus_text import DATA, FLAG  # noqa: E402

# The kinds of memory that the emulator has for a chip (docs/internals/emulator.md).
MEMORY = {"gfx942": ("coherent", "device", "wg", "cu"),
          "gfx950": ("coherent", "device", "wg", "cu"),
          "gfx90a": ("coherent", "cu"),
          "gfx1100": ("coherent", "wave"),
          "gfx1201": ("coherent", "device", "wave")}
SCHEDULES = machine.SCHEDULES
BUDGET = 5_000_000


class Run:
    """One launch of a placed test on all ranks."""

    def __init__(self, image, placed, shape, memory, schedule, seed):
        self.placed, self.shape = placed, shape
        words = shape.words(placed)
        weak = None if memory == "coherent" else memory
        self.world = emulate.World(image, placed.ranks, weak, seed,
                                   sum(4 * count + 512 for count in words))
        self.buffers = [self.world.alloc((count,), np.int32) for count in words]
        self.emulation = machine.Emu(self.world.memory, seed, weak,
                                     budget=BUDGET, schedule=schedule)

    def run(self):
        """Returns how many elements of all instances had each outcome."""
        world, programs = self.world, self.shape.programs(self.placed)
        self.emulation.run([
            world.launch(rank, self.placed.identifier, programs, *self.buffers)
            for rank in range(self.placed.ranks)])
        return self.outcomes()

    def outcomes(self):
        data, flags, _, _, results = self.buffers
        count, tile = self.shape.instances, self.shape.tile
        columns = []
        for number, access in enumerate(self.placed.test.results()):
            column = results.read(self.placed.rank_of[access.thread])
            columns.append(column[number * count * tile:][:count * tile])
        numbers = {DATA: 0, FLAG: 0}
        for location, kind in self.placed.test.locations().items():
            if location in self.placed.test.final:
                buffer, stride = (data, tile) if kind == DATA else (flags,
                                                                    FLAG_WORDS)
                words = buffer.read(self.placed.home[location])
                words = words[numbers[kind] * count * stride:][:count * stride]
                columns.append(words if kind == DATA
                               else np.repeat(words[::FLAG_WORDS], tile))
            numbers[kind] = numbers.get(kind, 0) + 1
        values, counts = np.unique(np.stack(columns, 1), axis=0,
                                   return_counts=True)
        return collections.Counter({
            tuple(map(int, value)): int(n) for value, n in zip(values, counts)})
