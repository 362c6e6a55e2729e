# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lib/Emulator for the scripts of this folder: devices, memory, launches, and
queues of them. See docs/internals/emulator.md for what it models.

It is that of the build whose iris-emulate is first in PATH.
"""
import ctypes
import os
import pathlib
import random
import struct
import sys

try:
    import numpy as np
except ImportError:  # lit's interpreter may not have it
    system_python = "/usr/bin/python3"
    if os.path.realpath(sys.executable) == os.path.realpath(system_python):
        sys.exit("machine.py needs NumPy (Debian: python3-numpy)")
    os.execv(system_python, [system_python] + sys.argv)

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Emulator"))
from bridge import Bridge, load_library  # noqa: E402

# As in Emulator.h.
SCHEDULES = ["random", "round-robin", "ahead", "behind", "first", "last",
             "leader-last", "leader-first", "shuffled", "starved", "bursts",
             "crossed"]
CACHES = [None, "device", "wg", "wave", "cu"]
HOST, END = 2**32 - 2, 2**32 - 1  # for positions: see Emu.orders
GUARD = 256  # bytes after each allocation that no kernel may access


class Memory:
    """An arena. `real` has its bytes, `allocs` what kernels may access."""

    def __init__(self, size=1 << 22):
        self.size = (size + 4095) & ~4095
        self._storage = np.zeros(self.size + 8192, np.uint8)
        start = self._storage.ctypes.data
        self.base = (start + 4095) & ~4095
        offset = self.base - start
        self.real = self._storage[offset:offset + self.size]
        self.top, self.allocs = self.base, []
        self.bridge = None  # of what runs
        # Whether accesses of the host are checked, if the order is: those of
        # copy engines, which kernels are synchronized with, are none.
        self.checks_host = False
        self.host = None  # the device whose host accesses memory

    def check_host(self, address, nbytes, is_store):
        if self.bridge and self.checks_host and self.host is not None:
            self.bridge.CheckHostAccess(self.host, ctypes.c_void_p(address),
                                        ctypes.c_uint64(nbytes), is_store)

    def alloc(self, nbytes, align=256):
        address = (self.top + align - 1) // align * align
        self.top = address + nbytes + GUARD
        if self.top > self.base + self.size:
            raise MemoryError("arena too small")
        self.allocs.append((address, address + nbytes))
        return address

    def put(self, array):
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        address = self.alloc(max(data.nbytes, 4))
        self.write(address, data)
        return address

    def write(self, address, data):
        """Writes bytes, which caches do not see at once."""
        self.check_host(address, data.nbytes, True)
        if self.bridge:
            self.bridge.WillChange(ctypes.c_void_p(address),
                                   ctypes.c_uint64(data.nbytes))
        start = address - self.base
        self.real[start:start + data.nbytes] = data

    def get(self, address, dtype, count):
        start = address - self.base
        size = np.dtype(dtype).itemsize * count
        self.check_host(address, size, False)
        return self.real[start:start + size].copy().view(dtype)


class CodeObject:
    def __init__(self, path):
        self.bridge = Bridge(load_library())
        data = pathlib.Path(path).read_bytes()
        self.number = self.bridge.Load(data, ctypes.c_uint64(len(data)),
                                       os.fsencode(os.path.basename(path)))
        self.arch = self.bridge.Chip(self.number).decode()

    def threads(self, kernel):
        """The most threads of a workgroup."""
        return self.bridge.Property(self.number, kernel.encode(), 0)

    def argument_count(self, kernel):
        return self.bridge.Property(self.number, kernel.encode(), 1)

    def vector_count(self, kernel):
        """Vector registers of a wave."""
        return self.bridge.Property(self.number, kernel.encode(), 2)

    def scratch_bytes(self, kernel):
        """Of each thread."""
        return self.bridge.Property(self.number, kernel.encode(), 3)

    def remove(self, positions):
        """Instructions at these positions, in words, do nothing in later runs."""
        words = (ctypes.c_uint32 * len(positions))(*positions)
        self.bridge.Remove(words, len(positions))

    def run(self, kernel, memory, arguments, budget=50_000_000):
        """Runs one workgroup."""
        launch = Launch(self, kernel, (1, 1, 1), (self.threads(kernel), 1, 1),
                        arguments, memory)
        Emu(memory, seed=1, budget=budget).run([launch])


class Launch:
    def __init__(self, co, name, grid, block, args, mem, device=0):
        self.co, self.name, self.grid, self.block = co, name, grid, block
        self.args, self.mem, self.device = args, mem, device

    def submit(self, queue):
        def word(value):
            if isinstance(value, float):
                return struct.unpack("<Q", struct.pack("<f", value) + b"\0" * 4)[0]
            return int(value) & (1 << 64) - 1

        values = (ctypes.c_uint64 * len(self.args))(*map(word, self.args))
        three = ctypes.c_uint32 * 3
        return self.co.bridge.Launch(
            self.co.number, self.name.encode(), queue, self.device,
            three(*self.grid), three(*self.block), values, len(self.args))


class Emu:
    """Runs of launches, all of one code object.

    `weak` is the caches that are modelled: None, or those of a device, of a
    workgroup (wg), of a wave or of a compute unit (cu). With `checks_order`,
    accesses that nothing orders are errors; `explains_order` keeps what orders
    the others (`orders`). With `check`, kernels may only access what is
    allocated; without, all of the arena."""

    def __init__(self, mem, seed=0, weak=None, check=True, budget=50_000_000,
                 schedule="random", checks_order=False, explains_order=False):
        self.mem, self.seed, self.weak = mem, seed, weak
        self.check, self.budget, self.schedule = check, budget, schedule
        self.checks_order = checks_order
        self.explains_order = explains_order
        self.bridge, self.shown = None, []

    def start(self, code):
        self.bridge = code.bridge
        self.bridge.CheckOrder(self.checks_order, self.explains_order)
        self.bridge.Start(SCHEDULES.index(self.schedule), CACHES.index(self.weak),
                          ctypes.c_uint64(self.seed), ctypes.c_uint64(self.budget))
        self.show_memory()
        self.mem.bridge = self.bridge

    def show_memory(self):
        """Registers what is allocated now."""
        allocated = self.mem.allocs if self.check else [
            (self.mem.base, self.mem.base + self.mem.size)]
        for number, (begin, end) in enumerate(allocated):
            self.bridge.AddMemory(ctypes.c_void_p(begin),
                                  ctypes.c_uint64(end - begin),
                                  f"allocation {number}".encode())
        self.shown = [begin for begin, _ in allocated]

    def hide_memory(self):
        for begin in self.shown:
            self.bridge.RemoveMemory(ctypes.c_void_p(begin))
        self.shown, self.mem.bridge = [], None

    def run(self, launches):
        """All launches at the same time; returns the number of instructions."""
        self.start(launches[0].co)
        try:
            for number, launch in enumerate(launches):
                launch.submit(number)
            self.bridge.Advance(ctypes.c_uint64((1 << 64) - 1))
        finally:
            self.hide_memory()
        return self.bridge.Instructions()

    def executions(self):
        """(position in words, how often waves executed it, assembly)."""
        for position, count, _, text in self.waits():
            yield position, count, text

    def waits(self):
        """The same, and before the assembly how many loads, stores, accesses of
        LDS and scalar loads completed at the instruction, which is a wait."""
        for line in self.bridge.Executions().decode().splitlines():
            position, count, completed, text = line.split(" ", 3)
            yield (int(position), int(count),
                   tuple(map(int, completed.split(","))), text)

    def orders(self):
        """(first access, second one, instructions that order them, how often they
        did), by position in words; HOST for accesses of hosts, and END for ends
        of launches."""
        for line in self.bridge.Orders().decode().splitlines():
            first, second, count, by = line.split(" ")
            yield int(first), int(second), frozenset(
                map(int, by.split(",") if by else ())), int(count)

    def barriers(self):
        """The positions of each barrier that was executed, of its instruction or
        instructions, and how often waves did."""
        result, signals = {}, ()
        for position, count, text in sorted(self.executions()):
            if text.startswith("s_barrier_signal"):
                signals = (position,)
            elif text.startswith("s_barrier"):
                result[(*signals, position)] = count
                signals = ()
        return result


class Streams:
    """Emulated devices that each run a queue of kernels at their own pace: a
    kernel starts when the previous one of its queue has ended, whatever other
    queues do. So one device may be a launch ahead of another, read what the
    other has not written yet, or write what it still reads. Only then are
    barriers at the ends of kernels necessary."""

    STEPS = (20, 100, 500, 2000)  # instructions until queues are looked at again
    MOST_IDLE = 10_000

    def __init__(self, emulation, queues):
        """`queues`: lists of launches, and of functions that run between them
        and change memory, like kernels that complete at once: the host of the
        queue's device waits for the launch before it. A function that returns
        False cannot run yet, and is retried. Queues without launches model copy
        engines."""
        self.emulation = emulation
        self.queues = [list(queue) for queue in queues]
        self.devices = [next((step.device for step in queue
                              if isinstance(step, Launch)), None)
                        for queue in queues]
        self.running, self.pauses = {}, [0] * len(queues)
        self.random = random.Random(emulation.seed)

    def advance(self, number):
        """Starts what is next in a queue; whether it did anything."""
        bridge, queue = self.emulation.bridge, self.queues[number]
        if number in self.running:
            if not bridge.IsDone(self.running[number]):
                return False
            del self.running[number]
            self.pauses[number] = self.random.choice(
                (0, 0, self.random.randrange(300)))
        if self.pauses[number]:
            self.pauses[number] -= 1
            return True
        progress = False
        while queue and number not in self.running:
            step = queue[0]
            if isinstance(step, Launch):
                self.running[number] = step.submit(number)
            elif self.call(number, step) is False:
                break
            queue.pop(0)
            progress = True
        return progress

    def call(self, number, step):
        memory = self.emulation.mem
        memory.host = self.devices[number]
        try:
            return step()
        finally:
            memory.host = None

    def run(self):
        """Returns the number of instructions; raises the emulator's errors."""
        first = next(step for queue in self.queues for step in queue
                     if isinstance(step, Launch))
        self.emulation.start(first.co)
        bridge, idle = self.emulation.bridge, 0
        try:
            while any(self.queues) or self.running:
                progress = [self.advance(n) for n in range(len(self.queues))]
                if not bridge.IsIdle():
                    bridge.Advance(ctypes.c_uint64(
                        self.random.choice(self.STEPS)))
                    idle = 0
                else:
                    idle = 0 if any(progress) else idle + 1
                if idle > self.MOST_IDLE:
                    raise RuntimeError("no queue can continue")
        finally:
            self.emulation.hide_memory()
        return bridge.Instructions()
