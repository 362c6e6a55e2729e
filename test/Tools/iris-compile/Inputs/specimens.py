# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small kernels, one for each op of the kernel language, shape and element
type; and small kernels with ops outside the language."""

STORED = ("i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
INTS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
F8 = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16,
         "bf16": 16, "f32": 32, "f64": 64, "index": 64, **{f: 8 for f in F8}}


def is_float(element):
    return element in FLOATS or element in F8


def typed(shape, element):
    return {"scalars": element, "vectors": f"vector<4x{element}>",
            "tiles": f"tensor<64x{element}>"}[shape]


class Kernel:
    """The body of one kernel, whose arguments are added on demand."""

    def __init__(self, name):
        self.name, self.lines, self.args, self.count = name, [], {}, 0

    def argument(self, name, type_):
        self.args.setdefault(name, type_)
        return f"%{name}"

    def op(self, text, results=1):
        """Adds an op; returns the name of its result, or of all of them."""
        if not results:
            self.lines.append(text)
            return None
        names = [f"%v{self.count + i}" for i in range(results)]
        self.count += results
        self.lines.append(f"{', '.join(names)} = {text}")
        return names[0] if results == 1 else names

    def index(self):
        return self.argument("i", "index")

    def scalar(self, element, tag="x"):
        if element in F8:
            byte = self.argument(f"{tag}_i8", "i8")
            return self.op(f"arith.bitcast {byte} : i8 to {element}")
        return self.argument(f"{tag}_{element}", element)

    def buffer(self, element, tag="in"):
        return self.argument(f"{tag}_{element}", f"memref<?x{element}>")

    def value(self, shape, element, tag="x"):
        """A value that is not constant."""
        type_ = typed(shape, element)
        if shape == "scalars":
            return self.scalar(element, tag)
        if shape == "vectors":
            x = self.scalar(element, tag)
            return self.op(f"vector.broadcast {x} : {element} to {type_}")
        if element == "index":
            return self.op(f"tile.range : {type_}")
        if element == "i1":
            a = self.value(shape, "i8", tag)
            return self.op(f"arith.cmpi slt, {a}, {a} : tensor<64xi8>")
        if element in F8:
            a = self.value(shape, "i8", tag)
            return self.op(f"arith.bitcast {a} : tensor<64xi8> to {type_}")
        b = self.buffer(element, tag)
        return self.op(
            f"tile.load {b}[{self.index()}] : memref<?x{element}> -> {type_}")

    def keep(self, value, shape, element):
        """Stores a value, so that it is not dead."""
        to = {"i1": "i8", "index": "i64"}.get(
            element, "i8" if element in F8 else element)
        if to != element:
            cast = {"i1": "arith.extui", "index": "arith.index_cast"}.get(
                element, "arith.bitcast")
            value = self.op(f"{cast} {value} : {typed(shape, element)} to "
                            f"{typed(shape, to)}")
        out, type_ = self.buffer(to, "out"), f"memref<?x{to}>"
        if shape == "scalars":
            self.op(f"memref.store {value}, {out}[{self.index()}] : {type_}", 0)
        elif shape == "vectors":
            self.op(f"vector.store {value}, {out}[{self.index()}] : {type_}, "
                    f"{typed(shape, to)}", 0)
        else:
            self.op(f"tile.store {value}, {out}[{self.index()}] : "
                    f"{typed(shape, to)}, {type_}", 0)

    def text(self):
        args = ", ".join(f"%{n}: {t}" for n, t in self.args.items())
        body = "\n".join("    " + line for line in self.lines)
        return f"  gpu.func @{self.name}({args}) kernel {{\n{body}\n    gpu.return\n  }}\n"


#===---- Families of ops ---------------------------------------------------===#

def elementwise(operands):
    def make(k, op, shape, element):
        values = [k.value(shape, element, tag) for tag in "xyz"[:operands]]
        r = k.op(f"{op} {', '.join(values)} : {typed(shape, element)}")
        k.keep(r, shape, element)
    return make


def compare(predicate):
    def make(k, op, shape, element):
        if op == "arith.cmpf" and not is_float(element):
            return
        a, b = (k.value(shape, element, tag) for tag in "xy")
        r = k.op(f"{op} {predicate}, {a}, {b} : {typed(shape, element)}")
        k.keep(r, shape, "i1")
    return make


def classify(k, op, shape, element):
    if not is_float(element):
        return
    r = k.op(f"{op} {k.value(shape, element)} : {typed(shape, element)}")
    k.keep(r, shape, "i1")


def cast(targets):
    """Casts from `element` to each of targets(element)."""
    def make(k, op, shape, element):
        for to in targets(element):
            if shape == "vectors" and (to == "bf16" or to in F8):
                continue
            r = k.op(f"{op} {k.value(shape, element)} : "
                     f"{typed(shape, element)} to {typed(shape, to)}")
            k.keep(r, shape, to)
    return make


def bitcasts(element):
    if element in F8:
        return ["i8"]
    if element == "i8":
        return F8
    return [t for t in STORED if WIDTH[t] == WIDTH[element] and t != element
            and is_float(t) != is_float(element)]


def wider(kinds):
    return lambda e: [t for t in kinds if WIDTH[t] > WIDTH[e]]


def narrower(kinds):
    return lambda e: [t for t in kinds if WIDTH[t] < WIDTH[e]]


def constant(k, op, shape, element):
    number = {"i1": "true", "index": "3"}.get(
        element, "1.5" if is_float(element) else "3")
    if shape == "scalars":
        r = k.op(f"{op} {number}" if element == "i1"
                 else f"{op} {number} : {element}")
    else:
        r = k.op(f"{op} dense<{number}> : {typed(shape, element)}")
    k.keep(r, shape, element)


def select(k, op, shape, element):
    a, b = (k.value(shape, element, tag) for tag in "xy")
    whole = k.scalar("i1", "c")
    r = k.op(f"{op} {whole}, {a}, {b} : {typed(shape, element)}")
    if shape != "scalars":
        c = k.value(shape, "i1", "m")
        r = k.op(f"{op} {c}, {r}, {b} : {typed(shape, 'i1')}, "
                 f"{typed(shape, element)}")
    k.keep(r, shape, element)


def add_extended(k, op, shape, element):
    if element == "i1":
        return
    a, b = (k.value(shape, element, tag) for tag in "xy")
    s, o = k.op(f"{op} {a}, {b} : {typed(shape, element)}, "
                f"{typed(shape, 'i1')}", 2)
    k.keep(s, shape, element)
    k.keep(o, shape, "i1")


def mul_extended(k, op, shape, element):
    if element == "i1":
        return
    a, b = (k.value(shape, element, tag) for tag in "xy")
    for r in k.op(f"{op} {a}, {b} : {typed(shape, element)}", 2):
        k.keep(r, shape, element)


#===---- Control flow ------------------------------------------------------===#

def loop(k, op, shape, element):
    t, x = typed(shape, element), k.value(shape, element)
    y, i = k.value(shape, element, "y"), k.index()
    one = k.op("arith.constant 1 : index")
    if op in ("scf.for", "scf.yield", "affine.for", "affine.yield"):
        d = op.split(".")[0]
        head = (f"scf.for %j = {one} to {i} step {one}" if d == "scf"
                else f"affine.for %j = 1 to {i}")
        r = k.op(f"{head} iter_args(%c = {x}) -> ({t}) {{ {d}.yield {y} : {t} }}")
    elif op in ("scf.while", "scf.condition"):
        c = k.scalar("i1", "c")
        r = k.op(f"scf.while (%a = {x}) : ({t}) -> {t} {{ "
                 f"scf.condition({c}) %a : {t} }} do {{ ^bb0(%b: {t}): "
                 f"scf.yield {y} : {t} }}")
    elif op == "scf.if":
        c = k.scalar("i1", "c")
        r = k.op(f"scf.if {c} -> {t} {{ scf.yield {x} : {t} }} else {{ "
                 f"scf.yield {y} : {t} }}")
    elif op == "affine.if":
        r = k.op(f"affine.if affine_set<(d0) : (d0 - 3 >= 0)>({i}) -> {t} {{ "
                 f"affine.yield {x} : {t} }} else {{ affine.yield {y} : {t} }}")
    elif op == "scf.index_switch":
        r = k.op(f"scf.index_switch {i} -> {t} case 2 {{ scf.yield {x} : {t} }} "
                 f"default {{ scf.yield {y} : {t} }}")
    else:
        r = k.op(f"scf.execute_region -> {t} {{ scf.yield {x} : {t} }}")
    k.keep(r, shape, element)


#===---- Buffers -----------------------------------------------------------===#

def memory(element):
    """A store of that element, for buffers that tile ops do not support."""
    return f"memref<?x{element}>"


def buffer_op(k, op, shape, element):
    if shape == "memrefs":
        shape = "scalars"
    b, i, m = k.buffer(element), k.index(), f"memref<?x{element}>"
    out = k.buffer(element, "out")
    name = op.split(".")[1]
    if op.startswith("vector."):
        v = f"vector<4x{element}>"
        r = k.op(f"vector.load {b}[{i}] : {m}, {v}")
        return k.op(f"vector.store {r}, {out}[{i}] : {m}, {v}", 0)
    if name in ("load", "store"):
        r = k.op(f"{op.split('.')[0]}.load {b}[{i}] : {m}")
        return k.op(f"{op.split('.')[0]}.store {r}, {out}[{i}] : {m}", 0)
    view, to = b, m
    if name == "dim":
        one = k.op("arith.constant 0 : index")
        return k.keep(k.op(f"memref.dim {b}, {one} : {m}"), "scalars", "index")
    if name == "alloca":
        to = f"memref<16x{element}>"
        view = k.op(f"memref.alloca() : {to}")
        zero = k.op("arith.constant 0 : index")
        x = k.op(f"memref.load {b}[{i}] : {m}")
        k.op(f"memref.store {x}, {view}[{zero}] : {to}", 0)
        i = zero
    elif name == "cast":
        to = f"memref<64x{element}>"
        view = k.op(f"memref.cast {b} : {m} to {to}")
    elif name == "subview":
        to = f"memref<?x{element}, strided<[1], offset: ?>>"
        view = k.op(f"memref.subview {b}[{i}] [{i}] [1] : {m} to {to}")
    elif name == "reinterpret_cast":
        to = f"memref<64x{element}, strided<[1]>>"
        view = k.op(f"memref.reinterpret_cast {b} to offset: [0], sizes: [64], "
                    f"strides: [1] : {m} to {to}")
    elif name == "view":
        bytes_ = k.buffer("i8", "bytes")
        view = k.op(f"memref.view {bytes_}[{i}][{i}] : memref<?xi8> to {m}")
    elif name == "assume_alignment":
        view = k.op(f"{op} {b}, 16 : {m}")
    elif name == "memory_space_cast":
        heap = f"memref<?x{element}, #iris.symmetric>"
        view = k.op(f"{op} {k.argument(f'heap_{element}', heap)} : {heap} to {m}")
    elif name == "extract_strided_metadata":
        base = f"memref<{element}>"
        first, _, size, stride = k.op(
            f"{op} {b} : {m} -> {base}, index, index, index", 4)
        k.keep(size, "scalars", "index")
        k.keep(stride, "scalars", "index")
        x = k.op(f"memref.load {first}[] : {base}")
        return k.op(f"memref.store {x}, {out}[{i}] : {m}", 0)
    elif name == "extract_aligned_pointer_as_index":
        return k.keep(k.op(f"{op} {b} : {m} -> index"), "scalars", "index")
    elif name in ("collapse_shape", "expand_shape"):
        two = f"memref<?x4x{element}>"
        b2 = k.argument(f"two_{element}", two)
        if name == "collapse_shape":
            view = k.op(f"memref.collapse_shape {b2} [[0, 1]] : {two} into {m}")
        else:
            view = k.op(f"memref.expand_shape {b} [[0, 1]] output_shape "
                        f"[{i}, 4] : {m} into {two}")
            x = k.op(f"memref.load {view}[{i}, {i}] : {two}")
            return k.op(f"memref.store {x}, {out}[{i}] : {m}", 0)
    elif name == "transpose":
        two = f"memref<?x4x{element}>"
        b2 = k.argument(f"two_{element}", two)
        to = f"memref<4x?x{element}, strided<[1, 4]>>"
        view = k.op(f"memref.transpose {b2} (a, b) -> (b, a) : {two} to {to}")
        x = k.op(f"memref.load {view}[{i}, {i}] : {to}")
        return k.op(f"memref.store {x}, {out}[{i}] : {m}", 0)
    x = k.op(f"memref.load {view}[{i}] : {to}")
    k.op(f"memref.store {x}, {out}[{i}] : {m}", 0)


def affine_map(k, op, shape, element):
    i = k.index()
    text = "(d0 floordiv 4 + 3)" if op == "affine.apply" else "(d0, 7)"
    r = k.op(f"{op} affine_map<(d0) -> {text}>({i})")
    k.keep(r, "scalars", "index")


#===---- Vectors and tiles -------------------------------------------------===#

def vector_op(k, op, shape, element):
    v, name = f"vector<4x{element}>", op.split(".")[1]
    a, x = k.value("vectors", element), k.scalar(element, "y")
    two = f"vector<2x{element}>"
    if name == "broadcast":
        r = k.op(f"{op} {x} : {element} to {v}")
    elif name == "extract":
        r = k.op(f"{op} {a}[1] : {element} from {v}")
        k.keep(r, "scalars", element)
        r = k.op(f"{op} {a}[{k.index()}] : {element} from {v}")
        return k.keep(r, "scalars", element)
    elif name == "insert":
        r = k.op(f"{op} {x}, {a} [2] : {element} into {v}")
        r = k.op(f"{op} {x}, {r} [{k.index()}] : {element} into {v}")
    elif name == "from_elements":
        r = k.op(f"{op} {x}, {x}, {x}, {x} : {v}")
    elif name == "shuffle":
        r = k.op(f"{op} {a}, {a} [3, 2, 1, 0] : {v}, {v}")
    elif name == "extract_strided_slice":
        s = k.op(f"{op} {a} {{offsets = [1], sizes = [2], strides = [1]}} : "
                 f"{v} to {two}")
        r = k.op(f"vector.shuffle {s}, {s} [0, 1, 2, 3] : {two}, {two}")
    elif name == "insert_strided_slice":
        s = k.op(f"vector.shuffle {a}, {a} [0, 1] : {v}, {v}")
        r = k.op(f"{op} {s}, {a} {{offsets = [1], strides = [1]}} : "
                 f"{two} into {v}")
    else:
        r = k.op(f"{op} {a}, {a}, {a} : {v}")
    k.keep(r, "vectors", element)


def splat(k, op, shape, element):
    r = k.op(f"{op} {k.scalar(element)} : tensor<64x{element}>")
    k.keep(r, "tiles", element)


def position(k, op, shape, element):
    k.keep(k.op(f"{op} x"), "scalars", "index")


def fixed(text, results=0):
    """An op that has only one form; not for single elements."""
    def make(k, op, shape, element):
        k.args.update(FIXED_ARGS)
        k.lines.append(text)
    return make


FIXED_ARGS = {
    "ctx": "!iris.ctx", "b": "memref<?xf32, #iris.symmetric>",
    "d": "memref<?xf32>", "n": "memref<?xi32, #iris.symmetric>",
    "i": "index", "r": "index", "v": "i32",
    "p": "memref<?x?xf16>", "q": "memref<?x?xf16>", "o": "memref<?x?xf32>"}
S, T = "memref<?xf32, #iris.symmetric>", "tensor<64xf32>"
TILE = f"%t = tile.load %d[%i] : memref<?xf32> -> {T}\n    "
PUT = f"\n    tile.store %w, %d[%i] : {T}, memref<?xf32>"
QUERY = "%w = {0} : index\n    memref.store %w, %x[%i] : memref<?xindex>"
NSYM = "i32, memref<?xi32, #iris.symmetric>"


def query(text):
    def make(k, op, shape, element):
        k.args.update(FIXED_ARGS, x="memref<?xindex>")
        k.lines.append(QUERY.format(text))
    return make


FIXED = {
    "iris.rank": query("iris.rank %ctx"),
    "iris.num_ranks": query("iris.num_ranks %ctx"),
    "iris.group_size": query("iris.group_size %ctx"),
    "iris.group_index": query("iris.group_index %ctx"),
    "iris.group_member": query("iris.group_member %ctx, %r"),
    "iris.translate": fixed(
        f"%a = iris.translate %ctx, %b to %r : {S} -> memref<?xf32, #iris.peer>\n"
        f"    %w = tile.load %a[%i] : memref<?xf32, #iris.peer> -> {T}" + PUT),
    "iris.load": fixed(f"%w = iris.load %ctx, %b[%i] from %r : {S} -> {T}" + PUT),
    "iris.store": fixed(TILE + f"iris.store %ctx, %t, %b[%i] to %r : {T}, {S}"),
    "iris.gather": fixed(
        "%g = tile.range : tensor<64xindex>\n    "
        f"%w = iris.gather %ctx, %b[%g] from %r : {S}, tensor<64xindex> -> {T}"
        + PUT),
    "iris.scatter": fixed(
        TILE + "%g = tile.range : tensor<64xindex>\n    "
        f"iris.scatter %ctx, %t, %b[%g] to %r : {T}, {S}, tensor<64xindex>"),
    "iris.get": fixed(
        f"iris.get %ctx, %b[%i], %d[%i] from %r shape [64] : {S}, memref<?xf32>"),
    "iris.put": fixed(
        f"iris.put %ctx, %d[%i], %b[%i] to %r shape [64] : memref<?xf32>, {S}"),
    "iris.copy": fixed(
        f"iris.copy %ctx, %b[%i], %b[%i] from %r to %i shape [64] : {S}, {S}"),
    "iris.atomic_rmw": fixed(
        f"%w = iris.atomic_rmw add %ctx, %v, %n[%i] to %r : {NSYM}\n    "
        + TILE + f"%u = iris.atomic_rmw add %ctx, %t, %b[%i] to %r : {T}, {S}"),
    "iris.atomic_cas": fixed(
        f"%w = iris.atomic_cas %ctx, %v, %v, %n[%i] to %r : {NSYM}"),
    "iris.signal": fixed(f"iris.signal set %ctx, %v, %n[%i] to %r : {NSYM}"),
    "iris.wait": fixed(f"%w = iris.wait %ctx, %n[%i] ge %v : {NSYM}"),
    "iris.barrier": fixed("iris.barrier %ctx, %n : memref<?xi32, #iris.symmetric>"),
    "iris.fence": fixed("iris.fence release scope(sys)"),
    "iris.packet_store": fixed(
        TILE + f"iris.packet_store %ctx, %t, %n[%i] to %r flag(%v) : {T}, "
        "memref<?xi32, #iris.symmetric>"),
    "iris.packet_load": fixed(
        "%w = iris.packet_load %ctx, %n[%i] flag(%v) : "
        f"memref<?xi32, #iris.symmetric> -> {T}" + PUT),
    "iris.trace": fixed('iris.trace begin %ctx, "span"\n    iris.trace end %ctx, "span"'),
    "iris.check": fixed(
        'iris.check %ctx, %i below %i of "tile.load" "accesses $value"'),
    "iris.expect_eq": fixed(TILE + f'iris.expect_eq %t, %t, "same" : {T}'),
    "tile.load": fixed(TILE.replace("%t", "%w").rstrip() + PUT),
    "tile.store": fixed(TILE.replace("%t", "%w").rstrip() + PUT),
    "tile.gather": fixed(
        "%g = tile.range : tensor<64xindex>\n    "
        f"%w = tile.gather %d[%g] : memref<?xf32>, tensor<64xindex> -> {T}" + PUT),
    "tile.scatter": fixed(
        TILE + "%g = tile.range : tensor<64xindex>\n    "
        f"tile.scatter %t, %d[%g] : {T}, memref<?xf32>, tensor<64xindex>"),
    "tile.range": fixed(
        "%g = tile.range : tensor<64xi32>\n    "
        f"%w = arith.sitofp %g : tensor<64xi32> to {T}" + PUT),
    "tile.expand_dims": fixed(
        TILE + f"%g = tile.expand_dims %t dim 0 : {T} -> tensor<1x64xf32>\n    "
        "tile.store %g, %o[%i, %i] : tensor<1x64xf32>, memref<?x?xf32>"),
    "tile.broadcast": fixed(
        TILE + f"%g = tile.expand_dims %t dim 0 : {T} -> tensor<1x64xf32>\n    "
        "%h = tile.broadcast %g : tensor<1x64xf32> -> tensor<4x64xf32>\n    "
        "tile.store %h, %o[%i, %i] : tensor<4x64xf32>, memref<?x?xf32>"),
    "tile.transpose": fixed(
        "%g = tile.load %o[%i, %i] : memref<?x?xf32> -> tensor<16x32xf32>\n    "
        "%h = tile.transpose %g [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>\n"
        "    tile.store %h, %o[%i, %i] : tensor<32x16xf32>, memref<?x?xf32>"),
    "tile.convert_layout": fixed(
        TILE + f"%w = tile.convert_layout %t : {T} -> {T}" + PUT),
    "tile.reduce": fixed(
        TILE + f"%g = tile.reduce sum %t dim 0 : {T} -> f32\n    "
        "memref.store %g, %d[%i] : memref<?xf32>"),
    "tile.matmul": fixed(
        "%g = tile.matmul %p[%i, %i], %q[%i, %i] k(%r) block(32) : "
        "memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>\n    "
        "tile.store %g, %o[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>"),
    "tile.yield": fixed(
        "%g = tile.matmul %p[%i, %i], %q[%i, %i] k(%r) block(32) {\n"
        "    ^bb0(%kb: index):\n"
        "      %s = arith.muli %kb, %r : index\n"
        "      tile.yield %p[%i, %s] : memref<?x?xf16>\n"
        "    } : memref<?x?xf16>, memref<?x?xf16> -> tensor<64x64xf32>\n    "
        "tile.store %g, %o[%i, %i] : tensor<64x64xf32>, memref<?x?xf32>"),
    "gpu.barrier": fixed("gpu.barrier"),
    # The ops around every kernel.
    "gpu.module": fixed(""), "gpu.func": fixed(""), "gpu.return": fixed(""),
    # Ops outside kernels, see module().
    "func.func": fixed(TILE + f"%w = func.call @twice(%t) : ({T}) -> {T}" + PUT),
    "func.call": fixed(TILE + f"%w = func.call @twice(%t) : ({T}) -> {T}" + PUT),
    "func.return": fixed(TILE + f"%w = func.call @twice(%t) : ({T}) -> {T}" + PUT),
}
TWICE = (f"  func.func @twice(%t: {T}) -> {T} {{\n    %r = arith.addf %t, %t : "
         f"{T}\n    return %r : {T}\n  }}\n")


def families():
    table = {}

    def add(dialect, names, make):
        for name in names.split():
            table[f"{dialect}.{name}"] = make

    add("arith", "addi subi muli divsi divui remsi remui ceildivsi ceildivui "
        "floordivsi andi ori xori shli shrsi shrui maxsi maxui minsi minui addf "
        "subf mulf divf maximumf minimumf maxnumf minnumf", elementwise(2))
    add("arith", "negf", elementwise(1))
    add("arith", "cmpi", compare("slt"))
    add("arith", "cmpf", compare("olt"))
    add("arith", "constant", constant)
    add("arith", "select", select)
    add("arith", "addui_extended", add_extended)
    add("arith", "mulsi_extended mului_extended", mul_extended)
    add("arith", "extsi extui", cast(wider(INTS)))
    add("arith", "trunci", cast(narrower(("i1",) + INTS)))
    add("arith", "extf", cast(wider(FLOATS)))
    add("arith", "truncf", cast(narrower(F8 + FLOATS)))
    add("arith", "fptosi fptoui",
        cast(lambda e: INTS if is_float(e) else []))
    add("arith", "sitofp uitofp",
        cast(lambda e: [] if is_float(e) else FLOATS))
    add("arith", "index_cast index_castui",
        cast(lambda e: INTS if e == "index" else ["index"]))
    add("arith", "bitcast", cast(bitcasts))
    add("math", "acos asin atan cbrt cos erf erfc exp exp2 expm1 log log1p log2 "
        "sin tanh absf ceil floor round roundeven rsqrt sqrt trunc absi ctlz "
        "ctpop cttz", elementwise(1))
    add("math", "atan2 powf copysign", elementwise(2))
    add("math", "fma", elementwise(3))
    add("math", "isfinite isnan", classify)
    add("scf", "for yield while condition if index_switch execute_region", loop)
    add("affine", "for yield if", loop)
    add("affine", "apply max min", affine_map)
    add("affine", "load store", buffer_op)
    add("memref", "load store dim alloca cast subview collapse_shape "
        "expand_shape reinterpret_cast transpose view assume_alignment "
        "memory_space_cast extract_strided_metadata "
        "extract_aligned_pointer_as_index",
        buffer_op)
    add("vector", "broadcast extract insert from_elements shuffle fma "
        "extract_strided_slice insert_strided_slice", vector_op)
    add("vector", "load store", buffer_op)
    add("tensor", "splat", splat)
    add("gpu", "block_id grid_dim", position)
    table.update(FIXED)
    return table


def elements_of(names):
    for name in names:
        yield from F8 if name == "f8" else (name,)


def make_kernels(op, shapes, elements):
    """Kernels with `op` on each of the supported shapes and elements."""
    make = families()[op]
    if op in FIXED or op.startswith("gpu."):
        k = Kernel(op.replace(".", "_"))
        make(k, op, None, None)
        return [k]
    kernels = []
    shapes = [s for s in shapes if s != "memrefs"]
    for shape in shapes[-1:] if op.startswith("vector.") else shapes:
        for element in elements_of(elements):
            if shape == "vectors" and (element == "bf16" or element in F8):
                continue
            k = Kernel(f"{op.replace('.', '_')}_{shape}_{element}")
            before = len(k.lines)
            make(k, op, shape, element)
            if len(k.lines) > before:
                kernels.append(k)
    return kernels


#===---- What the language does not have -----------------------------------===#

A = "%b: memref<?xf32>, %i: index, %j: i32, %x: f32, %c: i1"
TL = "%t = tile.load %b[%i] : memref<?xf32> -> tensor<64xf32>\n"
V4 = "%v = vector.broadcast %x : f32 to vector<4xf32>\n"
REFUSED = {
    "arith.remf": "%r = arith.remf %x, %x : f32",
    "arith.constant": "%r = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>",
    "arith.addi": "%r = arith.trunci %j : i32 to i7\n%s = arith.addi %r, %r : i7",
    "arith.addf": "%r = arith.extf %x : f32 to f128\n%s = arith.addf %r, %r : f128",
    "arith.mulf": "%r = arith.constant dense<1.0> : vector<4x4xf32>\n"
                  "%s = arith.mulf %r, %r : vector<4x4xf32>",
    "arith.subf": TL + "%e = arith.constant 1.0 : f8E4M3FN\n"
                  "%s = arith.subf %e, %e : f8E4M3FN",
    "arith.truncf": "%r = arith.truncf %x upward : f32 to f16",
    "math.exp": "%y = arith.extf %x : f32 to f64\n%r = math.exp %y : f64",
    **{f"math.{op}": f"%r = math.{op} %x : f32"
       for op in "sinh cosh tan asinh acosh atanh log10".split()},
    "math.fpowi": "%r = math.fpowi %x, %j : f32, i32",
    "math.ipowi": "%r = math.ipowi %j, %j : i32",
    "math.sincos": "%r, %s = math.sincos %x : f32",
    "math.clampf": "%r = math.clampf %x to [%x, %x] : f32",
    "scf.parallel": "%o = arith.constant 1 : index\n"
                    "scf.parallel (%k) = (%o) to (%i) step (%o) { scf.reduce }",
    "scf.forall": "scf.forall (%k) in (%i) { }",
    "scf.index_switch": TL + "%r = scf.index_switch %i -> tensor<64xf32> "
                        "case 2 { scf.yield %t : tensor<64xf32> } "
                        "default { scf.yield %t : tensor<64xf32> }",
    "memref.alloc": "%r = memref.alloc() : memref<4xf32>",
    "memref.alloca": "%r = memref.alloca(%i) : memref<?xf32>",
    "memref.atomic_rmw": "%r = memref.atomic_rmw addf %x, %b[%i] : "
                         "(f32, memref<?xf32>) -> f32",
    "memref.copy": "memref.copy %b, %b : memref<?xf32> to memref<?xf32>",
    "memref.load": "%m = memref.cast %b : memref<?xf32> to "
                   "memref<?xf32, strided<[?], offset: ?>>\n"
                   "%z = arith.constant 0 : index\n"
                   "%a = memref.alloca() : memref<4xf32, 3>\n"
                   "%r = memref.load %a[%z] : memref<4xf32, 3>",
    "memref.prefetch": "memref.prefetch %b[%i], read, locality<3>, data : "
                       "memref<?xf32>",
    "memref.distinct_objects": "%r = memref.distinct_objects %b : memref<?xf32>",
    "memref.memory_space_cast":
        "%r = memref.memory_space_cast %b : memref<?xf32> to "
        "memref<?xf32, #iris.symmetric>",
    "tensor.extract": TL + "%r = tensor.extract %t[%i] : tensor<64xf32>",
    "tensor.insert": TL + "%r = tensor.insert %x into %t[%i] : tensor<64xf32>",
    "tensor.from_elements": "%r = tensor.from_elements %x, %x : tensor<2xf32>",
    "tensor.empty": "%r = tensor.empty() : tensor<64xf32>",
    "tensor.extract_slice": TL + "%r = tensor.extract_slice %t[%i] [16] [1] : "
                            "tensor<64xf32> to tensor<16xf32>",
    "tensor.reshape": TL + "%r = tensor.expand_shape %t [[0, 1]] output_shape "
                      "[8, 8] : tensor<64xf32> into tensor<8x8xf32>",
    "tensor.cast": TL + "%r = tensor.cast %t : tensor<64xf32> to tensor<?xf32>",
    "tensor.splat": "%r = tensor.splat %x : tensor<3xf32>",
    "tile.load": "%r = tile.load %b[%i] : memref<?xf32> -> tensor<3xf32>",
    "tile.range": "%r = tile.range : tensor<1048576xi32>",
    "tile.broadcast": "%r = tile.load %b[%i] : memref<?xf32> -> tensor<1xf32>\n"
                      "%s = tile.broadcast %r : tensor<1xf32> -> "
                      "tensor<131072xf32>",
    "vector.reduction": V4 + "%r = vector.reduction <add>, %v : "
                        "vector<4xf32> into f32",
    "vector.transfer_read": "%r = vector.transfer_read %b[%i], %x : "
                            "memref<?xf32>, vector<4xf32>",
    "vector.print": V4 + "vector.print %v : vector<4xf32>",
    "vector.broadcast": "%r = vector.broadcast %x : f32 to vector<[4]xf32>",
    "cf.br": "cf.br ^bb1\n^bb1:",
    "cf.cond_br": "cf.cond_br %c, ^bb1, ^bb2\n^bb1:\ncf.br ^bb2\n^bb2:",
    "cf.assert": 'cf.assert %c, "message"',
    "gpu.thread_id": "%r = gpu.thread_id x",
    "gpu.block_dim": "%r = gpu.block_dim x",
    "gpu.lane_id": "%r = gpu.lane_id",
    "gpu.subgroup_id": "%r = gpu.subgroup_id : index",
    "gpu.global_id": "%r = gpu.global_id x",
    "gpu.printf": 'gpu.printf "hello %f", %x : f32',
    "gpu.shuffle": "%r, %s = gpu.shuffle xor %x, %j, %j : f32",
    "gpu.all_reduce": "%r = gpu.all_reduce add %x uniform {} : (f32) -> (f32)",
    "gpu.subgroup_reduce": "%r = gpu.subgroup_reduce add %x : (f32) -> (f32)",
    "gpu.dynamic_shared_memory": "%r = gpu.dynamic_shared_memory : "
                                 "memref<?xi8, #gpu.address_space<workgroup>>",
    "affine.parallel": "affine.parallel (%k) = (0) to (4) { }",
    "affine.prefetch": "affine.prefetch %b[%i], read, locality<3>, data : "
                       "memref<?xf32>",
    "affine.vector_load": "%r = affine.vector_load %b[%i] : memref<?xf32>, "
                          "vector<4xf32>",
    "iris.expect_eq": 'iris.expect_eq %x, %x, "no context" : f32',
    "iris.has_failed": "%r = iris.has_failed : i1",
    "llvm.add": "%r = llvm.add %j, %j : i32",
    "llvm.inline_asm": 'llvm.inline_asm has_side_effects "nop", "" : () -> ()',
    "rocdl.s.barrier": "rocdl.s.barrier",
    "nvvm.barrier0": "nvvm.barrier0",
    "builtin.unrealized_conversion_cast":
        "%r = builtin.unrealized_conversion_cast %i : index to i64",
    "ub.poison": "%r = ub.poison : i32",
    # Dialects that are not registered.
    "index.add": "%r = index.add %i, %i",
    "linalg.fill": "linalg.fill ins(%x : f32) outs(%b : memref<?xf32>)",
    "complex.create": "%r = complex.create %x, %x : complex<f32>",
}


def refused_kernel(op):
    body = "\n".join("    " + line for line in REFUSED[op].splitlines())
    return (f"gpu.module @kernels {{\n  gpu.func @k({A}) kernel {{\n{body}\n"
            "    gpu.return\n  }\n}\n")


def module(kernels):
    return ("gpu.module @kernels {\n" + TWICE
            + "".join(k.text() for k in kernels) + "}\n")
