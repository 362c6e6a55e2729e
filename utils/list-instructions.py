#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the instructions in AMD code objects, and those that the emulator does
not know.

    utils/list-instructions.py [--unknown] FILE.hsaco...

Each line has how often an instruction is in the files. --unknown lists only
those that `iris-emulate` cannot execute: their names, operands or modifiers.
llvm-objdump and iris-emulate are found on PATH.
"""
import argparse
import collections
import re
import shutil
import subprocess
import sys

# What names the encoding: the emulator has one entry for all of them.
ENCODING = re.compile(r"(_e32|_e64|_dpp|_sdwa|_e64_dpp)$")
LINE = re.compile(r"^\s+([a-z]\w*)")


def find_tool(*names):
    for name in names:
        if shutil.which(name):
            return name
    return sys.exit(f"error: {names[0]} is not on PATH")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--unknown", action="store_true")
    options = parser.parse_args()
    objdump = find_tool("llvm-objdump", "llvm-objdump-22")
    counts = collections.Counter()
    for path in options.files:
        text = subprocess.run(
            [objdump, "-d", "--no-show-raw-insn", path], check=True,
            capture_output=True, text=True).stdout
        for line in text.splitlines():
            match = LINE.match(line)
            if match:
                counts[ENCODING.sub("", ENCODING.sub("", match[1]))] += 1
    unknown = collections.Counter()
    for path in options.files:
        text = subprocess.run(
            [find_tool("iris-emulate"), "--list-unknown", path], check=True,
            capture_output=True, text=True).stdout
        unknown.update(line.partition(": ")[2] for line in text.splitlines())
    if not options.unknown:
        for name, count in counts.most_common():
            print(f"{count:8}  {name}")
    for reason, count in unknown.most_common():
        print(f"{count:8}  {reason}")
    print(f"{len(counts)} instructions in {len(options.files)} files, "
          f"{sum(unknown.values())} unknown to the emulator")


if __name__ == "__main__":
    main()
