# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The litmus tests, with results that were written by hand.

A result is that of one outcome: the results of all threads in order, then the final
values. FORBIDDEN and ALLOWED are for programs whose scope takes all threads in;
at scope `block`, which takes no other program in, nothing is forbidden but what
a program does alone. `racy`: a plain access races in some execution. Names are
those of the literature (Alglave, Maranget, Tautschnig, "Herding Cats", 2014)
where there is one.
"""
import dataclasses

from litmus_text import Test

FORBIDDEN, ALLOWED = "forbidden", "allowed"


@dataclasses.dataclass(frozen=True)
class Expected:
    test: Test
    outcome: tuple
    result: str
    racy: bool


EXPECTED = []


def test(name, threads, outcome, result, racy, final=""):
    EXPECTED.append(Expected(
        Test(name, tuple(part.strip() for part in threads.split("||")),
             tuple(final.split())),
        tuple(map(int, outcome.split())), result, racy))


def forbidden(name, threads, outcome, final="", racy=False):
    test(name, threads, outcome, FORBIDDEN, racy, final)


def allowed(name, threads, outcome, final="", racy=False):
    test(name, threads, outcome, ALLOWED, racy, final)


# Message passing. The flag is looked at once: if it is not set, the read of the
# data races.
forbidden("MP", "W x 1; S f 1 rel || L f acq; R x", "1 0", racy=True)
allowed("MP+rlx+acq", "W x 1; S f 1 rlx || L f acq; R x", "1 0", racy=True)
allowed("MP+rel+rlx", "W x 1; S f 1 rel || L f rlx; R x", "1 0", racy=True)
allowed("MP+rlx+rlx", "W x 1; S f 1 rlx || L f rlx; R x", "1 0", racy=True)
forbidden("MP+add", "W x 1; A f 1 rel || L f acq; R x", "1 0", racy=True)
forbidden("MP+rmw", "W x 1; I f 1 rel || I f 0 acq; R x", "0 1 0", racy=True)
allowed("MP+rmw-rlx+rmw", "W x 1; I f 1 rlx || I f 0 acq; R x", "0 1 0", racy=True)
allowed("MP+rmw+rmw-rlx", "W x 1; I f 1 rel || I f 0 rlx; R x", "0 1 0", racy=True)
forbidden("MP+xchg", "W x 1; X f 1 ar || X f 2 ar; R x", "0 1 0", racy=True)
forbidden("MP+cas", "W x 1; C f 0 1 rel || C f 1 2 acq; R x", "0 1 0", racy=True)
allowed("MP+cas-rlx+cas", "W x 1; C f 0 1 rlx || C f 1 2 acq; R x", "0 1 0",
        racy=True)
forbidden("MP+two", "W x 1; W y 1; S f 1 rel || L f acq; R y; R x", "1 1 0",
          racy=True)

# The same with a wait, which has no race if nothing is missing.
forbidden("MP+wait", "W x 1; S f 1 rel || B f 1 acq; R x", "1 0")
allowed("MP+rlx+wait", "W x 1; S f 1 rlx || B f 1 acq; R x", "1 0", racy=True)
allowed("MP+rel+wait-rlx", "W x 1; S f 1 rel || B f 1 rlx; R x", "1 0", racy=True)
forbidden("MP+atomic", "S g 1 rlx; S f 1 rel || L f acq; L g rlx", "1 0")
allowed("MP+atomic+rlx", "S g 1 rlx; S f 1 rlx || L f rlx; L g rlx", "1 0")
forbidden("MP+readers", "W x 1; S f 1 rel || B f 1 acq; R x || B f 1 acq; R x",
          "1 0 1 0")
forbidden("MP+tile", "W x 1; W x 2; S f 1 rel || B f 1 acq; R x", "1 1")

# Fences in place of orders.
forbidden("MP+fences", "W x 1; F rel; S f 1 rlx || L f rlx; F acq; R x", "1 0",
          racy=True)
forbidden("MP+fences-ar", "W x 1; F ar; S f 1 rlx || L f rlx; F ar; R x", "1 0",
          racy=True)
allowed("MP+fence-rel", "W x 1; F rel; S f 1 rlx || L f rlx; R x", "1 0", racy=True)
allowed("MP+fence-acq", "W x 1; S f 1 rlx || L f rlx; F acq; R x", "1 0", racy=True)
forbidden("MP+fence+acq", "W x 1; F rel; S f 1 rlx || L f acq; R x", "1 0",
          racy=True)
forbidden("MP+rel+fence", "W x 1; S f 1 rel || L f rlx; F acq; R x", "1 0",
          racy=True)
forbidden("MP+fences+wait", "W x 1; F rel; S f 1 rlx || B f 1 rlx; F acq; R x",
          "1 0")
forbidden("MP+fences+rmw", "W x 1; F rel; I f 1 rlx || I f 0 rlx; F acq; R x",
          "0 1 0", racy=True)
forbidden("MP+fences+two", "W x 1; F rel; S f 1 rlx; S g 1 rlx "
          "|| L g rlx; L f rlx; F acq; R x", "1 0 0", racy=True)

# Signals in a row are one release, waits in a row one acquire.
allowed("MP+row", "S g 1 rel; S f 1 rel || L f acq; L g acq", "1 0")
forbidden("MP+row+fences", "S g 1 rel; F rel; S f 1 rel || L f acq; F acq; L g acq",
          "1 0")
forbidden("MP+row+data", "W x 1; S g 1 rel; S f 1 rel || B f 1 acq; R x", "1 0")
forbidden("MP+row+relaxed", "S g 1 rel; S h 1 rlx; S f 1 rel || L f acq; L h rlx",
          "1 0")
forbidden("MP+waits", "W x 1; S f 1 rel || W y 1; S g 1 rel "
          "|| B f 1 acq; B g 1 acq; R x; R y", "1 1 0 1")
forbidden("MP+waits-first", "W x 1; S f 1 rel || W y 1; S g 1 rel "
          "|| B f 1 acq; B g 1 acq; R x; R y", "1 1 1 0")

# A reader that lets the writer go on: its read comes before its release.
forbidden("WAR", "R x; S f 1 rel || B f 1 acq; W x 1", "1 1")
allowed("WAR+rlx", "R x; S f 1 rlx || B f 1 acq; W x 1", "1 1", racy=True)
forbidden("Ring", "W x 1; S f 1 rel; B g 1 acq; W x 2; S f 2 rel "
          "|| B f 1 acq; R x; S g 1 rel; B f 2 acq; R x", "1 1 1 2 1")
forbidden("Ring-early", "W x 1; S f 1 rel; B g 1 acq; W x 2; S f 2 rel "
          "|| B f 1 acq; R x; S g 1 rel; B f 2 acq; R x", "1 1 2 2 2")

# Store buffering: there is no order of all accesses.
allowed("SB", "S f 1 rel; L g acq || S g 1 rel; L f acq", "0 0")
allowed("SB+rlx", "S f 1 rlx; L g rlx || S g 1 rlx; L f rlx", "0 0")
allowed("SB+fences", "S f 1 rlx; F ar; L g rlx || S g 1 rlx; F ar; L f rlx", "0 0")
# A read-modify-write that adds 0 releases, too, what the other one acquires.
forbidden("SB+rmw", "I f 1 ar; I g 0 ar || I g 1 ar; I f 0 ar", "0 0 0 0")
allowed("SB+rmw-rlx", "I f 1 rlx; I g 0 rlx || I g 1 rlx; I f 0 rlx", "0 0 0 0")
allowed("SB+plain", "W x 1; R y || W y 1; R x", "0 0", racy=True)
forbidden("SB+same", "I f 1 rlx; L f rlx || I f 1 rlx; L f rlx", "0 1 1 1")

# Load buffering.
forbidden("LB", "L f acq; S g 1 rel || L g acq; S f 1 rel", "1 1")
forbidden("LB+rmw", "I f 0 ar; I g 1 ar || I g 0 ar; I f 1 ar", "1 0 1 0")
forbidden("LB+fences", "L f rlx; F ar; S g 1 rlx || L g rlx; F ar; S f 1 rlx",
          "1 1")
allowed("LB+rlx", "L f rlx; S g 1 rlx || L g rlx; S f 1 rlx", "1 1")
allowed("LB+plain", "R x; W y 1 || R y; W x 1", "1 1", racy=True)
forbidden("LB+data", "R x; S f 1 rel; B g 1 acq; R y "
          "|| B f 1 acq; W x 1; W y 1; S g 1 rel", "1 1 1 1")

# Independent reads of independent writes.
allowed("IRIW", "S f 1 rel || S g 1 rel || L f acq; F acq; L g acq "
        "|| L g acq; F acq; L f acq", "1 0 1 0")
allowed("IRIW+rlx", "S f 1 rlx || S g 1 rlx || L f rlx; L g rlx || L g rlx; L f rlx",
        "1 0 1 0")
allowed("IRIW+fences", "S f 1 rlx || S g 1 rlx || L f rlx; F ar; L g rlx "
        "|| L g rlx; F ar; L f rlx", "1 0 1 0")
forbidden("IRIW+data", "W x 1; S f 1 rel || W y 1; S g 1 rel "
          "|| B f 1 acq; R x || B g 1 acq; R y", "1 0 1 1")

# Write-to-read causality, and longer chains.
forbidden("WRC", "S f 1 rlx || L f rlx; S g 1 rel || L g acq; L f rlx", "1 1 0")
allowed("WRC+rlx", "S f 1 rlx || L f rlx; S g 1 rlx || L g acq; L f rlx", "1 1 0")
forbidden("ISA2", "W x 1; S f 1 rel || L f acq; S g 1 rel || L g acq; R x",
          "1 1 0", racy=True)
allowed("ISA2+rlx", "W x 1; S f 1 rel || L f rlx; S g 1 rel || L g acq; R x",
        "1 1 0", racy=True)
forbidden("ISA2+wait", "W x 1; S f 1 rel || B f 1 acq; S g 1 rel || B g 1 acq; R x",
          "1 1 0")
allowed("ISA2+wait-rlx", "W x 1; S f 1 rel || B f 1 acq; S g 1 rlx "
        "|| B g 1 acq; R x", "1 1 0", racy=True)
forbidden("ISA2+fences", "W x 1; F rel; S f 1 rlx || B f 1 rlx; F ar; S g 1 rlx "
          "|| B g 1 rlx; F acq; R x", "1 1 0")
forbidden("ISA2+four", "W x 1; S f 1 rel || B f 1 acq; S g 1 rel "
          "|| B g 1 acq; S h 1 rel || B h 1 acq; R x", "1 1 1 0")
forbidden("W+RWC", "W x 1; S f 1 rel || L f acq; S g 1 rel || L g acq; W x 2",
          "1 1 1", "x", racy=True)

# Writes against writes.
allowed("2+2W", "S f 1 rel; S g 2 rel || S g 1 rel; S f 2 rel", "1 1", "f g")
allowed("2+2W+rlx", "S f 1 rlx; S g 2 rlx || S g 1 rlx; S f 2 rlx", "1 1", "f g")
allowed("2+2W+plain", "W x 1; W y 2 || W y 1; W x 2", "1 1", "x y", racy=True)
forbidden("S", "S g 2 rlx; S f 1 rel || L f acq; S g 1 rlx", "1 2", "g")
allowed("S+rlx", "S g 2 rlx; S f 1 rlx || L f rlx; S g 1 rlx", "1 2", "g")
forbidden("S+data", "W x 2; S f 1 rel || B f 1 acq; W x 1", "1 2", "x")
allowed("R", "S f 1 rel; S g 1 rel || S g 2 rel; L f acq", "0 2", "g")

# Coherence: one location.
forbidden("CoRR", "S f 1 rlx || L f rlx; L f rlx", "1 0")
forbidden("CoRR2", "S f 1 rlx || S f 2 rlx || L f rlx; L f rlx "
          "|| L f rlx; L f rlx", "1 2 2 1")
forbidden("CoWW", "S f 1 rlx; S f 2 rlx", "1", "f")
forbidden("CoWW+plain", "W x 1; W x 2", "1", "x")
forbidden("CoWR", "S f 1 rlx; L f rlx || S f 2 rlx", "0 2", "f")
forbidden("CoWR+plain", "W x 1; R x", "0")
forbidden("CoRW1", "L f rlx; S f 1 rlx", "1 1", "f")
forbidden("CoRW2", "L f rlx; S f 1 rlx || S f 2 rlx", "2 2", "f")

# Read-modify-writes.
forbidden("Adds", "I f 1 rlx || I f 1 rlx || I f 1 rlx", "0 0 1 3", "f")
forbidden("Adds-lost", "I f 1 rlx || I f 1 rlx || I f 1 rlx", "0 1 2 2", "f")
forbidden("Signals", "A f 1 rlx || A f 1 rlx || A f 1 rlx", "2", "f")
forbidden("Exchanges", "X f 1 rlx || X f 2 rlx || L f rlx", "2 1 1")
forbidden("Swaps", "C f 0 1 rlx || C f 0 1 rlx", "0 0")
forbidden("Chain", "W x 1; S f 1 rel || I f 1 rlx || L f acq; R x", "1 2 0",
          racy=True)
forbidden("Chain+two", "W x 1; S f 1 rel || I f 1 rlx || I f 1 rlx || L f acq; R x",
          "1 2 3 0", racy=True)
allowed("Chain+broken", "W x 1; S f 1 rel || B f 1 rlx; S f 2 rlx || L f acq; R x",
        "1 2 0", racy=True)
forbidden("Count", "W x 1; A f 1 rel || W y 1; A f 1 rel || B f 2 acq; R x; R y",
          "2 0 1")
forbidden("Count-last", "W x 1; A f 1 rel || W y 1; A f 1 rel "
          "|| B f 2 acq; R x; R y", "2 1 0")
allowed("Count+rlx", "W x 1; A f 1 rlx || W y 1; A f 1 rel || B f 2 acq; R x; R y",
        "2 0 1", racy=True)
forbidden("Last", "W x 1; I f 1 ar; R y || W y 1; I f 1 ar; R x", "1 0 0 0",
          racy=True)
allowed("Last+rel", "W x 1; I f 1 rel; R y || W y 1; I f 1 rel; R x", "1 0 0 0",
        racy=True)

# Packets carry their payload and order nothing else.
forbidden("Packet", "P p 1 || Q p 1", "0")
allowed("Packet+data", "W x 1; P p 1 || Q p 1; R x", "1 0", racy=True)
forbidden("Packet+signal", "P p 1; S f 1 rel || B f 1 acq; V p", "1 0")
allowed("Packet+relaxed", "P p 1; S f 1 rlx || B f 1 acq; V p", "1 0", racy=True)
forbidden("Packet+signals", "P p 1; S f 1 rel; P q 1; S g 1 rel "
          "|| B g 1 acq; V q; V p", "1 0 1")
forbidden("Packet+signals-first", "P p 1; S f 1 rel; P q 1; S g 1 rel "
          "|| B g 1 acq; V q; V p", "1 1 0")
forbidden("Packet+data+signal", "W x 1; P p 1; S f 1 rel || Q p 1; B f 1 acq; R x",
          "1 1 0")

# Barriers of all ranks: tests with as many threads as there are ranks.
forbidden("Barrier2", "W x 1; bar || bar; R x", "0")
forbidden("Barrier2+both", "W x 1; bar; R y || W y 1; bar; R x", "0 1")
forbidden("Barrier2+WAR", "R x; bar || bar; W x 1", "1")
forbidden("Barrier2+two", "W x 1; bar; bar; W x 2 || bar; R x; bar", "2")
forbidden("Barrier3", "W x 1; bar; R z || W y 1; bar; R x || W z 1; bar; R y",
          "1 0 1")
forbidden("Barrier3+chain", "W x 1; bar; bar; bar || bar; R x; W y 1; bar; bar "
          "|| bar; bar; R y; R x; bar", "1 1 0")
forbidden("Barrier4", "W x 1; bar; R w || W y 1; bar; R x || W z 1; bar; R y "
          "|| W w 1; bar; R z", "1 1 1 0")

# Relaxed outcomes that caches must show; otherwise they show nothing: by kind of
# memory of the emulator, the variant to look at.
VISIBLE = ("MP+rlx+acq", "MP+rel+rlx", "MP+rlx+wait", "MP+rel+wait-rlx",
           "MP+fence-rel", "MP+fence-acq", "SB+plain", "Packet+data")
VISIBLE_IN = {"device": "push", "wg": "local", "cu": "push", "wave": "push"}

# The short form, on each chip.
SHORT = ("MP@push", "MP@gpu", "MP+rlx+wait@push", "MP+rlx+wait@local",
         "MP+rel+wait-rlx@push", "MP+rel+wait-rlx@local", "MP+wait@push",
         "MP+wait@pull", "MP+wait@local", "MP+fences+wait@push", "SB+plain@push",
         "SB+plain@local", "ISA2+wait@push", "Count@local", "CoRR2@push",
         "Packet+data@push", "Packet+data@local", "Packet+signal@push",
         "Barrier2+both@push", "Ring@push")

# Tests in which it must show that the releases, or the acquires, are removed.
MUTATED = ("MP+wait@push", "MP+wait@local", "MP+fences+wait@push",
           "Packet+signal@push", "Barrier2+both@push")

# On gfx90a the wait before the barrier's release is that of a load, too, and cannot
# be removed alone; the others are for caches that the emulator does not model.
INSEPARABLE = {("gfx90a", "Barrier2+both@push", "releases")}
