# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why nothing notices a mutant of sync_mutants.py: what orders the accesses that
the changed instruction ordered, and what waits for those it waited for.

The check of the order says for each two accesses which instructions suffice to
order them (Emulator::forEachOrder). A kernel is executed unchanged and changed.
Where no set of the unchanged kernel has the instruction, it ordered nothing.
Otherwise each two accesses that it ordered must be ordered in the changed kernel
too, by a set that is then in its code.
"""
import collections
import re

import machine
from sync_sites import COUNTERS, INVALIDATIONS, WRITE_BACKS

# Of mutants that nothing notices.
CLASSES = ("one wave", "nothing outstanding", "orders nothing", "others order",
           "rest suffices", "unexplained")
# Of accesses that an instruction does not order, so many are listed.
MOST_AROUND = 3


def writes_back(mutant):
    return mutant.before.startswith(WRITE_BACKS)


def invalidates(mutant):
    return mutant.before.startswith(INVALIDATIONS)


class Trace:
    """What executions with the check showed."""

    def __init__(self):
        # Of each two accesses: how often which set of instructions ordered them.
        self.orders = collections.defaultdict(collections.Counter)
        # Of each position: how many accesses of each counter completed there.
        self.completed = collections.defaultdict(lambda: [0] * len(COUNTERS))
        self.texts = {}

    def add(self, emulation):
        for first, second, by, count in emulation.orders():
            self.orders[first, second][by] += count
        for position, _, completed, text in emulation.waits():
            self.texts[position] = text
            for i, number in enumerate(completed):
                self.completed[position][i] += number

    def ordered_by(self, position):
        """The accesses that sets with an instruction order."""
        return [pair for pair, sets in self.orders.items()
                if any(position in by for by in sets)]


class Explainer:
    """Explains mutants of a kernel. `texts` has its instructions by position,
    `before` is the trace of the unchanged kernel."""

    def __init__(self, texts, before):
        self.texts, self.before = texts, before

    def name(self, position):
        if position == machine.HOST:
            return "the host's access"
        if position == machine.END:
            return "the end of the launch"
        return f"'{self.texts[position]}' at {4 * position:x}"

    def names(self, positions):
        return ", ".join(map(self.name, sorted(positions))) or "nothing else"

    def explain(self, mutant, after):
        """A record of a mutant that was not noticed, whose trace is `after`."""
        # It may have come to instructions that were not executed before.
        self.texts = {**after.texts, **self.texts}
        pairs = self.before.ordered_by(mutant.position)
        lost = [pair for pair in pairs if pair not in after.orders]
        rest = any(mutant.position in by for pair in pairs
                   for by in after.orders.get(pair, ()))
        kind = ("orders nothing" if not pairs else "unexplained" if lost else
                "rest suffices" if rest else "others order")
        around = [] if pairs else self.find_around(mutant, after)
        record = {
            "class": kind,
            "orders": [self.describe(pair, after) for pair in pairs],
            "around": [self.describe(pair, after) for pair in around],
            "pairs": len(self.before.orders),
            "times": sum(n for sets in self.before.orders.values()
                         for n in sets.values())}
        sentences = [self.say_around(mutant, around, after) if not pairs else
                     self.say_lost(pairs, lost) if lost else
                     self.say_orders(pairs, rest and mutant.text, after)]
        if mutant.counter:
            waits, unused = self.find_waits(mutant, after)
            record["completed by"] = {self.name(p): n for p, n in waits.items()}
            record["never waited for"] = unused
            sentences.append(self.say_waits(waits, unused))
        record["explanation"] = "; ".join(sentences)
        return record

    def find_around(self, mutant, after):
        """Accesses that instructions of its kind order, but not this one: with its
        own access, or nearest before and after it in the code."""
        at = mutant.position
        found = [pair for pair in after.orders if at in pair] or [
            pair for pair in after.orders
            if pair[0] < at < pair[1] and self.may_order(mutant, *pair)]
        return sorted(found, key=lambda pair: abs(pair[1] - pair[0]))[:MOST_AROUND]

    def may_order(self, mutant, first, second):
        before, after = (self.texts.get(each, "") for each in (first, second))
        is_shared = before.startswith("ds_") or "_lds_" in before
        if invalidates(mutant):
            return not is_shared and "_load" in after
        if writes_back(mutant):
            return not is_shared and ("_store" in before or "_atomic" in before)
        return (mutant.kind == "barrier"
                or is_shared == (mutant.counter in ("LDS", "scalar")))

    def describe(self, pair, after):
        """Both accesses, and what ordered them before and after the change."""
        sets = {key: sorted(map(sorted, trace.orders.get(pair, ())))
                for key, trace in (("before", self.before), ("after", after))}
        return {"first": self.name(pair[0]), "second": self.name(pair[1]),
                **{key: [list(map(self.name, by)) for by in each]
                   for key, each in sets.items()},
                "times": [sum(trace.orders.get(pair, {}).values())
                          for trace in (self.before, after)]}

    def say_lost(self, pairs, lost):
        return (f"{len(lost)} of {len(pairs)} pairs of accesses that it orders did "
                f"not occur without it, the first {self.both(lost[0])}")

    def say_orders(self, pairs, rest, after):
        how = f"by '{rest}' as well" if rest else "without it"
        return (f"it orders {len(pairs)} of {len(self.before.orders)} pairs of "
                f"accesses, which are ordered {how}, such as "
                f"{self.say_reason(pairs[0], after)}")

    def say_around(self, mutant, around, after):
        others = f"others order each of {len(self.before.orders)} pairs of accesses"
        if around:
            return f"{others}, such as {self.say_reason(around[0], after)}"
        what = ("a store before and an access after it" if writes_back(mutant)
                else "an access before and a load after it"
                if invalidates(mutant) else "an access before and one after it")
        return f"{others}, none of which is {what} in the code"

    def say_reason(self, pair, after):
        shortest = min(after.orders[pair], key=len)
        return f"{self.both(pair)} by {self.names(shortest)}"

    def both(self, pair):
        return " and ".join(map(self.name, pair))

    def find_waits(self, mutant, after):
        """What completed at the wait completes elsewhere: how many accesses at
        which other waits, and how many at none."""
        index = COUNTERS.index(mutant.counter)
        number = (self.before.completed[mutant.position][index]
                  - after.completed[mutant.position][index])
        waits = {position: completed[index] - self.before.completed[position][index]
                 for position, completed in sorted(after.completed.items())
                 if position != mutant.position
                 and completed[index] > self.before.completed[position][index]}
        return waits, max(number - sum(waits.values()), 0)

    def say_waits(self, waits, unused):
        # A use before a wait is reported.
        texts = []
        if waits:
            texts.append(f"{sum(waits.values())} accesses that completed there are "
                         f"not used before {self.names(waits)}")
        if unused:
            texts.append(f"{unused} complete at no other wait, and nothing uses them")
        return ", ".join(texts) or "nothing completed there"

    def is_unchanged(self, mutant, after):
        """Whether all that it orders is ordered by the same instructions."""
        return all(set(self.before.orders[pair]) == set(after.orders.get(pair, ()))
                   for pair in self.before.ordered_by(mutant.position))

    def contradicts(self, mutant, message):
        """Whether a report of a missing order names accesses of which the
        explanation says that the instruction does not order them, whichever is
        the first one: without a barrier, it may be the other."""
        first = re.search(r"which (?:'.*' at (\w+) of|the host)", message)
        second = re.search(r"\n  at (\w+) in", message)
        pair = tuple(int(match[1], 16) // 4 if match and match[1] else machine.HOST
                     for match in (first, second))
        sets = [by for each in (pair, pair[::-1])
                for by in self.before.orders.get(each, ())]
        return not any(mutant.position in by for by in sets) and (
            bool(sets) or not self.before.ordered_by(mutant.position))
