#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wait for a packet that times out, on emulated AMD devices.

    packet_status.py HSACO

Rank 0 runs kernel @forward of packet-status.mlir: it waits for a packet,
forwards it to rank 1 in a packet, a store and a signal. One word of the
packet is missing, so that the threads of one access receive no data. No thread
may publish anything, and the record must name that word's flag.
With a complete packet, everything must arrive.
"""
import sys

from machine import np  # first: it switches to an interpreter that has NumPy
from bounded import ABORT_HANG, HANG, READY, BoundedWorld, check_all

EPOCH, OLD = 77, 76
WORDS = 2048 * 2 // 4


def run(image, seed, weak, missing):
    """One launch; returns the problem, if any."""
    world = BoundedWorld(image, 2, weak, seed,
                         heap_bytes=1 << 16)
    box = world.alloc((2 * WORDS,), np.int32)
    sent = world.alloc((2 * WORDS,), np.int32)
    out = world.alloc((2048,), np.uint16)
    flag = world.alloc((32,), np.int32)
    packet = np.empty((WORDS, 2), np.int32)
    packet[:, 0] = np.arange(WORDS) * 0x01010101
    packet[:, 1] = EPOCH
    if missing is not None:
        packet[missing, 1] = OLD
    box.write(0, packet)
    world.run([world.launch(0, "forward", 1, box, sent, out, flag, 1, EPOCH)])

    control = world.controls[0]
    abort = world.memory.get(control, np.uint32, 1)[0]
    state, site, *_ = world.memory.get(control + HANG, np.uint32, 6)
    expected, observed, address = world.memory.get(control + HANG + 24,
                                                   np.int64, 3)
    owed_by = world.memory.get(control + HANG + 48, np.int32, 1)[0]
    told = (sent.read(1), out.read(1), flag.read(1))
    if missing is None:
        if abort or state:
            return "a whole packet was not received"
        if not np.array_equal(sent.read(1).reshape(-1, 2), packet):
            return "the packet was not forwarded"
        if not np.array_equal(out.read(1).view(np.int32), packet[:, 0]):
            return "the data were not stored"
        return None if flag.read(1)[0] == EPOCH else "no signal"
    if any(buffer.any() for buffer in told):
        return "something was published after a wait that failed"
    if abort != ABORT_HANG or state != READY:
        return f"abort word {abort}, record {state}"
    want = (EPOCH, OLD, box.address(0) + 8 * missing + 4, 1)
    got = (expected, observed, address, owed_by)
    return None if got == want else f"the record is {got}; expected {want}"


if __name__ == "__main__":
    sys.exit(check_all(run, (None, 0, 1, 63, 500, WORDS - 1), range(1, 3)))
