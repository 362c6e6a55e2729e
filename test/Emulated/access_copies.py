#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes the kernel of accesses.mlir on an emulated AMD device.

    access_copies.py HSACO
"""
import sys

import machine  # first: it switches to an interpreter that has NumPy
import emulate
import numpy as np

FROM_STRIDE, TO_STRIDE, COPIED, STORED = 65, 67, 34, 48


def wanted(source):
    """The bytes that one thread stores."""
    words = [int.from_bytes(source[:2], "little"),
             int.from_bytes(source[2:4], "little", signed=True) & 0xFFFFFFFF]
    byte = int.from_bytes(source[10:11], "little", signed=True)
    return (b"".join(word.to_bytes(4, "little") for word in words)
            + source[4:32] + source[4:6] + source[32:34]
            + source[4:6] + source[8:10]
            + source[4:6] + byte.to_bytes(2, "little", signed=True))


def main():
    image = machine.CodeObject(sys.argv[1])
    threads = image.threads("pieces")
    memory = machine.Memory(1 << 16)
    # Half of all words of 16 bits are negative.
    source = emulate.hash_of(1, np.arange(FROM_STRIDE * threads), 24).astype(
        np.uint8)
    # Where no thread stores, the bytes stay.
    target = np.full(TO_STRIDE * threads, 0xA5, np.uint8)
    addresses = memory.put(source), memory.put(target)
    image.run("pieces", memory, [addresses[0], source.size,
                                         addresses[1], target.size])

    for thread in range(threads):
        first = FROM_STRIDE * thread
        data = wanted(source[first:first + COPIED].tobytes())
        assert len(data) == STORED
        target[TO_STRIDE * thread:][:STORED] = np.frombuffer(data, np.uint8)
    got = memory.get(addresses[1], np.uint8, target.size)
    wrong = np.nonzero(got != target)[0]
    if wrong.size:
        print("%s: %d of %d bytes differ, the first is byte %d of thread %d" % (
            image.arch, wrong.size, target.size, wrong[0] % TO_STRIDE,
            wrong[0] // TO_STRIDE))
    return wrong.size != 0


if __name__ == "__main__":
    sys.exit(main())
