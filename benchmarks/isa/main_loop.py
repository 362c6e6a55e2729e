#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Describes the main loop of a matmul in AMD assembly.

    main_loop.py ASSEMBLY KERNEL

The main loop is the first innermost loop with matrix instructions and global
loads. Prints its instructions by kind, its memory accesses, its order in runs
of a kind, the work between loads and their waits, and the kernel's resources.
A kernel may have more such loops; loops that wait for data are not innermost.
So its *steps* are counted as well: basic blocks with matrix instructions and
global loads, and those of them that use scratch.
"""
import collections
import itertools
import re
import sys

LIMITS = {"vgprs": r"; TotalNumVgprs: (\d+)", "sgprs": r"; TotalNumSgprs: (\d+)",
          "scratch": r"; ScratchSize: (\d+)",
          "lds": r"; LDSByteSize: (\d+)", "occupancy": r"; Occupancy: (\d+)"}


def get_kind(instruction):
    name = instruction.split()[0]
    for kind, pattern in (("matrix", r"v_(mfma|wmma)"), ("lds", "ds_"),
                          ("memory", "(global|buffer|flat|scratch)_"),
                          ("wait", "s_wait"), ("barrier", "s_barrier"),
                          ("nop", "s_nop"), ("salu", "s_"), ("valu", "v_")):
        if re.match(pattern, name):
            return kind
    return "other"


def get_kernel(text, kernel):
    """The kernel's lines, and the comments after it with its resources."""
    begin = re.search(rf"^{re.escape(kernel)}:", text, re.M).end()
    end = text.index(".end_amdhsa_kernel", begin)
    return text[begin:end].splitlines(), text[end:]


def get_main_loop(lines):
    """The instructions of the main loop, in order."""
    instructions, labels = [], {}
    for line in lines:
        line = re.split(r";|//", line)[0].strip()
        label = re.match(r"([.\w$]+):", line)
        if label:
            labels[label[1]] = len(instructions)
        elif line and not line.startswith("."):
            instructions.append(line)
    loops = []
    for number, instruction in enumerate(instructions):
        branch = re.match(r"s_c?branch\w*\s+([.\w$]+)", instruction)
        if branch and labels.get(branch[1], number + 1) <= number:
            loops.append((labels[branch[1]], number + 1))
    for begin, end in sorted(loops):
        if any(begin <= b and e <= end for b, e in loops if (b, e) != (begin, end)):
            continue
        loop = instructions[begin:end]
        kinds = {get_kind(instruction) for instruction in loop}
        if {"matrix", "memory"} <= kinds:
            return loop
    raise ValueError("there is no loop with matrix instructions and loads")


def get_steps(lines):
    """Basic blocks with matrix instructions and loads, lists of instructions."""
    blocks = [[]]
    for line in lines:
        line = re.split(r";|//", line)[0].strip()
        if re.match(r"[.\w$]+:", line):
            blocks.append([])
        elif line and not line.startswith("."):
            blocks[-1].append(line)
            if re.match("s_c?branch", line):
                blocks.append([])
    return [block for block in blocks
            if {"matrix", "memory"} <= set(map(get_kind, block))
            and any(re.match("(buffer|global)_load", x) for x in block)]


def get_overlap(loop):
    """The fewest matrix instructions between a load from memory and a wait
    for loads: the work that hides a load's latency."""
    fewest, since = None, 0
    for iteration, instruction in [(t, x) for t in range(2) for x in loop]:
        kind = get_kind(instruction)
        if kind == "memory":
            since = 0
        elif kind == "matrix":
            since += 1
        elif (kind == "wait" and iteration == 1
              and re.search("vmcnt|loadcnt", instruction)):
            fewest = since if fewest is None else min(fewest, since)
    return fewest


def describe(path, kernel):
    """A dictionary of what `main` prints."""
    with open(path, encoding="utf-8") as file:
        lines, comments = get_kernel(file.read(), kernel)
    loop = get_main_loop(lines)
    kinds = collections.Counter(map(get_kind, loop))
    matrix = kinds.pop("matrix")
    result = {"matrix": matrix, "other": sum(kinds.values()),
              "ratio": round(sum(kinds.values()) / matrix, 3),
              "kinds": dict(sorted(kinds.items())),
              "accesses": dict(sorted(collections.Counter(
                  x.split()[0] for x in loop
                  if get_kind(x) in ("lds", "memory")).items())),
              "instructions": sorted({x.split()[0] for x in loop
                                      if get_kind(x) == "matrix"}),
              "order": " ".join(f"{kind}:{len(list(run))}" for kind, run
                                in itertools.groupby(map(get_kind, loop))),
              "overlap": get_overlap(loop)}
    steps = get_steps(lines)
    result["steps"] = len(steps)
    result["steps_with_scratch"] = sum(
        any(x.startswith("scratch_") for x in step) for step in steps)
    for name, pattern in LIMITS.items():
        result[name] = int(re.search(pattern, comments)[1])
    return result


def main():
    facts = describe(*sys.argv[1:3])
    print(f"{facts['matrix']} matrix instructions:",
          " ".join(facts["instructions"]))
    print(f"{facts['other']} others, {facts['ratio']:.3f} for each of them")
    for name in ("kinds", "accesses"):
        print(f"{name}:", ", ".join(f"{key} {count}" for key, count
                                    in facts[name].items()))
    print("order:", facts["order"])
    print(f"overlap: {facts['overlap']} matrix instructions between loads and "
          "waits for them")
    print(f"steps: {facts['steps']}, {facts['steps_with_scratch']} with scratch")
    print("kernel:", ", ".join(f"{name} {facts[name]}" for name in LIMITS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
