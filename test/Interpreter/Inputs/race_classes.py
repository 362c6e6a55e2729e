# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that `iris-run --check` reports exactly the races of a classification.

    race_classes.py [--every=K] [--print ACCESS ACCESS WHO ORDER]

Two accesses to the same bytes of rank 1 are classified by what they do, by who
makes them, and by what orders them, as races of one-sided communication are in
RMARaceBench (Schwitanski et al., 2023). They race if one of them writes, not
both are atomic, and nothing orders them: that is all that this file knows of
the memory model. Each class is a program for 3 ranks. Prints a row for each
order, and the classes that were judged wrongly.
"""
import argparse
import concurrent.futures
import itertools
import subprocess
import sys
import tempfile

# Name: (is it a write, is it atomic, on rank 1, on another rank).
ACCESSES = {
    "tile.load": (False, False, "%_ = tile.load %data[%c0] : !words -> !tile",
                  None),
    "tile.store": (True, False, "tile.store %v, %data[%c0] : !tile, !words",
                   None),
    "memref.load": (False, False, "%_ = memref.load %data[%c3] : !words", None),
    "memref.store": (True, False, "memref.store %one, %data[%c3] : !words",
                     None),
    "iris.load": (False, False, None,
                  "%_ = iris.load %ctx, %data[%c0] from %c1 : !words -> !tile"),
    "iris.store": (True, False, None,
                   "iris.store %ctx, %v, %data[%c0] to %c1 : !tile, !words"),
    "iris.get": (False, False, None,
                 "iris.get %ctx, %data[%c0], %other[%c0] from %c1 shape [8] : "
                 "!words, !words"),
    "iris.put": (True, False, None,
                 "iris.put %ctx, %other[%c0], %data[%c0] to %c1 shape [8] : "
                 "!words, !words"),
    "iris.copy, source": (False, False, None,
                          "iris.copy %ctx, %data[%c0], %other[%c0] from %c1 to "
                          "%rank shape [8] : !words, !words"),
    "iris.copy, target": (True, False, None,
                          "iris.copy %ctx, %other[%c0], %data[%c0] from %rank "
                          "to %c1 shape [8] : !words, !words"),
    "iris.atomic_rmw": (True, True, "%_ = iris.atomic_rmw add %ctx, %one, "
                        "%data[%c3] to %c1 sem(relaxed) : i32, !words",
                        "%_ = iris.atomic_rmw add %ctx, %one, %data[%c3] to "
                        "%c1 sem(relaxed) : i32, !words"),
    "iris.atomic_cas": (True, True, None,
                        "%_ = iris.atomic_cas %ctx, %one, %two, %data[%c3] to "
                        "%c1 sem(relaxed) : i32, !words"),
}
# The ranks of the two accesses.
WHO = {"owner second": (0, 1), "owner first": (1, 0), "two peers": (0, 2)}
# Before and after the first access, before the second one; whether it orders
# them. None: accesses of the flag race themselves.
SIGNAL = "iris.signal set %ctx, %one, %flags[%c0] to %c{to}{how} : i32, !words"
WAIT = "%w = iris.wait %ctx, %flags[%c0] ge %one{how} : i32, !words"
BARRIER = "iris.barrier %ctx, %state : !words"
RELAXED, NARROW = " sem(relaxed)", " scope(gpu)"
ORDERS = {
    "nothing": ("", "", "", False),
    "signal and wait": ("", SIGNAL, WAIT, True),
    "signal before the access": (SIGNAL, "", WAIT, False),
    "relaxed signal": ("", (SIGNAL, RELAXED), WAIT, False),
    "relaxed wait": ("", SIGNAL, (WAIT, RELAXED), False),
    "wait at scope gpu": ("", SIGNAL, (WAIT, NARROW), None),
    "fences around relaxed ones": (
        "", ("iris.fence release\n" + SIGNAL, RELAXED),
        (WAIT + "\niris.fence acquire", RELAXED), True),
    "fences on the wrong sides": (
        "", (SIGNAL + "\niris.fence release", RELAXED),
        ("iris.fence acquire\n" + WAIT, RELAXED), False),
    "barrier": ("", BARRIER, "", True),
    "barrier before both": (BARRIER, "", "", False),
    "next launch": ("", "launch", "", False),
    "next launch after iris.sync": ("", "sync", "", True),
}

HEAD = """!words = memref<?xi32, #iris.symmetric>
!tile = tensor<8xi32>
gpu.module @kernels {
"""
BEGIN = """  gpu.func @%s(%%ctx: !iris.ctx, %%data: !words, %%other: !words,
              %%flags: !words, %%state: !words) kernel {
    %%c0 = arith.constant 0 : index
    %%c1 = arith.constant 1 : index
    %%c2 = arith.constant 2 : index
    %%c3 = arith.constant 3 : index
    %%one = arith.constant 1 : i32
    %%two = arith.constant 2 : i32
    %%v = arith.constant dense<5> : !tile
    %%rank = iris.rank %%ctx : index
"""
END = """    gpu.return
  }
"""
MAIN = """}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %data = iris.alloc(%c256) : !words
  %other = iris.alloc(%c256) : !words
  %flags = iris.alloc(%c256) : !words
  %state = iris.alloc(%c256) : !words
"""
LAUNCH = """  iris.launch @kernels::@%s programs(%%c1)
      args(%%ctx, %%data, %%other, %%flags, %%state
          : !iris.ctx, !words, !words, !words, !words)
"""


def on_rank(number, lines):
    return (f"    %is{number} = arith.cmpi eq, %rank, %c{number} : index\n"
            f"    scf.if %is{number} {{\n{lines}\n    }}\n")


def program(accesses, who, order):
    """The program, or None if an access cannot be made by that rank."""
    ranks = WHO[who]
    texts = [ACCESSES[access][2 if rank == 1 else 3]
             for access, rank in zip(accesses, ranks)]
    if None in texts:
        return None
    before, after, ahead, _ = ORDERS[order]

    def formatted(step):
        text, how = step if isinstance(step, tuple) else (step, "")
        return text.replace("{to}", str(ranks[1])).replace("{how}", how)

    if after in ("launch", "sync"):
        body = (BEGIN % "first" + on_rank(ranks[0], texts[0]) + END +
                BEGIN % "second" + on_rank(ranks[1], texts[1]) + END)
        launches = LAUNCH % "first" + \
            ("  iris.sync %ctx\n" if after == "sync" else "") + LAUNCH % "second"
    else:
        # Every rank takes part in a barrier.
        parts = [[], []]
        shared = ["", ""]
        for at, (step, place) in enumerate(((before, 0), (after, 1))):
            if BARRIER in formatted(step):
                shared[at] = "    " + BARRIER + "\n"
            else:
                parts[place].append(formatted(step))
        body = (BEGIN % "k" + shared[0] +
                on_rank(ranks[0], "\n".join(parts[0] + [texts[0]] + parts[1])) +
                shared[1] +
                on_rank(ranks[1], formatted(ahead) + "\n" + texts[1]) + END)
        launches = LAUNCH % "k"
    return HEAD + body + MAIN + launches + "  return\n}\n"


def races(accesses, order):
    first, second = (ACCESSES[access] for access in accesses)
    if ORDERS[order][3] is None:
        return True
    return ((first[0] or second[0]) and not (first[1] and second[1]) and
            not ORDERS[order][3])


def judge(case):
    """None, or what the checker says wrongly."""
    accesses, who, order, text = case
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            ["iris-run", "--check", "-n", "3", "--schedules=2", file.name],
            capture_output=True, text=True, check=False)
    found = "nothing orders it" in done.stderr
    if done.returncode and not found:
        return f"{accesses}, {who}, {order}: {done.stderr}"
    if found != races(accesses, order):
        return (f"{accesses}, {who}, {order}: "
                f"{'reported' if found else 'not reported'}\n{done.stderr}")
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--print", nargs=4)
    options = parser.parse_args()
    if options.print:
        first, second, who, order = options.print
        print(program((first, second), who, order))
        return
    cases = [(pair, who, order, program(pair, who, order))
             for order, who, pair in itertools.product(
                 ORDERS, WHO, itertools.product(ACCESSES, repeat=2))]
    cases = [case for case in cases if case[3]][::options.every]
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(judge, cases))
    print("| order | classes | races | judged wrongly |\n|---|---|---|---|")
    for order in ORDERS:
        mine = [(case, result) for case, result in zip(cases, results)
                if case[2] == order]
        wrong += [result for _, result in mine if result]
        print(f"| {order} | {len(mine)} | "
              f"{sum(races(case[0], order) for case, _ in mine)} | "
              f"{sum(bool(result) for _, result in mine)} |")
    print(f"{len(cases)} classes, {len(wrong)} judged wrongly")
    print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


main()
