# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of tables.py, and those of instructions that are rarer or that only
later chips have."""
from fractions import Fraction
import math

from exact import FORMATS, decode, encode, is_finite, is_negative, number
from index_tables import indexed
from tables import (M32, M64, SCALARS, VECTORS, add, multiply, multiply_add, negate,
                    pick, quiet, reciprocal, round_to, scalar, signed,
                    to_integer, vector)


def combine(table, a, b, c, bits):
    result = 0
    for i in range(bits):
        index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1
        result |= (table >> index & 1) << i
    return result


def pick_number(kind, first, c, larger):
    """`first` is NaN if it is None."""
    if first is not None:
        return pick(kind, first, c, larger)
    return None if decode(c, kind) != decode(c, kind) else c


def pick_or_nan(kind, larger, *operands):
    result = operands[0]
    for operand in operands:
        if result is None or decode(operand, kind) != decode(operand, kind):
            return None
        result = pick(kind, result, operand, larger)
    return result


def clamp_or_nan(kind, larger_first, a, b, c):
    first = pick_or_nan(kind, larger_first, a, b)
    return None if first is None else pick_or_nan(
        kind, not larger_first, first, c)


def divide(kind, a, b):
    negative = is_negative(a) != is_negative(b)
    if a != a or b != b:
        return None
    a_finite, b_finite = is_finite(a), is_finite(b)
    a_zero, b_zero = number(a) == 0, number(b) == 0
    if (a_zero and b_zero) or not (a_finite or b_finite):
        return None
    if b_zero or not a_finite:
        return encode(-math.inf if negative else math.inf, kind)
    if a_zero or not b_finite:
        return encode(Fraction(0), kind, negative)
    return encode(number(a) / number(b), kind)


def scale(kind, value, exponent):
    """value * 2^exponent of encoded numbers."""
    if value is None:
        return None
    decoded = decode(value, kind)
    if not is_finite(decoded) or number(decoded) == 0:
        return None if decoded != decoded else value
    return encode(decoded * Fraction(2) ** exponent, kind)


def root(kind, a):
    if a != a or a < 0:
        return None
    if not is_finite(a) or number(a) == 0:
        return encode(a, kind, is_negative(a))
    # As many bits as are sure to round correctly.
    shifted = number(a) * 4 ** 600
    whole = math.isqrt(shifted.numerator // shifted.denominator)
    rest = Fraction(0) if whole * whole == shifted else Fraction(1, 2)
    return encode((whole + rest) / Fraction(2) ** 600, kind)


def classify(kind, value, classes):
    exponent_bits, fraction_bits = FORMATS[kind]
    negative = value >> exponent_bits + fraction_bits
    exponent = value >> fraction_bits & (1 << exponent_bits) - 1
    fraction = value & (1 << fraction_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        index = (fraction >> fraction_bits - 1 if fraction
                 else 2 if negative else 9)
    elif exponent:
        index = 3 if negative else 8
    elif fraction:
        index = 4 if negative else 7
    else:
        index = 5 if negative else 6
    return classes >> index & 1


def rare_floats():
    for kind in ("f16", "f32", "f64"):
        bits = int(kind[1:])
        wide = bits == 64
        registers = ["v[2:3]", "v[4:5]", "v[6:7]"] if wide else ["v2", "v4", "v6"]
        two, three = (bits,) * 2, (bits,) * 3
        VECTORS.append((f"v_cmp_nlg_{kind} vcc, {', '.join(registers[:2])}\n"
                        "  v_cndmask_b32 v8, 0, 1, vcc", two, "", 32,
                        lambda a, b, k=kind: int(not (
                            decode(a, k) < decode(b, k)
                            or decode(a, k) > decode(b, k)))))
        vector(f"v_sqrt_{kind}", (bits,), quiet(kind, root), bits, kind)
        vector(f"v_ldexp_{kind}", (bits, 32), lambda a, b, k=kind: scale(
            k, a, max(-5000, min(5000, signed(b, 16 if k == "f16" else 32)))),
            bits, kind)
        VECTORS.append((f"v_cmp_class_{kind} vcc, {registers[0]}, v4\n"
                        "  v_cndmask_b32 v8, 0, 1, vcc", (bits, 32), "", 32,
                        lambda a, b, k=kind: classify(k, a, b)))
        if kind == "f16":
            continue
        vector(f"v_div_fixup_{kind}", three,
               lambda a, b, c, k=kind: divide(k, decode(c, k), decode(b, k)),
               bits, kind)
        up = 64 if wide else 32
        VECTORS.append((
            "v_cmp_gt_i32 vcc, 0, v3\n"
            f"  v_div_fmas_{kind} {'v[8:9]' if wide else 'v8'}, "
            + ", ".join(registers), (64, bits, bits), kind, bits,
            lambda a, b, c, k=kind, n=bits, e=up: scale(
                k, quiet(k, multiply_add)(a & (1 << n) - 1, b, c),
                e if a >> 63 else 0)))
    three = (32, 32, 32)
    vector("v_rcp_iflag_f32", (32,), quiet("f32", reciprocal), kind="f32")
    vector("v_subrev_f32", (32, 32), quiet("f32", lambda k, a, b: add(
        k, b, negate(a))), kind="f32")
    vector("v_min3_f32", three, lambda a, b, c: pick_number(
        "f32", pick("f32", a, b, False), c, False), kind="f32")
    VECTORS.append(("v_mov_b32 v8, v6\n  v_fmac_f32 v8, v2, v4", three, "f32", 32,
                    quiet("f32", multiply_add)))
    for text, order in (("v_fmamk_f32 v8, v2, 0x40490fdb, v4", (0, 2, 1)),
                        ("v_fmaak_f32 v8, v2, v4, 0x40490fdb", (0, 1, 2))):
        VECTORS.append((text, (32, 32), "f32", 32, lambda a, b, o=order: quiet(
            "f32", multiply_add)(*((a, b, 0x40490FDB)[i] for i in o))))
    for name, sign, limits in (("u16", False, (0, 0xFFFF)),
                               ("i16", True, (-0x8000, 0x7FFF))):
        vector(f"v_cvt_f16_{name}", (16,), lambda a, s=sign: encode(
            Fraction(signed(a, 16) if s else a), "f16"), 16, "f16")
        vector(f"v_cvt_{name}_f16", (16,),
               lambda a, f=to_integer("f16", *limits): f(a) & 0xFFFF, 16)


def rare_integers():
    three = (32, 32, 32)
    for name, pick_one in (("min", min), ("max", max)):
        vector(f"v_{name}3_i32", three, lambda *x, p=pick_one: p(
            map(signed, x)) & M32)
    for name in ("v_mad_u16", "v_mad_legacy_u16"):
        vector(name, (16, 16, 16), lambda a, b, c: a * b + c & 0xFFFF, 16)
    VECTORS.append(("v_cmp_gt_i32 vcc, 0, v6\n"
                    "  v_subbrev_co_u32 v8, vcc, v2, v4, vcc", three, "", 32,
                    lambda a, b, c: b - a - (c >> 31) & M32))
    for word in (0, 1):
        VECTORS.append(("v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]"
                        + "\n  v_mov_b32 v8, v9" * word, (64, 64), "", 32,
                        lambda a, b, n=word: b & M32 if n else a >> 32))
    for half, shift in ((0, ""), (1, "\n  v_lshrrev_b32 v8, 16, v8")):
        for name, function in (
                ("sub_i16", lambda a, b: a - b),
                ("max_i16", lambda a, b: max(signed(a, 16), signed(b, 16))),
                ("min_i16", lambda a, b: min(signed(a, 16), signed(b, 16))),
                ("max_u16", max), ("min_u16", min)):
            VECTORS.append((f"v_pk_{name} v8, v2, v4{shift}", (32, 32), "", 16,
                            lambda a, b, f=function, n=16 * half: f(
                                a >> n & 0xFFFF, b >> n & 0xFFFF) & 0xFFFF))
    for name, function in (("add", lambda a, b: a + b),
                           ("sub", lambda a, b: a - b)):
        scalar(f"s_{name}_nc_u64", (64, 64), 64,
               lambda a, b, c, f=function: (f(a, b) & M64, None))
    scalar("s_mul_u64", (64, 64), 64, lambda a, b, c: (a * b & M64, None))
    for name, relation in (("eq", lambda a: a == -16), ("lg", lambda a: a != -16)):
        SCALARS.append((f"s_cmpk_{name}_i32 s16, 0xfff0", (32, 32), 0,
                        lambda a, b, c, r=relation: (0, int(r(signed(a))))))


def into_exec():
    """v_cmpx_: lanes that are not chosen keep their value."""
    relations = {"lt": lambda a, b: a < b, "eq": lambda a, b: a == b,
                 "gt": lambda a, b: a > b, "ne": lambda a, b: a != b}
    for bits in (16, 32, 64):
        for name, relation in relations.items():
            registers = "v[2:3], v[4:5]" if bits == 64 else "v2, v4"
            VECTORS.append((f"v_cmpx_{name}_u{bits} {registers}\n"
                            "  v_mov_b32 v8, 1\n  s_mov_b32 exec_lo, -1\n"
                            "  s_mov_b32 exec_hi, -1",
                            (bits, bits), "", 32, lambda a, b, r=relation: (
                                1 if r(a, b) else 0x11223344)))


def bits_of_three():
    three = (32, 32, 32)
    for table in (0xCA, 0x96, 0xE8, 0x01):
        for bits in (32, 16):
            vector(f"v_bitop3_b{bits}", (bits,) * 3,
                   lambda a, b, c, t=table, n=bits: combine(t, a, b, c, n), bits,
                   operands=f"v2, v4, v6 bitop3:{table:#x}")
    vector("v_xor3_b32", three, lambda a, b, c: a ^ b ^ c)
    for name, first, then in (("minmax", min, max), ("maxmin", max, min)):
        vector(f"v_{name}_u32", three, lambda a, b, c, f=first, t=then: t(
            f(a, b), c))
        vector(f"v_{name}_i32", three, lambda a, b, c, f=first, t=then: t(
            f(signed(a), signed(b)), signed(c)) & M32)


def extrema():
    for larger, word in ((False, "minimum"), (True, "maximum")):
        vector(f"v_{word}_f64", (64, 64), lambda a, b, x=larger: pick_or_nan(
            "f64", x, a, b), 64, "f64")
    for kind in ("f16", "f32"):
        bits = int(kind[1:])
        two, three = (bits,) * 2, (bits,) * 3
        for larger in (False, True):
            word, other = ("max", "min") if larger else ("min", "max")
            vector(f"v_{word}{other}_{kind}", three,
                   lambda a, b, c, k=kind, x=larger: pick_number(
                       k, pick(k, a, b, x), c, not x), bits, kind)
            vector(f"v_{word}imum_{kind}", two,
                   lambda a, b, k=kind, x=larger: pick_or_nan(k, x, a, b), bits,
                   kind)
            vector(f"v_{word}imum3_{kind}", three,
                   lambda a, b, c, k=kind, x=larger: pick_or_nan(k, x, a, b, c),
                   bits, kind)
            vector(f"v_{word}imum{other}imum_{kind}", three,
                   lambda a, b, c, k=kind, x=larger: clamp_or_nan(k, x, a, b, c),
                   bits, kind)


def packed():
    """A row for each half of the result."""
    def both(name, bits, kind, function):
        sources = ", ".join(["v2", "v4", "v6"][:len(bits)])
        for half, shift in ((0, ""), (1, "\n  v_lshrrev_b32 v8, 16, v8")):
            VECTORS.append((f"{name} v8, {sources}{shift}", bits, kind, 16,
                            lambda *x, n=half: function(n, *x)))

    for kind in ("f16", "bf16"):
        both(f"v_cvt_pk_{kind}_f32", (32, 32), kind,
             lambda n, a, b, k=kind: encode(decode((a, b)[n], "f32"), k))
    for kind, limits in (("i16", (-1 << 15, (1 << 15) - 1)), ("u16", (0, 0xFFFF))):
        both(f"v_cvt_pk_{kind}_f32", (32, 32), "",
             lambda n, a, b, f=to_integer("f32", *limits): f((a, b)[n]) & 0xFFFF)
    for larger, word in ((False, "minimum"), (True, "maximum")):
        for count in (2, 3):
            both(f"v_pk_{word}{'3' if count == 3 else ''}_f16", (32,) * count,
                 "f16", lambda n, *x, y=larger: pick_or_nan(
                     "f16", y, *(each >> 16 * n & 0xFFFF for each in x)))


def flushed(bits):
    """A subnormal number becomes a zero of its sign."""
    return bits if bits >> 23 & 0xFF else bits & 1 << 31


def multiply_then_add(a, b, c):
    factor = quiet("f32", multiply)(flushed(a), flushed(b))
    if factor is None:
        return None
    total = quiet("f32", add)(flushed(factor), flushed(c))
    return None if total is None else flushed(total)


def unfused():
    three = (32, 32, 32)
    vector("v_mad_f32", three, multiply_then_add, kind="f32")
    VECTORS.append(("v_mov_b32 v8, v6\n  v_mac_f32 v8, v2, v4", three, "f32", 32,
                    multiply_then_add))
    for text, order in (("v_madmk_f32 v8, v2, 0x40490fdb, v4", (0, 2, 1)),
                        ("v_madak_f32 v8, v2, v4, 0x40490fdb", (0, 1, 2))):
        def apply(a, b, order=order):
            operands = (a, b, 0x40490FDB)
            return multiply_then_add(*(operands[i] for i in order))
        VECTORS.append((text, (32, 32), "f32", 32, apply))


# Two operations in one instruction ---------------------------------------------


def dual():
    def first(text, bits, function, kind="", before=""):
        VECTORS.append((f"{before}v_dual_{text} :: v_dual_mov_b32 v9, v3", bits,
                        kind, 32, function))

    def second(text, bits, function, kind=""):
        VECTORS.append((f"v_dual_mov_b32 v9, v3 :: v_dual_{text}", bits, kind, 32,
                        function))

    two, three = (32, 32), (32, 32, 32)
    # Results are written after all operands are read.
    VECTORS.append(("v_dual_mov_b32 v8, v4 :: v_dual_add_nc_u32 v9, v2, v8", two,
                    "", 64, lambda a, b: b | (a + 0x11223344 & M32) << 32))
    VECTORS.append(("v_dual_mov_b32 v9, v4 :: v_dual_lshlrev_b32 v8, 4, v9", two,
                    "", 64, lambda a, b: b << 32))
    first("cndmask_b32 v8, v2, v4", three,
          lambda a, b, c: b if c >> 31 else a, before="v_cmp_gt_i32 vcc, 0, v6\n  ")
    plus, times = quiet("f32", add), quiet("f32", multiply)
    minus = quiet("f32", lambda k, a, b: add(k, a, negate(b)))
    for put in (first, second):
        put("add_f32 v8, v2, v4", two, plus, "f32")
        put("sub_f32 v8, v2, v4", two, minus, "f32")
        put("subrev_f32 v8, v2, v4", two, lambda a, b: minus(b, a), "f32")
        put("mul_f32 v8, v2, v4", two, times, "f32")
        put("max_f32 v8, v2, v4", two, lambda a, b: pick("f32", a, b, True),
            "f32")
        put("min_f32 v8, v2, v4", two, lambda a, b: pick("f32", a, b, False),
            "f32")
        put("fmaak_f32 v8, v2, v4, 0x40490fdb", two,
            lambda a, b: quiet("f32", multiply_add)(a, b, 0x40490FDB), "f32")
        put("fmamk_f32 v8, v2, 0x40490fdb, v4", two,
            lambda a, b: quiet("f32", multiply_add)(a, 0x40490FDB, b), "f32")
    first("fmac_f32 v8, v2, v4", three, quiet("f32", multiply_add), "f32",
          before="v_mov_b32 v8, v6\n  ")
    second("lshlrev_b32 v8, v2, v4", two, lambda a, b: b << (a & 31) & M32)
    second("and_b32 v8, v2, v4", two, lambda a, b: a & b)
    second("add_nc_u32 v8, v2, v4", two, lambda a, b: a + b & M32)


# Floats in scalar registers ----------------------------------------------------


def scalar_floats():
    def put(name, bits, kind, function, width=None):
        scalar(name, bits, int(kind[1:]) if width is None else width,
               lambda *x: (function(*x[:-1]), None), kind)

    for kind in ("f32", "f16"):
        one = (int(kind[1:]),)
        two = one * 2
        plus = quiet(kind, add)
        put(f"s_add_{kind}", two, kind, plus)
        put(f"s_sub_{kind}", two, kind,
            quiet(kind, lambda k, a, b: add(k, a, negate(b))))
        put(f"s_mul_{kind}", two, kind, quiet(kind, multiply))
        for word, larger in (("min", False), ("max", True)):
            put(f"s_{word}_num_{kind}", two, kind,
                lambda a, b, k=kind, x=larger: pick(k, a, b, x))
            put(f"s_{word}imum_{kind}", two, kind,
                lambda a, b, k=kind, x=larger: pick_or_nan(k, x, a, b))
        for word, how in (("trunc", math.trunc), ("floor", math.floor),
                          ("ceil", math.ceil), ("rndne", round)):
            put(f"s_{word}_{kind}", one, kind,
                lambda a, k=kind, h=how: round_to(k, a, h))
        put(f"v_s_rcp_{kind}", one, kind, quiet(kind, reciprocal))
        old = 0x40490FDB if kind == "f32" else 0x3E00
        SCALARS.append((f"s_mov_b32 s20, {old:#x}\n  s_fmac_{kind} s20, s16, s18",
                        two, int(kind[1:]), lambda a, b, c, k=kind, o=old: (
                            quiet(k, multiply_add)(a, b, o), None), kind))
        relations = {"lt": lambda a, b: a < b, "eq": lambda a, b: a == b,
                     "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
                     "ge": lambda a, b: a >= b,
                     "lg": lambda a, b: a < b or a > b,
                     "o": lambda a, b: a == a and b == b,
                     "u": lambda a, b: a != a or b != b}
        for word, relation in {**relations, **{
                negated: lambda a, b, r=relations[of]: not r(a, b)
                for negated, of in (("nlt", "lt"), ("neq", "eq"), ("nle", "le"),
                                    ("ngt", "gt"), ("nge", "ge"),
                                    ("nlg", "lg"))}}.items():
            scalar(f"s_cmp_{word}_{kind}", two, 0,
                   lambda a, b, c, r=relation, k=kind: (
                       0, int(r(decode(a, k), decode(b, k)))))
    put("s_cvt_f16_f32", (32,), "f16", lambda a: encode(decode(a, "f32"), "f16"))
    put("s_cvt_f32_f16", (16,), "f32", lambda a: encode(decode(a, "f16"), "f32"))
    put("s_cvt_f32_u32", (32,), "f32", lambda a: encode(Fraction(a), "f32"))
    put("s_cvt_f32_i32", (32,), "f32", lambda a: encode(Fraction(signed(a)),
                                                        "f32"))
    put("s_cvt_u32_f32", (32,), "f32", to_integer("f32", 0, M32), 32)
    put("s_cvt_i32_f32", (32,), "f32",
        to_integer("f32", -1 << 31, (1 << 31) - 1), 32)


def dots():
    """Sums of products of bytes and halves."""
    def products(bits, signs):
        def function(a, b, c=0x11223344):
            for i in range(0, 32, bits):
                parts = [word >> i & (1 << bits) - 1 for word in (a, b)]
                x, y = (signed(part, bits) if sign else part
                        for part, sign in zip(parts, signs))
                c += x * y
            return c & M32
        return function
    two, three = (32, 32), (32, 32, 32)
    for name, bits, sign in (("dot4_u32_u8", 8, 0), ("dot2_i32_i16", 16, 1),
                             ("dot2_u32_u16", 16, 0)):
        vector(f"v_{name}", three, products(bits, (sign, sign)))
    # From gfx11 on, the assembler takes the second one for v_dot4_i32_iu8; they do
    # not have the first one.
    vector("v_dot4c_i32_i8 v8, v2, v4\n  v_dot4_i32_i8", three, products(8, (1, 1)))
    vector("v_dot4c_i32_i8", two, products(8, (1, 1)))
    vector("v_dot2c_i32_i16", two, products(16, (1, 1)))
    for signs in ((0, 0), (0, 1), (1, 0), (1, 1)):
        vector("v_dot4_i32_iu8", three, products(8, signs), operands="v2, v4, v6"
               + (f" neg_lo:[{signs[0]},{signs[1]},0]" if any(signs) else ""))


def short_loads():
    """Of scalars: parts of s[18:19] from where they were loaded."""
    for name, at, bits, is_signed in (
            ("u8", 0, 8, 0), ("i8", 1, 8, 1), ("u8", 3, 8, 0), ("i8", 5, 8, 1),
            ("u16", 0, 16, 0), ("i16", 2, 16, 1), ("u16", 6, 16, 0)):
        def part(a, b, scc, at=at, bits=bits, is_signed=is_signed):
            value = b >> 8 * at & (1 << bits) - 1
            return (signed(value, bits) if is_signed else value) & M32, None
        SCALARS.append((f"s_load_{name} s20, s[10:11], {at:#x}\n"
                        "  s_wait_kmcnt 0", (64, 64), 32, part))


rare_floats()
rare_integers()
dots()
short_loads()
into_exec()
bits_of_three()
extrema()
packed()
unfused()
dual()
scalar_floats()
indexed()
GROUPS = [("vector", VECTORS), ("scalar", SCALARS)]
