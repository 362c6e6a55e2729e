#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes matmul-epilogue.mlir as PTX: twice the product of two matrices, and
the maximum of each row of the tile, where elements outside count as 0."""
import sys

import machine  # noqa: F401  first: it finds an interpreter that has NumPy
import matmul
import numpy as np
import ptx


def run(code, kernel, sizes, at, seed):
    """The largest error of the product and of the maxima."""
    rows, columns, k = sizes
    extent = 64 if kernel == "twice" else 16
    a = matmul.make_data(rows * k, "f16", 1)[0].reshape(rows, k)
    b = matmul.make_data(k * columns, "f16", 2)[0].reshape(k, columns)
    memory = ptx.Memory(1 << 20)
    buffers = [memory.put(x) for x in (
        a, b, np.zeros((rows, columns), np.float32),
        np.zeros(rows, np.float32))]
    arguments = [buffers[0], rows, k, buffers[1], k, columns, buffers[2], rows,
                 columns, buffers[3], rows, *at, k]
    ptx.Emu(memory, seed=seed).run([ptx.Launch(
        code, kernel, (1, 1, 1), (256, 1, 1), arguments, memory)])
    window = tuple(slice(x, x + extent) for x in at)
    want = (2 * (a.astype(np.float64) @ b.astype(np.float64)))[window]
    tile = np.zeros((extent, extent))
    tile[:want.shape[0], :want.shape[1]] = want
    product = memory.get(buffers[2], np.float32, rows * columns).reshape(
        rows, columns)[window]
    maxima = memory.get(buffers[3], np.float32, rows)[window[0]]
    return max(np.abs(product - want).max(),
               np.abs(maxima - tile.max(axis=1)[:len(maxima)]).max())


def main():
    code = ptx.CodeObject(sys.argv[1])
    worst = max(run(code, kernel, sizes, at, seed)
                for kernel in ("twice", "copies")
                for sizes, at in (((64, 64, 96), (0, 0)),
                                  ((50, 40, 70), (0, 0)),
                                  ((100, 104, 64), (64, 64)))
                for seed in (1, 2))
    print(f"largest error {worst:.3g}")
    return not worst < 1e-4


if __name__ == "__main__":
    sys.exit(main())
