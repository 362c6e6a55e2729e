#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates random shapes of matmuls with communication that were not tuned.

    random_shapes.py --seed=1 --count=30 --specs   arguments for fused.py
    random_shapes.py --seed=1 --count=30 --plan    a plan for iris-bench

Every third shape has M of 16, 32, 64 or 128 with N and K of 4096 to 16384,
as in decoding; the rest have log-uniform M of 1 to 16384, and N and K that
are multiples of 128 from 128 to 16384. Operations and types alternate. The
same seed gives the same shapes.
"""
import argparse
import random

OPERATIONS = [("matmul_reduce_scatter", "partial_type=result"),
              ("all_gather_matmul", "shard=m"),
              ("matmul_all_reduce", "partial_type=result"),
              ("all_gather_matmul", "shard=k"),
              ("matmul_all_gather", "shard=m")]
TYPES = ["bf16", "f16"]
UNIT, MOST = 128, 16384


def draw(seed, count, ranks):
    """(operation, setting, type, (M, N, K)) of each shape."""
    source = random.Random(seed)

    def multiple(least):
        return UNIT * source.randint(least // UNIT, MOST // UNIT)

    shapes = []
    for number in range(count):
        if number % 3 == 0:
            m = source.choice([16, 32, 64, 128])
            n, k = multiple(4096), multiple(4096)
        else:
            m = min(MOST, int(2 ** source.uniform(0, 14)))
            n, k = multiple(UNIT), multiple(UNIT)
        operation, setting = OPERATIONS[number % len(OPERATIONS)]
        if operation != "matmul_all_reduce" and setting != "shard=k":
            m = max(ranks, m - m % ranks)  # every rank has m / ranks rows
        k = max(ranks * UNIT, k - k % (ranks * UNIT))
        shapes.append((operation, setting, TYPES[number % len(TYPES)],
                       (m, n, k)))
    return shapes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("-n", type=int, default=2, help="ranks")
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--specs", action="store_true")
    form.add_argument("--plan", action="store_true")
    options = parser.parse_args()
    for operation, setting, element, shape in draw(options.seed, options.count,
                                                   options.n):
        text = "x".join(map(str, shape))
        if options.specs:
            print(f"{operation},{setting},element={element},chosen=1@{text}")
        else:
            option = setting.replace("_", "-")
            print(f"--ops={operation} --{option} --dtypes={element} "
                  f"--shape={text}")


if __name__ == "__main__":
    main()
