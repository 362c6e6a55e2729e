# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packets (LL protocol): tiles whose words carry their flags, over many
epochs."""
from tilegen import BITS, Program, buffer, tile

PROGRAMS = 2
SIZES = [16, 32, 128, 1024, 4096, 8192]  # bytes of a tile
BOX = ("box", buffer("i32"))


def shape_of(element, size, rows=1):
    count = size * 8 // BITS[element]
    return (count,) if rows == 1 else (rows, count // rows)


def extent(size):
    """Number of i32 elements of a tile's packets."""
    return size // 2


def packet_store(k, value, memory, offset, flag, shape, element, rank=None):
    to = f" to {rank}" if rank else ""
    k.emit(f"iris.packet_store %ctx, {value}, {memory}[{offset}]{to} "
           f"flag({flag}) : {tile(shape, element)}, {k.type_of(memory)}")


def packet_load(k, memory, offset, flag, shape, element, owed=None):
    owed = f" owed_by({owed})" if owed else ""
    return k.value(f"iris.packet_load %ctx, {memory}[{offset}] flag({flag})"
                   f"{owed} : {k.type_of(memory)} -> {tile(shape, element)}")


def epoch_of(k, iteration):
    """first + iteration, which wraps in i32."""
    return k.to_i32(k.add("%first", iteration))


def payload(k, shape, element, sender, epoch, salt=0):
    """The data of `sender` in an epoch: a hash of everything that could be
    mixed up."""
    zero = k.index(0)
    index = k.linear_index(shape, k.coordinates(shape, [zero] * len(shape)), shape)
    scale = k.scalar("muli", "i32", epoch, k.constant("i32", 40503))
    index = k.op("arith.addi", shape, "i32", index,
                 k.splat(scale, shape, "i32"))
    return k.hash(shape, element, sender, index, salt)


def slot(k, iteration, senders, sender, size):
    """Two boxes alternate; one slot per program and sender."""
    parity = k.rem(iteration, k.index(2))
    index = k.add(k.mul(parity, k.programs), k.pid)
    return k.mul(k.add(k.mul(index, senders), sender), k.index(extent(size)))


def ring_kernel(element, shape, size):
    """Neighbors in both directions exchange packets in every epoch."""
    def body(k):
        right = k.neighbour(1)
        left = k.rem(k.add(k.rank, k.sub(k.ranks, k.index(1))), k.ranks)
        two, from_left, from_right = k.index(2), k.index(0), k.index(1)
        iteration = k.count("%iterations")
        epoch = epoch_of(k, iteration)
        for salt, peer, index in ((0, right, from_left), (1, left, from_right)):
            v = payload(k, shape, element, k.rank, epoch, salt)
            packet_store(k, v, "%box", slot(k, iteration, two, index, size), epoch,
                         shape, element, peer)
        for salt, peer, index in ((0, left, from_left), (1, right, from_right)):
            got = packet_load(k, "%box", slot(k, iteration, two, index, size), epoch,
                              shape, element, peer)
            want = payload(k, shape, element, peer, epoch, salt)
            k.expect(got, want, f"packet of neighbour {salt}", shape, element)
        k.close()
    return body


def all_to_all_kernel(element, shape, size):
    """Every rank sends a packet to every rank, itself included."""
    def body(k):
        iteration = k.count("%iterations")
        epoch = epoch_of(k, iteration)
        mine = slot(k, iteration, k.ranks, k.rank, size)
        peer = k.rem(k.add(k.rank, k.count(k.ranks)), k.ranks)
        v = payload(k, shape, element, k.rank, k.scalar(
            "addi", "i32", epoch, k.to_i32(peer)))
        packet_store(k, v, "%box", mine, epoch, shape, element, peer)
        k.close()
        sender = k.rem(k.add(k.rank, k.count(k.ranks)), k.ranks)
        got = packet_load(k, "%box", slot(k, iteration, k.ranks, sender, size),
                          epoch, shape, element, sender)
        want = payload(k, shape, element, sender, k.scalar(
            "addi", "i32", epoch, k.to_i32(k.rank)))
        k.expect(got, want, "packet of a rank", shape, element)
        k.close()
        k.close()
    return body


def edges_kernel(element, shape, size):
    """Local packets, an explicit translation, and tiles that extend past the
    buffer."""
    def body(k):
        right = k.neighbour(1)
        left = k.rem(k.add(k.rank, k.sub(k.ranks, k.index(1))), k.ranks)
        flag = k.constant("i32", -7)
        zero, step = k.index(0), k.index(extent(size))
        own = k.mul(k.pid, step)
        v = payload(k, shape, element, k.rank, flag)
        packet_store(k, v, "%box", own, flag, shape, element)
        got = packet_load(k, "%box", own, flag, shape, element)
        k.expect(got, v, "packet to itself", shape, element)
        peer = k.value(f"iris.translate %ctx, %box to {right} : "
                       f"{k.types['box']} -> memref<?xi32, #iris.peer>")
        k.types[peer] = "memref<?xi32, #iris.peer>"
        theirs = k.mul(k.add(k.programs, k.pid), step)
        packet_store(k, v, peer, theirs, flag, shape, element)
        got = packet_load(k, "%box", theirs, flag, shape, element, left)
        k.expect(got, payload(k, shape, element, left, flag),
                 "packet to a translated buffer", shape, element)
        # The buffer has four tiles per program.
        end = k.mul(k.mul(k.programs, k.index(4)), step)
        nothing = k.dense(shape, element, 0)
        for name, offset in (("past", end), ("over the end", k.sub(
                end, k.index(4))), ("before", k.sub(zero, step)),
                ("over the start", k.sub(zero, k.index(4)))):
            packet_store(k, v, "%box", offset, flag, shape, element, right)
            got = packet_load(k, "%box", offset, flag, shape, element)
            k.expect(got, nothing, f"window {name}", shape, element)
        # Stores past the edges had no effect.
        some = k.load("%box", [k.sub(end, k.index(4))], (4,), "i32")
        k.expect(some, k.dense((4,), "i32", 0), "end of the buffer", (4,),
                 "i32")
    return body


def packets(element, full):
    """Epochs wrap past the largest i32, then, on the same boxes, past 0."""
    program = Program()
    arguments = [BOX, ("first", "index"), ("iterations", "index")]
    iterations = {size: (4000 if size <= 1024 else 1000) if full else 40
             for size in SIZES}
    iterations[128] = 4000 if full else 1200
    # A few shapes and workgroup sizes: the number of elements per thread
    # differs.
    rows = {32: 4, 4096: 8}
    warps = {128: 1, 1024: 2}
    for size in SIZES:
        shape = shape_of(element, size, rows.get(size, 1))
        options = {"warps": warps.get(size, 4)}
        for name, body, senders in (
                ("ring", ring_kernel, program.index(2)),
                ("all", all_to_all_kernel, program.ranks)):
            kernel = program.kernel(f"{name}_{size}", arguments,
                                    body(element, shape, size), **options)
            slots = program.mul(senders, program.index(2 * PROGRAMS))
            box = program.alloc("i32", [program.mul(
                slots, program.index(extent(size)))])
            count = iterations[size]
            for first in ((1 << 31) - count // 2, (1 << 32) - count // 2):
                program.launch(kernel, PROGRAMS, box, first, count)
                program.sync()
            program.dealloc(box)
            program.cases += 2 * count
        kernel = program.kernel(f"edges_{size}", [BOX],
                                edges_kernel(element, shape, size), **options)
        box = program.alloc("i32", [4 * PROGRAMS * extent(size)])
        program.launch(kernel, PROGRAMS, box)
        program.sync()
        program.dealloc(box)
        program.cases += 6
    return program


def short(element, _):
    """A few epochs of two sizes, for slow devices."""
    program = Program()
    arguments = [BOX, ("first", "index"), ("iterations", "index")]
    for size, warps in ((64, 1), (1024, 2)):
        shape = shape_of(element, size)
        kernel = program.kernel(f"all_{size}", arguments,
                                all_to_all_kernel(element, shape, size),
                                warps=warps)
        slots = program.mul(program.ranks, program.index(2 * PROGRAMS))
        box = program.alloc("i32",
                            [program.mul(slots, program.index(extent(size)))])
        program.launch(kernel, PROGRAMS, box, (1 << 31) - 3, 6)
        program.sync()
        edges = program.kernel(f"edges_{size}", [BOX],
                               edges_kernel(element, shape, size), warps=warps)
        other = program.alloc("i32", [4 * PROGRAMS * extent(size)])
        program.launch(edges, PROGRAMS, other)
        program.sync()
        program.dealloc(other)
        program.dealloc(box)
        program.cases += 12
    return program
