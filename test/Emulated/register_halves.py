#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes the kernel of test/Target/AMDGPU/register-halves.mlir: sums of the
rows of a 32x16 window on a matrix of bytes, which has zeros outside.

    register_halves.py HSACO
"""
import sys

import machine  # first: it switches to an interpreter that has NumPy
import emulate
import numpy as np

ROWS, COLUMNS, WINDOW = 64, 16, 32


def main():
    image = machine.CodeObject(sys.argv[1])
    memory = machine.Memory(1 << 16)
    matrix = emulate.hash_of(1, np.arange(ROWS * COLUMNS), 24).astype(
        np.uint8).view(np.int8).reshape(ROWS, COLUMNS)
    source, target = memory.put(matrix), memory.alloc(4 * WINDOW)
    padded = np.zeros((ROWS + WINDOW, 2 * COLUMNS), np.int32)
    padded[:ROWS, :COLUMNS] = matrix
    failed = False
    for row, column in ((0, 0), (8, 8), (1, 5), (40, 0), (63, 15)):
        wanted = padded[row:row + WINDOW, column:column + COLUMNS].sum(axis=1)
        image.run("pairs", memory, [source, target, row, column])
        got = memory.get(target, np.int32, WINDOW)
        wrong = np.nonzero(got != wanted)[0]
        if wrong.size:
            failed = True
            print("%s: window at %d, %d: %d sums differ, the first is %d, not %d"
                  % (image.arch, row, column, wrong.size, got[wrong[0]],
                     wanted[wrong[0]]))
    return failed


if __name__ == "__main__":
    sys.exit(main())
