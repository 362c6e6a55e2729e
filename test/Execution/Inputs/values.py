# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on tiles between load and store: loop-carried tiles, reductions,
shape ops, casts, and views that are not row-major."""
from tilegen import DTYPES, Program, buffer, is_float, tile

REDUCE_SHAPES = [((1,), 0), ((256,), 0), ((2048,), 0), ((8, 32), 0),
                 ((8, 32), 1), ((16, 16), 0), ((1, 64), 1), ((4, 8, 16), 1)]
INTEGER_REDUCE = ["sum", "prod", "min", "max", "umin", "umax", "and", "or",
                  "xor"]
FLOAT_REDUCE = ["sum", "prod", "min", "max"]
INTEGER_STEP = {"sum": "arith.addi", "prod": "arith.muli", "min": "arith.minsi",
                "max": "arith.maxsi", "umin": "arith.minui",
                "umax": "arith.maxui", "and": "arith.andi", "or": "arith.ori",
                "xor": "arith.xori"}
FLOAT_STEP = {"sum": "arith.addf", "prod": "arith.mulf",
              "min": "arith.minimumf", "max": "arith.maximumf"}


def data(k, shape, element, index, kind):
    """Operands of a reduction. Sums and products of floats stay exact: sums
    add 0 to 3, products multiply ones and a single 2."""
    if not is_float(element):
        return k.hash(shape, element, k.rank, index)
    if kind in ("min", "max"):
        return k.hash(shape, element, k.rank, index)
    if kind == "prod":
        const = k.dense(shape, "i32", 0) if shape else k.constant("i32", 0)
        first = k.compare("eq", shape, "i32", index, const)
        one, two = ((k.dense(shape, element, v) if shape
                     else k.constant(element, v)) for v in (1, 2))
        return k.select(shape, element, first, two, one)
    # bf16 holds sums up to 256 exactly, f16 up to 2048.
    shift = 31 if element == "bf16" else 30
    h = k.hash(shape, "i32", k.rank, index)
    if element == "bf16":
        # One in sixteen is 1.
        mask = k.dense(shape, "i32", 15) if shape else k.constant("i32", 15)
        low = k.op("arith.andi", shape, "i32", h, mask)
        zero = k.dense(shape, "i32", 0) if shape else k.constant("i32", 0)
        one = k.compare("eq", shape, "i32", low, zero)
        on, off = ((k.dense(shape, element, v) if shape
                    else k.constant(element, v)) for v in (1, 0))
        return k.select(shape, element, one, on, off)
    if element == "f16":
        shift = 31
    return k.narrow(shape, element, h, shift)


def linear_index(k, shape):
    c = k.coordinates(shape, [k.index(0)] * len(shape))
    return k.linear_index(shape, c, shape)


def reduce_kernel(element):
    """Reduces tiles and compares with a loop over the elements."""
    kinds = FLOAT_REDUCE if is_float(element) else INTEGER_REDUCE

    def body(k):
        steps = FLOAT_STEP if is_float(element) else INTEGER_STEP
        for shape, dim in REDUCE_SHAPES:
            for kind in kinds:
                v = data(k, shape, element, linear_index(k, shape), kind)
                left = shape[:dim] + shape[dim + 1:]
                type_ = tile(left, element) if left else element
                got = k.value(f"tile.reduce {kind} {v} dim {dim} : "
                              f"{tile(shape, element)} -> {type_}")
                # The elements of one line, in sequence.
                inner = 1
                for extent in shape[dim + 1:]:
                    inner *= extent
                if left:
                    c = k.coordinates(left, [k.index(0)] * len(left))
                    rows, columns = c[:dim], c[dim:]
                    base = k.dense(left, "i32", 0)
                    sizes = list(shape)
                    for axis, coordinate in enumerate(rows + [None] + columns):
                        scale = 1
                        for extent in sizes[axis + 1:]:
                            scale *= extent
                        if coordinate is not None:
                            term = k.op("arith.muli", left, "i32", coordinate,
                                        k.dense(left, "i32", scale))
                            base = k.op("arith.addi", left, "i32", base, term)
                else:
                    base = k.constant("i32", 0)
                first = data(k, left, element, base, kind)
                k.counter += 1
                n = k.counter
                extent, one = k.index(shape[dim]), k.index(1)
                k.open(f"%r{n} = scf.for %i{n} = {one} to {extent} step {one} "
                       f"iter_args(%a{n} = {first}) -> ({type_}) {{")
                step = k.to_i32(k.mul(f"%i{n}", k.index(inner)))
                step = k.splat(step, left, "i32") if left else step
                index = k.op("arith.addi", left, "i32", base, step)
                item = data(k, left, element, index, kind)
                new = k.op(steps[kind], left, element, f"%a{n}", item)
                k.emit(f"scf.yield {new} : {type_}")
                k.close()
                name = "x".join(map(str, shape))
                k.expect(got, f"%r{n}", f"{kind} {element} {name} dim {dim}",
                         left, element)
    return body, len(REDUCE_SHAPES) * len(kinds)


def wide_sum_kernel(k):
    """Sums of f16 and bf16 accumulate in f32 and are rounded once."""
    for element in ("f16", "bf16"):
        shape = (2048,)
        v = k.dense(shape, element, 1.5)
        got = k.value(f"tile.reduce sum {v} dim 0 : {tile(shape, element)} -> "
                      "f32")
        k.expect(got, k.constant("f32", 3072), f"sum of {element} as f32", (),
                 "f32")
        got = k.value(f"tile.reduce sum {v} dim 0 : {tile(shape, element)} -> "
                      f"{element}")
        k.expect(got, k.constant(element, 3072), f"sum of {element}", (),
                 element)


def loops_kernel(element):
    """Loops and branches that carry tiles."""
    def body(k):
        for shape in [(256,), (8, 32)]:
            type_ = tile(shape, element)
            start = [k.index(0)] * len(shape)
            c = k.coordinates(shape, start)
            add = "arith.addf" if is_float(element) else "arith.addi"
            # Sums values that are equal on all ranks: at most 8 times 0 to 3.
            k.counter += 1
            n = k.counter
            zero, one = k.index(0), k.index(1)
            init = k.dense(shape, element, 0)
            memory = "%line" if len(shape) == 1 else "%plane"
            at = f"[{', '.join(start)}]"
            k.open(f"%s{n} = scf.for %r{n} = {zero} to {k.ranks} step {one} "
                   f"iter_args(%a{n} = {init}) -> ({type_}) {{")
            got = k.value(f"iris.load %ctx, {memory}{at} from %r{n} : "
                          f"{k.type_of(memory)} -> {type_}")
            new = k.op(add, shape, element, f"%a{n}", got)
            k.emit(f"scf.yield {new} : {type_}")
            k.close()
            k.open(f"%w{n} = scf.for %q{n} = {zero} to {k.ranks} step {one} "
                   f"iter_args(%b{n} = {init}) -> ({type_}) {{")
            want = small(k, shape, element, f"%q{n}", k.linear_index(shape, c, shape))
            new = k.op(add, shape, element, f"%b{n}", want)
            k.emit(f"scf.yield {new} : {type_}")
            k.close()
            k.expect(f"%s{n}", f"%w{n}", "sum over ranks", shape, element)

            # A branch that yields a tile, and a loop that swaps two tiles.
            condition = k.value(
                f"arith.cmpi eq, {k.rank}, {zero} : index")
            k.open(f"%c{n} = scf.if {condition} -> ({type_}) {{")
            k.emit(f"scf.yield %s{n} : {type_}")
            k.close("} else {")
            k.indent += 1
            k.emit(f"scf.yield {init} : {type_}")
            k.close()
            mask = k.splat(condition, shape, "i1")
            want = k.select(shape, element, mask, f"%w{n}", init)
            k.expect(f"%c{n}", want, "tile of a branch", shape, element)

            three = k.index(3)
            k.open(f"%x{n}:2 = scf.for %t{n} = {zero} to {three} step {one} "
                   f"iter_args(%p{n} = %s{n}, %o{n} = {init}) -> "
                   f"({type_}, {type_}) {{")
            k.emit(f"scf.yield %o{n}, %p{n} : {type_}, {type_}")
            k.close()
            k.expect(f"%x{n}#0", init, "swapped thrice", shape, element)
            k.expect(f"%x{n}#1", f"%w{n}", "swapped thrice", shape, element)

    return body


def small(k, shape, element, rank, index):
    if is_float(element):
        return k.narrow(shape, element, k.hash(shape, "i32", rank, index), 30)
    return k.hash(shape, element, rank, index)


def copies_kernel(element):
    """A loaded tile is a copy: a later store does not change it."""
    def body(k):
        for memory, shape in (("%line", (256,)), ("%plane", (8, 32))):
            start = [k.index(0)] * len(shape)
            c = k.coordinates(shape, start)
            zero = k.dense(shape, element, 0)
            before = k.load(memory, start, shape, element)
            k.store(zero, memory, start, shape, element)
            after = k.load(memory, start, shape, element)
            want = small(k, shape, element, k.rank, k.linear_index(shape, c, shape))
            k.expect(before, want, "loaded before the store", shape, element)
            k.expect(after, zero, "loaded after the store", shape, element)
    return body


def loops_fill_kernel(element):
    def body(k):
        for memory, shape in (("%line", (256,)), ("%plane", (8, 32))):
            start = [k.index(0)] * len(shape)
            c = k.coordinates(shape, start)
            v = small(k, shape, element, k.rank, k.linear_index(shape, c, shape))
            k.store(v, memory, start, shape, element)
    return body


def shapes_kernel(element):
    """Transpositions, broadcasts and new dimensions of a hash."""
    def body(k):
        def hashed(shape, index):
            return k.hash(shape, element, k.rank, index)

        def indices(shape, scales):
            c = k.coordinates(shape, [k.index(0)] * len(shape))
            result = k.dense(shape, "i32", 0)
            for coordinate, scale in zip(c, scales):
                term = k.op("arith.muli", shape, "i32", coordinate,
                            k.dense(shape, "i32", scale))
                result = k.op("arith.addi", shape, "i32", result, term)
            return result

        for shape, permutation in [((8, 32), (1, 0)), ((64, 1), (1, 0)),
                                   ((16, 16), (1, 0)), ((2, 4, 8), (2, 0, 1)),
                                   ((4, 8, 16), (0, 2, 1)), ((256,), (0,))]:
            scales = [1] * len(shape)
            for dim in range(len(shape) - 2, -1, -1):
                scales[dim] = scales[dim + 1] * shape[dim + 1]
            v = hashed(shape, indices(shape, scales))
            turned = tuple(shape[p] for p in permutation)
            got = k.value(f"tile.transpose {v} {list(permutation)} : "
                          f"{tile(shape, element)} -> {tile(turned, element)}")
            want = hashed(turned, indices(turned,
                                         [scales[p] for p in permutation]))
            k.expect(got, want, f"transpose {shape}", turned, element)

        for shape, dim, wide in [((8,), 1, (8, 32)), ((32,), 0, (8, 32)),
                                 ((256,), 0, (4, 256)), ((16,), 1, (16, 1))]:
            v = hashed(shape, indices(shape, [1]))
            flat = shape[:dim] + (1,) + shape[dim:]
            got = k.value(f"tile.expand_dims {v} dim {dim} : "
                          f"{tile(shape, element)} -> {tile(flat, element)}")
            if wide != flat:
                got = k.value(f"tile.broadcast {got} : {tile(flat, element)} "
                              f"-> {tile(wide, element)}")
            scales = [0, 1] if dim == 0 else [1, 0]
            want = hashed(wide, indices(wide, scales))
            k.expect(got, want, f"broadcast {shape} dim {dim}", wide, element)
    return body


def views_kernel(element):
    """Buffers with strides: every other element, columns, three dimensions."""
    def body(k):
        one = k.index(1)
        peer = k.neighbour(1)
        # %line: 600 elements, filled with a hash.
        every = k.subview("line", ["3"], [one], [190], [3])
        for start in (-5, 0, 130, 189):
            offset = k.index(start)
            shape = (64,)
            got = k.value(f"iris.load %ctx, {every}[{offset}] from {peer} : "
                          f"{k.type_of(every)} -> {tile(shape, element)}")
            c = k.coordinates(shape, [offset])
            three = k.op("arith.muli", shape, "i32", c[0],
                         k.dense(shape, "i32", 3))
            index = k.shift(shape, [three], [1])[0]
            v = k.hash(shape, element, peer, index)
            want = k.select(shape, element, k.inside(shape, c, [190]), v,
                            k.dense(shape, element, 0))
            k.expect(got, want, "every third element", shape, element)
        # %plane: 20 x 33, every other row from column 2 on.
        rows = k.subview("plane", ["?", "1"], [one, 2], [9, 30], [2, 1])
        for r, s in ((0, 0), (-2, -3), (5, 20), (8, 29)):
            shape = (4, 16)
            offsets = [k.index(r), k.index(s)]
            got = k.value(f"iris.load %ctx, {rows}[{', '.join(offsets)}] from "
                          f"{peer} : {k.type_of(rows)} -> "
                          f"{tile(shape, element)}")
            c = k.coordinates(shape, offsets)
            row = k.op("arith.muli", shape, "i32", c[0],
                       k.dense(shape, "i32", 66))
            index = k.op("arith.addi", shape, "i32", row, c[1])
            index = k.shift(shape, [index], [33 + 2])[0]
            v = k.hash(shape, element, peer, index)
            want = k.select(shape, element, k.inside(shape, c, [9, 30]), v,
                            k.dense(shape, element, 0))
            k.expect(got, want, "every other row", shape, element)
        # %cube: 5 x 6 x 11, tiles past every edge.
        for offsets in ((0, 0, 0), (-1, -1, -1), (3, 4, 6), (4, -2, 3)):
            shape = (2, 4, 8)
            at = [k.index(o) for o in offsets]
            got = k.value(f"iris.load %ctx, %cube[{', '.join(at)}] from {peer} "
                          f": {k.type_of('%cube')} -> {tile(shape, element)}")
            c = k.coordinates(shape, at)
            v = k.hash(shape, element, peer, k.linear_index(shape, c, [5, 6, 11]))
            want = k.select(shape, element, k.inside(shape, c, [5, 6, 11]), v,
                            k.dense(shape, element, 0))
            k.expect(got, want, "window of three dimensions", shape, element)
    return body


VIEW_BUFFERS = [("line", (600,), (1024,)), ("plane", (20, 33), (32, 64)),
                ("cube", (5, 6, 11), (8, 8, 16))]


def views_fill_kernel(element):
    def body(k):
        for name, sizes, shape in VIEW_BUFFERS:
            start = [k.index(0)] * len(shape)
            c = k.coordinates(shape, start)
            v = k.hash(shape, element, k.rank, k.linear_index(shape, c, sizes))
            k.store(v, f"%{name}", start, shape, element)
    return body


def casts_kernel(k):
    """Conversions between all types, of values that both types represent
    exactly; and rounding to nearest even of values that do not fit."""
    shape = (128,)
    index = linear_index(k, shape)
    for source in DTYPES:
        v = number(k, shape, source, index)
        for target in DTYPES:
            if source == target:
                continue
            want = number(k, shape, target, index)
            got = convert(k, shape, v, source, target)
            k.expect(got, want, f"{source} to {target}", shape, target)
    for target, value, rounded in [
            ("f16", 2049.0, 2048.0), ("f16", 2051.0, 2052.0),
            ("bf16", 257.0, 256.0), ("bf16", 259.0, 260.0),
            ("f16", 5.960464477539063e-08, 5.960464477539063e-08),
            ("f16", 2.9e-08, 0.0), ("f16", 65519.0, 65504.0)]:
        # Not a constant: folding would hide what the target computes.
        base = k.cast("arith.sitofp", shape, index, "i32", "f32")
        zero = k.op("arith.subf", shape, "f32", base, base)
        v = k.op("arith.addf", shape, "f32", zero,
                 k.dense(shape, "f32", value))
        got = k.cast("arith.truncf", shape, v, "f32", target)
        k.expect(got, k.dense(shape, target, rounded), f"{value} as {target}",
                 shape, target)


def number(k, shape, element, index):
    """The value itself; `narrow` spreads it over the bits of i64."""
    if element == "i64":
        return k.cast("arith.extui", shape, index, "i32", "i64")
    return k.narrow(shape, element, index, 0)


def convert(k, shape, value, source, target):
    order = {t: n for n, t in enumerate(("i8", "i16", "i32", "i64"))}
    if source in order and target in order:
        name = "extsi" if order[target] > order[source] else "trunci"
        return k.cast(f"arith.{name}", shape, value, source, target)
    if source in order:
        return k.cast("arith.sitofp", shape, value, source, target)
    if target in order:
        return k.cast("arith.fptosi", shape, value, source, target)
    wide = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}
    if wide[source] == wide[target]:  # between f16 and bf16: through f32
        value = k.cast("arith.extf", shape, value, source, "f32")
        return k.cast("arith.truncf", shape, value, "f32", target)
    name = "extf" if wide[target] > wide[source] else "truncf"
    return k.cast(f"arith.{name}", shape, value, source, target)


def values(element, full):
    program = Program()
    body, count = reduce_kernel(element)
    program.launch(program.kernel(f"reduce_{element}", [], body), 1)
    program.launch(program.kernel(f"shapes_{element}", [],
                                  shapes_kernel(element)), 1)
    program.cases += count + 10

    arguments = [("line", buffer(element)), ("plane", buffer(element, 2))]
    line, plane = program.alloc(element, [256]), program.alloc(element, [8, 32])
    program.launch(program.kernel(f"loops_fill_{element}", arguments,
                                  loops_fill_kernel(element)), 1, line, plane)
    program.sync()
    program.launch(program.kernel(f"loops_{element}", arguments,
                                  loops_kernel(element)), 1, line, plane)
    program.sync()
    program.launch(program.kernel(f"copies_{element}", arguments,
                                  copies_kernel(element)), 1, line, plane)
    program.sync()
    program.dealloc(plane)
    program.dealloc(line)
    program.cases += 12

    arguments = [(n, buffer(element, len(s))) for n, s, _ in VIEW_BUFFERS]
    buffers = [program.alloc(element, list(s)) for _, s, _ in VIEW_BUFFERS]
    program.launch(program.kernel(f"views_fill_{element}", arguments,
                                  views_fill_kernel(element)), 1, *buffers)
    program.sync()
    program.launch(program.kernel(f"views_{element}", arguments,
                                  views_kernel(element)), 1, *buffers)
    program.sync()
    for memory in reversed(buffers):
        program.dealloc(memory)
    program.cases += 12
    return program


def casts(_, full):
    program = Program()
    program.launch(program.kernel("casts", [], casts_kernel), 1)
    program.launch(program.kernel("wide_sums", [], wide_sum_kernel), 1)
    program.sync()
    program.cases += 7 * 8 + 7 + 4
    return program
