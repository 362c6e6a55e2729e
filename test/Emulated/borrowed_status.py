#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits that time out when the wait status is in borrowed LDS.

    borrowed_status.py HSACO

Two ranks run kernel @multiply of borrowed-status.mlir, which waits at a
barrier, between two matmuls, and between the k-blocks of the second one. In
one run every signal arrives, and the result must be right. In the others rank
1, or one of rank 0's flags, is missing: then all waves of rank 0 must time
out, record the error and publish nothing. (If some waves stay in the kernel,
the emulator reports a hang.)
"""
import sys

from machine import np  # first: it switches to an interpreter that has NumPy
from bounded import ABORT_HANG, HANG, READY, BoundedWorld, check_all

SIZE, DEPTH, BLOCK, STRIDE = 256, 192, 64, 32
FLAGS = 1 + DEPTH // BLOCK


def small(salt, shape):
    index = np.arange(int(np.prod(shape)), dtype=np.uint32)
    value = (index * np.uint32(2654435761) + np.uint32(salt)) >> np.uint32(20)
    return (value % 15).astype(np.float64).reshape(shape) - 7


def run(image, seed, weak, missing):
    """One launch of each participating rank; returns the problem, if any."""
    world = BoundedWorld(image, 2, weak, seed,
                         heap_bytes=1 << 19)
    a = world.alloc((SIZE, DEPTH), np.float16)
    b = world.alloc((DEPTH, SIZE), np.float16)
    c = world.alloc((SIZE, SIZE), np.float16)
    flags = world.alloc((FLAGS * STRIDE,), np.int32)
    state = world.alloc((2 * STRIDE,), np.int32)
    done = world.alloc((STRIDE,), np.int32)
    expected = []
    for rank in range(2):
        left, right = small(rank, (SIZE, DEPTH)), small(rank + 9, (DEPTH, SIZE))
        a.write(rank, left)
        b.write(rank, right)
        expected.append((2 * (left @ right)).astype(np.float16))
        there = np.ones((FLAGS, STRIDE))
        if rank == 0 and isinstance(missing, int):
            there[missing] = 0
        flags.write(rank, there)
    world.run([world.launch(rank, "multiply", 1, a, b, c, flags, state, done)
               for rank in range(1 if missing == "rank" else 2)])

    control = world.controls[0]
    abort = world.memory.get(control, np.uint32, 1)[0]
    record = world.memory.get(control + HANG, np.uint32, 1)[0]
    for rank in range(2):
        fails = missing is not None and rank == 0
        comes = not fails and (missing != "rank" or rank == 0)
        if done.read(1 - rank)[0] != comes:
            return f"rank {rank} has {'' if comes else 'not '}to signal"
        if not np.array_equal(c.read(rank),
                              expected[rank] if comes else c.read(rank) * 0):
            return f"rank {rank}: the result is wrong"
    want = (0, 0) if missing is None else (ABORT_HANG, READY)
    if (abort, record) != want:
        return f"abort word {abort}, record {record}; expected {want}"
    return None


if __name__ == "__main__":
    sys.exit(check_all(run, (None, "rank", *range(FLAGS)), range(1, 3)))
