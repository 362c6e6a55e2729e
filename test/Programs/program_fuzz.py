#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on a device and in the interpreter.

    program_fuzz.py run [--device=host] [--seed=1] [--first=0] [--count=20]
        [--ranks=1,2,3,4,8] [--log=FILE] [--minutes=N] [-j N]
    program_fuzz.py print SEED NUMBER RANKS [--count=N]
    program_fuzz.py coverage [--seed=1] [--first=0] [--count=20] [--ranks=...]
    program_fuzz.py reduce SEED NUMBER RANKS [--device=host] [--output=FILE]
    program_fuzz.py locate SEED NUMBER RANKS [--device=host]
    program_fuzz.py summary LOG ...

`run` draws whole programs (program.py) and runs each with `iris-run
--compare=reference`, with each number of ranks in turn. A seed, a number and a number of
ranks name a program. Of each that fails it prints why:

  difference   a buffer of the device differs from the reference's
  reference    the interpreter reports an error, such as undefined behaviour: the
               generator's fault, or the interpreter's
  compile      the compiler refuses the program, or ends
  lacking      the compiler refuses it because the chip has no instruction for a type,
               such as matmuls of f32 on gfx11: no failure
  device       a rank of the device fails

`print` separates several programs by `// -----`. `coverage` prints how often programs
have each op and kind of op, and which ops of the language none of them has.

The last line of `run` is the summary; the exit status is 1 if a program failed. With --log
each result is a line of JSON, and what the log has is not run again by the same
tools. `reduce` removes from a program all that it fails without, in the same way;
`locate` prints the first value of a kernel's digest that differs, after a few runs.

Devices are those of iris-run: host, cuda, hip, emulated:CHIP.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from campaign_log import append, read_log  # noqa: E402
import coverage  # noqa: E402
import locate  # noqa: E402
from choices import Choices, reduce  # noqa: E402
from program import Program  # noqa: E402

HEAP = "512M"
LIMIT = 300  # seconds for a program


def draw(seed, number, ranks):
    """The text of a program, and the choices that made it."""
    choices = Choices(seed=f"{seed}/{number}/{ranks}")
    return Program(choices, ranks).text(), choices.made


def kind_of(text):
    """What went wrong, by the messages of iris-run."""
    if "the emulator does not know" in text:
        return "device"
    if "differs from the reference" in text:
        return "difference"
    if re.search(r"error: '\S+' op multiplies '\w+' by '\w+' on \w+; expected", text):
        return "lacking"
    if "iris-compile" in text:
        return "compile"
    if "note: in rank" in text or "waits forever" in text:
        return "reference"
    return "device"


def is_failure(kind):
    return kind not in (None, "lacking")


def flags_of(text):
    """The options of iris-run that a program names in its first lines."""
    return re.findall(r"^// options: (.*)$", text, re.MULTILINE)[:1]


def run_text(text, ranks, device, environment=None, timeout_s=20):
    """(None, "") if the device agrees with the reference, else what is wrong."""
    flags = " ".join(flags_of(text)).split()
    with tempfile.TemporaryDirectory(prefix="iris-programs-") as folder:
        path = os.path.join(folder, "program.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            result = subprocess.run(
                ["iris-run", "--compare=reference", "-n", str(ranks),
                 f"--device={device}", f"--heap={HEAP}", f"--timeout={timeout_s}", *flags,
                 "program.mlir"], cwd=folder, capture_output=True, text=True,
                env=environment, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return "device", f"did not end in {LIMIT} s"
    if result.returncode == 0:
        return None, ""
    return kind_of(result.stderr), result.stderr


def count_kernels(text):
    """The random kernels of a program, and its calls of the library's."""
    drawn_kernels = set(re.findall(r"launch @kernels::@((?:k|functions_)\w*)", text))
    calls = re.findall(r"^  iris\.(?!launch|alloc|dealloc|sync)\w+ .*%ctx", text,
                       re.MULTILINE)
    return len(drawn_kernels), len(calls)


def tools_hash():
    """Of the compiler and the interpreter."""
    digest = hashlib.sha256()
    for tool in ("iris-compile", "iris-interpret"):
        with open(shutil.which(tool), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def key_of(record):
    return tuple(record[name] for name in ("device", "seed", "number", "ranks",
                                           "tools"))


def run(options):
    tools = tools_hash()
    done = {key_of(r) for r in read_log(options.log)} if options.log else set()
    end = time.time() + 60 * options.minutes

    def one(number):
        ranks = options.ranks[number % len(options.ranks)]
        record = {"device": options.device, "seed": options.seed, "number": number,
                  "ranks": ranks, "tools": tools}
        if key_of(record) in done or time.time() > end:
            return None
        text, _ = draw(options.seed, number, ranks)
        kind, message = run_text(text, ranks, options.device)
        kernels, calls = count_kernels(text)
        return dict(record, kind=kind, message=message[:2000],
                    lines=len(text.splitlines()), kernels=kernels, calls=calls)
    records = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.count)
        for record in pool.map(one, numbers):
            if not record:
                continue
            records.append(record)
            if options.log:
                append(options.log, record)
            if is_failure(record["kind"]):
                print("{kind}: seed {seed}, number {number}, {ranks} ranks\n"
                      "{message}".format(**record), flush=True)
    return summarize(records)


def summarize(records):
    """Prints a line for each device; true if a program failed, or none ran."""
    groups = collections.defaultdict(dict)
    for record in records:
        groups[record["device"]][key_of(record)] = record
    for device, group in sorted(groups.items()):
        kinds = collections.Counter(r["kind"] for r in group.values())
        lines, kernels, calls = (
            sum(r.get(name, 0) for r in group.values() if r["kind"] != "lacking")
            for name in ("lines", "kernels", "calls"))
        print("%s: %d programs, %d lines, %d random kernels, %d library calls; %s" % (
            device, len(group), lines, kernels, calls,
            ", ".join(f"{kinds[kind]} {name}" for kind, name in (
                (None, "equal"), ("difference", "different"),
                ("reference", "errors of the reference"),
                ("compile", "not compiled"), ("lacking", "of types that the chip lacks"),
                ("device", "failures of the device")))))
    return (all(r["kind"] == "lacking" for r in records)
            or any(is_failure(r["kind"]) for r in records))


def reduce_program(options):
    text, made = draw(options.seed, options.number, options.ranks)
    kind, message = run_text(text, options.ranks, options.device)
    if not is_failure(kind):
        print("the program does not fail; nothing to reduce")
        return 1
    print(f"{kind}: {message}")

    def make(numbers):
        choices = Choices(numbers=numbers)
        return Program(choices, options.ranks).text(), choices.made

    def fails(candidate):
        return run_text(candidate, options.ranks, options.device)[0] == kind
    best = reduce(made, make, fails, lambda line: print(line, flush=True))
    header = ("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
              f"// RUN: iris-run --compare=reference -n {options.ranks} "
              + "".join(f"{flags} " for flags in flags_of(best)) + "%s\n")
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(header + best)
    print(f"{options.output}: {len(best.splitlines())} lines")
    return 0


def locate_difference(options):
    text, _ = draw(options.seed, options.number, options.ranks)
    kind, message = run_text(text, options.ranks, options.device)
    if kind != "difference":
        print(f"{kind or 'the program does not differ'}: {message}")
        return 1
    print(message)

    def differs(candidate):
        found = run_text(candidate, options.ranks, options.device)[1]
        return locate.place_of(found) == locate.place_of(message)
    print("\n".join(locate.locate(text, message, differs)))
    return 0


def numbers(text):
    return [int(word) for word in text.split(",")]


def drawn(options):
    """The texts of programs from `first` on."""
    for number in range(options.first, options.first + options.count):
        ranks = options.ranks[number % len(options.ranks)]
        yield draw(options.seed, number, ranks)[0]


def add_numbers(command):
    """Options that say which programs."""
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--count", type=int, default=20)
    command.add_argument("--ranks", type=numbers, default=[1, 2, 3, 4, 8])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run")
    command.add_argument("--device", default="host")
    add_numbers(command)
    command.add_argument("--log", default="")
    command.add_argument("--minutes", type=float, default=1e6)
    command.add_argument("-j", dest="jobs", type=int, default=1)
    for name in ("print", "reduce", "locate"):
        command = commands.add_parser(name)
        command.add_argument("seed", type=int)
        command.add_argument("number", type=int)
        command.add_argument("ranks", type=int)
        if name == "print":
            command.add_argument("--count", type=int, default=1)
            continue
        command.add_argument("--device", default="host")
        if name == "reduce":
            command.add_argument("--output", default="reduced.mlir")
    add_numbers(commands.add_parser("coverage"))
    command = commands.add_parser("summary")
    command.add_argument("logs", nargs="+")
    options = parser.parse_args()
    if options.command == "run":
        return run(options)
    if options.command == "reduce":
        return reduce_program(options)
    if options.command == "locate":
        return locate_difference(options)
    if options.command == "print":
        options.first, options.ranks = options.number, [options.ranks]
        print("// -----\n".join(drawn(options)), end="")
        return 0
    if options.command == "coverage":
        coverage.summarize(drawn(options))
        return 0
    return summarize([r for log in options.logs for r in read_log(log)])


if __name__ == "__main__":
    sys.exit(main())
