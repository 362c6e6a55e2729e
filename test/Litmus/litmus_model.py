# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory model of docs/internals/memory-model.md, as axioms.

A candidate execution gives each read the write that it reads from (rf), and each
location an order of its writes (co). `outcomes` enumerates them all and keeps
those that the axioms allow:

1. Happens-before (hb) has no cycle. It is the transitive closure of the order of
   a thread's accesses, without that of signals, or of waits, in a row (they are
   one release, or one acquire); of what synchronizes: a release, or a release
   fence before an atomic write, with an acquire that reads what it wrote, or with
   an acquire fence after an atomic read of it, if either scope takes the other
   thread in, also through read-modify-writes in between; and of barriers.
2. Writes, and atomic reads, of a location agree with co: no access that comes
   before another one, by hb or in its thread, sees a later write than that one.
3. A read-modify-write reads the write before its own.
4. A read sees no write that comes after it, and none that another write
   between the two has overwritten.
5. A value does not depend on itself.

Where the text promises nothing, everything is allowed: relaxed accesses are not
ordered, nor is there one order of all accesses (SB and IRIW are allowed with any
order), and 2 and 3 do not hold for reads of locations that others write in a
race, plainly or at a scope that does not take the reader in.

Packets are received whole; they synchronize nothing.
"""
import itertools

INITIAL = None  # in place of the write of a location's initial 0


class Event:
    """An access of a placed test. A barrier is two events: it arrives, and it
    leaves."""

    def __init__(self, number, access, rank, scope, row):
        self.number, self.access, self.rank, self.scope = (number, access, rank,
                                                           scope)
        self.row = row  # of signals or waits that are one release or acquire
        self.thread, self.location = access.thread, access.location
        self.what = access.what


def includes(event, other):
    """Whether the event's scope takes the other event's thread in."""
    if event.scope == "block":
        return event.thread == other.thread
    return event.scope == "sys" or event.rank == other.rank


def may_meet(event, other):
    """Whether two accesses to a location at the same time are no race."""
    if event.what in "PQ" and other.what in "PQ":
        return True
    return (event.access.is_atomic and other.access.is_atomic
            and includes(event, other) and includes(other, event))


def is_row(before, after):
    """Whether neighbours share one release, or one acquire."""
    return (all(each.what in "SA" and each.releases for each in (before, after))
            or all(each.what in "LB" and each.acquires
                   for each in (before, after)))


def close(successors):
    """The transitive closure of a relation: sets of numbers, as bits."""
    for middle in range(len(successors)):
        for number, reached in enumerate(successors):
            if reached >> middle & 1:
                successors[number] |= successors[middle]


class Execution:
    """`read` and `written` are values by event; `hb` has a bit for each event
    that comes after an event."""

    def __init__(self, tables, source):
        self.tables, self.source = tables, source
        self.read, self.written = {}, {}

    def find_values(self):
        """False if a value depends on itself, if a thread waits for another
        value, or if what is read was not written."""
        pending = set()

        def written_by(event):
            if event is INITIAL:
                return 0
            if event not in self.written and not evaluate(event):
                return None
            return self.written[event]

        def evaluate(event):
            access, value = event.access, None
            if access.reads:
                if event in pending:
                    return False
                pending.add(event)
                value = written_by(self.source[event])
                if value is None:
                    return False
                self.read[event] = value
            self.written[event] = {
                "A": lambda: value + access.numbers[0],
                "I": lambda: value + access.numbers[0],
                "C": lambda: access.numbers[1] if value == access.numbers[0]
                else None}.get(access.what, lambda: access.numbers[0]
                               if access.writes else None)()
            return not (access.what == "B" and value < access.numbers[0]
                        or access.what == "Q" and value != access.numbers[0])
        return all(event in self.written or evaluate(event)
                   for event in self.tables.accesses)

    def order(self):
        """Happens-before; False if it has a cycle."""
        self.hb = list(self.tables.program_order)
        for read in self.tables.reads:
            heads, write = [], self.source[read]
            while write is not INITIAL:
                heads.append(write)
                write = self.source[write] if write.access.updates else INITIAL
            for head in heads:
                for release in self.tables.releases_of(head):
                    for acquire in self.tables.acquires_of(read):
                        if (release.thread != acquire.thread
                                and includes(release, acquire)
                                and includes(acquire, release)):
                            self.hb[release.number] |= 1 << acquire.number
        close(self.hb)
        return not any(after >> number & 1
                       for number, after in enumerate(self.hb))

    def before(self, event, other):
        """Whether an event, or the initial 0, comes before another one."""
        if event is INITIAL or other is INITIAL:
            return event is INITIAL and other is not INITIAL
        return bool(self.hb[event.number] >> other.number & 1)

    def writes_to(self, location):
        return [write for write in self.tables.writes[location]
                if self.written[write] is not None]

    def sees_what_is_visible(self, read):
        """Axiom 4."""
        source = self.source[read]
        if self.before(read, source):
            return False
        return not any(self.before(source, write) and self.before(write, read)
                       for write in self.writes_to(read.location))

    def agrees(self, location, order):
        """Axioms 2 and 3 for an order of the writes to a location."""
        place = {write: number for number, write in enumerate(order, 1)}
        place[INITIAL] = 0

        def seen(event):
            """The place of what an access writes, or else reads."""
            return place[event if event in place else self.source[event]]
        for event in order:
            if (event.access.updates and self.tables.is_coherent(event)
                    and place[self.source[event]] != place[event] - 1):
                return False
        events = [event for event in self.tables.at[location]
                  if event in place or self.tables.is_coherent(event)]
        for event, other in itertools.permutations(events, 2):
            first = event.thread == other.thread and (
                event.number < other.number
                and event.access.is_atomic and other.access.is_atomic)
            if not first and not self.before(event, other):
                continue
            # Of an update, the read comes before its own write.
            if other in place and seen(event) >= place[other]:
                return False
            if (other.access.reads and self.tables.is_coherent(other)
                    and seen(event) > place[self.source[other]]):
                return False
        return True

    def races(self):
        for events in self.tables.at.values():
            for event, other in itertools.combinations(events, 2):
                writes = any(self.written[each] is not None
                             for each in (event, other))
                if (writes and event.thread != other.thread
                        and not may_meet(event, other)
                        and not self.before(event, other)
                        and not self.before(other, event)):
                    yield event, other


class Tables:
    """What all executions of a placed test share."""

    def __init__(self, placed):
        self.events, self.threads = [], []
        arrivals, leaves = {}, {}
        for thread, accesses in enumerate(placed.test.accesses()):
            row, barriers, last, events = 0, 0, None, []
            for access in accesses:
                row += last is None or not is_row(last, access)
                last = access
                for half in range(2 if access.what == "bar" else 1):
                    event = Event(len(self.events), access,
                                  placed.rank_of[thread], placed.scope, row)
                    self.events.append(event)
                    events.append(event)
                    if access.what == "bar":
                        (arrivals, leaves)[half].setdefault(
                            barriers, []).append(event)
                        barriers += half
            self.threads.append(events)
        self.accesses = [event for event in self.events if event.location]
        self.reads = [event for event in self.accesses if event.access.reads]
        self.at, self.writes = {}, {}
        for event in self.accesses:
            self.at.setdefault(event.location, []).append(event)
            self.writes.setdefault(event.location, [])
            if event.access.writes:
                self.writes[event.location].append(event)
        self.program_order = [0] * len(self.events)
        for events in self.threads:
            for event, other in itertools.combinations(events, 2):
                if event.row != other.row or event.what == "bar":
                    self.program_order[event.number] |= 1 << other.number
        for number, arriving in arrivals.items():
            for event, other in itertools.product(arriving, leaves[number]):
                self.program_order[event.number] |= 1 << other.number

    def releases_of(self, write):
        """The events that release with a write: itself, and earlier fences."""
        if write.access.releases:
            yield write
        if write.access.is_atomic:
            yield from (event for event in self.threads[write.thread]
                        if event.what == "F" and event.access.releases
                        and event.number < write.number)

    def acquires_of(self, read):
        if read.access.acquires:
            yield read
        if read.access.is_atomic:
            yield from (event for event in self.threads[read.thread]
                        if event.what == "F" and event.access.acquires
                        and event.number > read.number)

    def is_coherent(self, event):
        """Whether no write to the location can race with the access."""
        return event.access.is_atomic and all(
            may_meet(event, write) for write in self.writes[event.location]
            if write is not event)


def executions(placed):
    """Yields the allowed executions with an order of writes for each location:
    (Execution, {location: writes in order})."""
    tables = Tables(placed)
    choices = [[INITIAL] + [write for write in tables.writes[read.location]
                            if write is not read] for read in tables.reads]
    for sources in itertools.product(*choices):
        execution = Execution(tables, dict(zip(tables.reads, sources)))
        if not execution.find_values() or not execution.order():
            continue
        if not all(execution.sees_what_is_visible(read)
                   for read in tables.reads):
            continue
        orders = {location: [order for order in itertools.permutations(
            execution.writes_to(location)) if execution.agrees(location, order)]
                  for location in tables.writes}
        for chosen in itertools.product(*orders.values()):
            yield execution, dict(zip(orders, chosen))


def outcome_of(placed, execution, orders):
    """Results in order of threads and accesses, then final values."""
    results = [execution.read[event] for event in execution.tables.events
               if event.access.has_result]
    for location in placed.test.final:
        order = orders[location]
        results.append(execution.written[order[-1]] if order else 0)
    return tuple(results)


def candidate_outcomes(placed):
    """What would be seen if no axiom held: any read may see any write, the
    payload of a packet may be another one's, and any write may be the last."""
    tables = Tables(placed)
    values = {}
    for location, writes in tables.writes.items():
        values[location] = {0} | {write.access.numbers[-1] for write in writes}
        for write in writes:
            if write.what in "AI":
                values[location] |= {value + write.access.numbers[0]
                                     for value in values[location]}
    wanted = []
    for event in tables.events:
        if event.access.has_result:
            wanted.append(sorted(
                value for value in values[event.location]
                if event.what != "B" or value >= event.access.numbers[0]))
    wanted += [sorted(values[location]) for location in placed.test.final]
    return list(itertools.product(*wanted))


def outcomes(placed):
    """The allowed outcomes, and whether some execution has a race."""
    allowed, racy = set(), False
    for execution, orders in executions(placed):
        allowed.add(outcome_of(placed, execution, orders))
        racy = racy or next(execution.races(), None) is not None
    return allowed, racy
