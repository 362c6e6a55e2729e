#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the check of the order takes hosts to know: test/Emulator/hosts.test.

    hosts.py FILE

FILE has the kernel of Inputs/hosts.s. A host knows of kernels of its own device
that it waited for, and of others what those kernels knew.
"""
import ctypes
import sys

import machine
import numpy as np

NOTHING, PUBLISH, STORE, WAIT, LOAD = range(5)


class Devices:
    """Launches that run at the same time."""

    def __init__(self, code):
        self.code, self.memory = code, machine.Memory(1 << 16)
        self.data = self.memory.put(np.zeros(256, np.uint8))
        self.emulation = machine.Emu(self.memory, checks_order=True)
        self.emulation.start(code)
        self.memory.checks_host = True

    def launch(self, device, part, queue=None):
        return machine.Launch(
            self.code, "k", (1, 1, 1), (64, 1, 1), (self.data, part),
            self.memory, device).submit(device if queue is None else queue)

    def finish(self):
        self.emulation.bridge.Advance(ctypes.c_uint64((1 << 64) - 1))

    def wait(self, launch):
        """The host of its device waits for a launch."""
        assert self.emulation.bridge.IsDone(launch)

    def read(self, device):
        """As the host of a device."""
        self.memory.host = device
        self.memory.get(self.data, np.int32, 1)

    def write(self, device):
        self.memory.host = device
        self.memory.write(self.data, np.ones(4, np.uint8))


def read_after(devices, parts, reader):
    """Runs a kernel on each device, for which its host waits; then one reads."""
    launches = [devices.launch(n, part) for n, part in enumerate(parts)]
    devices.finish()
    for launch in launches:
        devices.wait(launch)
    devices.read(reader)


def read_early(devices):
    devices.launch(0, STORE)
    devices.finish()
    devices.read(0)


def load_after(devices, queue, waits, device=0):
    """A kernel of a queue loads what one of queue 0 stored."""
    first = devices.launch(0, STORE, 0)
    devices.finish()
    if waits:
        devices.wait(first)
    devices.launch(device, LOAD, queue)
    devices.finish()


def run_after(access, devices, part, host):
    """A host accesses memory; then a kernel runs on device 0."""
    access(host)
    devices.launch(0, part)
    devices.finish()


# What happens, and whether it is an error.
CASES = {
    "the host of the kernel's device":
        (lambda d: read_after(d, (STORE,), 0), False),
    "before the host waited": (read_early, True),
    "another device, whose kernel did not wait":
        (lambda d: read_after(d, (NOTHING, STORE), 0), True),
    "another device, whose kernel waited for the flag":
        (lambda d: read_after(d, (WAIT, PUBLISH), 0), False),
    "the host of a third device":
        (lambda d: read_after(d, (WAIT, PUBLISH, NOTHING), 2), True),
    "the next launch of the queue":
        (lambda d: load_after(d, 0, False), False),
    "another queue": (lambda d: load_after(d, 1, False), True),
    "another queue after the host waited":
        (lambda d: load_after(d, 1, True), False),
    "another device after its peer's host waited":
        (lambda d: load_after(d, 1, True, device=1), True),
    "a kernel stores what the host of its device read":
        (lambda d: run_after(d.read, d, STORE, 0), False),
    "a kernel stores what another device's host read":
        (lambda d: run_after(d.read, d, STORE, 1), True),
    "a kernel loads what another device's host read":
        (lambda d: run_after(d.read, d, LOAD, 1), False),
    "a kernel loads what another device's host wrote":
        (lambda d: run_after(d.write, d, LOAD, 1), True),
    "a kernel loads what the host of its device wrote":
        (lambda d: run_after(d.write, d, LOAD, 0), False),
}


def main():
    code, good = machine.CodeObject(sys.argv[1]), True
    for name, (run, fails) in CASES.items():
        devices, error = Devices(code), ""
        try:
            run(devices)
        except RuntimeError as exception:
            error = str(exception)
        finally:
            devices.emulation.hide_memory()
        if ("missing order" in error) != fails or (error and not fails):
            good = False
            print(f"{name}: expected {'an' if fails else 'no'} error, found: "
                  f"{error or 'none'}")
    return not good


if __name__ == "__main__":
    sys.exit(main())
