#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the seeds and the dictionary of fuzz-compile.

    make-seeds.py [--max=N] SOURCE CORPUS DICTIONARY

SOURCE is the repository. Its examples and the cases of its tests become seeds,
without comments and each for one target (the first byte, see
CompileFuzzer.cpp); the names of our ops and attributes in them, and the words
of the ops' definitions, become the dictionary.
"""

import argparse
import hashlib
import pathlib
import re

LARGEST = 6000  # bytes; larger ones take long and add little


def read_cases(source):
    """The MLIR modules of the examples and tests, without comments."""
    files = sorted(source.glob("examples/**/*.mlir"))
    files += sorted(source.glob("test/**/*.mlir"))
    for path in files:
        for case in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
            lines = re.sub(r"\s*//.*$", "", case, flags=re.M).splitlines()
            text = "\n".join(line for line in lines if line.strip()) + "\n"
            if 1 < len(text) <= LARGEST:
                yield text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max", type=int, help="number of seeds")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("dictionary", type=pathlib.Path)
    args = parser.parse_args()

    cases = sorted(set(read_cases(args.source)),
                   key=lambda text: hashlib.sha1(text.encode()).hexdigest())
    # Whole programs first: most cases of the passes' tests are for one pass.
    cases.sort(key=lambda text: "gpu.func" not in text)
    words = set()
    for text in cases:
        words.update(re.findall(r"\b(?:iris|tile|gpu)\.[a-z_.]+\b|"
                                r"[#!](?:iris|tile)\.[a-z_]+(?:<[^<>]*>)?",
                                text))
    for path in sorted(args.source.glob("include/iris/**/*.td")):
        words.update(re.findall(r"`([a-z_]{3,})`", path.read_text()))
    args.dictionary.write_text(
        "".join(f'"{word}"\n' for word in sorted(words) if '"' not in word))

    args.corpus.mkdir(parents=True, exist_ok=True)
    for index, text in enumerate(cases[: args.max]):
        (args.corpus / f"seed-{index:04}").write_text(str(index % 6) + text)


if __name__ == "__main__":
    main()
