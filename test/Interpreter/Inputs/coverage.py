#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py LIST PAGE FOLDER: compares the ops of `iris-compile --list-ops` (LIST)
and of the table of @main (in PAGE) with those that the programs in FOLDER have.
Prints ops that no program has; exit status 1 if there are any."""
import pathlib
import re
import sys

OP = re.compile(r"\b(?:iris|tile|gpu|func|arith|math|scf|cf|memref|affine|tensor|vector)"
                r"\.[a-z_0-9]+")


def listed(text):
    """The ops in the first column of tables."""
    rows = [line.split("|")[1] for line in text.splitlines()
            if line.startswith("| `")]
    return {op for row in rows for op in OP.findall(row)}


def used(folder):
    ops = set()
    for path in pathlib.Path(folder).glob("*.mlir"):
        code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        ops |= set(OP.findall(code))
    return ops


def main(listing, page, folder):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    table = text.partition("<!-- begin: main -->")[2].partition(
        "<!-- end: main -->")[0]
    kernels = pathlib.Path(listing).read_text(encoding="utf-8")
    # Attributes of kernels are listed as well.
    ops = listed(kernels.partition("### Attributes")[0]) | listed(table)
    missing = sorted(ops - used(folder))
    for op in missing:
        print(f"{op} is in no program of {folder}; add one that checks it")
    if not missing:
        print(f"{len(ops)} ops have a test of their meaning")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
