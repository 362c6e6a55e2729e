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
COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b, "lt": lambda a, b: a < b,
}


def random_program(rng, plain):
    """A list of ops for each thread."""
    flags = rng.randint(1, FLAGS)
    threads = []
    for _ in range(rng.randint(2, 4)):
        ops = []
        for _ in range(rng.randint(1, 3 if plain else 4)):
            kind = rng.choice(("set", "add", "wait", "wait", "rmw", "xchg",
                               "cas") + (("load", "store") * 2 if plain else ()))
            where = rng.randrange(DATA if kind in ("load", "store") else flags)
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
    }[kind]
    if kind in ("wait", "rmw", "xchg", "cas"):
        text += f"\n      memref.store {v}, %log[%c{thread * SLOTS + n}] : !words"
    return "      " + text


def mlir(threads, byRank):
    constants = "".join(
        f"    %c{n} = arith.constant {n} : index\n"
        for n in range(len(threads) * SLOTS + 1)) + "".join(
        f"    %i{n} = arith.constant {n} : i32\n"
        f"    %t{n} = tensor.splat %i{n} : tensor<1xi32>\n" for n in range(3))
    cases = "".join(
        f"    case {thread} {{\n" +
        "\n".join(code(op, thread, n) for n, op in enumerate(ops)) +
        "\n      scf.yield\n    }\n" for thread, ops in enumerate(threads))
    number = "iris.rank %ctx : index" if byRank else "gpu.block_id x"
    return f"""!words = memref<?xi32, #iris.symmetric>
gpu.module @kernels {{
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %data: !words, %log: !words) kernel {{
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
  iris.launch @kernels::@k programs(%programs)
      args(%ctx, %flags, %data, %log : !iris.ctx, !words, !words, !words)
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
    if kind == "cas":
        return b if value == a else value, value
    return value, value  # wait


def interleavings(threads):
    """The ends of all classes of executions, whether some state has a race, and
    whether a thread may wait forever."""
    # What distinguishes executions: of each location, the writes in order, and
    # the reads since each of them.
    start = (tuple(0 for _ in threads), tuple(0 for _ in range(FLAGS)),
             tuple(() for _ in range(FLAGS)), tuple(() for _ in threads))
    todo, seen = [start], {start}
    ends, races, deadlock = [], False, False
    while todo:
        at, values, orders, logs = todo.pop()
        ready, plain = False, []
        for thread, ops in enumerate(threads):
            if at[thread] == len(ops):
                continue
            op = ops[at[thread]]
            kind, where, a, _, comparison = op
            after = at[:thread] + (at[thread] + 1,) + at[thread + 1:]
            if kind in ("load", "store"):
                races |= any(where == other and "store" in (kind, what)
                             for other, what in plain)
                plain.append((where, kind))
                state = (after, values, orders, logs)
            else:
                if kind == "wait" and not COMPARISONS[comparison](values[where], a):
                    continue
                new, result = step(op, values[where])
                event = (thread, at[thread])
                order = orders[where]
                if kind == "wait" and order and isinstance(order[-1], frozenset):
                    order = order[:-1] + (order[-1] | {event},)
                elif kind == "wait":
                    order += (frozenset((event,)),)
                else:
                    order += (event,)
                log = logs
                if result is not None:
                    log = logs[:thread] + (
                        logs[thread] + ((at[thread], result),),) + logs[thread + 1:]
                state = (after, values[:where] + (new,) + values[where + 1:],
                         orders[:where] + (order,) + orders[where + 1:], log)
            ready = True
            if state not in seen:
                seen.add(state)
                todo.append(state)
        if ready:
            continue
        if any(at[thread] < len(ops) for thread, ops in enumerate(threads)):
            deadlock = True
            ends.append("end: deadlock")
        else:
            ends.append((values, logs))
    return ends, races, deadlock


def text_of(end, threads, ranks):
    """As the tool prints it: flags on rank 0, the log of each thread."""
    if isinstance(end, str):
        return end
    values, logs = end
    words = [[0] * (len(threads) * SLOTS) for _ in range(ranks)]
    for thread, log in enumerate(logs):
        for n, result in log:
            words[thread if ranks > 1 else 0][thread * SLOTS + n] = result

    def digits(numbers):
        return b"".join(n.to_bytes(4, "little") for n in numbers).hex().upper()
    buffers = [f"0@{rank}=" + digits(values if rank == 0 else [0] * FLAGS)
               for rank in range(ranks)]
    buffers += [f"1@{rank}=" + digits(words[rank]) for rank in range(ranks)]
    return "end: " + " ".join(buffers)


# --- The comparison ----------------------------------------------------------

def compare(seed):
    rng = random.Random(seed)
    plain, byRank = seed % 3 == 2, seed % 2 == 1
    threads = random_program(rng, plain)
    ranks = len(threads) if byRank else 1
    ends, races, deadlock = interleavings(threads)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(mlir(threads, byRank))
        file.flush()
        done = subprocess.run(
            ["iris-interpret", "--check", "--exhaust", "--print-ends",
             "--max-executions=1000000", "-n", str(ranks), file.name],
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
    if plain:  # loads order nothing here, and add no class
        if set(expected) != set(found):
            return 0, f"ends: expected {set(expected)}, found {set(found)}"
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
        rng = random.Random(args.seed)
        print(mlir(random_program(rng, args.seed % 3 == 2), args.seed % 2 == 1))
        return
    total = 0
    for seed in range(args.seed, args.seed + args.count):
        executions, problem = compare(seed)
        if problem:
            raise SystemExit(f"seed {seed}: {problem}")
        total += executions
    print(f"{args.count} programs, {total} executions: as in the model")


main()
