# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The symmetric heap: allocations and frees in random order from @main.

Every new buffer is zero on every rank; then the previous rank fills it, and
the contents must persist until it is freed.
"""
import random

from tilegen import Program, buffer, tile

SHAPE = (256,)
ELEMENT = "i32"
PROGRAMS = 2


def loops(k):
    step = k.mul(k.programs, k.index(SHAPE[0]))
    start = k.mul(k.pid, k.index(SHAPE[0]))
    return k.loop(start, "%size", step)


def masked(k, offset, value):
    size = k.splat(k.to_i32("%size"), SHAPE, "i32")
    c = k.coordinates(SHAPE, [offset])[0]
    inside = k.compare("slt", SHAPE, "i32", c, size)
    return k.select(SHAPE, ELEMENT, inside, value, k.dense(SHAPE, ELEMENT, 0))


def salted_hash(k, offset, rank):
    c = k.coordinates(SHAPE, [offset])[0]
    salt = k.splat(k.to_i32("%salt"), SHAPE, "i32")
    index = k.op("arith.addi", SHAPE, "i32", c, salt)
    return k.hash(SHAPE, ELEMENT, rank, index)


def fresh_kernel(k):
    offset = loops(k)
    got = k.load("%data", [offset], SHAPE, ELEMENT)
    k.expect(got, k.dense(SHAPE, ELEMENT, 0), "fresh memory", SHAPE, ELEMENT)
    k.close()


def fill_kernel(k):
    right = k.neighbour(1)
    offset = loops(k)
    v = salted_hash(k, offset, k.rank)
    k.emit(f"iris.store %ctx, {v}, %data[{offset}] to {right} : "
           f"{tile(SHAPE, ELEMENT)}, {k.types['data']}")
    k.close()


def check_kernel(k):
    left = k.rem(k.add(k.rank, k.sub(k.ranks, k.index(1))), k.ranks)
    offset = loops(k)
    got = k.load("%data", [offset], SHAPE, ELEMENT)
    want = masked(k, offset, salted_hash(k, offset, left))
    k.expect(got, want, "held until it is freed", SHAPE, ELEMENT)
    k.close()


def heap(seed, full):
    program = Program()
    memref = buffer(ELEMENT)
    arguments = [("data", memref), ("size", "index"), ("salt", "index")]
    kernels = [program.kernel(name, arguments, body) for name, body in
               (("fresh", fresh_kernel), ("fill", fill_kernel),
                ("check", check_kernel))]
    choose = random.Random(seed)
    alive = []
    allocations = 0
    while allocations < (800 if full else 400):
        # Allocate a batch, then free some of all buffers in random order.
        batch = []
        for _ in range(choose.randrange(1, 12)):
            size = choose.choice([1, 7, 64, 255, 256, 1000, 4096,
                                  choose.randrange(1, 20000)])
            memory = program.alloc(ELEMENT, [size])
            batch.append((memory, size, allocations * 1000))
            allocations += 1
        for memory, size, salt in batch:
            program.launch(kernels[0], PROGRAMS, memory, size, salt)
        # No rank fills a buffer that another rank is still checking.
        program.sync()
        for memory, size, salt in batch:
            program.launch(kernels[1], PROGRAMS, memory, size, salt)
        program.sync()
        alive += batch
        choose.shuffle(alive)
        leave = max(len(alive) - 40, choose.randrange(0, len(alive) + 1))
        for memory, size, salt in alive[:leave]:
            program.launch(kernels[2], PROGRAMS, memory, size, salt)
            program.dealloc(memory)
        alive = alive[leave:]
    for memory, size, salt in alive:
        program.launch(kernels[2], PROGRAMS, memory, size, salt)
        program.dealloc(memory)
    program.sync()
    program.cases += 2 * allocations
    return program
