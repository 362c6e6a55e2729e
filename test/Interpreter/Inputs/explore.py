# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares `--check --exhaust` with all interleavings of small random programs.

    explore.py [--seed=N] [--count=N] [--print]

The model below knows nothing of partial-order reduction: it takes every step
that any thread can take, and keeps apart executions in which two conflicting
ops have different orders. Each such class has one end, and the tool has to
print each exactly once. Programs with plain accesses have a race if some state
has two of them next to each other; the tool has to find one in just these.
--print writes the program of --seed.
"""
import argparse
import collections
import random
import subprocess
import tempfile

FLAGS, DATA, SLOTS = 3, 2, 8
# Words of packets, those of one, and the first words of packets, which overlap.
WORDS, PACKET, STARTS = 6, 4, (0, 2)
COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b, "lt": lambda a, b: a < b,
}


class Mode:
    """What a seed has besides flags and atomics."""

    def __init__(self, seed):
        self.byRank = seed % 2 == 1
        self.plain = seed % 3 == 2
        self.packets = not self.plain and seed % 4 in (1, 2)
        self.barriers = self.byRank and seed % 5 < 2
        # Programs that run at once; None: all.
        self.resident = None if self.byRank or seed % 5 < 3 else 1 + seed % 2 + seed % 3

    def kinds(self):
        return (("set", "add", "wait", "wait", "rmw", "xchg", "cas", "spin") +
                (("load", "store") * 2 if self.plain else ()) +
                (("put", "get") * 2 if self.packets else ()) +
                (("barrier",) if self.barriers else ()))


def random_program(rng, mode):
    """A list of ops for each thread."""
    flags = rng.randint(1, FLAGS)
    threads = []
    for _ in range(rng.randint(2, 4)):
        ops = []
        for _ in range(rng.randint(1, 3 if mode.plain else 4)):
            kind = rng.choice(mode.kinds())
            where = (rng.randrange(DATA) if kind in ("load", "store") else
                     rng.choice(STARTS) if kind in ("put", "get") else
                     rng.randrange(flags))
            comparison = rng.choice(("ge", "ge", "eq", "ne", "gt", "le", "lt"))
            ops.append((kind, where, rng.randint(0, 2), rng.randint(1, 2),
                        comparison))
        threads.append(ops)
    return threads


# --- The program in MLIR -----------------------------------------------------

def code(op, thread, n):
    kind, where, a, b, comparison = op
    v, flag = f"%v{thread}_{n}", f"%flags[%c{where}] to %c0"
    text = {
        "set": f"iris.signal set %ctx, %i{a}, {flag} : i32, !words",
        "add": f"iris.signal add %ctx, %i{b}, {flag} : i32, !words",
        "wait": f"{v} = iris.wait %ctx, %flags[%c{where}] {comparison} %i{a} "
                "from %c0 : i32, !words",
        "rmw": f"{v} = iris.atomic_rmw add %ctx, %i{b}, {flag} sem(acq_rel) : i32, !words",
        "xchg": f"{v} = iris.atomic_rmw xchg %ctx, %i{a}, {flag} sem(acq_rel) : i32, !words",
        "cas": f"{v} = iris.atomic_cas %ctx, %i{a}, %i{b}, {flag} sem(acq_rel) : i32, !words",
        "load": f"{v} = iris.load %ctx, %data[%c{where}] from %c0 : !words -> tensor<1xi32>",
        "store": f"iris.store %ctx, %t{b}, %data[%c{where}] to %c0 : tensor<1xi32>, !words",
        # Until the flag is a; then it is b.
        "spin": f"{v} = scf.while : () -> i32 {{\n"
                f"        {v}_s = iris.atomic_cas %ctx, %i{a}, %i{b}, {flag} "
                "sem(acq_rel) : i32, !words\n"
                f"        {v}_c = arith.cmpi ne, {v}_s, %i{a} : i32\n"
                f"        scf.condition({v}_c) {v}_s : i32\n"
                "      } do {\n"
                f"      ^bb0({v}_d: i32):\n"
                "        scf.yield\n      }",
        "barrier": "iris.barrier %ctx, %state : !words",
        "put": f"iris.packet_store %ctx, %p{a}, %packets[%c{2 * where}] to %c0 "
               f"flag(%i{b}) : tensor<{PACKET}xi32>, !words",
        # A packet is received where it is: on rank 0.
        "get": f"{v}_b = iris.translate %ctx, %packets to %c0 : !words -> !there\n"
               f"      {v} = iris.packet_load %ctx, {v}_b[%c{2 * where}] "
               f"flag(%i{b}) : !there -> tensor<{PACKET}xi32>",
    }[kind]
    if kind == "get":
        text += (f"\n      tile.store {v}, %arrived[%c{(thread * SLOTS + n) * PACKET}]"
                 f" : tensor<{PACKET}xi32>, !words")
    if kind in ("wait", "rmw", "xchg", "cas"):
        text += f"\n      memref.store {v}, %log[%c{thread * SLOTS + n}] : !words"
    return "      " + text


def mlir(threads, byRank):
    constants = "".join(
        f"    %c{n} = arith.constant {n} : index\n"
        for n in range(len(threads) * SLOTS * PACKET + 1)) + "".join(
        f"    %i{n} = arith.constant {n} : i32\n"
        f"    %t{n} = tensor.splat %i{n} : tensor<1xi32>\n"
        f"    %p{n} = tensor.splat %i{n} : tensor<{PACKET}xi32>\n" for n in range(3))
    cases = "".join(
        f"    case {thread} {{\n" +
        "\n".join(code(op, thread, n) for n, op in enumerate(ops)) +
        "\n      scf.yield\n    }\n" for thread, ops in enumerate(threads))
    number = "iris.rank %ctx : index" if byRank else "gpu.block_id x"
    return f"""!words = memref<?xi32, #iris.symmetric>
!there = memref<?xi32, #iris.peer>
gpu.module @kernels {{
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %data: !words, %log: !words,
              %packets: !words, %arrived: !words, %state: !words) kernel {{
{constants}    %thread = {number}
    scf.index_switch %thread
{cases}    default {{
      scf.yield
    }}
    gpu.return
  }}
}}
func.func @main(%ctx: !iris.ctx) {{
  %flagCount = arith.constant {FLAGS} : index
  %dataCount = arith.constant {DATA} : index
  %logCount = arith.constant {len(threads) * SLOTS} : index
  %programs = arith.constant {1 if byRank else len(threads)} : index
  %flags = iris.alloc(%flagCount) : !words
  %data = iris.alloc(%dataCount) workspace : !words
  %log = iris.alloc(%logCount) : !words
  %packetCount = arith.constant {2 * WORDS} : index
  %arrivedCount = arith.constant {len(threads) * SLOTS * PACKET} : index
  %stateCount = arith.constant {32 * len(threads)} : index
  %packets = iris.alloc(%packetCount) workspace : !words
  %arrived = iris.alloc(%arrivedCount) : !words
  %state = iris.alloc(%stateCount) workspace : !words
  iris.launch @kernels::@k programs(%programs)
      args(%ctx, %flags, %data, %log, %packets, %arrived, %state
          : !iris.ctx, !words, !words, !words, !words, !words, !words)
  iris.sync %ctx
  return
}}
"""


# --- All interleavings -------------------------------------------------------

def step(op, value):
    """The flag's value after the op, and what the op returns."""
    kind, _, a, b, _ = op
    if kind == "set":
        return a, None
    if kind in ("add", "rmw"):
        return value + b, None if kind == "add" else value
    if kind == "xchg":
        return a, value
    if kind in ("cas", "spin"):
        return b if value == a else value, value
    return value, value  # wait


def ordered(orders, places, event, writes):
    """`orders` with an access of the event to each of the places. What
    distinguishes executions: of each place, the writes in order, and the reads
    since each of them."""
    orders = list(orders)
    for place in places:
        order = orders[place]
        if writes:
            orders[place] = order + (event,)
        elif order and isinstance(order[-1], frozenset):
            orders[place] = order[:-1] + (order[-1] | {event},)
        else:
            orders[place] = order + (frozenset((event,)),)
    return tuple(orders)


class State(collections.namedtuple("State", "at flags words orders logs polled")):
    """Where the threads are, what flags and words of packets hold, the past, and
    the last value that a loop has seen."""

    def after(self, thread, result=None, **changes):
        changes["polled"] = (self.polled[:thread] + (None,) +
                             self.polled[thread + 1:])
        at = self.at[thread]
        if result is not None:
            log = self.logs[thread] + ((at, result),)
            changes["logs"] = self.logs[:thread] + (log,) + self.logs[thread + 1:]
        return self._replace(
            at=self.at[:thread] + (at + 1,) + self.at[thread + 1:], **changes)


def next_state(state, threads, thread, mode):
    """The state after the thread's next op; None if it has to wait."""
    at, ops = state.at, threads[thread]
    # A thread that has ended has left its place to another one.
    if mode.resident and thread >= mode.resident + sum(
            n > len(other) for n, other in zip(at, threads)):
        return None
    event = (thread, at[thread])
    if at[thread] == len(ops):
        binds = mode.resident and mode.resident < len(threads)
        return state.after(thread, orders=ordered(
            state.orders, [FLAGS + WORDS], event, True) if binds else state.orders)
    kind, where, a, b, comparison = ops[at[thread]]
    if kind in ("load", "store"):
        return state.after(thread)
    if kind == "barrier":
        done = [sum(op[0] == "barrier" for op in other[:n])
                for n, other in zip(at, threads)]
        came = all(done[n] > done[thread] or
                   done[n] == done[thread] and at[n] < len(threads[n]) and
                   threads[n][at[n]][0] == "barrier" for n in range(len(threads)))
        return state.after(thread) if came else None
    if kind in ("put", "get"):
        words = range(where, where + PACKET)
        orders = ordered(state.orders, [FLAGS + n for n in words], event, kind == "put")
        if kind == "put":
            return state.after(thread, orders=orders, words=tuple(
                (a, b) if n in words else old for n, old in enumerate(state.words)))
        if any(state.words[n][1] != b for n in words):
            return None
        return state.after(thread, tuple(state.words[n][0] for n in words), orders=orders)
    value = state.flags[where]
    if kind == "wait" and not COMPARISONS[comparison](value, a):
        return None
    if kind == "spin" and value != a:
        # It repeats once the value has changed.
        if value == state.polled[thread]:
            return None
        return state._replace(
            polled=state.polled[:thread] + (value,) + state.polled[thread + 1:],
            orders=ordered(state.orders, [where], event, True))
    new, result = step(ops[at[thread]], value)
    return state.after(
        thread, None if kind == "spin" else result,
        orders=ordered(state.orders, [where], event, kind != "wait"),
        flags=state.flags[:where] + (new,) + state.flags[where + 1:])


def interleavings(threads, mode):
    """The ends of all classes of executions, whether some state has a race, and
    whether a thread may wait forever."""
    start = State(tuple(0 for _ in threads), (0,) * FLAGS, ((0, 0),) * WORDS,
                  ((),) * (FLAGS + WORDS + 1), tuple(() for _ in threads),
                  (None,) * len(threads))
    todo, seen = [start], {start}
    ends, races, deadlock = [], False, False
    while todo:
        state = todo.pop()
        ready, plain = False, []
        for thread, ops in enumerate(threads):
            if state.at[thread] > len(ops):
                continue
            after = next_state(state, threads, thread, mode)
            if after is None:
                continue
            ready = True
            kind, where = (ops[state.at[thread]] if state.at[thread] < len(ops)
                           else (None, None))[:2]
            if kind in ("load", "store"):
                races |= any(where == other and "store" in (kind, what)
                             for other, what in plain)
                plain.append((where, kind))
            if after not in seen:
                seen.add(after)
                todo.append(after)
        if ready:
            continue
        if any(n <= len(ops) for n, ops in zip(state.at, threads)):
            deadlock = True
            ends.append("end: deadlock")
        else:
            ends.append(state)
    return ends, races, deadlock


def text_of(end, threads, ranks):
    """As the tool prints it: flags on rank 0, and what each thread has logged."""
    if isinstance(end, str):
        return end
    log = [[0] * (len(threads) * SLOTS) for _ in range(ranks)]
    arrived = [[0] * (len(threads) * SLOTS * PACKET) for _ in range(ranks)]
    for thread, results in enumerate(end.logs):
        rank = thread if ranks > 1 else 0
        for n, result in results:
            if isinstance(result, tuple):
                first = (thread * SLOTS + n) * PACKET
                arrived[rank][first:first + PACKET] = result
            else:
                log[rank][thread * SLOTS + n] = result

    def digits(numbers):
        return b"".join(n.to_bytes(4, "little") for n in numbers).hex().upper()
    buffers = [f"0@{rank}=" + digits(end.flags if rank == 0 else [0] * FLAGS)
               for rank in range(ranks)]
    for number, lists in ((1, log), (2, arrived)):
        buffers += [f"{number}@{rank}=" + digits(lists[rank]) for rank in range(ranks)]
    return "end: " + " ".join(buffers)


# --- The comparison ----------------------------------------------------------

def compare(seed):
    """The number of executions, and what differs."""
    mode = Mode(seed)
    threads = random_program(random.Random(seed), mode)
    ranks = len(threads) if mode.byRank else 1
    ends, races, deadlock = interleavings(threads, mode)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(mlir(threads, mode.byRank))
        file.flush()
        done = subprocess.run(
            ["iris-interpret", "--check", "--exhaust", "--print-ends",
             "--max-executions=1000000", "-n", str(ranks), file.name] +
            ([f"--resident={mode.resident}"] if mode.resident else []),
            capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines()
             if line.startswith("end:")]
    if done.returncode != 0 or done.stderr or "bounded" in done.stdout:
        return 0, f"the tool failed:\n{done.stdout}{done.stderr}"
    if races or "end: error" in found:
        if races != ("end: error" in found):
            return 0, f"races: expected {races}, found {found}"
        return len(found), ""
    expected = collections.Counter(text_of(end, threads, ranks) for end in ends)
    if expected != collections.Counter(found):
        missing = expected - collections.Counter(found)
        more = collections.Counter(found) - expected
        return 0, f"missing {dict(missing)}\nunexpected {dict(more)}"
    if deadlock != ("end: deadlock" in found):
        return 0, "deadlock"
    return len(found), ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--print", action="store_true")
    args = parser.parse_args()
    if args.print:
        mode = Mode(args.seed)
        print(mlir(random_program(random.Random(args.seed), mode), mode.byRank))
        return
    total = 0
    for seed in range(args.seed, args.seed + args.count):
        executions, problem = compare(seed)
        if problem:
            raise SystemExit(f"seed {seed}: {problem}")
        total += executions
    print(f"{args.count} programs, {total} executions: as in the model")


main()
