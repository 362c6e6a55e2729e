#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A short form of the compiler's fuzzer that needs no separate build.

    mutate.py IRIS_COMPILE SEED.mlir... [--runs=N] [--random=N]

Mutates a seed at random positions, N times in all, and compiles it for one
target after the other. The compiler may reject the input, with exit status 1
and an error; it must not crash, and must end. The same --random gives the
same inputs. On a violation, exits with status 1 and writes the input to
mutated.mlir.
"""
import argparse
import random
import re
import subprocess
import sys

TARGETS = ("host", "gfx942", "sm_90a")
NUMBERS = ("0", "1", "-1", "3", "7", "64", "1000000", "9223372036854775807")
TYPES = ("f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index")
TOKEN = re.compile(r"%\w+|\b\d+\b|\b(?:" + "|".join(TYPES) + r")\b|[\w.]+|\S")


def mutate(text, pick):
    """Drops, duplicates or replaces one token."""
    tokens = list(TOKEN.finditer(text))
    token = pick.choice(tokens)
    old = token.group()
    if old.isdigit():
        new = pick.choice(NUMBERS)
    elif old in TYPES:
        new = pick.choice(TYPES)
    else:
        new = pick.choice(("", old + " " + old, pick.choice(tokens).group()))
    return text[:token.start()] + new + text[token.end():]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("compiler")
    parser.add_argument("seeds", nargs="+")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--random", type=int, default=1)
    options = parser.parse_args()
    texts = []
    for path in options.seeds:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    pick = random.Random(options.random)
    refused = 0
    for run in range(options.runs):
        text = pick.choice(texts)
        for _ in range(pick.randint(1, 3)):
            text = mutate(text, pick)
        with open("mutated.mlir", "w", encoding="utf-8") as file:
            file.write(text)
        command = [options.compiler, "mutated.mlir", "--emit=obj",
                   "--target=" + TARGETS[run % len(TARGETS)],
                   "-o", "mutated.out"]
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=600)
        if done.returncode not in (0, 1) or (
                done.returncode == 1 and "error" not in done.stderr):
            print(f"run {run}: {' '.join(command)}: status "
                  f"{done.returncode}\n{done.stderr[-4000:]}")
            return 1
        refused += done.returncode
    print(f"{options.runs} inputs, {refused} refused, none crashed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
