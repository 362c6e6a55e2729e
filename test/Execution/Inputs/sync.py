# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals, waits and barriers, with the data that they order."""
from tilegen import BITS, Program, buffer, tile

FLAG_STRIDE = 32  # words between flags: one cache line of 128 bytes
DATA = 256
SHAPE = (DATA,)
PROGRAMS = 2

# Comparison, the value that the sender sets, the value that the receiver
# compares with. The flag is initially 0, for which the comparison is false.
CASES = [("eq", 5, 5), ("eq", -5, -5), ("ne", 7, 0), ("ge", 9, 9),
         ("ge", 9, 3), ("gt", 10, 9), ("gt", 10, 0), ("le", -3, -3),
         ("le", -3, -1), ("lt", -3, -2), ("lt", -3, 0)]


def wait(k, memory, offset, comparison, value, element, owed=None):
    owed = f" owed_by({owed})" if owed else ""
    return k.value(f"iris.wait %ctx, {memory}[{offset}] {comparison} {value}"
                   f"{owed} : {element}, {k.type_of(memory)}")


def signal(k, kind, value, memory, offset, rank, element):
    to = f" to {rank}" if rank else ""
    k.emit(f"iris.signal {kind} %ctx, {value}, {memory}[{offset}]{to} : "
           f"{element}, {k.type_of(memory)}")


def store_hash(k, slot, peer, salt):
    """Writes a tile of data for the next rank; every thread writes some of
    it."""
    offset = k.mul(slot, k.index(DATA))
    index = k.coordinates(SHAPE, [offset])[0]
    v = k.hash(SHAPE, "i32", k.rank, index, salt)
    k.emit(f"iris.store %ctx, {v}, %data[{offset}] to {peer} : "
           f"{tile(SHAPE, 'i32')}, {k.types['data']}")


def expect_hash(k, slot, sender, salt, what):
    offset = k.mul(slot, k.index(DATA))
    index = k.coordinates(SHAPE, [offset])[0]
    want = k.hash(SHAPE, "i32", sender, index, salt)
    got = k.load("%data", [offset], SHAPE, "i32")
    k.expect(got, want, what, SHAPE, "i32")


def comparisons_kernel(element):
    """Every rank signals the next rank and waits for the previous one."""
    def body(k):
        right, left = k.neighbour(1), k.rem(
            k.add(k.rank, k.sub(k.ranks, k.index(1))), k.ranks)
        for number, (comparison, value, compared) in enumerate(CASES):
            slot = k.add(k.mul(k.index(number), k.programs), k.pid)
            flag = k.mul(slot, k.index(FLAG_STRIDE))
            store_hash(k, slot, right, number)
            v = k.constant(element, value)
            signal(k, "set", v, "%flags", flag, right, element)
            seen = wait(k, "%flags", flag, comparison,
                        k.constant(element, compared), element, left)
            k.expect(seen, v, f"{comparison} {compared}", (), element)
            expect_hash(k, slot, left, number, f"data after {comparison}")
    return body


def adds_kernel(element):
    """Every rank adds to every rank's flag and waits for all of them; twice.
    Each iteration has its own flags: a rank may add for the second iteration
    before another has added for the first, so a shared count could not tell
    the two apart."""
    def body(k):
        width = k.value(f"arith.index_cast {k.ranks} : index to {element}")
        for iteration in range(2):
            base = k.mul(k.ranks, k.add(k.mul(k.index(iteration), k.programs),
                                        k.pid))
            slot = k.add(base, k.rank)
            flag = k.mul(k.add(k.mul(k.index(iteration), k.programs), k.pid),
                         k.index(FLAG_STRIDE))
            peer = k.count(k.ranks)
            store_hash(k, slot, peer, iteration)
            signal(k, "add", k.constant(element, 1), "%flags", flag, peer,
                   element)
            k.close()
            wait(k, "%flags", flag, "ge", width, element)
            sender = k.count(k.ranks)
            expect_hash(k, k.add(base, sender), sender, iteration,
                        f"data after add {iteration}")
            k.close()
    return body


def wrap_start(element):
    """The epoch before the first one: four before the largest number."""
    return (1 << (BITS[element] - 1)) - 5


def wrap_init_kernel(element):
    def body(k):
        flag = k.mul(k.pid, k.index(FLAG_STRIDE))
        signal(k, "set", k.constant(element, wrap_start(element)), "%flags",
               flag, None, element)
    return body


def wrap_kernel(element, comparison, epochs=12):
    """Epochs count past the largest number of the type."""
    def body(k):
        right, left = k.neighbour(1), k.rem(
            k.add(k.rank, k.sub(k.ranks, k.index(1))), k.ranks)
        flag = k.mul(k.pid, k.index(FLAG_STRIDE))
        first = k.constant(element, wrap_start(element) + 1)
        e = k.count(k.index(epochs))
        step = k.value(f"arith.index_cast {e} : index to {element}")
        epoch = k.scalar("addi", element, first, step)
        slot = k.add(k.mul(e, k.programs), k.pid)
        store_hash(k, slot, right, 3)
        signal(k, "set", epoch, "%flags", flag, right, element)
        compared = epoch
        if comparison == "gt":
            compared = k.scalar("subi", element, epoch, k.constant(element, 1))
        seen = wait(k, "%flags", flag, comparison, compared, element, left)
        # The previous rank may be ahead, but not behind.
        ahead = k.scalar("subi", element, seen, epoch)
        behind = k.op("arith.cmpi slt,", (), element, ahead,
                      k.constant(element, 0))
        k.expect(behind, k.value("arith.constant false"), "epoch seen", (),
                 "i1")
        expect_hash(k, slot, left, 3, "data of the epoch")
        k.close()
    return body


def down_kernel(element, comparison, epochs=12):
    """Epochs count down past the smallest number of the type."""
    def body(k):
        right, left = k.neighbour(1), k.rem(
            k.add(k.rank, k.sub(k.ranks, k.index(1))), k.ranks)
        flag = k.mul(k.pid, k.index(FLAG_STRIDE))
        first = k.constant(element, -wrap_start(element) - 1)
        e = k.count(k.index(epochs))
        step = k.value(f"arith.index_cast {e} : index to {element}")
        epoch = k.scalar("subi", element, first, step)
        slot = k.add(k.mul(e, k.programs), k.pid)
        store_hash(k, slot, right, 4)
        signal(k, "set", epoch, "%flags", flag, right, element)
        compared = epoch
        if comparison == "lt":
            compared = k.scalar("addi", element, epoch, k.constant(element, 1))
        wait(k, "%flags", flag, comparison, compared, element, left)
        expect_hash(k, slot, left, 4, "data of the epoch")
        k.close()
    return body


def down_init_kernel(element):
    def body(k):
        flag = k.mul(k.pid, k.index(FLAG_STRIDE))
        signal(k, "set", k.constant(element, -wrap_start(element)), "%flags",
               flag, None, element)
    return body


def signals(element, full):
    program = Program()
    flags_type, data_type = buffer(element), buffer("i32")
    arguments = [("flags", flags_type), ("data", data_type)]

    def run(name, body, slots, init=None):
        flags = program.alloc(element, [slots * FLAG_STRIDE])
        sizes = program.mul(program.ranks, program.index(slots * DATA))
        data = program.alloc("i32", [sizes])
        if init:
            before = program.kernel(f"before_{name}", arguments, init)
            program.launch(before, PROGRAMS, flags, data)
            program.sync()
        kernel = program.kernel(name, arguments, body)
        program.launch(kernel, PROGRAMS, flags, data)
        program.sync()
        program.dealloc(data)
        program.dealloc(flags)

    run("comparisons", comparisons_kernel(element), len(CASES) * PROGRAMS)
    run("adds", adds_kernel(element), 2 * PROGRAMS)
    for comparison in ("ge", "gt"):
        run(f"wrap_{comparison}", wrap_kernel(element, comparison),
            12 * PROGRAMS, wrap_init_kernel(element))
    for comparison in ("le", "lt"):
        run(f"down_{comparison}", down_kernel(element, comparison),
            12 * PROGRAMS, down_init_kernel(element))
    program.cases += len(CASES) + 2 + 4 * 12
    return program


# Barriers ------------------------------------------------------------------------


def barrier_kernel(k):
    """In every iteration each rank writes the iteration's number to every
    rank and, after the barrier, reads the numbers of all ranks. Two halves of
    the data alternate, so one barrier per iteration is enough."""
    one = (1,)
    iteration = k.count("%iterations")
    parity = k.rem(iteration, k.index(2))
    half = k.mul(parity, k.mul(k.ranks, k.programs))
    mine = k.add(half, k.add(k.mul(k.rank, k.programs), k.pid))
    v = k.splat(k.to_i32(k.add(iteration, "%first")), one, "i32")
    peer = k.count(k.ranks)
    k.emit(f"iris.store %ctx, {v}, %data[{mine}] to {peer} : "
           f"{tile(one, 'i32')}, {k.types['data']}")
    k.close()
    k.emit(f"iris.barrier %ctx, %state : {k.types['state']}")
    sender = k.count(k.ranks)
    theirs = k.add(half, k.add(k.mul(sender, k.programs), k.pid))
    got = k.load("%data", [theirs], one, "i32")
    k.expect(got, v, "iteration of a rank", one, "i32")
    k.close()
    k.close()


def bare_barrier_kernel(k):
    k.count("%iterations")
    k.emit(f"iris.barrier %ctx, %state : {k.types['state']}")
    k.close()
    k.expect(k.rank, k.rank, "past the barriers", (), "index")


def barriers(_, full):
    """A thousand iterations with data, then barriers alone up to ten
    thousand; over two launches with the same state, which is never reset."""
    return repeat_barriers(10000 if full else 1000, 10001, 50)


def few_barriers(*_):
    """The same, for slow devices."""
    return repeat_barriers(12, 19, 6)


def repeat_barriers(iterations, first, second):
    """`first` barriers, an odd number, some at the start with data; then
    `second` barriers with data."""
    program = Program()
    data_type = buffer("i32")
    arguments = [("data", data_type), ("state", data_type)]
    count = program.mul(program.ranks, program.index(PROGRAMS))
    state = program.alloc("i32", [program.mul(count, program.index(32))])
    data = program.alloc("i32", [program.mul(count, program.index(2))])
    kernel = program.kernel(
        "barrier", arguments + [("iterations", "index"), ("first", "index")],
        barrier_kernel)
    bare = program.kernel("bare", arguments + [("iterations", "index")],
                          bare_barrier_kernel)
    program.launch(kernel, PROGRAMS, data, state, iterations, 1)
    program.launch(bare, PROGRAMS, data, state, first - iterations)
    # The number of barriers so far is odd: the parity must carry over to this
    # launch.
    program.launch(kernel, PROGRAMS, data, state, second, 77)
    program.sync()
    program.dealloc(data)
    program.dealloc(state)
    program.cases += iterations + second + 2
    return program
