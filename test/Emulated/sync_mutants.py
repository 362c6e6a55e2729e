#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library kernels without one of their barriers, waits, cache operations or cache
bits: whether the emulator notices.

    sync_mutants.py [--chips=LIST] [--suites=LIST] [--only=REGEX]
        [--each=N] [--seed=N] [--rounds=N] [-j N] [--least=N] [--log=FILE]
        [--verbose]

For each kernel and chip, all places where a barrier, a count of a wait, an
instruction that writes caches back or invalidates them, or a cache bit can be
removed from the machine code that was executed (sync_sites.py). --each chooses
so many of each kind at random (0: all). The kernel must then go wrong in an
order of waves (SCHEDULES) on some kind of memory: a report of a missing wait, a
wrong value, or a hang. A report must name the access that was not waited for,
and its use: in the order of the program, the removed wait is between them.

A mutant that nothing notices is explained by what else orders the accesses that
the instruction orders (sync_reasons.py): --log has a line of JSON for each. The
table has mutants, those that were caught, and by what; then the others:

  one wave             a barrier where workgroups have one wave
  nothing outstanding  a wait at which nothing ever completed
  orders nothing       others order all accesses, also when it is there
  others order         other instructions order all accesses that it orders
  rest suffices        what is left of the instruction does
  unexplained          accesses that it orders did not occur without it, also
                       in more rounds (MORE_ROUNDS)

It is an error if a kernel fails unchanged, if a report names accesses that the
instruction does not order, if a mutant is unexplained, or if fewer mutants than
--least are caught.
"""
import argparse
import collections
import dataclasses
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent import futures

import machine  # first: it switches to an interpreter that has NumPy
import collectives
import copied
import fused
from sync_reasons import CLASSES, Explainer, Trace
from sync_sites import COUNTERS, KINDS, Patcher, enumerate_mutants

HERE = pathlib.Path(__file__).parent
CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
# What is modelled of each chip: first, coherent memory where accesses that
# nothing orders are reported.
MEMORIES = {"gfx90a": ["checked", None], "gfx942": ["checked", "wg", "device"],
            "gfx950": ["checked", "wg", "device"],
            "gfx1100": ["checked", "wave"],
            "gfx1201": ["checked", "wave", "device"]}
# The check of the order hardly depends on the order in which waves run.
ORDERS = ("random", "leader-last", "starved", "bursts", "crossed", "last")
SCHEDULES = collections.defaultdict(lambda: ORDERS, checked=ORDERS[:3])
# So many times the rounds are executed before accesses are said not to occur.
MORE_ROUNDS = 64
OUTCOMES = ("missing wait", "missing order", "wrong value", "hang", "fault")


@dataclasses.dataclass(frozen=True)
class Suite:
    """Kernels of one of the other scripts."""
    script: str
    arguments: str  # of `generate`
    module: object
    ranks: int
    element: str = ""
    # Kernels whose tiles do not fit into the registers of gfx11 and gfx12.
    large: tuple = ()

    def names(self, chip, only):
        return [name for name in self.cases() if re.search(only, name)
                and not (chip.startswith("gfx1") and name in self.large)]

    def cases(self):
        return (self.module.get_cases(["sum"]) if self.module is collectives
                else self.module.get_cases())

    def compile(self, chip, names, folder):
        """Writes the code object, and the host's part if there is one."""
        only = f"^({'|'.join(names)})$"
        source, main, code = (os.path.join(folder, f"{self.script}.{chip}.{x}")
                              for x in ("mlir", "main", "o"))
        run = functools.partial(subprocess.run, check=True)
        with open(source, "w", encoding="utf-8") as file:
            run([sys.executable, str(HERE / self.script), "generate",
                 *self.arguments.split(), f"--only={only}"], stdout=file)
        if self.module is not collectives:
            run(["iris-compile", source, "--emit=mlir", "--until=expand", "-o",
                 main])
            source = main
        run(["iris-compile", source, f"--target={chip}", "--emit=obj", "-o",
             code])
        return argparse.Namespace(ranks=self.ranks, main=main, hsaco=code,
                                  element=self.element)


SUITES = {
    "fused": Suite("fused.py", "2", fused, 2, large=("hbm_buffer_full",)),
    "collectives": Suite("collectives.py", "3 f16 --reductions=sum",
                         collectives, 3, "f16"),
    "copied": Suite("copied.py", "2", copied, 2),
}


class Kernel:
    """A case of a suite: unchanged and with mutants."""

    def __init__(self, suite, options, chip, name, rounds):
        self.suite, self.options = suite, options
        self.chip, self.name, self.cases = chip, name, suite.cases()
        self.image = pathlib.Path(options.hsaco).read_bytes()
        self.rounds = rounds
        self.budget, self.threads = 50_000_000, 0
        # Of each position: the instruction, how often waves executed it, and
        # what completed there.
        self.texts, self.executions = {}, collections.Counter()
        self.completed = collections.defaultdict(lambda: [0] * len(COUNTERS))
        self.explainer = Explainer(self.texts, Trace())

    def settings(self, iteration=0):
        """Those of the first rounds, or of further ones."""
        first = 1 + iteration * self.rounds
        return [(seed, schedule, memory)
                for seed in range(first, first + self.rounds)
                for memory in MEMORIES[self.chip]
                for schedule in SCHEDULES[memory]]

    def execute(self, code, setting, trace):
        """Returns (errors, instructions, emulation). If the order is checked,
        adds to the trace."""
        seed, schedule, memory = setting
        is_checked = memory == "checked"
        memory = None if is_checked else memory
        run = self.suite.module.prepare(self.options, self.cases, code,
                                        self.name, memory, seed)
        run.world.memory.checks_host = self.suite.module is not copied
        emulation = machine.Emu(run.world.memory, seed, memory,
                                budget=self.budget, schedule=schedule,
                                checks_order=is_checked,
                                explains_order=is_checked)
        queues = run.queues()
        self.threads = max(step.block[0] for queue in queues for step in queue
                           if isinstance(step, machine.Launch))
        try:
            count = machine.Streams(emulation, queues).run()
        except RuntimeError as error:
            return [str(error), *run.errors], 0, emulation
        if is_checked:
            trace.add(emulation)
        return run.errors, count, emulation

    def check_unchanged(self):
        """Executes the kernel in all settings; returns the first error."""
        code, most = machine.CodeObject(self.options.hsaco), 0
        for setting in self.settings():
            errors, count, emulation = self.execute(code, setting,
                                                    self.explainer.before)
            if errors:
                return f"{setting}: {errors[0]}"
            most = max(most, count)
            for position, times, completed, text in emulation.waits():
                self.texts[position] = text
                self.executions[position] += times
                for i, number in enumerate(completed):
                    self.completed[position][i] += number
        self.budget = 4 * most + 100_000
        return None

    def choose(self, each, seed):
        """The mutants, or so many of each kind."""
        found = list(enumerate_mutants(self.texts.items()))
        if not each:
            return found
        rng, chosen = random.Random(f"{seed} {self.chip} {self.name}"), []
        for kind in KINDS:
            mutants = [mutant for mutant in found if mutant.kind == kind]
            chosen += rng.sample(mutants, min(each, len(mutants)))
        return chosen

    def judge(self, code, mutant):
        """The outcome and the message of the first setting that notices the
        mutant, or a record of why nothing does (Explainer.explain). The checked
        memory comes first."""
        trace = Trace()
        for iteration in range(MORE_ROUNDS):
            for setting in self.settings(iteration):
                errors, _, _ = self.execute(code, setting, trace)
                if errors:
                    seed, schedule, memory = setting
                    where = f"{memory or 'coherent'}, {schedule}, seed {seed}"
                    return Result(mutant, outcome_of(errors[0]),
                                  f"{where}: {errors[0]}",
                                  self.is_other(mutant, errors[0]), {})
            record = self.explain(mutant, trace)
            if record["class"] != "unexplained":
                break
        return Result(mutant, record["class"], record["explanation"],
                      record["class"] == "unexplained", record)

    def is_other(self, mutant, error):
        """Whether a report names accesses that the mutant does not explain."""
        outcome = outcome_of(error)
        return (outcome == "missing wait" and not is_between(mutant, error)
                or outcome == "missing order"
                and self.explainer.contradicts(mutant, error))

    def explain(self, mutant, trace):
        wave = 32 if self.chip.startswith("gfx1") else 64
        if mutant.kind == "barrier" and self.threads <= wave:
            return {"class": "one wave",
                    "explanation": "workgroups have one wave"}
        completed = self.completed[mutant.position]
        if mutant.counter and not completed[COUNTERS.index(mutant.counter)] \
                and self.explainer.is_unchanged(mutant, trace):
            return {"class": "nothing outstanding",
                    "explanation": f"at {self.executions[mutant.position]} "
                                   "executions, nothing was outstanding"}
        return self.explainer.explain(mutant, trace)


@dataclasses.dataclass(frozen=True)
class Result:
    mutant: object
    outcome: str  # one of OUTCOMES, or of CLASSES if nothing notices it
    message: str
    is_bad: bool  # whether it is an error
    record: dict  # why nothing notices it


def outcome_of(error):
    for report in ("missing wait", "missing order"):
        if report in error:
            return report
    if re.search("no end after|deadlock|no queue can continue", error):
        return "hang"
    return "wrong value" if " wrong" in error else "fault"


def is_between(mutant, message):
    """Whether a report names an access and its use with the wait between them,
    in the order of the program, where loops begin again."""
    access, use = (int(number, 16) // 4 for number in (
        re.search(r"' at (\w+)", message)[1],
        re.search(r"\n  at (\w+) in", message)[1]))
    wait = mutant.position
    return access < wait < use or wait < use <= access or use <= access < wait


def run_kernel(arguments):
    """Returns (suite, chip, name, error, results)."""
    suite_name, options, chip, name, settings = arguments
    kernel = Kernel(SUITES[suite_name], options, chip, name, settings.rounds)
    error = kernel.check_unchanged()
    mutants = [] if error else kernel.choose(settings.each, settings.seed)
    results = []
    patcher = Patcher(chip, kernel.image, mutants) if mutants else None
    for mutant in mutants:
        with tempfile.NamedTemporaryFile(suffix=".o") as file:
            file.write(patcher.apply(mutant))
            file.flush()
            code = machine.CodeObject(file.name)
        results.append(kernel.judge(code, mutant))
    return suite_name, chip, name, error, results


def tasks(options, folder):
    kernels = [(suite, chip, names)
               for suite in options.suites.split(",")
               for chip in options.chips.split(",")
               if (names := SUITES[suite].names(chip, options.only))]
    with futures.ThreadPoolExecutor(options.jobs) as pool:
        compiled = pool.map(
            lambda suite, chip, names: SUITES[suite].compile(chip, names, folder),
            *zip(*kernels))
        return [(suite, code, chip, name, options)
                for (suite, chip, names), code in zip(kernels, compiled)
                for name in names]


def print_table(counts):
    """`counts`: of (chip, kind), by outcome."""
    columns = ("mutants", "caught", *OUTCOMES, *CLASSES)
    print("| chip | removed | " + " | ".join(columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    for (chip, kind), numbers in counts.items():
        numbers["mutants"] = sum(numbers.values())
        numbers["caught"] = sum(numbers[each] for each in OUTCOMES)
        print(f"| {chip} | {kind} | "
              + " | ".join(str(numbers[each]) for each in columns) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--suites", default=",".join(SUITES))
    parser.add_argument("--only", default=".", help="names of kernels match this")
    parser.add_argument("--each", type=int, default=1,
                        help="mutants of each kind of a kernel; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2,
                        help="executions in each order of waves")
    parser.add_argument("--least", type=int, default=1,
                        help="how many mutants must be caught")
    parser.add_argument("--log", help="write here why mutants are not noticed")
    parser.add_argument("-j", type=int, default=1, dest="jobs")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    counts = {(chip, kind): collections.Counter()
              for chip in options.chips.split(",") for kind in KINDS}
    good, start = True, time.time()
    with tempfile.TemporaryDirectory() as folder, \
            open(options.log or os.devnull, "w", encoding="utf-8") as log, \
            futures.ProcessPoolExecutor(options.jobs,
                                        max_tasks_per_child=1) as pool:
        started = [pool.submit(run_kernel, task)
                   for task in tasks(options, folder)]
        for done, future in enumerate(futures.as_completed(started), 1):
            suite, chip, name, error, results = future.result()
            if sys.stderr.isatty():
                print(f"\r{done} of {len(started)} kernels", end="",
                      file=sys.stderr)
            if error:
                print(f"{chip} {name}: fails unchanged: {error}")
                good = False
            for result in results:
                mutant = result.mutant
                counts[chip, mutant.kind][result.outcome] += 1
                good &= not result.is_bad
                if result.is_bad or options.verbose:
                    print(f"{'error: ' * result.is_bad}{chip} {name}: {mutant}: "
                          f"{result.outcome}: {result.message}", flush=True)
                if result.record:
                    log.write(json.dumps(
                        {"suite": suite, "chip": chip, "kernel": name,
                         "kind": mutant.kind, "mutant": str(mutant),
                         **result.record}) + "\n")
            log.flush()
    print_table(counts)
    caught = sum(each["caught"] for each in counts.values())
    others = sum(each["mutants"] for each in counts.values()) - caught
    unexplained = sum(each["unexplained"] for each in counts.values())
    print(f"{caught} mutants are caught, {others - unexplained} of {others} others "
          f"explained, {time.time() - start:.0f} s")
    if caught < options.least:
        print(f"expected at least {options.least}")
    return not good or caught < options.least


if __name__ == "__main__":
    sys.exit(main())
