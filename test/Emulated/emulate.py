#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes compiled examples on emulated AMD devices.

    emulate.py PROGRAM HSACO [--ranks N] [--memory KIND,...] [--seeds N]

PROGRAM names one of the launch sequences below, which match @main of that
example, or is a file whose @main has no control flow, which is interpreted
line by line. Every rank is a device with its own heap; a launch phase runs on
all devices at once, with the waves interleaved at random from a seed. The
kernels' own checks must pass and must have compared something, and the driver
compares the buffers with its own reference. Kinds of memory: `coherent`,
`device` (one incoherent cache per device), `wg` (one per workgroup).
"""
import argparse
import re
import sys
import time

import machine  # first: it switches to an interpreter that has NumPy
import numpy as np

# Sizes and offsets of IrisRtControl in RuntimeABI.h.
CONTROL_BYTES = 512
EXPECT_CHECKED, EXPECT_FAILED = 384, 392
EXPECT_RECORD, EXPECT_RECORD_BYTES = 256, 56

FLAG_STRIDE = 32  # i32 words between two flags


def hash_of(salt, index, shift):
    """The hash of the examples' fill kernels: u32 arithmetic that wraps."""
    with np.errstate(over="ignore"):
        h = index.astype(np.uint32) * np.uint32(-1640531527 & 0xFFFFFFFF)
        h = h + np.uint32(salt & 0xFFFFFFFF)
        h = h ^ (h >> np.uint32(15))
        h = h * np.uint32(739982445)
    return h >> np.uint32(shift)


def members_of(ranks):
    """IrisRtContext.groupMembers of a group of all ranks, in order."""
    bits = 4 if ranks > 8 else 8  # IRISRT_GROUP_MEMBER_BITS
    return sum(rank << (bits * rank) for rank in range(ranks))


class Buffer:
    """A symmetric buffer: the same offset in every rank's heap."""

    def __init__(self, world, offset, shape, dtype):
        self.world, self.offset, self.shape = world, offset, shape
        self.dtype, self.strides = np.dtype(dtype), ()

    def address(self, rank):
        return self.world.heap_base(rank) + self.offset

    def arguments(self, rank):
        """A memref: a pointer, its dynamic sizes and strides."""
        return [self.address(rank), *self.shape, *self.strides]

    def by_columns(self, rows, columns, pitch):
        """The same memory, as a matrix whose columns are contiguous."""
        view = Buffer(self.world, self.offset, (rows, columns), self.dtype)
        view.strides = (pitch,)
        return view

    def read(self, rank):
        count = int(np.prod(self.shape))
        data = self.world.memory.get(self.address(rank), self.dtype, count)
        return data.reshape(self.shape)

    def write(self, rank, data):
        data = np.ascontiguousarray(data, self.dtype).view(np.uint8).reshape(-1)
        self.world.memory.write(self.address(rank), data)


class World:
    """N devices whose heaps have a uniform stride in one arena, which has room
    for buffers outside of the heaps."""

    def __init__(self, image, ranks, weak, seed, heap_bytes, other_bytes=0):
        self.image, self.ranks = image, ranks
        self.weak, self.seed = weak, seed
        self.stride = (heap_bytes + 4095) & ~4095
        # After the heaps: control blocks, and arguments of each launch.
        arena = self.stride * ranks + (1 << 20) + other_bytes
        self.memory = machine.Memory(arena)
        self.base = self.memory.base
        self.memory.top = self.base + self.stride * ranks
        self.heap_top = 0
        self.controls = [self.memory.alloc(CONTROL_BYTES) for _ in range(ranks)]
        self.arguments = self.memory.top
        self.instructions = 0
        self.launch_count = 0

    def heap_base(self, rank):
        return self.base + rank * self.stride

    def alloc(self, shape, dtype):
        buffer = Buffer(self, self.heap_top, shape, dtype)
        # Atomics on small elements access the whole word around them.
        size = (int(np.prod(shape)) * buffer.dtype.itemsize + 3) & ~3
        for rank in range(self.ranks):
            start = buffer.address(rank)
            self.memory.allocs.append((start, start + size))
        # A red zone after each buffer: accesses to it raise an error.
        self.heap_top += (size + 256 + 255) & ~255
        assert self.heap_top <= self.stride, "heap too small"
        return buffer

    def free_all(self):
        """Resets the heap: subsequent allocations are zero, earlier ones are
        gone."""
        top = self.base + self.stride * self.ranks
        self.memory.allocs = [a for a in self.memory.allocs if a[0] >= top]
        self.memory.real[:self.stride * self.ranks] = 0
        self.heap_top = 0

    def context(self, rank):
        """IrisRtContext, field by field."""
        self.launch_count += 1
        return [rank, self.ranks, self.heap_base(rank), self.stride,
                0, self.stride, self.controls[rank],
                0,  # waitLimit: none, but instructions are limited
                0,  # trace: off
                members_of(self.ranks), self.ranks, rank,
                2,  # memoryKind: fine-grained
                self.launch_count]

    def launch(self, rank, kernel, programs, *arguments):
        """One kernel on one rank; buffers and scalars after the context."""
        packed = self.context(rank)
        for argument in arguments:
            if isinstance(argument, Buffer):
                packed += argument.arguments(rank)
            else:
                packed.append(argument)
        return machine.Launch(
            self.image, kernel, (programs, 1, 1),
            (self.image.threads(kernel), 1, 1), packed, self.memory,
            device=rank)

    def run(self, launches):
        """Runs launches at the same time, then waits for all of them."""
        emulation = machine.Emu(self.memory, self.seed, self.weak)
        self.instructions += emulation.run(launches)
        # The argument blocks are no longer needed.
        self.memory.allocs = [a for a in self.memory.allocs
                              if a[0] < self.arguments]
        self.memory.top = self.arguments

    def checked(self):
        """The counts of the kernels' checks: (compared, failed) of every
        rank."""
        result = []
        for rank, control in enumerate(self.controls):
            checked, failed = self.memory.get(control + EXPECT_CHECKED,
                                              np.uint64, 2)
            if failed:
                record = self.memory.get(control + EXPECT_RECORD, np.uint32,
                                         EXPECT_RECORD_BYTES // 4)
                print(f"rank {rank}: {failed} of {checked} differ; record "
                      + " ".join(f"{word:x}" for word in record))
            result.append((int(checked), int(failed)))
        return result


# Launch sequences --------------------------------------------------------------


def all_gather(world, shape):
    m, n = shape
    programs = 3
    inputs = world.alloc((m, n), np.float16)
    output = world.alloc((world.ranks * m, n), np.float16)
    ranks = range(world.ranks)
    world.run([world.launch(r, "fill", programs, inputs) for r in ranks])
    world.run([world.launch(r, "all_gather", programs, inputs, output)
               for r in ranks])
    world.run([world.launch(r, "check", programs, inputs, output)
               for r in ranks])

    index = np.arange(m * n, dtype=np.uint32)
    want = np.concatenate([
        hash_of((r + 1) * -2048144789, index, 21).astype(np.float16)
        for r in ranks]).reshape(world.ranks * m, n)
    for r in ranks:
        if not np.array_equal(output.read(r), want):
            return f"rank {r}: the output is wrong"
    if any(checked == 0 for checked, _ in world.checked()):
        return "a rank compared nothing"
    return None


def message_passing(world, flag_words, names_producer):
    """Pairs of ranks: every even one produces for the next one."""
    size, blocks = 1000, 4
    source = world.alloc((size,), np.float32)
    target = world.alloc((size,), np.float32)
    flags = world.alloc((flag_words,), np.int32)
    producers = range(0, world.ranks - 1, 2)
    world.run([world.launch(r, "fill", blocks, source) for r in producers])
    launches = []
    for r in producers:
        launches.append(world.launch(r, "producer", blocks, source, target,
                                     flags, r + 1))
        extra = (r,) if names_producer else ()
        launches.append(world.launch(r + 1, "consumer", blocks, target, flags,
                                     *extra))
    world.run(launches)
    checks = []
    for r in producers:
        checks.append(world.launch(r, "check", blocks, source, 1.0))
        checks.append(world.launch(r + 1, "check", blocks, target, 2.0))
    world.run(checks)

    want = hash_of(-2048144789, np.arange(size), 9).astype(np.float32)
    for r in producers:
        if not np.array_equal(source.read(r), want):
            return f"rank {r}: the source is wrong"
        if not np.array_equal(target.read(r + 1), want * 2):
            return f"rank {r + 1}: the target is wrong"
    counts = world.checked()
    if any(counts[r][0] < size for r in range(2 * len(producers))):
        return "a rank did not compare every element"
    return None


def matmul_wait(world, size, consumer):
    """Rank 1 multiplies while rank 0 stores the operand, block by block."""
    blocks = (size + 31) // 32
    source, staging = (world.alloc((32, size), np.float16) for _ in range(2))
    b = world.alloc((size, 32), np.float16)
    c = world.alloc((32, 32), np.float32)
    flags = world.alloc((32 * blocks,), np.int32)
    operand_tiles = []
    for rank, buffer in ((0, source), (1, b)):
        index = np.arange(32 * size, dtype=np.uint32)
        operand_tile = hash_of(rank + 1, index, 21).astype(np.float16).reshape(
            buffer.shape)
        buffer.write(rank, operand_tile)
        operand_tiles.append(operand_tile.astype(np.float64))
    world.run([world.launch(0, "producer", blocks, source, staging, flags, 1),
               world.launch(1, consumer, 1, staging, b, c, flags, 0)])
    # Integers of 11 bits: the sum is slightly rounded.
    want = operand_tiles[0] @ operand_tiles[1]
    if not np.allclose(c.read(1), want, rtol=size * 2.0 ** -23, atol=0):
        return "the result is wrong"
    return None


NUMPY_TYPES = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32,
               "f64": np.float64, "i8": np.int8, "i16": np.int16,
               "i32": np.int32, "i64": np.int64}
ARITHMETIC = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b,
              "muli": lambda a, b: a * b, "remui": lambda a, b: a % b,
              "divui": lambda a, b: a // b, "minui": min, "maxui": max}


def follow(world, path, function="main", launch=None):
    """Executes a host function of a generated program. All ranks are at the
    same line, so each launch runs on all of them before the next one starts;
    with `launch`, calls launch(kernel, programs, arguments) instead."""
    def launch_and_wait(kernel, programs, arguments):
        world.run([world.launch(r, kernel, programs, *arguments)
                   for r in range(world.ranks)])

    launch = launch or launch_and_wait
    with open(path, encoding="utf-8") as file:
        lines = file.read().split(f"func.func @{function}(", 1)[1].splitlines()
    values = {"%ctx": None, "%arg0": None}  # hand-written and printed names
    alive = set()
    for line in lines[1:]:
        name, _, text = line.strip().partition(" = ")
        if not text:
            name, text = None, name
        op = re.split(r"[ (]", text, maxsplit=1)[0]
        operands = [values[v] for v in re.findall(r"%\w+", text)]
        if op == "arith.constant":
            number = text.split()[1]
            values[name] = float(number) if "." in number else int(number)
        elif op.startswith("arith."):
            values[name] = ARITHMETIC[op[6:]](*operands)
        elif op == "memref.dim":
            values[name] = operands[0].shape[operands[1]]
        elif op == "memref.reinterpret_cast" and "strides: [1, %" in text:
            values[name] = operands[0].by_columns(*operands[1:])
        elif op == "iris.num_ranks":
            values[name] = world.ranks
        elif op == "iris.alloc":
            element = re.search(r"(\w+), #iris.symmetric", text)[1]
            element = element.split("x")[-1]
            values[name] = world.alloc(tuple(operands), NUMPY_TYPES[element])
            alive.add(name)
        elif op == "iris.dealloc":
            alive.remove(re.search(r"%\w+", text)[0])
            if not alive:
                world.free_all()
        elif op == "iris.launch":
            kernel = re.search(r"::@(\w+)", text)[1]
            programs, _, *arguments = operands
            launch(kernel, programs, arguments)
        elif op == "return":
            break
        elif op != "iris.sync":
            return f"cannot follow {text!r}"
    return None


def follow_main(world, path):
    """Executes @main, whose kernels must have compared something."""
    error = follow(world, path)
    if not error and any(checked == 0 for checked, _ in world.checked()):
        error = "a rank compared nothing"
    return error


# One world per entry: shapes of whole tiles, partial tiles, unaligned.
PROGRAMS = {
    "all_gather": [lambda w: all_gather(w, (16, 512)),
                   lambda w: all_gather(w, (11, 328)),
                   lambda w: all_gather(w, (5, 259))],
    "store_signal": [lambda w: message_passing(w, 4 * FLAG_STRIDE, True)],
    "put_signal": [lambda w: message_passing(w, 4 * FLAG_STRIDE, True)],
    "matmul_wait": [lambda w: matmul_wait(w, 128, "consumer"),
                    lambda w: matmul_wait(w, 104, "consumer_of_places")],
    "atomic_handshake": [lambda w: message_passing(w, 4, False)],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program",
                        help=f"{', '.join(sorted(PROGRAMS))}, or a file")
    parser.add_argument("hsaco")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--memory", default="coherent")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--heap", type=int, default=1 << 17,
                        help="bytes of heap per device")
    parser.add_argument("--expect-failure", action="store_true",
                        help="succeed only if some run fails")
    options = parser.parse_args()

    good = True
    for memory in options.memory.split(","):
        failures = run_all(options, memory)
        good = good and bool(failures) == options.expect_failure
    return not good


def run_all(options, memory):
    """All seeds and shapes on one kind of memory; returns the first problem."""
    weak = None if memory == "coherent" else memory
    image = machine.CodeObject(options.hsaco)
    runs = compared = instructions = 0
    failures = []
    start = time.time()
    for seed in range(1, options.seeds + 1):
        for sequence in PROGRAMS.get(options.program) or [
                lambda w: follow_main(w, options.program)]:
            world = World(image, options.ranks, weak, seed, options.heap)
            try:
                error = sequence(world)
            except RuntimeError as exception:  # out of bounds, hang, trap
                error = str(exception)
            counts = world.checked()
            failed = sum(failed for _, failed in counts)
            if failed and not error:
                error = f"{failed} checks of the kernels failed"
            if error:
                failures.append(f"seed {seed}: {error}")
            runs += 1
            compared += sum(checked for checked, _ in counts)
            instructions += world.instructions
    for failure in failures:
        print(failure)
    print(f"{options.program}: {runs} runs on {options.ranks} devices "
          f"({image.arch}, {memory} memory), {compared} elements "
          f"compared, {instructions} wave instructions, {len(failures)} "
          f"failures, {time.time() - start:.1f} s", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
