#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the seeds of fuzz-emulator.

    make-seeds.py CORPUS

They are code objects for each chip: instructions of the tables of
test/Emulator, a few dozen in each, and the programs of its memory.test. llvm-mc
assembles them.
"""

import argparse
import pathlib
import re
import sys
import types

EMULATOR = pathlib.Path(__file__).resolve().parents[2] / "Emulator"
sys.path.insert(0, str(EMULATOR))
import code_object  # noqa: E402
from generations import choose  # noqa: E402
from later_tables import GROUPS  # noqa: E402

PER_SEED = 40  # instructions: a file of all is seldom mutated where it matters


def read_programs(chip):
    """The programs of memory.test, for gfx9. gfx90a has no instructions for
    scratch, which is a buffer there, and only there."""
    text = (EMULATOR / "memory.test").read_text()
    parts = re.split(r"^#--- (.*)\.s$", text, flags=re.M)[1:]
    for name, program in zip(parts[::2], parts[1::2]):
        if not name.startswith("scratch") or (
                name.startswith("scratch-") == (chip == "gfx90a")):
            yield name, program


def list_sources(chip):
    for kind, rows in GROUPS:
        texts = [row[0] for row in choose(rows, chip)]
        for first in range(0, len(texts), PER_SEED):
            yield kind, "\n".join(texts[first:first + PER_SEED] + ["s_endpgm"])
    for name, program in read_programs(chip):
        yield f"program-{name}", program


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    args = parser.parse_args()
    args.corpus.mkdir(parents=True, exist_ok=True)
    options = types.SimpleNamespace(lds=256, scratch=64, vectors=64,
                                    arguments=2, defect=None)
    for chip in code_object.MACHINES:
        for number, (kind, source) in enumerate(list_sources(chip)):
            options.scratch_buffer = kind.startswith("program-scratch-")
            image = code_object.build(chip, source, options)
            (args.corpus / f"seed-{chip}-{kind}-{number:02}").write_bytes(image)


if __name__ == "__main__":
    main()
