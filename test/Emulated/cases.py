# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes many cases of generated kernels: shared by fused.py, copied.py and
collectives.py."""
import re
import time

import machine  # first: it switches to an interpreter that has NumPy


def add_actions(actions):
    """Adds the actions generate and check, for a number of ranks and some of
    the cases."""
    both = [actions.add_parser(name) for name in ("generate", "check")]
    for action in both:
        action.add_argument("ranks", type=int)
        action.add_argument("--only", default=".",
                            help="names of cases match this")
    return both


def pick(parser, options, cases):
    """The cases that match --only; exits if there are none."""
    picked = {name: case for name, case in cases.items()
              if re.search(options.only, name)}
    if not picked:
        parser.error(f"no case matches {options.only!r}")
    return picked


def add_check_options(parser, seeds):
    """Options of the execution; `seeds` is the default number."""
    parser.add_argument("hsaco")
    parser.add_argument("--memory", default="coherent,device,wg")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--budget", type=int, default=20_000_000,
                        help="most instructions of a run")
    parser.add_argument("--expect-failure", action="store_true",
                        help="succeed only if all cases go wrong")
    parser.add_argument("--verbose", action="store_true")


def run_case(image, options, prepare, name, weak, seed):
    """Returns (problem, instructions)."""
    run = prepare(image, name, weak, seed)
    emulation = machine.Emu(run.world.memory, seed, weak,
                            budget=options.budget)
    try:
        instructions = machine.Streams(emulation, run.queues()).run()
    except RuntimeError as error:  # out of bounds, hang, trap
        return [*run.errors, str(error)], 0
    return run.errors, instructions


def check_memory(image, options, cases, memory, prepare, what, launches):
    """All cases and seeds on one kind of memory; returns the failed cases,
    each up to its first failing seed."""
    weak = None if memory == "coherent" else memory
    failed, runs, instructions = set(), 0, 0
    start = time.time()
    for name in cases:
        for seed in range(1, options.seeds + 1):
            errors, count = run_case(image, options, prepare, name, weak, seed)
            runs += 1
            instructions += count
            if errors:
                print(f"{name}, {memory}, seed {seed}: {errors[0]}")
                failed.add(name)
                break
        if options.verbose:
            print(f"{name}: {time.time() - start:.1f} s", flush=True)
    print(f"{len(cases)} {what} on {options.ranks} devices "
          f"({image.arch}, {memory} memory): {runs} runs of {launches} "
          f"launches, {instructions} wave instructions, {len(failed)} failed, "
          f"{time.time() - start:.1f} s", flush=True)
    return failed


def check(options, cases, prepare, what, launches):
    """Executes the cases of the object on all kinds of memory in `options`;
    returns exit status 0 if all pass, or if all are expected to fail and do.
    prepare(image, name, weak, seed) returns a run of a case: its `world`,
    `queues` and `errors`."""
    image = machine.CodeObject(options.hsaco)
    good = True
    for memory in options.memory.split(","):
        failed = check_memory(image, options, cases, memory, prepare, what,
                              launches)
        unnoticed = cases.keys() - failed
        if options.expect_failure and unnoticed:
            print(f"not found wrong: {', '.join(sorted(unnoticed))}")
        good = good and not (unnoticed if options.expect_failure else failed)
    return not good
