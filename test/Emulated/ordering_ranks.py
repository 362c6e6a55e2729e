# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Communication between ranks in generated kernels; see `ordering_kernels`.

Each communication site in a kernel has its own flag and two FIFO slots, and
counts the iterations of the surrounding loops. Ranks and programs reach it
equally often. A FIFO slot is rewritten two rounds later: by then its owner
has sent something after it read the FIFO slot, or a barrier has passed.
"""
import ordering_ops as ops
from ordering_statements import Tile

FLAG_STRIDE, SITES = 32, 8


class Exchanges:
    """Mixed into `Kernel`."""

    def round(self):
        """Index: the number of earlier executions of this site."""
        total = self.index(0)
        for iv, count in self.counts:
            scaled = self.define("o", "arith.muli %s, %s : index" % (
                total, self.index(count)),
                lambda env, t=total: env[t] * count)
            total = self.define("o", "arith.addi %s, %s : index" % (scaled, iv),
                                lambda env, s=scaled, iv=iv: env[s] + env[iv])
        return total

    def site(self):
        """Allocates a flag and two FIFO slots."""
        site = self.sites
        self.sites += 1
        flag = self.define(
            "o", "arith.addi %%flag0, %s : index" % self.index(site * FLAG_STRIDE),
            lambda env: env["%flag0"] + site * FLAG_STRIDE)
        return site, flag

    def epoch(self, total, factor, plus):
        """factor * round + plus, as i32."""
        times = self.define("o", "arith.muli %s, %s : index" % (
            total, self.index(factor)), lambda env: env[total] * factor)
        sum_ = self.define("o", "arith.addi %s, %s : index" % (
            times, self.index(plus)), lambda env: env[times] + plus)
        return self.define("e", "arith.index_cast %s : index to i32" % sum_,
                           lambda env: env[sum_])

    def fifo_slot(self, site, total, extent):
        two = self.index(2)
        odd = self.define("o", "arith.remui %s, %s : index" % (total, two),
                          lambda env: env[total] % 2)
        size = self.index(extent)
        parity = self.define("o", "arith.muli %s, %s : index" % (odd, size),
                           lambda env: env[odd] * extent)
        base = self.index(site * 2 * extent)
        offset = self.define("o", "arith.addi %s, %s : index" % (parity, base),
                            lambda env: env[parity] + site * 2 * extent)
        return self.define("o", "arith.addi %%fifo0, %s : index" % offset,
                           lambda env: env["%fifo0"] + env[offset])

    def release_to(self, rank, kind, flag, value):
        """A releasing signal, or a fence and a relaxed one."""
        sem = ""
        if self.often(0.2):
            self.add("iris.fence release scope(sys)")
            sem = "sem(relaxed) "

        def run(env):
            array = env[self.flags.name].arrays[env[rank]]
            old = int(array[env[flag]]) if kind == "add" else 0
            array[env[flag]] = old + env[value]
        self.add("iris.signal %s %%ctx, %s, %s[%s] to %s %s: i32, %s" % (
            kind, value, self.flags.name, flag, rank, sem, self.flags.type), run)

    def acquire(self, flag, value):
        sem = "sem(relaxed) " if self.often(0.25) else ""
        name = self.fresh("s")

        def run(env):
            array = self.own(env, self.flags.name)
            while array[env[flag]] < env[value]:
                yield 0
        self.add("%s = iris.wait %%ctx, %s[%s] ge %s %s: i32, %s" % (
            name, self.flags.name, flag, value, sem, self.flags.type), run)
        if sem:
            self.add("iris.fence acquire scope(sys)")

    def rendezvous(self, flag, total, factor, plus):
        """The peer programs on all ranks: each adds to all flags."""
        one = self.integer(1)
        peer = self.fresh("i")
        saved, self.block = self.block, []
        self.release_to(peer, "add", flag, one)
        block, self.block = self.block, saved

        def run(env):
            for rank in range(self.ranks):
                env[peer] = rank
                yield from ops.execute(block, env)
        self.block.append(ops.Nest(["scf.for %s = %s to %%num step %s {" % (
            peer, self.index(0), self.index(1)), block, "}"], run))
        target = self.epoch(total, factor * self.ranks, plus * self.ranks)
        self.acquire(flag, target)

    def barrier(self):
        def run(env):
            counts, rank = env["counts"], env["%rank"]
            counts[rank] += 1
            goal = counts[rank]
            while (counts < goal).any():
                yield 0
        self.add("iris.barrier %%ctx, %s : %s" % (self.state.name,
                                                  self.state.type), run)

    # Statements ----------------------------------------------------------------

    def exchange(self):
        """Stores a tile to the next rank's FIFO slot, then sets its flag."""
        total = self.round()
        site, flag = self.site()
        tile = self.tile("i32", 1)
        if not tile or tile.shape[0] > self.shape1[0]:
            tile = self.make_tile("i32", self.shape1)
        tile.uses += 1
        offset = self.fifo_slot(site, total, self.shape1[0])
        fifo = self.fifo
        self.add("iris.store %%ctx, %s, %s[%s] to %s : %s, %s" % (
            tile.name, fifo.name, offset, self.next, tile.type, fifo.type),
            lambda env: ops.store(env[fifo.name].arrays[env[self.next]],
                                  [env[offset]], env[tile.name]))
        if self.often(0.3):
            self.rng.choice([self.store, self.load, self.atomic_scalar])()
        value = self.epoch(total, 1, 1)
        self.release_to(self.next, "set", flag, value)
        if self.often(0.3):
            self.rng.choice([self.store, self.load, self.atomic_scalar])()
        self.acquire(flag, value)
        got = Tile(None, tile.shape, "i32", self.layout(tile.shape))
        got.name = self.define(
            "t", "tile.load %s[%s] : %s -> %s" % (fifo.name, offset, fifo.type,
                                                  got.type),
            lambda env: ops.load(self.own(env, fifo.name), [env[offset]],
                                 got.shape))
        self.keep(got)
        if self.ranks > 2:
            self.barrier()

    def pull(self):
        """A barrier, reads of a buffer of the next rank, and another barrier."""
        total = self.round()
        _, flag = self.site()
        source = self.view()
        self.rendezvous(flag, total, 2, 1)
        shape, offsets = self.window_of(source)
        tile = Tile(None, shape, source.element, self.layout(shape))
        at = self.at(offsets)
        tile.name = self.define(
            "t", "iris.load %%ctx, %s[%s] from %s : %s -> %s" % (
                source.name, ", ".join(offsets), self.next, source.type,
                tile.type),
            lambda env: ops.load(env[source.name].arrays[env[self.next]],
                                 at(env), shape))
        self.keep(tile)
        self.rendezvous(flag, total, 2, 2)

    def sum(self):
        """Atomics on the next rank's FIFO slot between barriers."""
        total = self.round()
        site, _ = self.site()
        tile = self.tile("i32", 1)
        if not tile or tile.shape[0] > self.shape1[0]:
            tile = self.make_tile("i32", self.shape1)
        tile.uses += 1
        offset, fifo = self.fifo_slot(site, total, self.shape1[0]), self.fifo
        sem = self.rng.choice(["relaxed", "release", "acq_rel"])
        self.define(
            "u", "iris.atomic_rmw add %%ctx, %s, %s[%s] to %s sem(%s) : %s, %s" % (
                tile.name, fifo.name, offset, self.next, sem, tile.type, fifo.type),
            lambda env: ops.atomic("add", env[fifo.name].arrays[env[self.next]],
                                   [env[offset]], env[tile.name]))
        self.barrier()
        got = Tile(None, tile.shape, "i32", self.layout(tile.shape))
        got.name = self.define(
            "t", "tile.load %s[%s] : %s -> %s" % (fifo.name, offset, fifo.type,
                                                  got.type),
            lambda env: ops.load(self.own(env, fifo.name), [env[offset]],
                                 got.shape))
        self.keep(got)
        self.barrier()
