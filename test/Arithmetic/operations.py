# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops of the kernel language's arithmetic, by their definitions.

`evaluate` computes results from operands; None stands for what the op's
definition does not give. Integers are unsigned numbers of their width.
"""
from fractions import Fraction

import exact_floats as floats

INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = tuple(floats.FORMATS)
FLOATS8 = tuple(floats.FORMATS8)


def width(t):
    return (INTEGERS[t] if t in INTEGERS else 8 if t in FLOATS8
            else floats.FORMATS[t][0])


def signed(t, value):
    return value - (1 << width(t)) if value >> width(t) - 1 else value


def wrap(t, value):
    return value & (1 << width(t)) - 1


def truncated(a, b):
    """The quotient rounded toward zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def quotient(t, a, b, divide):
    """Of signed numbers; undefined for 0 and where it overflows."""
    if b == 0 or (signed(t, a) == -(1 << width(t) - 1) and signed(t, b) == -1):
        return None
    return wrap(t, divide(signed(t, a), signed(t, b)))


def shift(t, a, b, function):
    return None if b >= width(t) else wrap(t, function(a, b))


INTEGER_BINARY = {
    "addi": lambda t, a, b: wrap(t, a + b),
    "subi": lambda t, a, b: wrap(t, a - b),
    "muli": lambda t, a, b: wrap(t, a * b),
    "andi": lambda t, a, b: a & b,
    "ori": lambda t, a, b: a | b,
    "xori": lambda t, a, b: a ^ b,
    "minui": lambda t, a, b: min(a, b),
    "maxui": lambda t, a, b: max(a, b),
    "minsi": lambda t, a, b: min(a, b, key=lambda x: signed(t, x)),
    "maxsi": lambda t, a, b: max(a, b, key=lambda x: signed(t, x)),
    "divui": lambda t, a, b: a // b if b else None,
    "remui": lambda t, a, b: a % b if b else None,
    "ceildivui": lambda t, a, b: -(-a // b) if b else None,
    "divsi": lambda t, a, b: quotient(t, a, b, truncated),
    "remsi": lambda t, a, b: quotient(
        t, a, b, lambda x, y: x - y * truncated(x, y)),
    "floordivsi": lambda t, a, b: quotient(t, a, b, lambda x, y: x // y),
    "ceildivsi": lambda t, a, b: quotient(t, a, b, lambda x, y: -(-x // y)),
    "shli": lambda t, a, b: shift(t, a, b, lambda x, n: x << n),
    "shrui": lambda t, a, b: shift(t, a, b, lambda x, n: x >> n),
    "shrsi": lambda t, a, b: shift(t, a, b, lambda x, n: signed(t, x) >> n),
}
DIVISIONS = ("divui", "remui", "ceildivui", "divsi", "remsi", "floordivsi",
             "ceildivsi")
SHIFTS = ("shli", "shrui", "shrsi")


def trailing_zeros(t, a):
    return (a & -a).bit_length() - 1 if a else width(t)


INTEGER_UNARY = {
    "math.ctlz": lambda t, a: width(t) - a.bit_length(),
    "math.cttz": trailing_zeros,
    "math.ctpop": lambda t, a: bin(a).count("1"),
    # The absolute value of the least number is not a number of its type.
    "math.absi": lambda t, a: (None if a == 1 << width(t) - 1
                               else abs(signed(t, a))),
}

COMPARISONS = {
    "eq": lambda t, a, b: a == b, "ne": lambda t, a, b: a != b,
    "ult": lambda t, a, b: a < b, "ule": lambda t, a, b: a <= b,
    "ugt": lambda t, a, b: a > b, "uge": lambda t, a, b: a >= b,
    "slt": lambda t, a, b: signed(t, a) < signed(t, b),
    "sle": lambda t, a, b: signed(t, a) <= signed(t, b),
    "sgt": lambda t, a, b: signed(t, a) > signed(t, b),
    "sge": lambda t, a, b: signed(t, a) >= signed(t, b),
}

FLOAT_BINARY = {
    "arith.addf": floats.add,
    "arith.subf": lambda t, a, b: floats.add(t, a, floats.negate(t, b)),
    "arith.mulf": floats.multiply,
    "arith.divf": floats.divide,
    "arith.maximumf": lambda t, a, b: floats.extremum(t, a, b, True),
    "arith.minimumf": lambda t, a, b: floats.extremum(t, a, b, False),
    "arith.maxnumf": lambda t, a, b: floats.number_extremum(t, a, b, True),
    "arith.minnumf": lambda t, a, b: floats.number_extremum(t, a, b, False),
    # The sign of a NaN is not defined.
    "math.copysign": lambda t, a, b: (
        None if b == floats.NAN else floats.NAN if a == floats.NAN else
        floats.absolute(t, a) | (b & 1 << width(t) - 1)),
}
FLOAT_UNARY = {
    "arith.negf": floats.negate, "math.absf": floats.absolute,
    "math.sqrt": floats.square_root, "math.rsqrt": floats.inverse_root,
    **{f"math.{name}": lambda t, a, name=name: floats.to_whole(t, a, name)
       for name in ("ceil", "floor", "round", "roundeven", "trunc")}}
FLOAT_CHECKS = {"math.isnan": lambda t, a: int(a == floats.NAN),
                "math.isfinite": lambda t, a: int(
                    a != floats.NAN and not floats.is_infinite(t, a))}
# The relations for which a comparison is true.
FLOAT_COMPARISONS = {
    "oeq": "=", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "one": "<>",
    "ord": "<>=", "ueq": "u=", "ugt": "u>", "uge": "u>=", "ult": "u<",
    "ule": "u<=", "une": "u<>", "uno": "u",
}


def integer_to_float(op, source, target, a):
    number = signed(source, a) if op == "sitofp" else a
    return floats.rounded(target, Fraction(number))


def float_to_integer(op, source, target, a):
    if a == floats.NAN or floats.is_infinite(source, a):
        return None
    number = floats.value_of(source, a)
    whole = abs(number).numerator // abs(number).denominator
    whole = -whole if number < 0 else whole
    low, high = ((-(1 << width(target) - 1), 1 << width(target) - 1)
                 if op == "fptosi" else (0, 1 << width(target)))
    return wrap(target, whole) if low <= whole < high else None


def bitcast(source, target, a):
    """The bits of a NaN are not defined; signaling ones are not drawn."""
    if a == floats.NAN or target in FLOATS and floats.is_signaling(target, a):
        return None
    return (floats.canonical(target, a)
            if target in FLOATS + FLOATS8 else a)


CASTS = {
    "arith.extsi": lambda s, t, a: wrap(t, signed(s, a)),
    "arith.extui": lambda s, t, a: a,
    "arith.trunci": lambda s, t, a: wrap(t, a),
    "arith.index_cast": lambda s, t, a: wrap(t, signed(s, a)),
    "arith.index_castui": lambda s, t, a: wrap(t, a),
    "arith.extf": floats.convert,
    "arith.truncf": floats.convert,
    "arith.bitcast": bitcast,
}
for _name in ("sitofp", "uitofp"):
    CASTS[f"arith.{_name}"] = lambda s, t, a, name=_name: integer_to_float(
        name, s, t, a)
for _name in ("fptosi", "fptoui"):
    CASTS[f"arith.{_name}"] = lambda s, t, a, name=_name: float_to_integer(
        name, s, t, a)

# Lower and upper half, or sum and carry.
EXTENDED = {
    "arith.addui_extended": lambda t, a, b: (wrap(t, a + b), a + b >> width(t)),
    "arith.mului_extended": lambda t, a, b: (
        wrap(t, a * b), a * b >> width(t)),
    "arith.mulsi_extended": lambda t, a, b: (
        wrap(t, a * b), wrap(t, signed(t, a) * signed(t, b) >> width(t))),
}

# The results are the operand's.
SAME = ("tensor.splat", "vector.broadcast", "tile.expand_dims",
        "tile.broadcast")
# Undefined behavior where there is no result; other ops give poison.
TRAPS = tuple(f"arith.{name}" for name in DIVISIONS)

UNARY = {**INTEGER_UNARY, **FLOAT_UNARY, **FLOAT_CHECKS}
BINARY = {**{f"arith.{n}": f for n, f in INTEGER_BINARY.items()},
          **FLOAT_BINARY}


def evaluate(op, operands):
    """The results of an op on numbers."""
    name, t = op.name, op.source
    if name in BINARY:
        return (BINARY[name](t, *operands),)
    if name in UNARY:
        return (UNARY[name](t, *operands),)
    if name in CASTS:
        return (CASTS[name](t, op.target, *operands),)
    if name in EXTENDED:
        return EXTENDED[name](t, *operands)
    if name == "arith.cmpi":
        return (int(COMPARISONS[op.attribute](t, *operands)),)
    if name == "arith.cmpf":
        return (int(floats.compare(t, *operands)
                    in FLOAT_COMPARISONS[op.attribute]),)
    if name in ("math.fma", "vector.fma"):
        return (floats.fused(t, *operands),)
    raise KeyError(name)


REDUCTIONS = {"sum": "addi", "prod": "muli", "min": "minsi", "max": "maxsi",
              "umin": "minui", "umax": "maxui", "and": "andi", "or": "ori",
              "xor": "xori"}
FLOAT_REDUCTIONS = {"sum": "addf", "prod": "mulf", "min": "minimumf",
                    "max": "maximumf"}


def reduce(kind, source, target, values):
    """Neighbours are combined. Sums of f16 and bf16 are those of f32, and rounded
    once."""
    t = source
    function = (BINARY[f"arith.{REDUCTIONS[kind]}"] if t in INTEGERS
                else BINARY[f"arith.{FLOAT_REDUCTIONS[kind]}"])
    if t in ("f16", "bf16"):
        t = "f32"
        values = [floats.convert(source, t, v) for v in values]
    while len(values) > 1:
        values = [function(t, a, b)
                  for a, b in zip(values[0::2], values[1::2])]
    return values[0] if t == target else floats.convert(t, target, values[0])
