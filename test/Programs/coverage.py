# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ops random programs have, and how often."""
import collections
import re
import subprocess

# An op, and the word that says which one of its kinds it is.
OP = re.compile(r"\b((?:affine|arith|func|gpu|iris|math|memref|scf|tensor|tile|vector)"
                r"\.[a-z_0-9]+)(?: ([a-z_]+)(?=[ ,] ?%))?")
KINDS = {"arith.cmpi", "arith.cmpf", "tile.reduce", "iris.atomic_rmw", "iris.signal",
         "iris.all_reduce", "iris.reduce", "iris.reduce_scatter"}


def count(texts):
    """(ops, programs): how often each op is written, and in how many programs."""
    ops, programs = collections.Counter(), collections.Counter()
    for text in texts:
        found = collections.Counter()
        for op, kind in OP.findall(text):
            found[op] += 1
            if op in KINDS and kind:
                found[f"{op} {kind}"] += 1
        ops.update(found)
        programs.update(found.keys())
    return ops, programs


def language():
    """The ops that kernels may use."""
    table = subprocess.run(["iris-compile", "--list-ops"], capture_output=True,
                           text=True, check=True).stdout
    rows = [line.split("|")[1] for line in table.splitlines()
            if line.startswith("| `") and line.count("|") == 5]
    return {op for row in rows for op in re.findall(r"`([a-z]+\.[a-z_0-9]+)`", row)
            if not op.startswith("iris.config")}


def summarize(texts):
    texts = list(texts)
    ops, programs = count(texts)
    for op in sorted(ops):
        print(f"{op}: {ops[op]}, in {programs[op]} of {len(texts)} programs")
    missing = sorted(language() - set(ops))
    print(f"not drawn: {', '.join(missing) or 'none'}")
