# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives: every operation, variant, element type and reduction, ragged
sizes, groups, in place, and back to back.

A case fills the input with a hash of (rank, index), calls the collective and
compares every element of the output. Every result is exact, or is rounded
once and does not depend on the order.
"""
from tilegen import BITS, Program, buffer, is_float, tile
from variants import CALLED, CALLS, REDUCES, having
from variants import IN_PLACE as ALL_IN_PLACE
from variants import MOVES as KERNELS

SHAPE = (256,)
MOVES = {CALLS.get(name, name): each for name, each in KERNELS.items()}
REDUCTIONS = ["sum", "prod", "min", "max", "avg"]
ROOTED = [each["op"] for each in CALLED if each["root"]]
# Which buffers hold a chunk for every member of the group.
MANY_IN = having("input", "chunks", "all", "op")
MANY_OUT = having("output", "chunks", "all", "op")
# Of buffers that are equally large.
IN_PLACE = {name: each for name, each in ALL_IN_PLACE.items()
            if (CALLS.get(name, name) in MANY_IN) ==
            (CALLS.get(name, name) in MANY_OUT)}
FLOAT8 = ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"]
# Mantissa bits and exponent bias.
FORMATS = {"f8E4M3FN": (3, 7), "f8E5M2": (2, 15), "f8E4M3FNUZ": (3, 8),
           "f8E5M2FNUZ": (2, 16)}
FILL = -3  # initial value of outputs


def storage(element):
    return "i8" if element in FLOAT8 or element == "ui8" else element


def encode(element, number):
    """The code of a small integer."""
    mantissa, bias = FORMATS[element]
    if number == 0:
        return 0
    exponent = number.bit_length() - 1
    fraction = (number << mantissa >> exponent) & ((1 << mantissa) - 1)
    assert (number << mantissa) % (1 << exponent) == 0
    return (exponent + bias) << mantissa | fraction


class Data:
    """The values of one element type: i32 tiles, converted to elements."""

    def __init__(self, k, element, reduction):
        self.k, self.element, self.reduction = k, element, reduction

    def number(self, rank, index):
        """i32: the value of `rank` at `index`, small enough that every result
        is exact."""
        k = self.k
        salt = k.scalar("muli", "i32", k.to_i32("%iteration"),
                        k.constant("i32", 1000003))
        h = k.hash(SHAPE, "i32", rank, k.op(
            "arith.addi", SHAPE, "i32", index, k.splat(salt, SHAPE, "i32")))
        if self.reduction == "prod":  # 1 or 2
            return k.op("arith.addi", SHAPE, "i32", k.narrow(
                SHAPE, "i32", h, 31), k.dense(SHAPE, "i32", 1))
        if self.element in FLOAT8 and self.reduction in ("sum", "avg"):
            return k.narrow(SHAPE, "i32", h, 31)  # 0 or 1
        if self.reduction is None and not is_float(self.element):
            return h if self.element not in FLOAT8 else k.narrow(
                SHAPE, "i32", h, 24)
        return k.narrow(SHAPE, "i32", h, 29)  # 0 to 7

    def convert(self, number):
        """Converts a value to an element."""
        k = self.k
        if self.element in FLOAT8:
            if self.reduction is None:  # no arithmetic: any code
                return k.cast("arith.trunci", SHAPE, number, "i32", "i8")
            code = k.dense(SHAPE, "i32", 0)
            # Products of the inputs are at most 256.
            whole = list(range(9)) + [16, 32, 64, 128, 256]
            for n in whole[1:]:
                same = k.compare("eq", SHAPE, "i32", number,
                                 k.dense(SHAPE, "i32", n))
                code = k.select(SHAPE, "i32", same, k.dense(
                    SHAPE, "i32", encode(self.element, n)), code)
            return k.cast("arith.trunci", SHAPE, code, "i32", "i8")
        type_ = storage(self.element)
        if type_ == "i32":
            return number
        if type_ in ("i8", "i16"):
            return k.cast("arith.trunci", SHAPE, number, "i32", type_)
        if type_ == "i64":
            return k.cast("arith.extsi", SHAPE, number, "i32", "i64")
        return k.cast("arith.sitofp", SHAPE, number, "i32", type_)

    def combined(self, size, number_of):
        """The element that the reduction of number_of(member) yields."""
        k, reduction = self.k, self.reduction
        first = number_of(k.index(0))
        k.counter += 1
        result = f"%{k.counter}"
        k.counter += 2
        member, carried = f"%{k.counter - 1}", f"%{k.counter}"
        type_ = tile(SHAPE, "i32")
        k.open(f"{result} = scf.for {member} = {k.index(1)} to {size} step "
               f"{k.index(1)} iter_args({carried} = {first}) -> ({type_}) {{")
        op = {"sum": "addi", "avg": "addi", "prod": "muli", "min": "minsi",
              "max": "maxsi"}[reduction]
        next_ = k.op(f"arith.{op}", SHAPE, "i32", carried, number_of(member))
        k.emit(f"scf.yield {next_} : {type_}")
        k.close()
        if reduction != "avg":
            return self.convert(result)
        members = k.splat(k.to_i32(size), SHAPE, "i32")
        if not is_float(self.element):
            return self.convert(
                k.op("arith.divsi", SHAPE, "i32", result, members))
        wide = "f64" if self.element == "f64" else "f32"
        total = k.cast("arith.sitofp", SHAPE, result, "i32", wide)
        divisor = k.cast("arith.sitofp", SHAPE, members, "i32", wide)
        mean = k.op("arith.divf", SHAPE, wide, total, divisor)
        if self.element == wide:
            return mean
        return k.cast("arith.truncf", SHAPE, mean, wide, self.element)


def for_elements(k, extent, body):
    """Emits body(offset) for this program's tiles of `extent` elements."""
    step = k.mul(k.programs, k.index(SHAPE[0]))
    offset = k.loop(k.mul(k.pid, k.index(SHAPE[0])), extent, step)
    body(offset)
    k.close()


def members(k):
    size = k.value("iris.group_size %ctx : index")
    me = k.value("iris.group_index %ctx : index")
    return size, me


def rank_of(k, member):
    return k.value(f"iris.group_member %ctx, {member} : index")


def extent_of(k, name):
    return k.value(f"memref.dim %{name}, {k.index(0)} : {k.types[name]}")


def fill_kernel(element, reduction):
    def body(k):
        data = Data(k, element, reduction)

        def write(offset):
            index = k.coordinates(SHAPE, [offset])[0]
            value = data.convert(data.number(k.rank, index))
            k.store(value, "%in", [offset], SHAPE, storage(element))
        for_elements(k, extent_of(k, "in"), write)
    return body


def clear_kernel(element):
    def body(k):
        type_ = storage(element)
        for_elements(k, extent_of(k, "out"), lambda offset: k.store(
            k.dense(SHAPE, type_, FILL), "%out", [offset], SHAPE, type_))
    return body


def check_kernel(operation, element, reduction):
    def body(k):
        data = Data(k, element, reduction)
        type_ = storage(element)
        size, me = members(k)

        def compare(chunk, offset, want):
            start = k.mul(chunk, "%count")
            view = k.value(
                f"memref.subview %out[{start}] [%count] [1] : "
                f"{k.types['out']} to memref<?x{type_}, strided<[1], "
                "offset: ?>, #iris.symmetric>")
            k.types[view] = (f"memref<?x{type_}, strided<[1], offset: ?>, "
                             "#iris.symmetric>")
            got = k.load(view, [offset], SHAPE, type_)
            # Loads past the end return 0.
            index = k.coordinates(SHAPE, [offset])[0]
            count = k.splat(k.to_i32("%count"), SHAPE, "i32")
            inside = k.compare("ult", SHAPE, "i32", index, count)
            want = k.select(SHAPE, type_, inside, want,
                            k.dense(SHAPE, type_, 0))
            k.expect(got, want, f"{operation} {reduction or ''} {element}",
                     SHAPE, type_)

        def moved(source, chunk, offset):
            at = k.add(k.mul(chunk, "%count"), offset)
            index = k.coordinates(SHAPE, [at])[0]
            return data.convert(data.number(rank_of(k, source), index))

        def reduced(chunk, offset):
            at = k.add(k.mul(chunk, "%count"), offset)
            index = k.coordinates(SHAPE, [at])[0]
            return data.combined(
                size, lambda m: data.number(rank_of(k, m), index))

        zero = k.index(0)
        if operation in ("reduce", "gather_to"):
            k.when(k.value(f"arith.cmpi eq, {me}, %root : index"))
        if operation in ("all_gather", "gather_to", "all_to_all"):
            source = k.count(size)
            chunk = me if operation == "all_to_all" else zero
            for_elements(k, "%count", lambda offset: compare(
                source, offset, moved(source, chunk, offset)))
            k.close()
        elif operation in ("broadcast", "scatter_from"):
            chunk = me if operation == "scatter_from" else zero
            for_elements(k, "%count", lambda offset: compare(
                zero, offset, moved("%root", chunk, offset)))
        else:
            chunk = me if operation == "reduce_scatter" else zero
            for_elements(k, "%count", lambda offset: compare(
                zero, offset, reduced(chunk, offset)))
        if operation in ("reduce", "gather_to"):
            # The outputs of all other ranks are unchanged.
            k.close("} else {")
            k.indent += 1
            for_elements(k, extent_of(k, "out"), lambda offset: k.expect(
                k.load("%out", [offset], SHAPE, type_,
                       f" else {k.constant(type_, FILL)}"),
                k.dense(SHAPE, type_, FILL), "not the root", SHAPE, type_))
            k.close()
    return body


def valid(operation, variant, element, reduction):
    """Whether a kernel exists for it (CollectiveConfig.cpp)."""
    # These sums round at each addition; here they are exact.
    return variant != "atomic" or (reduction in ("sum", "avg")
                                   and element not in FLOAT8 + ["ui8"])


class Cases:
    def __init__(self, element, group, size):
        self.p = Program()
        self.element, self.group = element, group
        self.size = self.p.index(size) if size else self.p.ranks

    def launch(self, kernel, *arguments):
        p = self.p
        pairs = [(p.index(a), "index") if isinstance(a, int) else a
                 for a in arguments]
        values = ", ".join(["%ctx"] + [v for v, _ in pairs])
        types = ", ".join(["!iris.ctx"] + [t for _, t in pairs])
        p.emit(f"iris.launch @kernels::@{kernel} programs({p.index(3)})"
               f"{self.clause()} args({values} : {types})")

    def clause(self):
        return f" group([{', '.join(map(str, self.group))}])" \
            if self.group else ""

    def call(self, operation, variant, reduction, config, source, result,
             root):
        entries = dict(config, variant=f'"{variant}"') if variant else config
        text = ", ".join(f"{k} = {v}" for k, v in entries.items())
        type_ = source[1]
        stands_for = (f" as {self.element}"
                      if storage(self.element) != self.element else "")
        rooted = f" root({root})" if operation in ROOTED else ""
        self.p.emit(
            f"iris.{operation} {reduction + ' ' if reduction else ''}%ctx, "
            f"{source[0]}, {result[0]}{rooted}{stands_for}{self.clause()} "
            f"{{{text}}} : {type_}, {type_}")

    def case(self, operation, variant, reduction, count, in_place=False,
             config=None, iterations=1, root=0):
        p, element = self.p, self.element
        type_ = storage(element)
        memory = [("in", buffer(type_)), ("out", buffer(type_)),
                  ("count", "index"), ("root", "index"), ("iteration", "index")]
        name = f"{operation}_{reduction or 'move'}"
        check = p.kernel(f"check_{name}", memory,
                         check_kernel(operation, element, reduction))
        fill = p.kernel(f"fill_{reduction or 'move'}", [memory[0], memory[-1]],
                        fill_kernel(element, reduction))
        clear = p.kernel("clear", memory[1:2], clear_kernel(element))
        number = p.index(count)
        many = p.mul(self.size, number)
        source = p.alloc(type_, [many if operation in MANY_IN else number])
        result = source if in_place else p.alloc(
            type_, [many if operation in MANY_OUT else number])
        index = p.index(root)
        for iteration in range(iterations):
            # The input changes; ranks synchronize only in the collective.
            self.launch(fill, source, iteration)
            if not in_place:
                self.launch(clear, result)
            self.call(operation, variant, reduction, config or {}, source,
                      result, index)
            if not (in_place and operation in ("reduce", "gather_to")):
                self.launch(check, source, result, (number, "index"),
                            (index, "index"), iteration)
        if not in_place:
            p.dealloc(result)
        p.dealloc(source)
        p.cases += iterations


def few(element, full, group=None):
    """A subset that an emulator can run: every protocol, few types. The
    workspace is small."""
    cases = Cases(element, group, len(group) if group else 0)
    config = {"tile": 4096 // (BITS[element] // 8), "programs": 2,
              "workspace": 960 << 10}
    for operation, variant, reduction in [
            ("all_gather", "push", None), ("all_gather", "packet", None),
            ("all_reduce", "one_shot", "sum"),
            ("all_reduce", "two_shot", "sum"),
            ("all_reduce", "one_shot_packet", "sum"),
            ("all_reduce", "two_shot_packet", "sum"),
            ("all_gather", "buffered", None),
            ("all_reduce", "one_shot_buffered", "sum"),
            ("reduce_scatter", "buffered", "sum")]:
        for count in [config["tile"] * 2, config["tile"] + 13]:
            cases.case(operation, variant, reduction, count, config=config,
                       iterations=2)
    return cases.p


def few_rounds(element, full, group=None):
    """Several rounds, the last one partial, for an emulator: overlapping
    ones, and packets from and to a root."""
    cases = Cases(element, group, len(group) if group else 0)
    tile_ = 1024 // (BITS[element] // 8)
    config = {"tile": tile_, "programs": 2, "workspace": 512 << 10}
    cases.case("all_reduce", "two_shot_push", "sum", tile_ * 60 + 13,
               config=config)
    for operation, reduction in [("broadcast", None), ("reduce", "sum"),
                                 ("gather_to", None), ("scatter_from", None)]:
        cases.case(operation, "packet", reduction, tile_ * 3 + 13,
                   config=config, iterations=2, root=1)
    return cases.p


def rounds(element, full, group=None):
    """Messages of several rounds, the last one partial, through a small
    workspace; then alternating tile sizes."""
    cases = Cases(element, group, len(group) if group else 0)
    bytes_ = BITS[element] // 8
    small = {"tile": 512 // bytes_, "programs": 3, "workspace": 512 << 10}
    for operation, variant, reduction in [
            ("all_gather", "packet", None), ("all_gather", "buffered", None),
            ("all_to_all", "packet", None), ("all_to_all", "buffered", None),
            ("reduce_scatter", "packet", "sum"),
            ("reduce_scatter", "buffered", "sum"),
            ("all_reduce", "one_shot_packet", "sum"),
            ("all_reduce", "two_shot_packet", "sum"),
            ("all_reduce", "one_shot_buffered", "sum"),
            ("broadcast", "scatter", None), ("broadcast", "packet", None),
            ("reduce", "packet", "sum"), ("gather_to", "packet", None),
            ("scatter_from", "packet", None)]:
        for size in [23 << 10, 57000]:
            cases.case(operation, variant, reduction, size // bytes_ + 13,
                       config=small, iterations=3)
    # Packets of this variant hold more data per slot.
    for size in [98 << 10, 203 << 10, 330000]:
        cases.case("all_reduce", "two_shot_push", "sum", size // bytes_ + 13,
                   config=small, iterations=3)
    for iteration in range(8):
        config = dict(small, tile=(512 << iteration % 4) // bytes_)
        cases.case("all_reduce", "one_shot_buffered", "sum", 9000 // bytes_,
                   config=config)
    return cases.p


def collectives(element, full, group=None):
    """`group`: None for the world, or a list of ranks."""
    cases = Cases(element, group, len(group) if group else 0)
    members_ = len(group) if group else 1
    bits = 8 if storage(element) == "i8" else int(element.strip("bfi"))
    tile_ = 4096 // (bits // 8)
    counts = [1, 7, tile_, 5 * tile_ + 13] if not full else [
        1, 2, 7, 127, tile_ - 1, tile_, tile_ + 1, 3 * tile_, 7 * tile_ + 13,
        40 * tile_ + 1]
    programs = {"tile": tile_, "programs": 3}
    for operation, variants in MOVES.items():
        if element not in ("i8", "f32", "i64") and not full:
            continue  # i8 and ui8 are the same bytes
        for variant in variants:
            for count in counts:
                cases.case(operation, variant, None, count, config=programs,
                           root=(count + 1) % members_)
            if variant in IN_PLACE.get(operation, []):
                cases.case(operation, variant, None, counts[-1],
                           in_place=True, config=programs)
    for operation, variants in REDUCES.items():
        for variant in variants:
            for reduction in REDUCTIONS:
                if not valid(operation, variant, element, reduction):
                    continue
                if element in FLOAT8 and reduction == "avg":
                    continue  # not an integer
                some = counts if reduction == "sum" or full else counts[1::2]
                if operation != "all_reduce" and not full:
                    some = some[-2:]
                for count in some:
                    cases.case(operation, variant, reduction, count,
                               config=programs, root=(count + 1) % members_)
                if variant in IN_PLACE.get(operation, []):
                    cases.case(operation, variant, reduction, counts[-1],
                               in_place=True, config=programs)
    # Back to back: only the collectives themselves synchronize.
    for operation, variant in [("all_reduce", "one_shot"),
                               ("all_reduce", "one_shot_packet"),
                               ("all_reduce", "two_shot_packet"),
                               ("all_reduce", "two_shot"),
                               ("all_reduce", "two_shot_push"),
                               ("reduce_scatter", "packet")]:
        cases.case(operation, variant, "sum", counts[2] + 1, iterations=20,
                   config=programs)
    # In these, a rank that waits for no peer must not run ahead either.
    for operation, reduction in [("broadcast", None), ("reduce", "sum"),
                                 ("gather_to", None), ("scatter_from", None)]:
        cases.case(operation, "packet", reduction, counts[1], iterations=20,
                   config=programs, root=members_ - 1)
    return cases.p
