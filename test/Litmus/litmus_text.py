# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The notation of litmus tests, and where their threads and locations are.

A test is a list of threads, each a line of accesses that ';' separates. A thread
is a program of a kernel. Names are locations, V is a small number; those marked
with * yield a result:

    W x V       a tile store                R x *       a tile load
    S f V SEM   iris.signal set             A f V SEM   iris.signal add
    L f SEM *   an iris.wait that holds at once: an atomic load
    B f V SEM * iris.wait ge V              C f V V SEM *   iris.atomic_cas
    X f V SEM * iris.atomic_rmw xchg        I f V SEM *     iris.atomic_rmw add
    P p V       iris.packet_store of V, flag V
    Q p V *     iris.packet_load, flag V    V p *       a tile load of the words
    F SEM       iris.fence                  bar         iris.barrier

SEM is rlx, acq, rel or ar. A location is of one kind: data (W, R), a flag
(S, A, L, B, X, I, C), or a packet (P, Q, V). All are 0 at first.
"""
import dataclasses

DATA, FLAG, PACKET = "data", "flag", "packet"
KINDS = {**dict.fromkeys("WR", DATA), **dict.fromkeys("SALBXIC", FLAG),
         **dict.fromkeys("PQV", PACKET)}
WRITES, READS, UPDATES = "WSAP", "RLBQV", "XIC"
WITH_RESULT = "RLBQVXIC"


@dataclasses.dataclass(frozen=True)
class Access:
    """`what` is a letter above, or "bar"; `numbers` are its values in order."""
    thread: int
    what: str
    location: str = ""
    numbers: tuple = ()
    sem: str = "rlx"

    @property
    def reads(self):
        # A signal that adds is a read-modify-write without a result.
        return self.what in "RLBQVXICA" and self.what != "bar"

    @property
    def writes(self):
        return self.what in "WSAPXIC" and self.what != "bar"

    @property
    def updates(self):
        return self.reads and self.writes

    @property
    def has_result(self):
        return self.what in WITH_RESULT and self.what != "bar"

    @property
    def is_atomic(self):
        return KINDS.get(self.what) == FLAG

    @property
    def acquires(self):
        return self.sem in ("acq", "ar")

    @property
    def releases(self):
        return self.sem in ("rel", "ar")


def parse(thread, text):
    """The accesses of one thread."""
    result = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        what, *words = part.split()
        sem = words.pop() if words and words[-1].isalpha() and what in (
            "S", "A", "L", "B", "X", "I", "C", "F") else "rlx"
        if sem not in ("rlx", "acq", "rel", "ar"):
            raise ValueError(f"'{part}': expected rlx, acq, rel or ar at its end")
        location = words.pop(0) if what not in ("F", "bar") else ""
        result.append(Access(thread, what, location, tuple(map(int, words)), sem))
    return result


@dataclasses.dataclass(frozen=True)
class Test:
    """`final` are the locations whose last value is part of the outcome, after
    the results of all threads in order."""
    name: str
    threads: tuple
    final: tuple = ()

    def accesses(self):
        return [parse(number, text) for number, text in enumerate(self.threads)]

    def results(self):
        """The accesses that yield results, in the order of an outcome."""
        return [access for thread in self.accesses() for access in thread
                if access.has_result]

    def locations(self):
        """Kind by name, in the order of their first access."""
        found = {}
        for thread in self.accesses():
            for access in thread:
                if access.location:
                    kind = KINDS[access.what]
                    if found.setdefault(access.location, kind) != kind:
                        raise ValueError(f"{self.name}: {access.location} is "
                                         f"{found[access.location]} and {kind}")
        return found

    def uses_barrier(self):
        return any(access.what == "bar" for thread in self.accesses()
                   for access in thread)


@dataclasses.dataclass(frozen=True)
class Placed:
    """A test with its scope and its places: `rank_of` each thread, and `home`,
    the rank whose copy of each location the threads access."""
    test: Test
    variant: str
    scope: str
    rank_of: tuple
    home: dict = dataclasses.field(hash=False)
    ranks: int

    @property
    def name(self):
        return f"{self.test.name}@{self.variant}"

    @property
    def identifier(self):
        """For symbols of MLIR."""
        return "t_" + "".join(
            c if c.isalnum() else {"-": "_", "+": "__"}.get(c, "___")
            for c in self.name)

    def slot_of(self, thread):
        """Which of its rank's threads it is."""
        return self.rank_of[:thread].count(self.rank_of[thread])

    @property
    def slots(self):
        return max(self.rank_of.count(rank) for rank in self.rank_of)


def homes(test, rank_of, reader):
    """At the rank of the last thread that reads a location, or of the first one
    that writes it."""
    found = {}
    for thread in test.accesses():
        for access in thread:
            if not access.location:
                continue
            rank = rank_of[access.thread]
            wanted = access.reads if reader else access.writes
            if access.location not in found or (wanted and reader):
                found[access.location] = rank
    if not reader:
        for thread in reversed(test.accesses()):
            for access in reversed(thread):
                if access.location and access.writes:
                    found[access.location] = rank_of[access.thread]
    # iris.packet_load has no rank: a packet is stored where it is loaded.
    for thread in test.accesses():
        for access in thread:
            if access.what == "Q":
                found[access.location] = rank_of[access.thread]
    return found


REMOTE, LOCAL = ("push", "pull"), ("local", "gpu", "block")
VARIANTS = REMOTE + LOCAL


def place(test, variant, ranks=None):
    """`push`: each thread is on a rank of its own as far as there are any, and
    locations are where they are read; `pull`: where they are written. `local`:
    all threads are on rank 0; `gpu` and `block`: the same, with that scope.
    Without `ranks`, there are as many as the threads need, at most 4.
    Returns nothing for a variant that the test does not have: the same as an
    earlier one, barriers of other than all ranks, and waits at scope `block`,
    which need not see what other programs write."""
    count = len(test.threads)
    remote = variant in REMOTE
    if ranks is None:
        ranks = min(max(count, 2), 4) if remote else 1
    if test.uses_barrier() and (not remote or count != ranks):
        return None
    if variant == "block" and any(access.what == "B" for thread
                                  in test.accesses() for access in thread):
        return None
    rank_of = tuple(n % ranks if remote else 0 for n in range(count))
    home = homes(test, rank_of, variant == "push")
    if variant == "pull" and home == homes(test, rank_of, True):
        return None
    readers = {(access.location, rank_of[access.thread])
               for thread in test.accesses() for access in thread
               if access.what == "Q"}
    if len({location for location, _ in readers}) != len(readers):
        raise ValueError(f"{test.name}: two ranks receive a packet")
    return Placed(test, variant, variant if variant in ("gpu", "block") else "sys",
                  rank_of, home, ranks)
