# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emulated devices that each run a queue of kernels at their own pace.

The emulator starts all launches together, with memory that is up to date
everywhere. Here every device has a stream: its next kernel starts when its
previous one has ended, independent of all other devices. So one device may be
a launch ahead of another, read what the other has not written yet, or write
what it still reads. Only then are barriers at the ends of kernels necessary.
"""
import collections


class _Group:
    """A workgroup, its relative speed, and the memory that it sees (None:
    all)."""

    def __init__(self, group, laziness, view):
        self.group, self.laziness, self.view = group, laziness, view

    def waves(self):
        return [wave for wave in self.group.waves if not wave.done]


class _Device:
    def __init__(self, steps):
        self.steps = collections.deque(steps)
        self.groups, self.pause = [], 0

    def is_done(self):
        return not self.steps and not self.groups


class Streams:
    """Runs queues on an `Emu`. With weak memory a kernel, or with `wg` each
    of its workgroups, starts with a snapshot of memory, and writes its stores
    back when the kernel ends."""

    # Iterations without an instruction: pauses are shorter.
    MOST_IDLE = 10_000

    def __init__(self, emulation, queues):
        """queues: for each device a list of launches, and of functions that
        run between them and change memory, like kernels that complete at
        once. A function that returns False cannot run yet, and is retried.
        Queues without launches model copy engines."""
        self.emulation, self.memory = emulation, emulation.mem
        self.rng = emulation.rng
        self.devices = [_Device(queue) for queue in queues]
        self.free = list(range(self.memory.n_views))

    def run(self):
        """Returns the number of instructions; raises the emulator's errors."""
        total, idle = 0, 0
        while True:
            for device in self.devices:
                self._advance(device)
            if all(device.is_done() for device in self.devices):
                return total
            count = self._turn()
            total += count
            idle = 0 if count else idle + 1
            if total > self.emulation.budget or idle > self.MOST_IDLE:
                raise RuntimeError("no end in sight: " + self._positions())

    def _advance(self, device):
        """Ends the kernel if all of its workgroups have ended, and starts the
        next one."""
        if any(group.waves() for group in device.groups):
            return
        for view in {group.view for group in device.groups} - {None}:
            self.memory.writeback(view)
            if self.emulation.weak == "wg":
                self.free.append(view)
        if device.groups:
            device.groups = []
            device.pause = self.rng.choice((0, 0, self.rng.randrange(300)))
        while device.steps and not device.pause:
            step = device.steps.popleft()
            if not callable(step):
                device.groups = self._begin(step)
                return
            if step() is False:
                device.steps.appendleft(step)
                return
        device.pause = max(device.pause - 1, 0)

    def _begin(self, launch):
        view = None
        if self.emulation.weak == "device":
            view = launch.device
            self._refresh(view)
        groups = []
        for number in range(launch.grid[0]):
            if self.emulation.weak == "wg":
                view = self.emulation.nview = self.free.pop()
                self._refresh(view)
            group = self.emulation.start_wg(launch, (number, 0, 0))
            laziness = self.rng.choice((0, 0, 0.5, 0.9))
            groups.append(_Group(group, laziness, view))
        return groups

    def _refresh(self, view):
        self.memory.views[view][:] = self.memory.real
        self.memory.snap[view][:] = self.memory.real

    def _turn(self):
        """Every ready wave runs for a few instructions, in random order."""
        groups = [group for device in self.devices for group in device.groups]
        ready = [(group, wave) for group in groups for wave in group.waves()
                 if not wave.at_bar]
        self.rng.shuffle(ready)
        total = 0
        for group, wave in ready:
            if self.rng.random() < group.laziness:
                continue
            for _ in range(self.rng.randint(*self.emulation.quantum)):
                total += 1
                if not self.emulation.step(wave):
                    break
        for group in groups:
            waves = group.waves()
            if waves and all(wave.at_bar for wave in waves):
                for wave in waves:
                    wave.at_bar = False
        return total

    def _positions(self):
        return ", ".join(
            f"{wave.L.name} device {wave.L.device} program "
            f"{group.group.id[0]} wave {wave.wi} pc "
            f"+{wave.st.pc - wave.L.entry:#x}"
            for device in self.devices for group in device.groups
            for wave in group.waves())[:600]
