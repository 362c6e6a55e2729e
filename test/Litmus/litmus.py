#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Litmus tests: does machine code keep the memory model?

    litmus.py expected                        the model gives the expected results
    litmus.py races     [--tests ...]         and iris-run --check the same races
    litmus.py compile FOLDER [--chips ...]    code objects
    litmus.py run FOLDER [--schedules ...]    on emulated devices
    litmus.py mutate FOLDER                   without releases, or acquires
    litmus.py program -n 2 [--rounds N]       prints a program for iris-run
    litmus.py launch FOLDER -n 2 --device=cuda    packs such programs, and runs
                                              them: a million executions each
    litmus.py table LOG                       a table of what `run` has counted

The tests are those of litmus_tests.py in all variants (litmus_text.py), the
outcomes that they may have are those of litmus_model.py. --tests is a list of
names such as MP+wait@push, of tests such as MP+wait, or `short`.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import litmus_model as model
import litmus_program
import litmus_tests as tests
from litmus_kernels import WAVES, Kernel, Shape, module
from litmus_text import VARIANTS, place

BY_NAME = {each.test.name: each for each in tests.EXPECTED}


def chosen(options, ranks=None):
    """The placed tests that --tests names."""
    names = options.tests.split(",") if options.tests else None
    if names and "short" in names:
        names += tests.SHORT
        names.remove("short")
    found, used = [], set()
    for expected in tests.EXPECTED:
        for variant in options.variants:
            placed = place(expected.test, variant, ranks)
            keys = {expected.test.name, f"{expected.test.name}@{variant}"}
            if placed and (names is None or keys & set(names)):
                used |= keys
                found.append(placed)
    missing = set(names or ()) - used
    if missing and ranks is None:
        sys.exit(f"no test {', '.join(sorted(missing))}; expected names of "
                 "litmus_tests.py, with or without @" + ", @".join(VARIANTS))
    if not found:
        sys.exit("no test for this number of ranks")
    return found


def result_of(placed):
    """The result by hand; nothing where it is of other scopes."""
    if placed.scope == "block" and len(placed.test.threads) > 1:
        return None
    return BY_NAME[placed.test.name].result


# The model ------------------------------------------------------------------------


def check_expected(options):
    placed_tests, wrong = chosen(options), 0
    for placed in placed_tests:
        by_hand = BY_NAME[placed.test.name]
        allowed, racy = model.outcomes(placed)
        candidates = model.candidate_outcomes(placed)
        result = (tests.ALLOWED if by_hand.outcome in allowed
                   else tests.FORBIDDEN)
        wanted = result_of(placed)
        problem = (
            "no outcome is allowed" if not allowed else
            f"{by_hand.outcome} cannot be seen" if by_hand.outcome
            not in candidates else
            f"{by_hand.outcome} is {result}, expected {wanted}" if wanted
            and result != wanted else
            f"racy is {racy}, expected {by_hand.racy}" if wanted
            and racy != by_hand.racy else None)
        if problem:
            wrong += 1
            print(f"{placed.name}: {problem}")
    print(f"{len(BY_NAME)} tests, {len(placed_tests)} with variants, "
          f"{wrong} wrong results")
    return wrong != 0


def explore(arguments):
    """Whether iris-run --check --exhaust finds a race; or its output, if it
    fails for another reason."""
    placed, folder = arguments
    path = os.path.join(folder, placed.identifier + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(litmus_program.single(placed, Shape(1, 16, 1, 1)))
    done = subprocess.run(
        ["iris-run", "--check", "--exhaust", f"--save-schedule={path}.schedule",
         "-n", str(placed.ranks), path], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if "nothing orders it with another access" in said:
        return True
    return False if done.returncode == 0 and "in any order" in said else said


def check_races(options):
    placed_tests, wrong, racy = chosen(options), 0, 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for placed, found in zip(placed_tests, pool.map(
                explore, [(placed, folder) for placed in placed_tests])):
            wanted = model.outcomes(placed)[1]
            racy += wanted
            if found != wanted:
                wrong += 1
                print(f"{placed.name} {placed.test.threads}: the model has "
                      f"{'a' if wanted else 'no'} race, the checker: {found}")
    print(f"{len(placed_tests)} tests, {racy} of them with a race, "
          f"{wrong} where the checker differs")
    return wrong != 0


# Emulated devices -----------------------------------------------------------------


def shape_for(chip, options):
    """Two waves, whose threads have four elements each."""
    return Shape(2, 8 * WAVES[chip], options.groups, options.iterations)


def compile_for(arguments):
    chip, options = arguments
    text = module([Kernel(placed, shape_for(chip, options)).emit()
                   for placed in chosen(options)])
    path = os.path.join(options.folder, chip)
    done = subprocess.run(
        ["iris-compile", "-", f"--target={chip}", "--emit=obj", "-o", path],
        input=text, capture_output=True, text=True)
    return chip, done.returncode and done.stderr[:2000]


def compile_all(options):
    os.makedirs(options.folder, exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for chip, error in pool.map(compile_for, [
                (chip, options) for chip in options.chips]):
            if error:
                failed += 1
                print(f"{chip}: {error}")
    record = {key: getattr(options, key) for key in (
        "tests", "variants", "chips", "groups", "iterations")}
    with open(os.path.join(options.folder, "litmus.json"), "w",
              encoding="utf-8") as file:
        json.dump(record, file)
    print(f"{len(options.chips)} code objects, {failed} not compiled")
    return failed != 0


def load_folder(options):
    """What `compile` recorded is that of the folder's code objects."""
    with open(os.path.join(options.folder, "litmus.json"),
              encoding="utf-8") as file:
        record = json.load(file)
    for key, value in record.items():
        if getattr(options, key, None) in (None, "", list(VARIANTS)):
            setattr(options, key, value)
    unknown = set(options.chips) - set(record["chips"])
    if unknown:
        sys.exit(f"{options.folder} has no code of {', '.join(unknown)}")


litmus_emulate = None  # main imports it


def orders_of(image, placed, shape, memory, options):
    """Yields the outcomes of each order, or nothing and an error."""
    for seed in range(1, options.seeds + 1):
        for schedule in options.schedules:
            try:
                yield litmus_emulate.Run(image, placed, shape, memory, schedule,
                                         seed).run(), None
            except RuntimeError as error:
                yield collections.Counter(), f"{schedule}, seed {seed}: {error}"


def run_chip(arguments):
    """Lines of the log: of each test and kind of memory."""
    chip, options = arguments
    image = litmus_emulate.machine.CodeObject(os.path.join(options.folder, chip))
    shape, lines = shape_for(chip, options), []
    for placed in chosen(options):
        allowed, _ = model.outcomes(placed)
        for memory in litmus_emulate.MEMORY[chip]:
            found, errors = collections.Counter(), []
            for outcomes, error in orders_of(image, placed, shape, memory, options):
                found += outcomes
                errors += filter(None, [error])
            lines.append({
                "chip": chip, "test": placed.name, "memory": memory,
                "errors": errors, "outcomes": sorted(
                    [outcome, count, outcome in allowed]
                    for outcome, count in found.items())})
    return lines


def write_log(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")


def must_be_visible(line):
    test, _, variant = line["test"].partition("@")
    return (test in tests.VISIBLE
            and tests.VISIBLE_IN.get(line["memory"]) == variant)


def run_all(options):
    load_folder(options)
    start, lines = time.time(), []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for part in pool.map(run_chip, [(chip, options)
                                        for chip in options.chips]):
            lines += part
    bad = visible = elements = 0
    for line in lines:
        what = f"{line['chip']} {line['test']}, {line['memory']} memory"
        for error in line["errors"]:
            bad += 1
            print(f"{what}: {error}")
        for outcome, count, is_allowed in line["outcomes"]:
            elements += count
            if not is_allowed:
                bad += 1
                print(f"{what}: forbidden: {outcome}, {count} elements")
        if must_be_visible(line):
            outcome = BY_NAME[line["test"].split("@")[0]].outcome
            if any(tuple(seen) == outcome for seen, _, _ in line["outcomes"]):
                visible += 1
            else:
                bad += 1
                print(f"{what}: {outcome} is not seen, so the test would not "
                      "see a missing release or acquire")
    if options.log:
        write_log(options.log, lines)
    print(f"{len(options.chips)} chips, {len(lines)} tests and kinds of memory, "
          f"{len(lines) * len(options.schedules) * options.seeds} launches, "
          f"{elements} elements, {visible} relaxed outcomes where they must be "
          f"seen, {bad} failures, {time.time() - start:.1f} s")
    return bad != 0 or not lines


# Instructions of releases and of acquires. On gfx9 loads and stores have one
# counter, so that not all of its waits can go: those before a barrier, and those
# after a write-back.
RELEASES = r"buffer_wbl2|global_wb|s_waitcnt_vscnt|s_wait_storecnt"
ACQUIRES = r"buffer_inv|buffer_wbinvl1|global_inv|buffer_gl[01]_inv"
WAIT = "s_waitcnt vmcnt(0)"


def instructions_of(names, executed):
    """Positions, of instructions by position."""
    found = [position for position, text in executed.items()
             if re.match(names, text)]
    if names == RELEASES:
        order = sorted(executed)
        for before, after in zip(order, order[1:]):
            if executed[before] == WAIT and executed[after] == "s_barrier":
                found.append(before)
            if (executed[after] == WAIT
                    and executed[before].startswith("buffer_wbl2")):
                found.append(after)
    return found


def mutate_chip(arguments):
    chip, options = arguments
    image = litmus_emulate.machine.CodeObject(os.path.join(options.folder, chip))
    shape, lines = shape_for(chip, options), []
    kinds = [kind for kind in litmus_emulate.MEMORY[chip] if kind != "coherent"]
    for placed in chosen(options) if kinds else ():
        allowed, _ = model.outcomes(placed)
        executed = {}
        for memory in kinds:
            run = litmus_emulate.Run(image, placed, shape, memory, "random", 1)
            run.run()
            executed.update((position, text) for position, _, text
                            in run.emulation.executions())
        for what, names in (("releases", RELEASES), ("acquires", ACQUIRES)):
            if (chip, placed.name, what) in tests.INSEPARABLE:
                continue
            removed, seen = instructions_of(names, executed), []
            # Some waits are for loads, too, and the emulator reports that they are
            # missing; then one instruction at a time.
            for part in [removed, *([position] for position in removed)]:
                image.remove(part)
                seen = [memory for memory in kinds if any(
                    set(outcomes) - allowed for outcomes, _
                    in orders_of(image, placed, shape, memory, options))]
                image.remove(())
                if seen:
                    break
            lines.append((chip, placed.name, what, len(part), seen))
    return lines


def mutate_all(options):
    options.tests = options.tests or ",".join(tests.MUTATED)
    load_folder(options)
    total = unseen = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for lines in pool.map(mutate_chip, [(chip, options)
                                            for chip in options.chips]):
            for chip, name, what, removed, seen in lines:
                total += 1
                unseen += not seen
                print(f"{chip} {name} without {removed} instructions of {what}: "
                      + (f"forbidden outcomes in {', '.join(seen)} memory" if seen
                         else "NOT SEEN"))
    print(f"{total} mutants, {unseen} of them not seen")
    return unseen != 0 or not total


def print_table(options):
    """Markdown: by test, the elements with the outcome that has an expected result, of
    all elements, on each chip in all orders and kinds of memory."""
    rows, chips = {}, []
    with open(options.log, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            name, chip = line["test"].split("@")[0], line["chip"]
            if chip not in chips:
                chips.append(chip)
            if line["test"].endswith("@block"):
                continue
            cell = rows.setdefault(name, {}).setdefault(chip, [0, 0, 0])
            for outcome, count, is_allowed in line["outcomes"]:
                cell[0] += count * (tuple(outcome) == BY_NAME[name].outcome)
                cell[1] += count
                cell[2] += count * (not is_allowed)
    print("| test | outcome | model | " + " | ".join(chips) + " |")
    print("|---|---|---" + "|---" * len(chips) + "|")
    for name, cells in rows.items():
        expected = BY_NAME[name]
        print(f"| {name} | {' '.join(map(str, expected.outcome))} | "
              f"{expected.result} | " + " | ".join(
                  f"{cells[chip][0]:,}" if chip in cells else "" for chip in chips)
              + " |")
    totals = [sum(cells[chip][1] for cells in rows.values() if chip in cells)
              for chip in chips]
    print("| *elements* | | | " + " | ".join(f"{n:,}" for n in totals) + " |")
    bad = [sum(cells[chip][2] for cells in rows.values() if chip in cells)
           for chip in chips]
    print("| *forbidden outcomes* | | | " + " | ".join(f"{n:,}" for n in bad)
          + " |")
    return 0


# iris-run -------------------------------------------------------------------------

TARGETS = {"cuda": "sm_90a", "hip": "gfx942", "host": "host"}


def shape_of(options):
    return Shape(options.warps, 128 * options.warps, options.groups,
                 options.iterations)


def print_program(options):
    print(litmus_program.program(chosen(options, options.ranks), shape_of(options),
                                 options.rounds, aligned=True), end="")
    return 0


def pack(arguments):
    """Returns the problem, if there is one."""
    path, placed_tests, options = arguments
    text = litmus_program.program(placed_tests, shape_of(options), options.rounds,
                                  aligned=True)
    done = subprocess.run(
        ["iris-compile", "-", f"--target={options.target}", "-o", path]
        + ["--trace"] * bool(options.log),
        input=text, capture_output=True, text=True)
    return done.returncode and f"{path}: not compiled: {done.stderr[:2000]}"


def read_counts(path, part, device):
    """Lines of the log, from the spans that a program has recorded."""
    with open(path, encoding="utf-8") as file:
        spans = {event["name"]: event["args"]["bytes"]
                 for event in json.load(file)["traceEvents"]
                 if "bytes" in event.get("args", {})}
    for placed in part:
        found = []
        for outcome in litmus_program.Counted(placed, 0).outcomes:
            name = f"{placed.name} {' '.join(map(str, outcome))}"
            if name in spans:
                found.append([outcome, spans[name],
                              outcome in model.outcomes(placed)[0]])
        yield {"chip": device, "test": placed.name, "memory": "device",
               "errors": [], "outcomes": found}


def launch_all(options):
    """Packs what the folder lacks, and runs all packages."""
    options.target = options.target or TARGETS.get(
        options.device.partition(":")[0]) or options.device.partition(":")[2]
    # At least the executions that were asked for, in whole rounds.
    instances = options.groups * options.iterations
    options.rounds = -(-options.executions // instances)
    os.makedirs(options.folder, exist_ok=True)
    placed_tests, jobs, packages = chosen(options, options.ranks), [], []
    for first in range(0, len(placed_tests), options.batch):
        part = placed_tests[first:first + options.batch]
        key = json.dumps([[placed.name for placed in part], options.target,
                          options.ranks, options.warps, options.groups,
                          options.iterations, options.rounds,
                          bool(options.log)])
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        path = os.path.join(options.folder, name + ".iris")
        packages.append((path, part))
        if not os.path.exists(path):
            jobs.append((path, part, options))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for problem in pool.map(pack, jobs):
            if problem:
                failed += 1
                print(problem)
    print(f"{len(packages)} packages for {options.target}, {len(jobs)} of them "
          f"new, {failed} not compiled", flush=True)
    if failed or options.pack_only:
        return failed != 0
    start, lines = time.time(), []
    for path, part in packages:
        command = ["iris-run", "-n", str(options.ranks),
                   f"--device={options.device}", path]
        if options.log:
            trace = path + ".json"
            command[1:1] = [f"--trace={trace}", "--trace-events=2048"]
        done = subprocess.run(command, capture_output=True, text=True)
        if options.log and os.path.exists(trace):
            lines += read_counts(trace, part, options.device)
            os.remove(trace)
        if done.returncode:
            failed += 1
            print(f"{path} ({part[0].name} to {part[-1].name}):\n"
                  f"{done.stdout}{done.stderr}", flush=True)
    if options.log:
        write_log(options.log, lines)
    count = len(placed_tests) * instances * options.rounds
    print(f"{len(placed_tests)} tests on {options.ranks} ranks, "
          f"{options.device}: {instances * options.rounds:,} executions of each, "
          f"{count:,} in all, of {shape_of(options).tile} elements; {failed} of "
          f"{len(packages)} packages failed, {time.time() - start:.0f} s")
    return failed != 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)

    def add(name, function, *groups):
        action = actions.add_parser(name)
        action.set_defaults(function=function)
        if "folder" in groups:
            action.add_argument("folder")
        action.add_argument("--tests", default="")
        action.add_argument("--variants", type=lambda text: text.split(","),
                            default=list(VARIANTS),
                            help=f"of {', '.join(VARIANTS)} (default: all)")
        action.add_argument("-j", "--jobs", type=int, default=2)
        if "chips" in groups:
            action.add_argument("--chips", type=lambda text: text.split(","),
                                default=None)
        return action
    add("expected", check_expected)
    add("races", check_races)
    compiling = add("compile", compile_all, "folder")
    compiling.add_argument("--chips", type=lambda text: text.split(","),
                           default="gfx942,gfx950,gfx90a,gfx1100,gfx1201".split(","))
    compiling.add_argument("--groups", type=int, default=2,
                           help="instances of a test at the same time")
    compiling.add_argument("--iterations", type=int, default=2,
                           help="instances of a group, one after the other")
    for name, function, schedules, seeds in (
            ("run", run_all, "random,first,last,crossed", 1),
            ("mutate", mutate_all, "random,starved,leader-first", 30)):
        action = add(name, function, "folder", "chips")
        action.add_argument("--schedules", type=lambda text: text.split(","),
                            default=schedules.split(","),
                            help="orders of waves: see iris-emulate --help "
                            f"(default: {schedules})")
        action.add_argument("--seeds", type=int, default=seeds,
                            help="of each order of waves; mutants end at the first "
                            f"forbidden outcome (default: {seeds})")
        if name == "run":
            action.add_argument("--log", help="write a line of JSON for each test "
                                "and kind of memory to this file")
    table = actions.add_parser("table")
    table.add_argument("log")
    table.set_defaults(function=print_table)
    printing = add("program", print_program)
    printing.add_argument("--rounds", type=int, default=2,
                          help="launches of each test")
    launching = add("launch", launch_all, "folder")
    launching.add_argument("--device", default="host",
                           help="as of iris-run (default: host)")
    launching.add_argument("--target", help="as of iris-compile (default: sm_90a "
                           "for cuda, gfx942 for hip, the emulated chip)")
    launching.add_argument("--executions", type=int, default=1_000_000,
                           help="of each test (default: a million)")
    launching.add_argument("--log", help="write the counts of all outcomes to this "
                           "file, for `table`; the packages record traces, so that "
                           "waits take longer")
    launching.add_argument("--batch", type=int, default=20,
                           help="tests in a package")
    launching.add_argument("--pack-only", action="store_true",
                           help="only write the packages, for a machine without a "
                           "compiler, where the same command then runs them")
    for action, groups, iterations in ((printing, 4, 4), (launching, 64, 64)):
        action.add_argument("-n", dest="ranks", type=int, default=2)
        action.add_argument("--warps", type=int, default=2,
                            help="of a program; tiles have 128 elements for each")
        action.add_argument("--groups", type=int, default=groups,
                            help="instances of a test at the same time")
        action.add_argument("--iterations", type=int, default=iterations,
                            help="instances of a group, one after the other")
    options = parser.parse_args()
    if options.action in ("run", "mutate"):
        # Not before: it needs NumPy, and starts an interpreter that has it.
        global litmus_emulate
        import litmus_emulate
    return options.function(options)


if __name__ == "__main__":
    sys.exit(main())
