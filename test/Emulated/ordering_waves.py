# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The worst orders of waves that the hardware allows.

The emulator's own scheduler gives every wave some instructions in turn, so
that waves stay close together. Here one wave runs until it reaches a barrier,
polls or ends before another one runs: anything that it does not wait for has
not happened. The policy chooses the next wave.

`model_rdna` adds the behavior of global memory within a workgroup on gfx11
and gfx12, whose waves may be on two compute units: a store reaches memory
when its wave waits for it, and a load may return what its cache held before.
"""
import ctypes
import random

LINE = 64
BUFFER_GL0_INV = 0xE0AC  # the upper half of its first word

POLICIES = ("first", "last", "leader-last", "leader-first", "shuffled", "starved",
            "bursts", "crossed")


class Order:
    """Chooses the wave that runs next and for how many instructions."""

    FOREVER = 1 << 30

    def __init__(self, policy, seed):
        self.policy, self.random = policy, random.Random(seed)
        self.keys = {}

    def key(self, wave):
        """Waves with smaller keys go first."""
        number, group = wave.wi, wave.wg.id[0]
        device = wave.L.device
        random_key = self.keys.setdefault(id(wave), self.random.random())
        if self.policy == "first":
            return device, group, number
        if self.policy == "last":
            return -device, -group, -number
        if self.policy == "leader-last":
            return number == 0, device, group, number
        if self.policy == "leader-first":
            return number != 0, random_key
        if self.policy == "crossed":
            # The first rank's waves in one order, all other ranks' in the
            # reverse order.
            return (number if device % 2 == 0 else -number), device, group
        if self.policy == "starved":
            victim = self.keys.setdefault(("victim", device, group),
                                          self.random.randrange(8))
            count = len(wave.wg.waves)
            return number == victim % count, random_key
        return (random_key,)

    def choose(self, ready):
        if self.policy == "bursts":
            return self.random.choice(ready), self.random.choice(
                (1, 4, 16, 64, 256, 1024))
        return min(ready, key=self.key), self.FOREVER

    def released(self, group):
        """All waves of the group have reached the barrier."""
        if self.policy in ("shuffled", "leader-first"):
            for wave in group.waves:
                self.keys.pop(id(wave), None)


def run(emulation, launches, order, skipped=frozenset()):
    """Runs all launches at once; returns the number of instructions. Barriers
    at the addresses `skipped` do not wait."""
    groups = [emulation.start_wg(launch, (number, 0, 0))
              for launch in launches for number in range(launch.grid[0])]
    if emulation.weak:
        emulation.mem.sync_all()
    total, asleep = 0, set()
    while True:
        ready = []
        for group in groups:
            running = [wave for wave in group.waves if not wave.done]
            if running and all(wave.at_bar for wave in running):
                for wave in running:
                    wave.at_bar = False
                order.released(group)
            ready += [wave for wave in running if not wave.at_bar]
        if not ready:
            if any(not wave.done for group in groups for wave in group.waves):
                raise RuntimeError("deadlock: waves wait at barriers for waves "
                                   "that never arrive")
            break
        awake = [wave for wave in ready if id(wave) not in asleep]
        if not awake:
            asleep.clear()
            emulation.complete_stores(groups)
            awake = ready
        wave, burst = order.choose(awake)
        before = wave.n
        while burst and emulation.step(wave):
            burst -= 1
        if wave.at_bar and wave.stopped_at in skipped:
            wave.at_bar = False
        elif not wave.done and not wave.at_bar and burst:
            asleep.add(id(wave))  # it polls
        total += wave.n - before
        if total > emulation.budget:
            raise RuntimeError("no end in sight after %d instructions" % total)
    emulation.complete_stores(groups)
    if emulation.weak:
        for view in range(emulation.mem.n_views):
            emulation.mem.writeback(view)
    return total


# Machines ---------------------------------------------------------------------


class _Cache:
    """The global memory as seen by one wave of gfx11 or gfx12: the lines that
    it has read, and its stores in flight."""

    def __init__(self):
        self.lines, self.pending = set(), []

    def forget(self):
        self.lines.clear()


def machine(emulator):
    """A class like `Emu`, whose waves record where they stopped."""

    class Machine(emulator.Emu):
        """`model`: None, or "rdna" for the caches and stores of gfx11 and
        gfx12, with a view of memory for each wave."""

        def __init__(self, memory, model=None, **options):
            super().__init__(memory, check=False, **options)
            self.model, self.caches = model, []
            self.executed = {}

        def start_wg(self, launch, number):
            group = super().start_wg(launch, number)
            for position, wave in enumerate(group.waves):
                group.waves[position] = wave = _with_fields(wave)
                if self.model == "rdna":
                    view = len(self.caches)
                    wave.vmem = (wave.vmem[0], type(wave.vmem[1])(
                        self.mem.delta(view)))
                    wave.cache = _Cache()
                    wave.seen = self.mem.views[view]
                    self.caches.append(wave.cache)
            return group

        def complete_stores(self, groups):
            """Completes all stores."""
            if self.model == "rdna":
                for group in groups:
                    for wave in group.waves:
                        self.drain(wave, 0)

        def step(self, wave):
            pc = wave.st.pc
            if self.model == "rdna" and pc != emulator.E.ENDPGM_PC:
                entry = self.fetch(wave.L, pc)
                kind, name = entry[2], entry[5]
                if kind in (1, 2):
                    return self.access(wave, entry)
                if is_invalidation(pc, name):
                    wave.cache.forget()
                elif "VSCNT" in name or "STORECNT" in name:
                    self.drain(wave, int(entry[4].simm16))
                elif kind == 8 or name == "S_ENDPGM":
                    self.drain(wave, 0)
            going = super().step(wave)
            if wave.at_bar:
                wave.stopped_at = pc - wave.L.entry
                where = (wave.L.name, wave.stopped_at)
                self.executed[where] = self.executed.get(where, 0) + (
                    wave.wi == 0)
            return going

        # gfx11 and gfx12 ------------------------------------------------------

        def drain(self, wave, left):
            """Completes all stores but the last `left`."""
            base, real, seen = self.mem.base, self.mem.real, wave.seen
            while len(wave.cache.pending) > left:
                for first, size in wave.cache.pending.pop(0):
                    first -= base
                    real[first:first + size] = seen[first:first + size]

        def fill(self, wave, addresses, size):
            """Reads the lines that are not in the wave's cache."""
            base, cache = self.mem.base, wave.cache
            missing = {address // LINE for _, address in addresses}
            missing |= {(address + size - 1) // LINE for _, address in addresses}
            missing -= cache.lines
            if not missing:
                return
            own = [(first - base, size_, bytes(
                wave.seen[first - base:first - base + size_]))
                for store in cache.pending for first, size_ in store]
            for line in missing:
                first = max(line * LINE - base, 0)
                wave.seen[first:line * LINE - base + LINE] = \
                    self.mem.real[first:line * LINE - base + LINE]
            for first, size_, data in own:
                wave.seen[first:first + size_] = list(data)
            cache.lines |= missing

        def access(self, wave, entry):
            function, parameters, kind, scope, instruction, name = entry
            pc = wave.st.pc
            self.stats[name] = self.stats.get(name, 0) + 1
            wave.n += 1
            size = width(self.SZ, name)
            addresses = self.addrs(wave, instruction)
            lower = self.mem.base
            if addresses and not (lower <= addresses[0][1]
                                  < lower + self.mem.size):
                wave.args[2] = wave.vmem[0]  # constants next to the code
                function(*[wave.args[p] for p in parameters])
                return True
            is_store = "STORE" in name
            is_coherent = kind == 2 or scope or (
                not is_store and int(getattr(instruction, "glc", 0) or 0))
            assert not is_coherent or not any(
                a % min(size, 4) for _, a in addresses), "coherent and misaligned"
            if is_store:
                self.in_view(wave, function, parameters, pc)
                wave.cache.pending.append([(a, size) for _, a in addresses])
                return True
            if is_coherent:
                self.push(wave, addresses, size)
                wave.args[2] = wave.vmem[0]
                function(*[wave.args[p] for p in parameters])
                # Accesses that bypass the cache invalidate its lines.
                wave.cache.lines -= {a // LINE for _, a in addresses}
                return True
            self.fill(wave, addresses, size)
            self.in_view(wave, function, parameters, pc)
            return True

        def push(self, wave, addresses, size):
            """The wave's own stores to these addresses take precedence."""
            wanted = {a // LINE for _, a in addresses}
            last = 0
            for position, store in enumerate(wave.cache.pending):
                if any(a // LINE in wanted for a, _ in store):
                    last = position + 1
            self.drain(wave, len(wave.cache.pending) - last)

    return Machine


def is_invalidation(pc, name):
    """Invalidates the cache next to the wave; the emulator has no name for
    gfx11's instruction."""
    if name == "CACHE_OP":
        return ctypes.c_uint32.from_address(pc).value >> 16 == BUFFER_GL0_INV
    return name == "GLOBAL_INV"


def width(sizes, name):
    return next((sizes[part] for part in reversed(name.split("_"))
                 if part in sizes), 8 if name.endswith(("X2", "64")) else 4)


def _with_fields(wave):
    """The emulator's waves have no attributes for additional state."""
    class Wave(type(wave)):
        __slots__ = ("stopped_at", "cache", "seen")
    other = Wave()
    for name in type(wave).__slots__:
        setattr(other, name, getattr(wave, name))
    other.stopped_at = None
    return other
