# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics: every kind, element type, ordering and scope, scalar and tile.

* Chains: a single program uses its own elements of a peer's buffer, so each
op returns the value that the previous op left.
* Contention: all programs of all ranks use the same elements; the final value
does not depend on the order.
"""
from tilegen import Program, buffer, is_float, tile

SEMS = ["relaxed", "acquire", "release", "acq_rel"]
SCOPES = ["sys", "gpu", "block"]
KINDS = ["add", "sub", "xchg", "and", "or", "xor", "min", "max", "umin",
         "umax"]
FLOAT_KINDS = ["add", "sub", "xchg", "min", "max"]
TILE = 64
PROGRAMS = 3

# The value op of each kind.
INTEGER_OPS = {"add": "arith.addi", "sub": "arith.subi", "and": "arith.andi",
               "or": "arith.ori", "xor": "arith.xori", "min": "arith.minsi",
               "max": "arith.maxsi", "umin": "arith.minui",
               "umax": "arith.maxui"}
FLOAT_OPS = {"add": "arith.addf", "sub": "arith.subf",
             "min": "arith.minimumf", "max": "arith.maximumf"}


def kinds_of(element):
    return FLOAT_KINDS if is_float(element) else KINDS


def apply(k, kind, shape, element, old, operand):
    if kind == "xchg":
        return operand
    table = FLOAT_OPS if is_float(element) else INTEGER_OPS
    return k.op(table[kind], shape, element, old, operand)


def small(k, shape, element, rank, index, salt):
    """0 to 7: sums of a chain of them are exact in every type. Integers use
    all their bits."""
    if not is_float(element):
        return k.hash(shape, element, rank, index, salt)
    h = k.hash(shape, "i32", rank, index, salt)
    return k.narrow(shape, element, h, 29)


def rmw(k, kind, value, memory, offset, element, shape, rank, sem, scope,
        mask=None):
    type_ = tile(shape, element) if shape else element
    to = f" to {rank}" if rank else ""
    masked = f" mask {mask}" if mask else ""
    return k.value(
        f"iris.atomic_rmw {kind} %ctx, {value}, {memory}[{offset}]{to}{masked}"
        f" sem({sem}) scope({scope}) : {type_}, {k.type_of(memory)}")


def cas(k, compare, value, memory, offset, element, shape, rank, sem, scope):
    type_ = tile(shape, element) if shape else element
    to = f" to {rank}" if rank else ""
    return k.value(
        f"iris.atomic_cas %ctx, {compare}, {value}, {memory}[{offset}]{to} "
        f"sem({sem}) scope({scope}) : {type_}, {k.type_of(memory)}")


def orderings():
    """(sem, scope, on a peer). Scopes narrower than `sys` are used on local
    memory only."""
    for scope in SCOPES:
        for sem in SEMS:
            yield sem, scope, scope == "sys"


def chain_kernel(element, kind, shape):
    """Every ordering of one kind, in sequence, on every rank. The program's
    elements start at `element slot` of the buffer."""
    size = shape[0] if shape else 1

    def body(k):
        peer = k.count(k.ranks)
        # Every pair of sender and program has its own elements.
        slot = k.add(k.mul(k.rank, k.programs), k.pid)
        offset = k.mul(slot, k.index(size))
        if shape:
            index = k.coordinates(shape, [offset])[0]
        else:
            index = k.to_i32(offset)
        for sem, scope, remote in orderings():
            # Narrower scopes: once per iteration of the rank loop, on local
            # memory.
            target = peer if remote else None
            name = "%peer_data" if remote else "%own_data"
            off = offset if remote else k.add(
                offset, k.mul(peer, k.mul(k.mul(k.ranks, k.programs),
                                          k.index(size))))
            salt = 16 * SEMS.index(sem) + SCOPES.index(scope) + 1
            first = small(k, shape, element, k.rank, index, salt)
            second = small(k, shape, element, k.rank, index, salt + 100)
            third = small(k, shape, element, k.rank, index, salt + 200)
            args = (element, shape, target, sem, scope)
            what = f"{kind} {element} {sem} {scope}"
            rmw(k, "xchg", first, name, off, *args)
            if kind == "cas":
                # A compare-and-swap that fails: no element is all ones plus
                # this.
                wrong = apply(k, "add", shape, element, first,
                              k.dense(shape, element, 1) if shape
                              else k.constant(element, 1))
                old = cas(k, wrong, third, name, off, *args)
                k.expect(old, first, what + " fails", shape, element)
                old = cas(k, first, second, name, off, *args)
                k.expect(old, first, what + " succeeds", shape, element)
                want = second
            else:
                old = rmw(k, kind, second, name, off, *args)
                k.expect(old, first, what, shape, element)
                want = apply(k, kind, shape, element, first, second)
                old = rmw(k, kind, third, name, off, *args)
                k.expect(old, want, what + " again", shape, element)
                want = apply(k, kind, shape, element, want, third)
            old = rmw(k, "xchg", first, name, off, *args)
            k.expect(old, want, what + " left", shape, element)
        k.close()
    return body


def window_kernel(element):
    """Masked tiles that extend past both edges: elements out of bounds or
    masked out return 0 and stay unchanged."""
    shape = (TILE,)

    def body(k):
        # This program's elements: views of TILE - 6, separated by elements that
        # must not change.
        start = k.mul(k.pid, k.index(2 * TILE))
        kinds = [("add", None), ("add", "mask"), ("xchg", "mask"),
                 ("max", None)]
        for number, (kind, masked) in enumerate(kinds):
            base = k.add(start, k.index(
                k_programs_span(number) + 3))
            view = k.subview("own_data", ["1"], [base], [TILE - 6])
            for shift in (-3, -TILE // 2, TILE // 2):
                offset = k.index(shift)
                index = k.value(f"tile.range : {tile(shape, 'i32')}")
                c = k.shift(shape, [index], [shift])[0]
                before = k.load("%own_data", [k.add(base, offset)], shape,
                                element)
                operand = small(k, shape, element, k.rank, index, number)
                mask = None
                alive = k.inside(shape, [c], [TILE - 6])
                if masked:
                    bit = k.op("arith.andi", shape, "i32", index,
                               k.dense(shape, "i32", 1))
                    mask = k.compare("eq", shape, "i32", bit,
                                     k.dense(shape, "i32", 0))
                    alive = k.both(shape, [alive, mask])
                old = rmw(k, kind, operand, view, offset, element, shape, None,
                          "acq_rel", "sys", mask)
                zero = k.dense(shape, element, 0)
                want = k.select(shape, element, alive, before, zero)
                k.expect(old, want, f"{kind} over the edge", shape, element)
                new = apply(k, kind, shape, element, before, operand)
                want = k.select(shape, element, alive, new, before)
                # Read back with atomics as well: xor and or with 0 do not exist
                # for floats.
                got = k.load("%own_data", [k.add(base, offset)], shape,
                             element, " volatile")
                # Other programs may be changing the elements next to this
                # program's.
                mine = k.inside(shape, k.shift(shape, [c], [3]), [TILE])
                got = k.select(shape, element, mine, got, zero)
                want = k.select(shape, element, mine, want, zero)
                k.expect(got, want, f"{kind} changed next to the tile", shape,
                         element)
    return body


def k_programs_span(number):
    """Offset of a kind's elements from those of the first kind."""
    return number * 2 * TILE * PROGRAMS


NANS = {"f16": "0x7E00", "bf16": "0x7FC0", "f32": "0x7FC00000",
        "f64": "0x7FF8000000000000"}


def nan_kernel(element):
    """min and max propagate NaN, in memory and in the operand."""
    def body(k):
        for number, (kind, shape) in enumerate(
                [("min", ()), ("max", ()), ("min", (TILE,)),
                 ("max", (TILE,))]):
            offset = k.index(number * TILE)
            type_ = tile(shape, element) if shape else element
            if shape:
                one, two = k.dense(shape, element, 1), k.dense(shape, element, 2)
                text = f"dense<{NANS[element]}>"
            else:
                one, two = k.constant(element, 1), k.constant(element, 2)
                text = NANS[element]
            nan = k.value(f"arith.constant {text} : {type_}")
            args = ("%own_data", offset, element, shape, None, "acq_rel", "sys")
            rmw(k, "xchg", one, *args)
            k.expect(rmw(k, kind, nan, *args), one, f"{kind} before NaN", shape,
                     element)
            k.expect(rmw(k, kind, two, *args), nan, f"{kind} of NaN", shape,
                     element)
            k.expect(rmw(k, "xchg", one, *args), nan, f"{kind} after NaN",
                     shape, element)
    return body


def contention_kernel(element, kind, shape):
    """Every program of every rank updates the same elements of every rank.
    `element 0` of the buffer counts the results of xchg and cas."""
    def body(k):
        peer = k.count(k.ranks)
        zero = k.index(0)
        who = k.to_i32(k.add(k.mul(k.rank, k.programs), k.pid))
        value = contribution(k, element, kind, shape, who)
        if kind == "xchg":
            # Every value that was exchanged in comes out once: the old values
            # and the last one.
            old = rmw(k, "xchg", value, "%data", zero, element, shape, peer,
                      "acq_rel", "sys")
            rmw(k, "add", old, "%seen", zero, element, shape, peer, "relaxed",
                "sys")
        elif kind == "cas":
            # Adds one with a compare-and-swap loop.
            guess = k.constant(element, 0)
            k.counter += 1
            loop, name = f"%{k.counter}", f"%guess{k.counter}"
            k.open(f"{loop} = scf.while ({name} = {guess}) : "
                   f"({element}) -> {element} {{")
            new = apply(k, "add", (), element, name, k.constant(element, 1))
            old = cas(k, name, new, "%data", zero, element, (), peer,
                      "acq_rel", "sys")
            if is_float(element):
                again = k.value(f"arith.cmpf une, {old}, {name} : {element}")
            else:
                again = k.value(f"arith.cmpi ne, {old}, {name} : {element}")
            k.emit(f"scf.condition({again}) {old} : {element}")
            k.close("} do {")
            k.indent += 1
            k.emit(f"^bb0(%old{k.counter}: {element}):")
            k.emit(f"scf.yield %old{k.counter} : {element}")
            k.close()
        else:
            rmw(k, kind, value, "%data", zero, element, shape, peer, "relaxed",
                "sys")
        k.close()
    return body


def contribution(k, element, kind, shape, who):
    """The operand of program `who` of the world. Sums stay small, so that
    they are exact; and and or leave different bits."""
    h = who
    if kind in ("add", "sub", "xchg", "cas"):
        three = k.scalar("andi", "i32", h, k.constant("i32", 3))
        v = k.narrow((), element, three, 0)
    elif is_float(element):
        seven = k.scalar("muli", "i32", h, k.constant("i32", 37))
        seven = k.scalar("andi", "i32", seven, k.constant("i32", 127))
        v = k.narrow((), element, seven, 0)
    else:
        v = k.hash((), element, k.index(0), h, 5)
    return k.splat(v, shape, element) if shape else v


def contention_check(element, kind, shape):
    """Recomputes the result sequentially."""
    def body(k):
        zero = k.index(0)
        one = k.index(1)
        programs = "%programs_then"
        total = k.mul(k.ranks, programs)
        type_ = tile(shape, element) if shape else element
        start = k.dense(shape, element, 0) if shape else k.constant(element, 0)
        k.counter += 1
        result, acc, i = (f"%{k.counter}", f"%acc{k.counter}",
                          f"%i{k.counter}")
        k.open(f"{result} = scf.for {i} = {zero} to {total} step {one} "
               f"iter_args({acc} = {start}) -> ({type_}) {{")
        value = contribution(k, element, kind, shape, k.to_i32(i))
        if kind == "cas":
            value = (k.dense(shape, element, 1) if shape
                     else k.constant(element, 1))
        step = {"xchg": "add", "cas": "add"}.get(kind, kind)
        new = apply(k, step, shape, element, acc, value)
        k.emit(f"scf.yield {new} : {type_}")
        k.close()

        def read(memory):
            # Scalars are read as one-element tiles: there are no scalar loads.
            zero_value = (k.dense(shape, element, 0) if shape
                          else k.constant(element, 0))
            return rmw(k, "add", zero_value, memory, zero, element, shape,
                       None, "acq_rel", "sys")
        got = read("%data")
        if kind == "xchg":
            got = apply(k, "add", shape, element, got, read("%seen"))
        k.expect(got, result, f"{kind} {element} by all", shape, element)
    return body


def atomics(element, full):
    program = Program()
    memref = buffer(element)
    shapes = [(), (TILE,)] + ([(1,), (8,), (2048,)] if full else [])
    for shape in shapes:
        size = shape[0] if shape else 1
        tag = f"{element}_{size if shape else 'scalar'}"
        span = program.mul(program.ranks, program.index(PROGRAMS * size))
        peer_data = program.alloc(element, [span])
        own_data = program.alloc(element, [program.mul(span, program.ranks)])
        program.sync()
        for kind in kinds_of(element) + ["cas"]:
            name = program.kernel(
                f"chain_{kind}_{tag}",
                [("peer_data", memref), ("own_data", memref)],
                chain_kernel(element, kind, shape))
            program.launch(name, PROGRAMS, peer_data, own_data)
            # The next kind uses the same elements.
            program.sync()
            program.cases += 3 * len(list(orderings()))
        program.dealloc(own_data)
        program.dealloc(peer_data)

    for shape in [(), (TILE,)]:
        tag = f"{element}_{'tile' if shape else 'scalar'}"
        for kind in kinds_of(element) + (["cas"] if not shape else []):
            data = program.alloc(element, [TILE])
            seen = program.alloc(element, [TILE])
            program.sync()
            name = program.kernel(f"all_{kind}_{tag}",
                                  [("data", memref), ("seen", memref)],
                                  contention_kernel(element, kind, shape))
            check = program.kernel(
                f"check_{kind}_{tag}",
                [("data", memref), ("seen", memref),
                 ("programs_then", "index")],
                contention_check(element, kind, shape))
            program.launch(name, PROGRAMS, data, seen)
            program.sync()
            program.launch(check, 1, data, seen, PROGRAMS)
            program.sync()
            program.dealloc(seen)
            program.dealloc(data)
            program.cases += 1

    edge = program.alloc(element, [8 * TILE * PROGRAMS + 8])
    name = program.kernel(f"edges_{element}", [("own_data", memref)],
                          window_kernel(element))
    program.launch(name, PROGRAMS, edge)
    program.sync()
    if is_float(element):
        name = program.kernel(f"nan_{element}", [("own_data", memref)],
                              nan_kernel(element))
        program.launch(name, 1, edge)
        program.sync()
        program.cases += 4
    program.dealloc(edge)
    program.cases += 12
    return program
