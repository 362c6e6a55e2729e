# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seeds faults into the synchronization of a program, one at a time, and looks
whether `iris-run --check` finds them.

    mutate.py PROGRAM.mlir... [-n RANKS] [--schedules=N] [--exhaust] [--every=K]
    mutate.py --static ...    look for a warning of `iris-check-sync`
    mutate.py --library ...   in place of programs, those of library.py

PROGRAMs have their kernels expanded (`iris-compile --until=expand`). Prints a
table of faults that were found and that were not; --every=K tries every K-th
one. How long it took until a fault was found is below the table: the median and
the most seconds of `iris-run --check`, and each fault that took over ten. The
time of orders without a report is in it, and the start of the tool.

A fault that is not found may be none: another op may order the same
accesses. --exhaust executes such a program in all orders, up to equivalence: if
it is right in all of them, the fault is harmless, with these ranks, programs
and calls. --static looks for a
warning of `iris-check-sync` first, which a run has to confirm; it does not know
what is reached.
"""
import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

OP = re.compile(r"^\s*(?:(%\S+) = )?(iris\.(?:barrier|signal|wait|fence|"
                r"atomic_rmw|atomic_cas))\b")
PACKET = re.compile(r"^\s*(?:(%\S+) = )?(iris\.packet_(?:store|load))\b")
ACCESS = re.compile(r"^\s*(?:%\S+ = )?(?:iris\.(?:store|load|put|get|copy)|"
                    r"tile\.(?:load|store)|memref\.(?:load|store))\b")
KERNEL = re.compile(r"gpu\.func @(\w+)")
MEMBER = re.compile(r"^(\s*(%\S+) = iris\.group_member %\S+), %\S+ : index")
ONE = re.compile(r"^\s*(%\S+) = arith\.constant 1 : (index|i32|i64)$")
AND = re.compile(r"^(\s*%\S+) = arith\.andi %\S+, (%\S+) : (i32|i64|index)$")

def with_clause(line, name, value):
    """The op with `name(value)`, in place of another one."""
    clause = f" {name}({value})"
    if re.search(rf" {name}\(\w+\)", line):
        return re.sub(rf" {name}\(\w+\)", clause, line)
    before = r" scope\(" if name == "sem" and " scope(" in line else r" : "
    return re.sub(before, lambda found: clause + found[0], line, count=1)


def weakened(op, line, is_used):
    """What is done to a synchronizing op, and the line in its place."""
    if not is_used:
        yield "deleted", ""
    if op in ("iris.barrier", "iris.fence"):
        return
    if "sem(relaxed)" not in line:
        yield "relaxed", with_clause(line, "sem", "relaxed")
    if "scope(gpu)" not in line:
        yield "at scope gpu", with_clause(line, "scope", "gpu")


def minus_one(line, pattern):
    """The line with the operand that `pattern` finds less one."""
    found = re.search(pattern, line)
    type_ = re.search(r" : (?:\w+<[^>]*>, )?(i32|i64)\b", line)
    if not found:
        return None
    type_ = type_[1] if type_ else "i32"
    return (f"%mutant_one = arith.constant 1 : {type_}\n"
            f"%mutant = arith.subi {found[1]}, %mutant_one : {type_}\n" +
            line[:found.start(1)] + "%mutant" + line[found.end(1):])


def moved(lines, n, op):
    """Exchanges a signal with the access before it, or a wait with the one
    after it. Number of the other line, or None."""
    if op not in ("iris.signal", "iris.wait"):
        return None
    step = -1 if op == "iris.signal" else 1
    m = n + step
    while 0 <= m < len(lines) and re.match(r"^\s*%\S+ = (arith|iris\.rank|"
                                           r"iris\.group)", lines[m]):
        m += step
    if not (0 <= m < len(lines)) or not ACCESS.match(lines[m]):
        return None
    first, last = sorted((n, m))
    # Operands that are computed in between stay in front of both.
    defined = re.match(r"^\s*(%\S+) = ", lines[first])
    if defined and any(re.search(re.escape(defined[1]) + r"\b", line)
                       for line in lines[first + 1:last + 1]):
        return None
    return m


class Mutant:
    def __init__(self, n, kernel, op, what, text):
        """`text` maps the program's lines to the mutant's."""
        self.n, self.kernel, self.op, self.what = n, kernel, op, what
        self.text = text


def replaced(n, line):
    return lambda lines: lines[:n] + line.split("\n") + lines[n + 1:]


def exchanged(n, m):
    first, last = sorted((n, m))
    return lambda lines: (lines[:first] + lines[first + 1:last] +
                          [lines[last], lines[first]] + lines[last + 1:])


def mutants(lines):
    kernel, is_generated, ones = "", False, set()
    for n, line in enumerate(lines):
        if found := KERNEL.search(line):
            kernel, is_generated = found[1], "iris.config" in line
        if found := ONE.match(line):
            ones.add(found[1])
        if found := OP.match(line):
            result, op = found[1], found[2]
            is_used = result and any(
                re.search(re.escape(result) + r"\b", other)
                for m, other in enumerate(lines) if m != n)
            for what, other in weakened(op, line, is_used):
                yield Mutant(n, kernel, op, what, replaced(n, other))
            m = moved(lines, n, op)
            if m is not None:
                yield Mutant(n, kernel, op, "exchanged with an access",
                             exchanged(n, m))
            if op == "iris.wait" and (less := minus_one(line,
                                                        r" ge (%[^\s,\]]+)")):
                yield Mutant(n, kernel, op, "for the epoch before",
                             replaced(n, less))
        elif found := PACKET.match(line):
            less = minus_one(line, r" flag\((%[^\s,\]]+)\)")
            yield Mutant(n, kernel, found[2], "of the epoch before",
                         replaced(n, less))
        elif is_generated and (found := MEMBER.match(line)) and \
                is_accessed(found[2], lines[n + 1:]):
            yield Mutant(n, kernel, "iris.group_member", "the first one",
                         replaced(n, "%mutant = arith.constant 0 : index\n"
                                  f"{found[1]}, %mutant : index"))
        elif is_generated and (found := AND.match(line)) and found[2] in ones:
            yield Mutant(n, kernel, "half of a buffer", "always the first",
                         replaced(n, f"{found[1]} = arith.constant 0 : "
                                  f"{found[3]}"))


def is_accessed(rank, lines):
    """Whether anything but the report of a wait that timed out uses `rank` in
    the rest of its function."""
    for line in lines:
        if "gpu.return" in line:
            return False
        if re.search(re.escape(rank) + r"\b", line) and \
                f"owed_by({rank})" not in line:
            return f"{rank} = " not in line  # else another value of this name
    return False


# Of each rank: suites are many programs in one.
MAX_OPS = 5000000
# Random orders in which a run looks for what a warning says.
CONFIRMING_ORDERS = 200

# The interpreter does not execute it: it shows whether a line is reached.
TRACER = '"llvm.intr.debugtrap"() : () -> ()'


def lines_of(text):
    """Lines, those of one synchronizing op joined."""
    lines = []
    for line in text.splitlines():
        if lines and OP.match(lines[-1]) and " : " not in lines[-1] and \
                "iris.fence" not in lines[-1]:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return lines


def static_outcome(text):
    done = subprocess.run(
        ["iris-opt", f"--iris-check-sync=max-ops={MAX_OPS}", "-o", "/dev/null", "-"],
        input=text, capture_output=True, text=True, check=False)
    if "warning: " in done.stderr:
        return "warning"
    if "expected sys" in done.stderr:
        return "verifier"
    return "not found" if done.returncode == 0 else "invalid: " + done.stderr


def outcome(lines, how, args):
    if not args.static:
        return run_outcome(lines, how, args)
    result = static_outcome("\n".join(lines))
    # Which order it takes may be a rare one. The run ends at the first one.
    if result == "warning" and run_outcome(
            lines, [f"--schedules={max(args.schedules, CONFIRMING_ORDERS)}"],
            args) not in ("race", "deadlock", "wrong value"):
        raise SystemExit("no run confirms a warning:\n" + "\n".join(lines))
    return result


def run_outcome(lines, how, args):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(lines))
        file.flush()
        done = subprocess.run(
            ["iris-run", "--check", "-n", str(args.n), *how, file.name],
            capture_output=True, text=True, check=False)
    for text, kind in (
            ("nothing orders", "race"), ("waits forever", "deadlock"),
            ("llvm.intr.debugtrap", "reached"), ("expected sys", "verifier"),
            ("checks failed", "wrong value"), ("never written", "wrong value"),
            ("'iris.check' op checks", "wrong value"),
            ("accesses bytes", "wrong value"), ("uses poison", "wrong value")):
        if text in done.stderr:
            return kind
    if done.returncode:
        return "invalid: " + done.stderr
    return "bounded" if "bounded" in done.stdout else "not found"


def result_of(mutant, lines, args):
    random = [f"--schedules={args.schedules}"]
    result = outcome(mutant.text(lines), random, args)
    if result != "not found" or args.static:
        return result
    traced = lines[:mutant.n] + [TRACER] + lines[mutant.n:]
    if outcome(traced, random, args) != "reached":
        return "not reached"
    if not args.exhaust:
        return result
    result = outcome(mutant.text(lines), ["--exhaust",
                                          "--max-executions=2000"], args)
    return {"not found": "harmless", "bounded": "not found"}.get(result, result)


def programs(args):
    """Names and texts."""
    for name in args.program:
        with open(name, encoding="utf-8") as file:
            yield name, file.read()
    if args.library:
        import library
        for case in library.cases(args.n):
            yield case.title, case.expanded()


LIMIT = 10  # seconds until a fault is found


def print_times(found):
    """`found` has seconds and names of faults."""
    if not found:
        return
    seconds = [taken for taken, _ in found]
    slow = sorted((each for each in found if each[0] > LIMIT), reverse=True)
    print(f"seconds until found: median {statistics.median(seconds):.2f}, at most "
          f"{max(seconds):.2f} ({max(found)[1]}); {len(slow)} above {LIMIT}")
    for taken, name in slow:
        print(f"{taken:.1f} s: {name}")


COLUMNS = ("race", "deadlock", "wrong value", "verifier", "harmless",
           "not found", "not reached")
STATIC_COLUMNS = ("warning", "verifier", "not found")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", nargs="*")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--schedules", type=int, default=3)
    parser.add_argument("--exhaust", action="store_true")
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    counts, missed, found = collections.Counter(), [], []
    number = 0
    for program, text in programs(args):
        lines = lines_of(text)
        if outcome(lines, [f"--schedules={args.schedules}"], args) != \
                "not found":
            raise SystemExit(f"{program} has a fault as it is")
        for mutant in mutants(lines):
            number += 1
            if (number - 1) % args.every:
                continue
            start = time.monotonic()
            result = result_of(mutant, lines, args)
            seconds = time.monotonic() - start
            name = f"{program}: @{mutant.kernel}: {mutant.op} {mutant.what}"
            if result.startswith("invalid"):
                raise SystemExit(f"{name}: {result}")
            counts[(mutant.op, mutant.what, result)] += 1
            if result in ("not found", "harmless"):
                missed.append(f"{result}: {name}")
                print(missed[-1], file=sys.stderr, flush=True)
            elif result != "not reached":
                found.append((seconds, name))
    columns = STATIC_COLUMNS if args.static else COLUMNS
    print("| op | change | " + " | ".join(columns) + " |\n" +
          "|---" * (len(columns) + 2) + "|")
    for op, what in sorted({key[:2] for key in counts}):
        print(f"| `{op}` | {what} | " +
              " | ".join(str(counts[(op, what, column)]) for column in columns) +
              " |")
    reached = sum(n for key, n in counts.items() if key[2] != "not reached")
    print(f"found {reached - len(missed)} of {reached} changes that are reached")
    if not args.static:
        print_times(found)
    print("\n".join(missed))


if __name__ == "__main__":
    main()
