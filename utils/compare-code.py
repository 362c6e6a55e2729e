#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the machine code that two compilers make of the library's kernels.

    utils/compare-code.py OLD NEW
    utils/compare-code.py OLD NEW --targets=gfx942 --sample=0 --limit=1.01

OLD and NEW are two iris-compile binaries. Both compile the collectives of
NEW's --list-collectives in all variants, also staged, and the matmuls of
test/Execution/Inputs/fused.py, of several types and for 2 and 8 ranks, one
kernel at a time, to assembly.

Per kernel: instructions in total, in loops, and in loops without another loop
inside; registers, spills, and bytes of scratch and LDS. For PTX, registers are
the virtual ones, and there are no spills; for the host, spills are the stores
and reloads of registers. Line tables are left out, and with them the labels and
unwinding directives that come with them. A kernel that neither compiler accepts (a type that a
variant does not add, say) is skipped; one that only one accepts is an error.

Prints a row per kernel whose code differs, `old>new` where the numbers do too;
then, per target, the worst and the mean (geometric) ratio of the instruction
counts, and the sums of the others.

exit status: 0 if all was compared and is within --limit; 1 if a count of
instructions grew by more than --limit, if a kernel spills or uses scratch that
did not, or if only one of the compilers accepts a kernel; 2 for a wrong command
line.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True  # keeps the source tree clean

COUNTS = ["instructions", "loops", "innermost"]
# What a kernel must not begin to use.
MEMORY = ["sgpr_spills", "vgpr_spills", "scratch"]
METADATA = {"sgprs": ".sgpr_count", "vgprs": ".vgpr_count",
            "sgpr_spills": ".sgpr_spill_count",
            "vgpr_spills": ".vgpr_spill_count",
            "scratch": ".private_segment_fixed_size",
            "lds": ".group_segment_fixed_size"}
KEYS = COUNTS + list(METADATA)
TYPES = {"moves": ["i8", "f32"], "reduces": ["f16", "bf16", "i32"],
         "matmuls": ["f16", "f32", "i8"]}
RANKS = [2, 8]
# What line tables add, with their comments in the lines of code.
LINES = re.compile(r"\s*(\.(loc|file|cfi_\w+)\b|[.$]L_*(tmp|func_begin|func_end)\d+:)"
                   r"|\s*$")
KERNEL = "kernel"

Kernel = collections.namedtuple("Kernel", "name source")
Code = collections.namedtuple("Code", "text numbers")


# Kernels ---------------------------------------------------------------------


def list_collectives(compiler):
    table = json.loads(subprocess.run(
        [compiler, "--list-collectives"], check=True,
        stdout=subprocess.PIPE).stdout)
    for each in table:
        for variant in each["variants"]:
            if not variant["kernel"]:
                continue
            # Those that work anywhere are the same kernels if staged.
            forms = ([False, True]
                     if variant["staged"] and not variant["anywhere"] else
                     [False])
            types = TYPES["reduces" if each["reduces"] else "moves"]
            for element, size, staged in (
                    (e, r, s) for e in types for r in RANKS for s in forms):
                reduction = " sum" if each["reduces"] else ""
                config = f'variant = "{variant["name"]}"'
                config += ", staged = true" if staged else ""
                name = (f"{each['name']} {variant['name']} {element} "
                        f"{size}{' staged' if staged else ''}")
                yield Kernel(name, f"iris.collective @{KERNEL} {each['name']}"
                                   f"{reduction} {element} size {size} "
                                   f"{{{config}}}\n")


def list_matmuls(compiler):
    sys.path.insert(0, str(ROOT / "test/Execution/Inputs"))
    os.environ["PATH"] = f"{compiler.parent}:{os.environ['PATH']}"
    import fused  # asks iris-compile for its table
    for kind, variants in fused.VARIANTS.items():
        for variant, shard, element, size in (
                (v, s, e, r) for v in variants for s in fused.SHARDS[kind]
                for e in TYPES["matmuls"] for r in RANKS):
            result = "i32" if element == "i8" else element
            name = f"{kind} {variant} {shard} {element} {size}"
            config = "" if kind == "matmul" else (
                f' {{variant = "{variant}", shard = "{shard}"}}')
            ranks = "" if kind == "matmul" else f" size {size}"
            if kind == "matmul" and size != RANKS[0]:
                continue
            yield Kernel(name, f"iris.matmul_kernel @{KERNEL} {kind} {element} "
                               f"-> {result}{ranks}{config}\n")


# Code ------------------------------------------------------------------------


def strip(line):
    """The instruction, label or directive of a line, and its comment."""
    code, _, comment = re.sub(r"//|;(?=\s|$)| # ", "\0", line).partition("\0")
    return code.strip(), comment


def get_body(text):
    """The lines of the kernel, from its label or entry to its end."""
    # The host's symbols of kernels have a prefix.
    begin = re.search(rf"^(iris\.)?{KERNEL}:|^\.visible \.entry {KERNEL}\(",
                      text, re.M)
    if not begin:
        raise ValueError(f"the assembly has no kernel '{KERNEL}'")
    end = re.compile(r"^\.?Lfunc_end|-- End function|^\}|^\.Lfunc_end",
                     re.M).search(text, begin.end())
    body = text[begin.end():end.start() if end else len(text)].splitlines()
    return [line for line in body if not LINES.match(line)]


def count(lines):
    """Instructions by place, from the comments of LLVM on blocks."""
    total, header, own, parents = collections.Counter(), None, None, {}
    opens = True  # whether comments describe the block that begins
    for line in lines:
        code, comment = strip(line)
        label = re.match(r"([$.]?\w*BB\w+):", code)
        if label or re.search(r"%bb\.\d+:", comment):
            own, header, opens = label and label[1], None, True
        if opens and (member := re.search(r"in Loop: Header=(\w+)", comment)):
            header = member[1]
        if opens and re.search(r"=>\s*This", comment) and own:
            header = re.sub(r"^[$.]?L_*", "", own)
            parents.setdefault(header, False)
        if opens and header and "Child Loop" in comment:
            parents[header] = True
        if not code or label or code[0] in ".{}()[" or code.endswith(":"):
            continue
        opens = False
        total["instructions"] += 1
        total[header] += 1
    loops = {key: n for key, n in total.items()
             if key and key != "instructions"}
    return {"instructions": total["instructions"],
            "loops": sum(loops.values()),
            "innermost": sum(n for key, n in loops.items()
                             if not parents.get(key, False))}


def measure(text):
    numbers = dict.fromkeys(KEYS, 0)
    lines = get_body(text)
    numbers.update(count(lines))
    if "amdhsa.kernels" in text:
        for key, name in METADATA.items():
            numbers[key] = int(re.search(rf"{re.escape(name)}:\s+(\d+)",
                                         text)[1])
    elif ".visible .entry" in text:
        registers = re.findall(r"\.reg \.(\w+)\s+%\w+<(\d+)>", text)
        numbers["vgprs"] = sum(int(n) for _, n in registers)
        numbers["scratch"] = sum(map(int, re.findall(
            r"\.local .*?\b\w+\[(\d+)\]", text)))
        numbers["lds"] = sum(map(int, re.findall(
            r"\.shared .*?\b\w+\[(\d+)\]", text)))
    else:
        numbers["vgpr_spills"] = sum(bool(re.search("Spill|Reload", line))
                                     for line in lines)
    return numbers


def compile_one(compiler, kernel, target, folder):
    """The kernel's code, or None if the compiler rejects it."""
    source = pathlib.Path(folder) / (re.sub(r"\W", "-", kernel.name) + ".mlir")
    source.write_text(kernel.source)
    run = subprocess.run(
        [compiler, source, f"--target={target}", "--emit=asm", "-o", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode < 0 or run.returncode > 1:
        raise ValueError(f"{compiler} ends with status {run.returncode} on:\n"
                         f"{kernel.source}{run.stderr}")
    if run.returncode:
        return None
    return Code("\n".join(get_body(run.stdout)), measure(run.stdout))


# Comparison ------------------------------------------------------------------


def ratio(old, new, key):
    """Of kernels without such instructions, 1 or infinity."""
    if old[key] == 0:
        return math.inf if new[key] else 1.0
    return new[key] / old[key]


def describe(old, new):
    """What differs; of identical code, its numbers."""
    if old.text == new.text:
        return ", ".join(f"{key} {n}" for key, n in new.numbers.items() if n)
    shown = []
    for key in KEYS:
        before, after = old.numbers[key], new.numbers[key]
        if before != after:
            shown.append(f"{key} {before}>{after}")
    return ", ".join(shown) or "other instructions, same numbers"


def exceeds(old, new, limit):
    return (any(ratio(old.numbers, new.numbers, key) > limit
                for key in COUNTS)
            or any(new.numbers[key] and not old.numbers[key]
                   for key in MEMORY))


def summarize(target, pairs):
    """Of (name, old, new) of one target."""
    identical = sum(old.text == new.text for _, old, new in pairs)
    print(f"{target}: {len(pairs)} kernels, {identical} identical")
    for key in COUNTS:
        ratios = [(ratio(old.numbers, new.numbers, key), name)
                  for name, old, new in pairs]
        worst, name = max(ratios)
        finite = [math.log(r) for r, _ in ratios if 0 < r < math.inf]
        mean = math.exp(sum(finite) / len(finite)) if finite else 1.0
        print(f"  {key}: worst {worst:.4f} ({name}), mean {mean:.4f}")
    for key in KEYS[len(COUNTS):]:
        old, new = (sum(pair[side].numbers[key] for pair in pairs)
                    for side in (1, 2))
        if old or new:
            print(f"  {key}: {old} > {new} in all")


def compare(options, kernels, folder):
    """Prints rows and summaries; returns whether all is within the limit."""
    good = True
    jobs = [(kernel, target) for target in options.targets
            for kernel in kernels]

    def both(job):
        return [compile_one(compiler, *job, folder / side)
                for side, compiler in (("old", options.old),
                                       ("new", options.new))]

    pairs, skipped = {target: [] for target in options.targets}, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (kernel, target), (old, new) in zip(jobs, pool.map(both, jobs)):
            if not old and not new:
                skipped += 1
            elif not old or not new:
                good = False
                print(f"ERROR {target} {kernel.name}: only "
                      f"{'NEW' if new else 'OLD'} compiles it")
            else:
                pairs[target].append((kernel.name, old, new))
                over = exceeds(old, new, options.limit)
                good &= not over
                if options.all or old.text != new.text:
                    print(f"{'OVER ' if over else ''}{target} {kernel.name}: "
                          f"{describe(old, new)}", flush=True)
    for target, some in pairs.items():
        if not some:
            sys.exit(f"error: {target}: nothing was compiled; expected a target"
                     " of iris-compile --list-targets")
        summarize(target, some)
    print(f"{skipped} kernels that neither compiler accepts")
    return good


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", type=pathlib.Path)
    parser.add_argument("new", metavar="NEW", type=pathlib.Path)
    parser.add_argument("--targets", default="gfx942,sm_90a,host",
                        type=lambda text: text.split(","),
                        help="separated by commas (default: %(default)s)")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only kernels whose row's name matches")
    parser.add_argument("--sample", type=int, metavar="N", default=60,
                        help="only N kernels per target, always the same "
                        "ones; 0: all, which takes long (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=math.inf,
                        help="the largest ratio of instruction counts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="compilers at a time (default: %(default)s)")
    parser.add_argument("--all", action="store_true",
                        help="print identical kernels as well")
    options = parser.parse_args()
    for path in options.old, options.new:
        if not os.access(path, os.X_OK) or path.is_dir():
            parser.error(f"{path} is no program; expected an iris-compile")
    if options.new.name != "iris-compile":
        parser.error(f"NEW is named '{options.new.name}'; expected "
                     "iris-compile, which the tests' generators look for")
    options.old, options.new = options.old.resolve(), options.new.resolve()
    return parser, options


def main():
    parser, options = parse()
    kernels = [kernel for listed in (list_collectives, list_matmuls)
               for kernel in listed(options.new)
               if re.search(options.filter, kernel.name)]
    if not kernels:
        parser.error(f"no kernel matches '{options.filter}'")
    if 0 < options.sample < len(kernels):
        kernels = random.Random(0).sample(kernels, options.sample)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for side in "old", "new":
            (folder / side).mkdir()
        good = compare(options, kernels, folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
