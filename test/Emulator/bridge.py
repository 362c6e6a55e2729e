# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iris' emulator for the scripts of ../Emulated, in place of the one that AMDEMU
names: the same classes, but for the state of waves.

    bridge.py LIBRARY SCRIPT [ARGUMENT...]

runs a script of ../Emulated (collectives, fused, matmul, arithmetic, emulate,
...) with it. LIBRARY is IrisEmulatorBridge.so of the build. Memory is coherent;
EMULATOR_SCHEDULE is random (default), round-robin, ahead or behind.
"""
import ctypes
import os
import pathlib
import struct
import sys

EMULATED = pathlib.Path(__file__).parents[1] / "Emulated"
SCHEDULES = ["random", "round-robin", "ahead", "behind"]
GUARD = 256  # bytes after each allocation that no kernel may access


def load_library(path):
    library = ctypes.CDLL(path)
    library.emulatorCreate.restype = ctypes.c_void_p
    library.emulatorError.restype = ctypes.c_char_p
    library.emulatorChip.restype = ctypes.c_char_p
    library.emulatorInstructions.restype = ctypes.c_uint64
    return library


class Bridge:
    """The C functions, on one object."""

    def __init__(self, library):
        self._library = library
        self._handle = ctypes.c_void_p(library.emulatorCreate())

    def __getattr__(self, name):
        function = getattr(self._library, "emulator" + name)

        def call(*arguments):
            result = function(self._handle, *arguments)
            if result == -1:
                raise RuntimeError(
                    self._library.emulatorError(self._handle).decode())
            return result
        return call


class Memory:
    """An arena. `real` has its bytes, `allocs` what kernels may access."""

    def __init__(self, size=1 << 22, n_views=0):
        import numpy as np
        self.size, self.n_views = (size + 4095) & ~4095, n_views
        self._storage = np.zeros(self.size + 8192, np.uint8)
        start = self._storage.ctypes.data
        self.base = (start + 4095) & ~4095
        offset = self.base - start
        self.real = self._storage[offset:offset + self.size]
        self.views, self.snap = [], []
        self.top, self.allocs = self.base, []

    def alloc(self, nbytes, align=256):
        address = (self.top + align - 1) // align * align
        self.top = address + nbytes + GUARD
        if self.top > self.base + self.size:
            raise MemoryError("arena too small")
        self.allocs.append((address, address + nbytes))
        return address

    def put(self, array):
        import numpy as np
        data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        address = self.alloc(max(data.nbytes, 4))
        start = address - self.base
        self.real[start:start + data.nbytes] = data
        return address

    def get(self, address, dtype, count):
        import numpy as np
        start = address - self.base
        size = np.dtype(dtype).itemsize * count
        return self.real[start:start + size].copy().view(dtype)


class CodeObject:
    def __init__(self, path):
        self.bridge = Bridge(LIBRARY)
        data = pathlib.Path(path).read_bytes()
        self.number = self.bridge.Load(data, ctypes.c_uint64(len(data)),
                                       os.fsencode(os.path.basename(path)))
        self.arch = self.bridge.Chip(self.number).decode()

    @property
    def kernels(self):
        return self

    def __getitem__(self, kernel):
        return {".max_flat_workgroup_size":
                self.bridge.MaxThreads(self.number, kernel.encode())}


class Launch:
    def __init__(self, co, name, grid, block, args, mem, device=0, dyn_lds=0):
        assert not dyn_lds
        self.co, self.name, self.grid, self.block = co, name, grid, block
        self.args, self.mem, self.device = args, mem, device

    def submit(self):
        def word(value):
            if isinstance(value, float):
                return struct.unpack("<Q", struct.pack("<f", value) + b"\0" * 4)[0]
            return int(value) & (1 << 64) - 1

        values = (ctypes.c_uint64 * len(self.args))(*map(word, self.args))
        three = ctypes.c_uint32 * 3
        return self.co.bridge.Launch(
            self.co.number, self.name.encode(), self.device, three(*self.grid),
            three(*self.block), values, len(self.args))


class Emu:
    """A run of launches, all of one code object."""

    def __init__(self, mem, seed=0, quantum=None, max_resident=None, weak=None,
                 check=True, budget=50_000_000, trace=None):
        if weak:
            raise RuntimeError("the emulator's memory is coherent")
        self.mem, self.seed, self.budget = mem, seed, budget
        self.bridge, self.shown = None, []

    def start(self, code):
        self.bridge = code.bridge
        schedule = SCHEDULES.index(os.environ.get("EMULATOR_SCHEDULE", "random"))
        self.bridge.Start(schedule, ctypes.c_uint64(self.seed),
                          ctypes.c_uint64(self.budget))

    def show_memory(self):
        """Registers what is allocated now."""
        self.hide_memory()
        for number, (begin, end) in enumerate(self.mem.allocs):
            self.bridge.AddMemory(ctypes.c_void_p(begin),
                                  ctypes.c_uint64(end - begin),
                                  f"allocation {number}".encode())
        self.shown = [begin for begin, _ in self.mem.allocs]

    def hide_memory(self):
        for begin in self.shown:
            self.bridge.RemoveMemory(ctypes.c_void_p(begin))
        self.shown = []

    def run(self, launches):
        launches = launches if isinstance(launches, list) else [launches]
        self.start(launches[0].co)
        self.show_memory()
        try:
            for number, launch in enumerate(launches):
                launch.device = number
                launch.submit()
            self.bridge.Advance(ctypes.c_uint64((1 << 64) - 1))
        finally:
            self.hide_memory()
        return self.bridge.Instructions()


class Streams:
    """Queues of launches, and of functions that run between them."""

    STEP = 2000  # instructions until the queues are looked at again

    def __init__(self, emulation, queues):
        self.emulation = emulation
        self.queues = [list(queue) for queue in queues]

    def run(self):
        emulation = self.emulation
        first = next(step for queue in self.queues for step in queue
                     if isinstance(step, Launch))
        emulation.start(first.co)
        emulation.show_memory()
        bridge, running, idle = emulation.bridge, {}, 0
        try:
            while any(self.queues) or running:
                progress = False
                for number, queue in enumerate(self.queues):
                    if number in running:
                        if not bridge.IsDone(running[number]):
                            continue
                        del running[number]
                        progress = True
                    while queue and number not in running:
                        step = queue[0]
                        if isinstance(step, Launch):
                            running[number] = step.submit()
                        elif step() is False:
                            break
                        queue.pop(0)
                        progress = True
                if not bridge.IsIdle():
                    bridge.Advance(ctypes.c_uint64(self.STEP))
                    idle = 0
                elif not progress:
                    idle += 1
                    if idle > 3:
                        raise RuntimeError("no queue can continue")
        finally:
            emulation.hide_memory()
        return bridge.Instructions()


def main():
    global LIBRARY
    path, script = sys.argv[1:3]
    try:
        import numpy  # noqa: F401
    except ImportError:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    LIBRARY = load_library(path)
    sys.path.insert(0, str(EMULATED))
    sys.argv = [script, *sys.argv[3:]]
    import streams
    streams.Streams = Streams
    import emulate
    this = sys.modules["__main__"]
    emulate.load_emulator = lambda: this
    module = emulate if script == "emulate" else __import__(script)
    # What the other emulator has to be taught.
    if hasattr(module, "teach_nop"):
        module.teach_nop = lambda emulator: None
    sys.exit(module.main())


if __name__ == "__main__":
    main()
