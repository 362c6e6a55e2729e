#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""reduce_to.py OP SEED: prints the smallest program with OP to which the reducer takes
the first program of the seed that has it. Nothing is run."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir))
from choices import Choices, reduce  # noqa: E402
from program import Program  # noqa: E402
import program_fuzz  # noqa: E402


def make(numbers):
    choices = Choices(numbers=numbers)
    return Program(choices, 2).text(), choices.made


op, seed = sys.argv[1:]
number, text = 0, ""
while op not in text:
    number += 1
    text, made = program_fuzz.draw(seed, number, 2)
print(reduce(made, make, lambda candidate: op in candidate), end="")
print(f"// of {len(text.splitlines())} lines", file=sys.stderr)
