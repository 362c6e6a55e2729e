# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deletes or weakens each synchronizing op of a program, one at a time, and
looks whether `iris-run --check` finds the fault.

    mutate.py PROGRAM.mlir... [-n RANKS] [--schedules=N] [--every=K]

PROGRAMs have their kernels expanded (`iris-compile --until=expand`). Prints a
table of changes that were found and that were not; --every=K tries every K-th
one. A change that is not found need not be a fault: another op may order the
same accesses.
"""
import argparse
import collections
import re
import subprocess
import tempfile

OP = re.compile(r"^\s*(?:(%\S+) = )?(iris\.(?:barrier|signal|wait|fence|"
                r"atomic_rmw|atomic_cas))\b")
KERNEL = re.compile(r"gpu\.func @(\w+)")


def with_clause(line, name, value):
    """The op with `name(value)`, in place of another one."""
    clause = f" {name}({value})"
    if re.search(rf" {name}\(\w+\)", line):
        return re.sub(rf" {name}\(\w+\)", clause, line)
    before = r" scope\(" if name == "sem" and " scope(" in line else r" : "
    return re.sub(before, lambda found: clause + found[0], line, count=1)


def mutants(lines):
    """Number of the line, kernel, op, what is done to it, and the new line."""
    kernel = ""
    for n, line in enumerate(lines):
        if found := KERNEL.search(line):
            kernel = found[1]
        if not (found := OP.match(line)):
            continue
        result, op = found[1], found[2]
        used = result and any(
            re.search(re.escape(result) + r"\b", other)
            for m, other in enumerate(lines) if m != n)
        if not used:
            yield n, kernel, op, "deleted", ""
        if op in ("iris.barrier", "iris.fence"):
            continue
        if "sem(relaxed)" not in line:
            yield n, kernel, op, "relaxed", with_clause(line, "sem", "relaxed")
        if "scope(gpu)" not in line:
            yield n, kernel, op, "at scope gpu", with_clause(line, "scope", "gpu")


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


def outcome(lines, args):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(lines))
        file.flush()
        command = ["iris-run", "--check", "-n", str(args.n),
                   f"--schedules={args.schedules}", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "nothing orders" in done.stderr:
        return "race"
    if "waits forever" in done.stderr:
        return "deadlock"
    if "llvm.intr.debugtrap" in done.stderr:
        return "reached"
    if "expected sys" in done.stderr:
        return "verifier"
    if any(text in done.stderr for text in
           ("checks failed", "never written", "'iris.check' op checks",
            "accesses bytes")):
        return "wrong value"
    return "not found" if done.returncode == 0 else "invalid: " + done.stderr


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", nargs="+")
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--schedules", type=int, default=3)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    counts, missed = collections.Counter(), []
    for program in args.program:
        with open(program, encoding="utf-8") as file:
            lines = lines_of(file.read())
        if outcome(lines, args) != "not found":
            raise SystemExit(f"{program} has a fault as it is")
        for n, kernel, op, what, line in list(mutants(lines))[::args.every]:
            result = outcome(lines[:n] + [line] + lines[n + 1:], args)
            if result.startswith("invalid"):
                raise SystemExit(f"{program}: @{kernel}: {op} {what}: {result}")
            if result == "not found" and outcome(
                    lines[:n] + [TRACER] + lines[n:], args) != "reached":
                result = "not reached"
            counts[(op, what, result)] += 1
            if result == "not found":
                missed.append(f"{program}: @{kernel}: {op} {what}")
    columns = ("race", "deadlock", "wrong value", "verifier", "not found",
               "not reached")
    print("| op | change | " + " | ".join(columns) + " |\n" + "|---" * 8 + "|")
    for op, what in sorted({key[:2] for key in counts}):
        print(f"| `{op}` | {what} | " +
              " | ".join(str(counts[(op, what, column)]) for column in columns) +
              " |")
    reached = sum(n for key, n in counts.items() if key[2] != "not reached")
    print(f"found {reached - len(missed)} of {reached} changes that are reached")
    print("\n".join(missed))


main()
