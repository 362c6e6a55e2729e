# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of arithmetic on special values, as MLIR text, for arithmetic.py.

An expression is a function that emits ops with an `Ops` and returns the name
of its result and its element type. The expressions of a type are: each unary
and binary operation, every operation on the result of every other, and the
same narrowed; these are the chains that instruction selection combines.
"""
import itertools
import random
import struct

BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64,
        "i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = ["f16", "bf16", "f32", "f64"]
INTEGERS = ["i8", "i16", "i32", "i64"]
# Number of exponent and fraction bits of each float.
FORMAT = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
WIDER = {"f16": ["f32", "f64"], "bf16": ["f32", "f64"], "f32": ["f64"],
         "f64": []}
NARROWER = {"f64": ["f32", "f16", "bf16"], "f32": ["f16", "bf16"], "f16": [],
            "bf16": []}
COUNT = 32  # special values per type


def encode(element, value):
    """The bits of a number that f64 represents, rounded toward zero."""
    raw = struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent, fraction = FORMAT[element]
    if element == "f64":
        return raw
    sign, biased = raw >> 63, (raw >> 52) & 0x7FF
    scale = biased - 1023 + (1 << exponent - 1) - 1
    significand = (raw & (1 << 52) - 1) | (1 << 52)
    if scale <= 0:  # a denormal
        significand >>= 1 - scale
        scale = 0
    bits = (significand >> 52 - fraction) & (1 << fraction) - 1
    return sign << BITS[element] - 1 | scale << fraction | bits


def float_values(element):
    """Bits of COUNT values."""
    exponent, fraction = FORMAT[element]
    sign = 1 << BITS[element] - 1
    infinity = ((1 << exponent) - 1) << fraction
    one = ((1 << exponent - 1) - 1) << fraction
    last = (1 << fraction) - 1
    values = [0, sign, 1, sign | 1, last, 1 << fraction, sign | 1 << fraction,
              infinity - 1, sign | infinity - 1, infinity, sign | infinity,
              infinity | 1 << fraction - 1, one, sign | one, one + 1, one - 1,
              encode(element, 2.0), encode(element, 3.0), encode(element, 0.5),
              sign | encode(element, 1.0 / 3.0)]
    # Rounding ties of narrower types and their neighbors, at overflow and at
    # the smallest number, and where double rounding is visible.
    halves = {
        "f64": [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-24,
                1 + 2.0**-24 - 2.0**-50, 1 + 2.0**-8 - 2.0**-45, 65520.0,
                65519.99999999999, 2.0**-25, 2.0**-25 + 2.0**-60, -2.0**-149,
                2.0**-150 * 1.5, 3.4028235677973366e+38],
        "f32": [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-23, -(1 + 3 * 2.0**-11),
                1 + 2.0**-8, 1 + 3 * 2.0**-8 - 2.0**-23, 65520.0, 65519.99609375,
                2.0**-25, -(2.0**-25 + 2.0**-48), 2.0**-14 - 2.0**-26,
                2.0**-70, 1.5 * 2.0**-126],
        "f16": [2.0**-12, -2.0**-13, 2049.0 / 2048, 6.1035e-05, 255.75, 256.5,
                -1024.5, 2047.0, 0.1, -100.0, 1.0 / 255, 300.0],
        "bf16": [2.0**-70, -2.0**-64, 1.5 * 2.0**-126, 255.0, 257.0, 65536.0,
                 3.3e38, 0.1, -100.0, 2.0**-14, 2.0**-25, 2.0**64]}[element]
    values += [encode(element, value) for value in halves]
    assert len(values) == COUNT
    return values


def integer_values(element):
    bits = BITS[element]
    values = [0, 1, 2, 3, 5, 7, 10, 100, (1 << bits) - 1, (1 << bits) - 2,
              (1 << bits) - 3, (1 << bits) - 100, 1 << bits - 1,
              (1 << bits - 1) + 1, (1 << bits - 1) - 1, (1 << bits - 1) - 2,
              1 << bits - 2, 3 << bits - 2, 0x55, 0x7F, 0x80]
    if bits > 8:
        values += [2047, 2049, 2051, 257, 259, 0x8001, 0x7FFF]
    if bits > 16:
        # Values whose conversion to a float is rounded twice: through f32, and
        # through f64.
        values += [(1 << 24) + 1, 0x40400001, 0x7FFFFF80]
    if bits > 32:
        values += [(1 << 62) + (1 << 54) + 1, (1 << 62) + (1 << 38) + 1,
                   (1 << 40) + (1 << 32) + 1, (1 << 53) + 1]
    choose = random.Random(bits)
    while len(values) < COUNT:
        values.append(choose.getrandbits(bits))
    return [v & (1 << bits) - 1 for v in values[:COUNT - 4] + values[-4:]]


def special_values(element):
    return (float_values if element in FLOATS else integer_values)(element)


class Ops:
    """Emits ops on values of one shape; None is scalars."""

    def __init__(self, shape):
        self.shape, self.lines, self.count, self.known = shape, [], 0, {}

    def type(self, element):
        return (element if self.shape is None
                else f"tensor<{self.shape}x{element}>")

    def emit(self, text):
        """The value of an op; equal ops are emitted once."""
        if text not in self.known:
            self.count += 1
            self.known[text] = f"%e{self.count}"
            self.lines.append(f"%e{self.count} = {text}")
        return self.known[text]

    def op(self, name, element, *values):
        return self.emit(f"{name} {', '.join(values)} : {self.type(element)}")

    def cast(self, name, value, source, target):
        return self.emit(f"{name} {value} : {self.type(source)} to "
                         f"{self.type(target)}")

    def constant(self, element, value):
        """A float constant: the nearest value of a number, or the bits in a
        string."""
        if element in FLOATS and not isinstance(value, str):
            digits = BITS[element] // 4
            value = f"0x{encode(element, float(value)):0{digits}X}"
        if self.shape is not None:
            value = f"dense<{value}>"
        return self.emit(f"arith.constant {value} : {self.type(element)}")

    def compare(self, predicate, element, a, b):
        name = "cmpf" if element in FLOATS else "cmpi"
        return self.op(f"arith.{name} {predicate},", element, a, b)

    def select(self, element, condition, a, b):
        types = (f"{self.type('i1')}, " if self.shape is not None else "")
        return self.emit(f"arith.select {condition}, {a}, {b} : {types}"
                         f"{self.type(element)}")


#===-----------------------------------------------------------------------===#
# Operations: (ops, element, values) -> value of the same element
#===-----------------------------------------------------------------------===#

def simple(name):
    return lambda k, t, *v: k.op(name, t, *v)


def with_constant(name, number, first=False):
    def emit(k, t, x):
        c = k.constant(t, number)
        return k.op(name, t, *((c, x) if first else (x, c)))
    return emit


def chosen(predicate, swap=False):
    """The smaller or the larger value, by a comparison."""
    def emit(k, t, x, y):
        a, b = (y, x) if swap else (x, y)
        return k.select(t, k.compare(predicate, t, x, y), a, b)
    return emit


def clamped(lower, upper, low, high):
    return lambda k, t, x: k.op(upper, t, k.op(
        lower, t, x, k.constant(t, low)), k.constant(t, high))


def through(target):
    """Converts to another float and back."""
    def emit(k, t, x):
        wide = BITS[target] > BITS[t]
        there, back = (("arith.extf", "arith.truncf") if wide
                       else ("arith.truncf", "arith.extf"))
        return k.cast(back, k.cast(there, x, t, target), target, t)
    return emit


def sign_of(k, t, x):
    """`x` as the source of a sign: the sign of NaN is not defined."""
    return k.select(t, k.compare("uno", t, x, x), k.constant(t, 1.0), x)


FLOAT_UNARY = {
    "neg": simple("arith.negf"), "abs": simple("math.absf"),
    "add0": with_constant("arith.addf", 0.0),
    "add-0": with_constant("arith.addf", -0.0),
    "sub0": with_constant("arith.subf", 0.0),
    "0sub": with_constant("arith.subf", 0.0, True),
    "-0sub": with_constant("arith.subf", -0.0, True),
    "mul0": with_constant("arith.mulf", 0.0),
    "mul-0": with_constant("arith.mulf", -0.0),
    "mul1": with_constant("arith.mulf", 1.0),
    "mul-1": with_constant("arith.mulf", -1.0),
    "mul2": with_constant("arith.mulf", 2.0),
    "half": with_constant("arith.mulf", 0.5),
    "twice": lambda k, t, x: k.op("arith.addf", t, x, x),
    "self": lambda k, t, x: k.op("arith.subf", t, x, x),
    "square": lambda k, t, x: k.op("arith.mulf", t, x, x),
    "div3": with_constant("arith.divf", 3.0),
    "recip": with_constant("arith.divf", 1.0, True),
    "-recip": with_constant("arith.divf", -1.0, True),
    "relu": with_constant("arith.maximumf", 0.0),
    "min0": with_constant("arith.minimumf", 0.0),
    "max-0": with_constant("arith.maximumf", -0.0),
    "clamp01": clamped("arith.maximumf", "arith.minimumf", 0.0, 1.0),
    "clamp": clamped("arith.maximumf", "arith.minimumf", -2.0, 3.0),
    "pick": lambda k, t, x: k.select(t, k.compare(
        "ogt", t, x, k.constant(t, 0.0)), x, k.constant(t, 0.0)),
    "choose": lambda k, t, x: k.select(t, k.compare(
        "ult", t, x, k.constant(t, 0.0)), k.op("arith.negf", t, x), x),
    "fma0": lambda k, t, x: k.op("math.fma", t, x, x, k.constant(t, 0.0)),
    "fma-0": lambda k, t, x: k.op("math.fma", t, x, x, k.constant(t, -0.0)),
    "sign": lambda k, t, x: k.op("math.copysign", t, k.constant(t, 1.0),
                                    sign_of(k, t, x)),
    "sqrt": simple("math.sqrt"), "rsqrt": simple("math.rsqrt"),
    "floor": simple("math.floor"), "ceil": simple("math.ceil"),
    "trunc": simple("math.trunc"), "round": simple("math.round"),
    "even": simple("math.roundeven"),
}
FLOAT_BINARY = {
    "add": simple("arith.addf"), "sub": simple("arith.subf"),
    "mul": simple("arith.mulf"), "div": simple("arith.divf"),
    "max": simple("arith.maximumf"), "min": simple("arith.minimumf"),
    "copysign": lambda k, t, x, y: k.op("math.copysign", t, x,
                                        sign_of(k, t, y)),
    "-mul": lambda k, t, x, y: k.op("arith.negf", t,
                                    k.op("arith.mulf", t, x, y)),
    "mul-": lambda k, t, x, y: k.op("arith.mulf", t, x,
                                    k.op("arith.negf", t, y)),
    "fma0": lambda k, t, x, y: k.op("math.fma", t, x, y, k.constant(t, 0.0)),
    "fma": lambda k, t, x, y: k.op("math.fma", t, x, y, x),
    "fnma": lambda k, t, x, y: k.op("math.fma", t, k.op("arith.negf", t, x), y,
                                    k.op("arith.negf", t, y)),
    "olt": chosen("olt"), "ult": chosen("ult"), "ogt": chosen("ogt"),
    "uge": chosen("uge", True), "ole": chosen("ole", True),
}
# Functions with a polynomial expansion, of f16, bf16 and f32.
FUNCTIONS = ["exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf", "erfc",
             "sin", "cos", "atan", "acos", "asin", "cbrt"]
FUNCTIONS2 = ["powf", "atan2"]


def amount(name):
    """Shifts by less than the bit width."""
    return lambda k, t, x, y: k.op(name, t, x, k.op(
        "arith.andi", t, y, k.constant(t, BITS[t] - 1)))


def division(name):
    """Divisions by 1 to 7 or -7 to -1: neither by 0, nor the smallest number
    by -1."""
    def emit(k, t, x, y):
        seven, one = k.constant(t, 7), k.constant(t, 1)
        small = k.op("arith.andi", t, y, seven)
        positive = k.select(t, k.compare("eq", t, small, k.constant(t, 0)), one,
                            small)
        three = k.op("arith.maxsi", t, positive, k.constant(t, 2))
        negative = k.op("arith.subi", t, k.constant(t, 0), three)
        below = k.compare("slt", t, y, k.constant(t, 0))
        return k.op(name, t, x, k.select(t, below, negative, positive))
    return emit


INTEGER_UNARY = {
    "neg": with_constant("arith.subi", 0, True),
    "not": with_constant("arith.xori", -1),
    "mul3": with_constant("arith.muli", 3), "abs": simple("math.absi"),
    "shl1": with_constant("arith.shli", 1),
    "sar3": with_constant("arith.shrsi", 3),
    "shr3": with_constant("arith.shrui", 3),
    "div3": with_constant("arith.divsi", 3),
    "udiv7": with_constant("arith.divui", 7),
    "rem10": with_constant("arith.remsi", 10),
    "clamp": clamped("arith.maxsi", "arith.minsi", -100, 100),
    "relu": with_constant("arith.maxsi", 0),
    "ctlz": simple("math.ctlz"), "cttz": simple("math.cttz"),
    "ctpop": simple("math.ctpop"),
}
INTEGER_BINARY = {name: simple(f"arith.{name}i") for name in
                  ("add", "sub", "mul", "and", "or", "xor")} | {
    name: simple(f"arith.{name}") for name in
    ("minsi", "maxsi", "minui", "maxui")} | {
    name: amount(f"arith.{name}") for name in ("shli", "shrsi", "shrui")} | {
    name: division(f"arith.{name}") for name in
    ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi")} | {
    "slt": chosen("slt"), "uge": chosen("uge", True), "eq": chosen("eq")}


#===-----------------------------------------------------------------------===#
# Chains: name -> function of (ops, x, y) -> (value, element)
#===-----------------------------------------------------------------------===#

def unary_on(unary, t):
    return {f"{n}(x)": lambda k, x, y, f=f: (f(k, t, x), t)
            for n, f in unary.items()}


def binary_on(binary, t):
    return {f"{n}(x,y)": lambda k, x, y, f=f: (f(k, t, x, y), t)
            for n, f in binary.items()}


def chained(unary, binary, t):
    """Every operation on the result of every other."""
    result = {}
    for (m, f), (n, g) in itertools.product(unary.items(), unary.items()):
        result[f"{m}({n}(x))"] = (
            lambda k, x, y, f=f, g=g: (f(k, t, g(k, t, x)), t))
    for (m, f), (n, g) in itertools.product(unary.items(), binary.items()):
        result[f"{m}({n}(x,y))"] = (
            lambda k, x, y, f=f, g=g: (f(k, t, g(k, t, x, y)), t))
    for (m, f), (n, g) in itertools.product(binary.items(), unary.items()):
        result[f"{m}({n}(x),y)"] = (
            lambda k, x, y, f=f, g=g: (f(k, t, g(k, t, x), y), t))
    for (m, f), (n, g) in itertools.product(binary.items(), binary.items()):
        result[f"{m}(x,{n}(x,y))"] = (
            lambda k, x, y, f=f, g=g: (f(k, t, x, g(k, t, x, y)), t))
    return result


def narrowed(chains, t):
    """The same in narrower types, narrowed at the end or after each
    conversion."""
    result = {}
    for name, chain in chains.items():
        for target in NARROWER[t]:
            def emit(k, x, y, chain=chain, target=target):
                value, _ = chain(k, x, y)
                return k.cast("arith.truncf", value, t, target), target
            result[f"{target} {name}"] = emit
    return result


def widened(chains_of, t):
    """Computed in a wider type and narrowed."""
    result = {}
    for wide in WIDER[t]:
        for name, chain in chains_of(wide).items():
            def emit(k, x, y, chain=chain, wide=wide):
                wider = [k.cast("arith.extf", v, t, wide) for v in (x, y)]
                value, _ = chain(k, *wider)
                return k.cast("arith.truncf", value, wide, t), t
            result[f"{t} {wide} {name}"] = emit
    return result


def to_integer(t, target, name):
    """Values in the integer's range: other conversions are undefined."""
    signed = name == "arith.fptosi"
    limit = BITS[target] - (1 if signed else 0)
    top = min(float(2**limit - 2**max(0, limit - FORMAT[t][1] - 1)),
              65504.0 if t == "f16" else 3e38)

    def emit(k, x, y):
        zero = k.constant(t, 0.0)
        number = k.select(t, k.compare("uno", t, x, x), zero, x)
        number = k.op("arith.minimumf", t, number, k.constant(t, top))
        low = -top if signed else 0.0
        number = k.op("arith.maximumf", t, number, k.constant(t, low))
        return k.cast(name, number, t, target), target
    return emit


def conversions(t):
    result = {}
    if t in FLOATS:
        for target in INTEGERS:
            for name in ("arith.fptosi", "arith.fptoui"):
                result[f"{name} {target}"] = to_integer(t, target, name)
        for target in WIDER[t]:
            result[f"extf {target}"] = lambda k, x, y, to=target: (
                k.cast("arith.extf", x, t, to), to)
        for target in NARROWER[t]:
            result[f"truncf {target}"] = lambda k, x, y, to=target: (
                k.cast("arith.truncf", x, t, to), to)
            result[f"through {target}"] = lambda k, x, y, to=target: (
                through(to)(k, t, x), t)
        return result
    for target in FLOATS:
        for name in ("arith.sitofp", "arith.uitofp"):
            result[f"{name} {target}"] = lambda k, x, y, n=name, to=target: (
                k.cast(n, x, t, to), to)
            for last in NARROWER[target]:
                result[f"{last} {name} {target}"] = (
                    lambda k, x, y, n=name, to=target, last=last: (
                        k.cast("arith.truncf", k.cast(n, x, t, to), to, last),
                        last))
    for target in INTEGERS:
        names = (("extsi", "extui") if BITS[target] > BITS[t] else
                 ("trunci",) if BITS[target] < BITS[t] else ())
        for name in names:
            result[f"{name} {target}"] = lambda k, x, y, n=name, to=target: (
                k.cast(f"arith.{n}", x, t, to), to)
    return result


def expressions(t):
    """All expressions of a type, by name."""
    if t in INTEGERS:
        return {**conversions(t), **unary_on(INTEGER_UNARY, t),
                **binary_on(INTEGER_BINARY, t),
                **chained(INTEGER_UNARY, INTEGER_BINARY, t)}

    def short(t):
        return {**unary_on(FLOAT_UNARY, t), **binary_on(FLOAT_BINARY, t)}
    chains = {**short(t), **chained(FLOAT_UNARY, FLOAT_BINARY, t)}
    result = {**conversions(t), **chains, **narrowed(chains, t),
              **widened(short, t)}
    if t != "f64":
        functions = {n: simple(f"math.{n}") for n in FUNCTIONS}
        both = {n: simple(f"math.{n}") for n in FUNCTIONS2}
        result |= {**unary_on(functions, t), **binary_on(both, t)}
    return result
