# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives with counts and offsets: every variant and element type, chunks
that are empty, ragged and in any order, and several calls with other counts.

Kernels fill the input with a hash of (rank, index), write the tables, and
compare the whole output: what no rank sends keeps its old value.
"""
from collectives import (FILL, SHAPE, Cases, Data, extent_of, for_elements,
                         members, rank_of, storage)
from tilegen import BITS, buffer
from variants import COLLECTIVES

OPERATIONS = {each["op"]: each for each in COLLECTIVES
              if each["output"]["counts"]}
NAMES = ["send_counts", "send_offsets", "counts", "offsets"]
TABLE = buffer("i64")


def count_of(k, operation, source, target):
    """Elements that member `source` sends to member `target`: up to %most, and
    often none."""
    if operation == "all_gather_v":
        target = k.index(0)
    mixed = k.add(k.add(k.mul(source, k.index(5)), k.mul(target, k.index(3))),
                  k.mul("%iteration", k.index(7)))
    count = k.rem(k.mul(k.add(mixed, k.index(1)), k.index(7919)),
                  k.add("%most", k.index(1)))
    empty = k.compare("eq", (), "index", k.rem(mixed, k.index(4)), k.index(3))
    return k.select((), "index", empty, k.index(0), count)


def in_offset_of(k, operation, size, target):
    """Chunks begin in another order than the members', and between elements."""
    if operation == "all_gather_v":
        return k.index(0)
    place = k.rem(k.add(target, k.index(1)), size)
    return k.add(k.mul(place, "%most"), k.rem("%iteration", k.index(3)))


def out_offset_of(k, size, source, target):
    place = k.sub(k.sub(size, k.index(1)), source)
    return k.add(k.mul(place, "%most"),
                 k.rem(k.add(target, "%iteration"), k.index(4)))


def tables_kernel(operation):
    def body(k):
        size, me = members(k)
        first = k.compare("eq", (), "index", k.pid, k.index(0))
        k.when(first)
        other = k.count(size)
        for name, value in zip(NAMES, [
                count_of(k, operation, me, other),
                in_offset_of(k, operation, size, other),
                count_of(k, operation, other, me),
                out_offset_of(k, size, other, me)]):
            number = k.value(f"arith.index_cast {value} : index to i64")
            k.emit(f"memref.store {number}, %{name}[{other}] : {TABLE}")
        k.close()
        k.close()
    return body


def fill_kernel(element):
    def body(k):
        data = Data(k, element, None)
        for name, value in (("in", None), ("out", FILL)):
            def write(offset):
                place = k.coordinates(SHAPE, [offset])[0]
                number = (data.convert(data.number(k.rank, place))
                          if value is None else
                          k.dense(SHAPE, storage(element), value))
                k.store(number, f"%{name}", [offset], SHAPE, storage(element))
            for_elements(k, extent_of(k, name), write)
    return body


def check_kernel(operation, element):
    def body(k):
        data, type_ = Data(k, element, None), storage(element)
        size, me = members(k)

        def compare(offset):
            place = k.coordinates(SHAPE, [offset])[0]
            got = k.load("%out", [offset], SHAPE, type_)
            extent = k.splat(k.to_i32(extent_of(k, "out")), SHAPE, "i32")
            inside = k.compare("ult", SHAPE, "i32", place, extent)
            want = k.select(SHAPE, type_, inside, k.dense(SHAPE, type_, FILL),
                            k.dense(SHAPE, type_, 0))
            k.counter += 3
            source, carried, result = (f"%{k.counter - i}" for i in range(3))
            tile_ = f"tensor<{SHAPE[0]}x{type_}>"
            k.open(f"{result} = scf.for {source} = {k.index(0)} to {size} step "
                   f"{k.index(1)} iter_args({carried} = {want}) -> ({tile_}) {{")
            begin = out_offset_of(k, size, source, me)
            count = count_of(k, operation, source, me)
            splat = lambda value: k.splat(k.to_i32(value), SHAPE, "i32")
            own = k.op("arith.subi", SHAPE, "i32", place, splat(begin))
            sent = k.compare("ult", SHAPE, "i32", own, splat(count))
            at = k.op("arith.addi", SHAPE, "i32", own,
                      splat(in_offset_of(k, operation, size, me)))
            number = data.convert(data.number(rank_of(k, source), at))
            next_ = k.select(SHAPE, type_, sent, number, carried)
            k.emit(f"scf.yield {next_} : {tile_}")
            k.close()
            k.expect(got, result, f"{operation} {element}", SHAPE, type_)
        for_elements(k, extent_of(k, "out"), compare)
    return body


def case(cases, operation, variant, most, config, iterations=3):
    p, element = cases.p, cases.element
    type_ = buffer(storage(element))
    memory = [("in", type_), ("out", type_)]
    tables = [(name, TABLE) for name in NAMES]
    numbers = [("most", "index"), ("iteration", "index")]
    fill = p.kernel("fill", memory + numbers[1:], fill_kernel(element))
    write = p.kernel(f"tables_{operation}", tables + numbers,
                     tables_kernel(operation))
    check = p.kernel(f"check_{operation}", memory + numbers,
                     check_kernel(operation, element))
    limit, extra = p.index(most), p.index(3)
    many = p.scalar("addi", "index", p.mul(cases.size, limit), extra)
    buffers = [p.alloc(storage(element), [many]) for _ in memory]
    entries = [p.alloc("i64", [cases.size]) for _ in NAMES]
    texts = [value for value, _ in entries]
    # A gather's input has one chunk.
    chunks = f" chunks({texts[0]}, {texts[1]})" \
        if OPERATIONS[operation]["input"]["counts"] else ""
    settings = ", ".join(f"{k} = {v}" for k, v in
                         dict(config, variant=f'"{variant}"').items())
    stands_for = f" as {element}" if storage(element) != element else ""
    for iteration in range(iterations):
        cases.launch(fill, *buffers, iteration)
        cases.launch(write, *entries, (limit, "index"), iteration)
        p.emit(f"iris.{operation} %ctx, {buffers[0][0]}{chunks}, "
               f"{buffers[1][0]} chunks({texts[2]}, {texts[3]}){stands_for}"
               f"{cases.clause()} {{{settings}}} : {type_}, {type_}, {TABLE}")
        cases.launch(check, *buffers, (limit, "index"), iteration)
    for each in buffers + entries:
        p.dealloc(each)
    p.cases += iterations


def counted(element, full, group=None):
    cases = Cases(element, group, len(group) if group else 0)
    tile_ = 1024 // (BITS.get(element, 8) // 8)
    config = {"tile": tile_, "programs": 3}
    small = dict(config, workspace=512 << 10)
    for operation, each in OPERATIONS.items():
        for variant in (v["name"] for v in each["variants"]):
            for most in [0, 1, 5 * tile_ + 13] + full * [tile_, 40 * tile_]:
                case(cases, operation, variant, most, config)
        # Several rounds, as many as the largest chunk of all needs.
        case(cases, operation, "buffered", (57 << 10) * tile_ // 1024, small)
    return cases.p
