#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulator of devices such as `emulated:gfx942`.

The runtime starts it (IRIS_EMULATOR) and sends requests through a socket,
which is standard input (runtime/src/backends/emulated/README.md). Every rank
has one. It executes the waves of all launches in a random order.

AMDEMU names the emulator's script, TINYGRAD_DIR the tinygrad checkout that it
uses. Further variables:

    IRIS_EMULATOR_SEED     seed of the order of waves; default 1
    IRIS_EMULATOR_MEMORY   coherent (default), device (one incoherent cache of
                           the device) or wg (one for each workgroup)
"""
import ctypes
import itertools
import os
import select
import socket
import struct
import sys
import time

import emulate  # first: it switches to an interpreter that has NumPy
from device_memory import DeviceMemory, Occupied
from source_lines import find_line

REQUEST, REPLY = struct.Struct("<IIQQ3I3III"), struct.Struct("<IIIIQ")
MAGIC, VERSION, MAX_MESSAGE = 0x4D455249, 1, 64 << 10
OK, OCCUPIED, FAILED = range(3)
(HELLO, RESERVE, RELEASE, MAP, UNMAP, LOAD, UNLOAD, FIND, LAUNCH,
 PING) = range(1, 11)

# How long the end of a kernel, which publishes its stores, may be late with
# weak memory: a peer that relies on it instead of a release reads old data.
DELAYS = (0, 0.02, 0.2)

# Workgroups of a launch that run at the same time; others wait.
MOST_GROUPS = 256
SYSTEM_SCOPE = 3
# The clock has 100 MHz, but runs slower than time, as the waves do: otherwise
# waits would time out for a peer that is only slow.
TICKS_PER_NS = 0.1 / 8
GET_REALTIME = 0x83  # message of s_sendmsg_rtn
CLOCK = 100  # a kind of instruction besides those of the emulator
MEMORY_KINDS = ("coherent", "device", "wg")


def make_machine(emulator):
    """The emulator's machine, on memory that other machines use as well."""

    class Machine(emulator.Emu):
        def __init__(self, memory, seed, weak):
            super().__init__(memory, seed=seed, weak=weak)
            self.locked, self.accesses = [], []
            self.coherent_scope = {"device": SYSTEM_SCOPE, "wg": 2,
                                   None: 4}[weak]

        def fetch(self, launch, pc):
            if pc not in self.prog and launch.arch != "cdna":
                self.learn_clock(launch, pc)
            return super().fetch(launch, pc)

        def learn_clock(self, launch, pc):
            """The emulator does not know this instruction."""
            try:
                instruction = emulator.E.decode_inst(
                    ctypes.string_at(pc, 16), launch.arch)
            except ValueError:
                return  # another one that only Emu.fetch knows
            name = emulator.E._op_name(instruction)
            if name.startswith("S_SENDMSG_RTN"):
                self.prog[pc] = None, None, CLOCK, 0, instruction, name

        def step(self, wave):
            pc = wave.st.pc
            if pc == emulator.E.ENDPGM_PC:
                return super().step(wave)
            entry = self.fetch(wave.L, pc)
            kind, scope, instruction, name = entry[2:6]
            if kind == CLOCK or name.startswith(("S_MEMTIME", "S_MEMREALTIME")):
                return self.read_clock(wave, instruction, name)
            if kind == 9 and wave.view is not None:
                return self.load_scalars(wave, entry)
            if kind not in (1, 2, 15):
                return super().step(wave)
            # check() finds the ranges and locks them.
            self.accesses = []
            try:
                if kind != 15 and wave.view is not None \
                        and scope >= self.coherent_scope:
                    return self.access_coherently(wave, entry)
                return super().step(wave)
            finally:
                while self.locked:
                    self.locked.pop().unlock()

        def read_clock(self, wave, instruction, name):
            ticks = int(time.monotonic_ns() * TICKS_PER_NS)
            register = getattr(instruction, "sdata", None)
            if "SENDMSG" in name:
                message = instruction.ssrc0.offset
                if message != GET_REALTIME:
                    raise RuntimeError(f"unsupported message {message} of "
                                       + name)
                register = instruction.sdst
            wave.st._write_sgpr(register.offset, ticks & 0xFFFFFFFF)
            wave.st._write_sgpr(register.offset + 1, ticks >> 32)
            wave.st.pc += instruction.size()
            return True

        def load_scalars(self, wave, entry):
            scalars, base = wave.st._sgpr_mv, entry[4].sbase.offset
            address = scalars[base] | scalars[base + 1] << 32
            if not self.mem.find(address, 4):  # constants in the code
                wave.args[2] = wave.vmem[0]
                entry[0](*[wave.args[g] for g in entry[1]])
                return True
            self.in_view(wave, entry[0], entry[1], wave.st.pc)
            return True

        def access_coherently(self, wave, entry):
            function, parameters, _, _, instruction, name = entry
            self.check(wave, instruction, name, wave.st.pc)
            wave.args[2] = wave.vmem[0]
            self.mem.reconcile(
                wave.view, self.accesses,
                lambda: function(*[wave.args[g] for g in parameters]))
            return True

        def check(self, wave, instruction, name, pc):
            entry = self.prog[pc]
            kind, scope = entry[2:4]
            size = next((self.SZ[word] for word in reversed(name.split("_"))
                         if word in self.SZ),
                        8 if name.endswith(("X2", "64")) else 4)
            code = wave.L.co.span
            ranges = set()
            for lane, address in self.addrs(wave, instruction):
                found = self.mem.find(address, size)
                if found is None:
                    if code[0] <= address < code[1] and "LOAD" in name:
                        continue
                    raise RuntimeError(
                        f"OUT OF BOUNDS {name} {size}B at {address:#x}: kernel "
                        f"{wave.L.name} program {wave.wg.id} wave {wave.wi} "
                        f"lane {lane} pc +{pc - wave.L.entry:#x}")
                if address % min(size, 4):
                    raise RuntimeError(f"misaligned {name} at {address:#x}")
                ranges.add(found)
                # Accesses to small elements may use the whole word.
                first = address & ~3
                last = min((address + size + 3) & ~3, found.end)
                self.accesses.append((found, first, last))
                if wave.view is not None and "LOAD" not in name and \
                        scope < self.coherent_scope:
                    self.mem.note_write(wave.view, found, first, last)
            if scope < SYSTEM_SCOPE and wave.L.arch == "cdna":
                return  # of this device alone
            for each in sorted(ranges, key=lambda each: each.inode):
                if each.inode:
                    each.lock()
                    self.locked.append(each)

    return Machine


class Group:
    """A workgroup, its relative speed, and the view of memory that only it
    has, if any."""

    def __init__(self, group, laziness, view):
        self.group, self.laziness, self.view = group, laziness, view

    def waves(self):
        return [wave for wave in self.group.waves if not wave.done]


class Dispatch:
    """A launch that has not ended. It begins after a pause, and ends with a
    delay."""

    def __init__(self, request, launch, pause, delay):
        self.request, self.launch, self.pause = request, launch, pause
        self.pending = list(itertools.product(*map(range, launch.grid)))
        self.pending.reverse()
        self.groups, self.views, self.has_begun = [], [], False
        self.delay, self.end = delay, None

    def has_ended(self):
        if not self.has_begun or self.pending or self.groups:
            return False
        if self.end is None:
            self.end = time.monotonic() + self.delay
        return time.monotonic() >= self.end


class Server:
    def __init__(self, connection):
        self.connection = connection
        self.memory = DeviceMemory()
        self.numbers = itertools.count(1)
        self.modules, self.kernels, self.dispatches = {}, {}, []
        self.free_views = []

    # Requests -----------------------------------------------------------------

    def serve(self):
        while True:
            timeout = 0 if self.dispatches else None
            if select.select([self.connection], [], [], timeout)[0]:
                data, files, _, _ = socket.recv_fds(self.connection,
                                                    MAX_MESSAGE, 1)
                if not data:
                    return
                self.answer(data, files)
            elif self.dispatches:
                self.turn()

    def reply(self, number, result=OK, value=0, text=""):
        data = text.encode("utf-8", "replace")[:MAX_MESSAGE // 2]
        self.connection.send(REPLY.pack(MAGIC, number, result, 0, value) + data)

    def answer(self, data, files):
        (kind, number, address, size, *shape, dynamic_lds,
         name_size) = REQUEST.unpack_from(data)
        body = data[REQUEST.size:]
        name, args = body[:name_size].decode(), body[name_size:]
        try:
            if kind == LAUNCH:
                self.begin(number, address, shape[:3], shape[3:], dynamic_lds,
                           args)
                return  # the reply follows when the launch has ended
            value = self.handle(kind, address, size, name,
                                files[0] if files else -1)
            self.reply(number, value=value or 0)
        except Occupied:
            self.reply(number, OCCUPIED)
        except (RuntimeError, AssertionError, KeyError, ValueError,
                struct.error) as error:
            self.reply(number, FAILED, text=str(error) or repr(error))

    def handle(self, kind, address, size, name, file):
        if kind == HELLO:
            return self.start(address, name)
        if kind == RESERVE:
            return self.memory.reserve(address, size)
        if kind == RELEASE:
            return self.memory.release(address, size)
        if kind == MAP:
            return self.memory.map(address, size, file) and 0
        if kind == UNMAP:
            return self.memory.unmap(address, size)
        if kind == LOAD:
            return self.load(file, size)
        if kind == UNLOAD:
            return self.unload(address)
        if kind == FIND:
            return self.find(address, name)
        if kind == PING:
            return 0
        raise RuntimeError(f"unknown request {kind}")

    def start(self, version, chip):
        if version != VERSION:
            raise RuntimeError(f"version {version} of the protocol; expected "
                               f"{VERSION}")
        memory = os.environ.get("IRIS_EMULATOR_MEMORY", "coherent")
        if memory not in MEMORY_KINDS:
            raise RuntimeError(f"IRIS_EMULATOR_MEMORY is '{memory}'; expected "
                               + ", ".join(MEMORY_KINDS))
        # Ranks run their waves in different orders.
        seed = (os.environ.get("IRIS_EMULATOR_SEED", "1") + ":"
                + os.environ.get("IRIS_RANK", "0"))
        self.emulator = emulate.load_emulator()
        if chip not in self.emulator.ARCH:
            raise RuntimeError(f"no chip '{chip}'; the emulator knows "
                               + ", ".join(sorted(self.emulator.ARCH)))
        self.chip, self.weak = chip, None if memory == "coherent" else memory
        self.machine = make_machine(self.emulator)(self.memory, seed, self.weak)
        self.rng = self.machine.rng
        if self.weak == "device":
            self.memory.add_view()
        return MOST_GROUPS

    def load(self, file, size):
        with open(file, "rb") as image:
            data = os.pread(image.fileno(), size, 0)
        code = self.emulator.CodeObject(data)
        code.image = data
        if code.arch != self.chip:
            raise RuntimeError(f"the code object is for {code.arch}; expected "
                               f"{self.chip}")
        number = next(self.numbers)
        self.modules[number] = code
        return number

    def unload(self, module):
        code = self.modules.pop(module)
        self.kernels = {number: kernel for number, kernel
                        in self.kernels.items() if kernel[0] is not code}
        decoded = self.machine.prog
        for pc in [pc for pc in decoded if code.span[0] <= pc < code.span[1]]:
            del decoded[pc]

    def find(self, module, symbol):
        code = self.modules[module]
        if symbol not in code.kernels:
            raise RuntimeError(f"the image for {self.chip} has no kernel "
                               f"'{symbol}'")
        number = next(self.numbers)
        self.kernels[number] = code, symbol
        return number

    # Launches -----------------------------------------------------------------

    def begin(self, number, kernel, grid, workgroup, dynamic_lds, block):
        code, symbol = self.kernels[kernel]
        arguments = []
        for each in code.kernels[symbol].get(".args", []):
            if not each[".value_kind"].startswith("hidden_"):
                end = each[".offset"] + each[".size"]
                if end > len(block):
                    raise RuntimeError(
                        f"{symbol}: the argument block has {len(block)} bytes; "
                        f"expected at least {end}")
                arguments.append(block[each[".offset"]:end])
        launch = self.emulator.Launch(code, symbol, grid, workgroup, arguments,
                                      self.memory, dyn_lds=dynamic_lds)
        pause = self.rng.choice((0, 0, self.rng.randrange(300)))
        delay = self.rng.choice(DELAYS) if self.weak else 0
        self.dispatches.append(Dispatch(number, launch, pause, delay))

    def fill(self, dispatch):
        """Starts workgroups while there is room."""
        if not dispatch.has_begun:
            if dispatch.pause:
                dispatch.pause -= 1
                return
            dispatch.has_begun = True
            if self.weak == "device":
                self.memory.invalidate(0)
        while dispatch.pending and len(dispatch.groups) < MOST_GROUPS:
            view = None
            if self.weak == "wg":
                view = self.free_views.pop() if self.free_views \
                    else self.memory.add_view()
                dispatch.views.append(view)
                self.memory.refresh(view)
                self.machine.nview = view  # the next workgroup takes it
            group = self.machine.start_wg(dispatch.launch,
                                          dispatch.pending.pop())
            dispatch.groups.append(
                Group(group, self.rng.choice((0, 0, 0.5, 0.9)), view))

    def end(self, dispatch, error=None):
        views = [0] if self.weak == "device" else dispatch.views
        for view in views:
            self.memory.writeback(view)
        self.free_views += dispatch.views
        self.memory.free(dispatch.launch.kernarg)
        self.memory.free(dispatch.launch.pkt)
        self.dispatches.remove(dispatch)
        if error is None:
            self.reply(dispatch.request)
        else:
            self.reply(dispatch.request, FAILED, text=error)

    def turn(self):
        """Every ready wave runs for a few instructions, in random order."""
        for dispatch in self.dispatches:
            self.fill(dispatch)
        ready = [(dispatch, group, wave) for dispatch in self.dispatches
                 for group in dispatch.groups for wave in group.waves()
                 if not wave.at_bar]
        self.rng.shuffle(ready)
        flushes = any(dispatch.launch.rsrc1 >> 16 & 3 == 0
                      for dispatch in self.dispatches)
        is_idle, failed = True, {}
        context = self.emulator.E._MXCSRContext() if flushes else None
        if context:
            context.__enter__()
        try:
            for dispatch, group, wave in ready:
                if dispatch in failed or self.rng.random() < group.laziness:
                    continue
                try:
                    is_idle = self.run(wave) and is_idle
                except Exception as error:  # out of bounds, trap, unknown
                    failed[dispatch] = self.describe(error, wave)
        finally:
            if context:
                context.__exit__()
        for dispatch in list(self.dispatches):
            self.release_barriers(dispatch)
            if dispatch in failed or dispatch.has_ended():
                self.end(dispatch, failed.get(dispatch))
        if is_idle:
            time.sleep(0.0001)  # for the ranks that the waves wait for

    @staticmethod
    def describe(error, wave):
        """The text of an error, with the line of the instruction if known."""
        code = wave.L.co
        line = find_line(code.image, wave.st.pc - code.span[0])
        return (str(error) or repr(error)) + (f" at {line}" if line else "")

    def run(self, wave):
        """Runs a wave for a quantum; True if it only waited."""
        for count in range(self.rng.randint(*self.machine.quantum)):
            pc = wave.st.pc
            if not self.machine.step(wave):
                entry = self.machine.prog.get(pc)
                return bool(entry) and entry[2] == 8  # s_sleep
        return False

    def release_barriers(self, dispatch):
        for group in dispatch.groups:
            waves = group.waves()
            if waves and all(wave.at_bar for wave in waves):
                for wave in waves:
                    wave.at_bar = False
        dispatch.groups = [group for group in dispatch.groups
                           if group.waves()]


def main():
    try:
        connection = socket.socket(fileno=os.dup(0))
        connection.getpeername()
    except OSError:
        sys.exit("server.py is started by the runtime: set IRIS_EMULATOR to "
                 "its path")
    Server(connection).serve()
    sys.stderr.flush()
    os._exit(0)  # waves may hold memory that is gone


if __name__ == "__main__":
    main()
