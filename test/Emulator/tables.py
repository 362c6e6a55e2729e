# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What instructions do, in exact arithmetic on integers.

Vector rows: text, bits of the sources v[2:3], v[4:5], v[6:7] (32-bit ones are
v2, v4, v6), the float kind of the result or "", its bits, the function. Scalar
rows: text, bits of the sources s[16:17], s[18:19], bits of the result, the
function, whose last argument and second result are SCC, the float kind of the
result if it is one.
"""
from fractions import Fraction
import math

from exact import decode, encode, fma, is_finite, is_negative, number

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def signed(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# Vectors of integers -----------------------------------------------------------

VECTORS = []


def vector(name, bits, function, width=32, kind="", operands=None):
    registers = ["v2", "v4", "v6"], ["v[2:3]", "v[4:5]", "v[6:7]"]
    result = "v8" if width <= 32 else "v[8:9]"
    sources = operands or ", ".join(
        registers[size == 64][i] for i, size in enumerate(bits))
    VECTORS.append((f"{name} {result}, {sources}", bits, kind, width, function))


def perm(a, b, c):
    data, result = a << 32 | b, 0
    for i in range(4):
        index = c >> 8 * i & 0xFF
        if index > 12:
            byte = 0xFF
        elif index == 12:
            byte = 0
        elif index >= 8:
            byte = 0xFF if data >> (16 * (index - 8) + 15) & 1 else 0
        else:
            byte = data >> 8 * index & 0xFF
        result |= byte << 8 * i
    return result


def find_first(value, bits, from_top):
    if value == 0:
        return M32
    return bits - value.bit_length() if from_top else (
        value & -value).bit_length() - 1


def bfe_signed(a, b, c):
    width, value = c & 31, signed(a) >> (b & 31)
    return signed(value, width) & M32 if width else 0


def integers():
    two, three = (32, 32), (32, 32, 32)
    vector("v_add_u32", two, lambda a, b: (a + b) & M32)
    vector("v_sub_u32", two, lambda a, b: (a - b) & M32)
    vector("v_subrev_u32", two, lambda a, b: (b - a) & M32)
    vector("v_add3_u32", three, lambda a, b, c: (a + b + c) & M32)
    vector("v_sad_u32", three, lambda a, b, c: (abs(a - b) + c) & M32)
    vector("v_lshl_add_u32", three, lambda a, b, c: ((a << (b & 31)) + c) & M32)
    vector("v_add_lshl_u32", three, lambda a, b, c: (a + b << (c & 31)) & M32)
    vector("v_xad_u32", three, lambda a, b, c: ((a ^ b) + c) & M32)
    vector("v_lshl_or_b32", three, lambda a, b, c: (a << (b & 31) | c) & M32)
    vector("v_and_or_b32", three, lambda a, b, c: a & b | c)
    vector("v_or3_b32", three, lambda a, b, c: a | b | c)
    vector("v_bfi_b32", three, lambda a, b, c: a & b | ~a & M32 & c)
    vector("v_bfe_u32", three,
           lambda a, b, c: a >> (b & 31) & (1 << (c & 31)) - 1)
    vector("v_bfe_i32", three, bfe_signed)
    vector("v_bfm_b32", two,
           lambda a, b: ((1 << (a & 31)) - 1 << (b & 31)) & M32)
    vector("v_perm_b32", three, perm)
    vector("v_alignbit_b32", three,
           lambda a, b, c: (a << 32 | b) >> (c & 31) & M32)
    vector("v_alignbyte_b32", three,
           lambda a, b, c: (a << 32 | b) >> 8 * (c & 3) & M32)
    vector("v_mul_lo_u32", two, lambda a, b: a * b & M32)
    vector("v_mul_hi_u32", two, lambda a, b: a * b >> 32)
    vector("v_mul_hi_i32", two, lambda a, b: signed(a) * signed(b) >> 32 & M32)
    vector("v_mul_u32_u24", two,
           lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) & M32)
    vector("v_mul_i32_i24", two,
           lambda a, b: signed(a, 24) * signed(b, 24) & M32)
    vector("v_mul_hi_u32_u24", two,
           lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32)
    vector("v_mul_hi_i32_i24", two,
           lambda a, b: signed(a, 24) * signed(b, 24) >> 32 & M32)
    vector("v_mad_u32_u24", three,
           lambda a, b, c: ((a & 0xFFFFFF) * (b & 0xFFFFFF) + c) & M32)
    vector("v_mad_i32_i24", three,
           lambda a, b, c: (signed(a, 24) * signed(b, 24) + c) & M32)
    vector("v_and_b32", two, lambda a, b: a & b)
    vector("v_or_b32", two, lambda a, b: a | b)
    vector("v_xor_b32", two, lambda a, b: a ^ b)
    vector("v_xnor_b32", two, lambda a, b: ~(a ^ b) & M32)
    vector("v_not_b32", (32,), lambda a: ~a & M32)
    vector("v_mov_b32", (32,), lambda a: a)
    vector("v_mov_b64", (64,), lambda a: a, width=64)
    vector("v_bfrev_b32", (32,), lambda a: int(f"{a:032b}"[::-1], 2))
    vector("v_bcnt_u32_b32", two, lambda a, b: (a.bit_count() + b) & M32)
    vector("v_ffbh_u32", (32,), lambda a: find_first(a, 32, True))
    vector("v_ffbl_b32", (32,), lambda a: find_first(a, 32, False))
    vector("v_ffbh_i32", (32,),
           lambda a: find_first(a ^ (M32 if a >> 31 else 0), 32, True))
    vector("v_lshlrev_b32", two, lambda a, b: b << (a & 31) & M32)
    vector("v_lshrrev_b32", two, lambda a, b: b >> (a & 31))
    vector("v_ashrrev_i32", two, lambda a, b: signed(b) >> (a & 31) & M32)
    vector("v_lshlrev_b64", (32, 64), lambda a, b: b << (a & 63) & M64, 64)
    vector("v_lshrrev_b64", (32, 64), lambda a, b: b >> (a & 63), 64)
    vector("v_ashrrev_i64", (32, 64),
           lambda a, b: signed(b, 64) >> (a & 63) & M64, 64)
    # The shift of a program is at most 4.
    vector("v_lshl_add_u64", (64, 64), lambda a, c: ((a << 3) + c) & M64, 64,
           operands="v[2:3], 3, v[4:5]")
    vector("v_mad_u64_u32", (32, 32, 64),
           lambda a, b, c: (a * b + c) & M64, 64,
           operands="vcc, v2, v4, v[6:7]")
    vector("v_mad_i64_i32", (32, 32, 64),
           lambda a, b, c: (signed(a) * signed(b) + c) & M64, 64,
           operands="vcc, v2, v4, v[6:7]")
    for name, pick in (("min", min), ("max", max)):
        vector(f"v_{name}_u32", two, pick)
        vector(f"v_{name}_i32", two,
               lambda a, b, pick=pick: pick(signed(a), signed(b)) & M32)
        vector(f"v_{name}3_u32", three, pick)
        vector(f"v_{name}_u16", (16, 16), pick)
        vector(f"v_{name}_i16", (16, 16), lambda a, b, pick=pick: pick(
            signed(a, 16), signed(b, 16)) & 0xFFFF)
    vector("v_med3_i32", three,
           lambda *x: sorted(map(signed, x))[1] & M32)
    vector("v_med3_u32", three, lambda *x: sorted(x)[1])
    vector("v_add_u16", (16, 16), lambda a, b: (a + b) & 0xFFFF)
    vector("v_sub_u16", (16, 16), lambda a, b: (a - b) & 0xFFFF)
    vector("v_mul_lo_u16", (16, 16), lambda a, b: a * b & 0xFFFF)
    vector("v_lshlrev_b16", (16, 16), lambda a, b: b << (a & 15) & 0xFFFF)
    vector("v_lshrrev_b16", (16, 16), lambda a, b: b >> (a & 15))
    vector("v_ashrrev_i16", (16, 16),
           lambda a, b: signed(b, 16) >> (a & 15) & 0xFFFF)
    # Carries, which become a result.
    for name, function in (
            ("v_add_co_u32", lambda a, b: a + b >> 32),
            ("v_sub_co_u32", lambda a, b: int(a < b)),
            ("v_subrev_co_u32", lambda a, b: int(b < a))):
        VECTORS.append((f"{name} v8, vcc, v2, v4\n"
                        "  v_cndmask_b32 v8, 0, 1, vcc", two, "", 32, function))
    VECTORS.append(("v_cmp_gt_i32 vcc, 0, v6\n"
                    "  v_addc_co_u32 v8, vcc, v2, v4, vcc\n"
                    "  v_addc_co_u32 v9, vcc, 0, 0, vcc", three, "", 64,
                    lambda a, b, c: a + b + (c >> 31)))
    VECTORS.append(("v_cmp_gt_i32 vcc, 0, v6\n"
                    "  v_subb_co_u32 v8, vcc, v2, v4, vcc", three, "", 32,
                    lambda a, b, c: a - b - (c >> 31) & M32))


# Parts of registers, other lanes -----------------------------------------------


def parts():
    vector("v_or_b32_sdwa", (32, 32), lambda a, b: a >> 16 & 0xFF | b,
           operands="v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD "
                    "src0_sel:BYTE_2 src1_sel:DWORD")
    vector("v_add_u32_sdwa", (32, 32),
           lambda a, b: signed(a >> 16, 16) + signed(b >> 8, 8) & M32,
           operands="sext(v2), sext(v4) dst_sel:DWORD dst_unused:UNUSED_PAD "
                    "src0_sel:WORD_1 src1_sel:BYTE_1")
    vector("v_and_b32_sdwa", (32, 32),
           lambda a, b: 0x11003344 | (a & b & 0xFF) << 16,
           operands="v2, v4 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE "
                    "src0_sel:DWORD src1_sel:DWORD")
    vector("v_xor_b32_sdwa", (32, 32), lambda a, b: (a ^ b) << 16 & M32,
           operands="v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
                    "src0_sel:DWORD src1_sel:DWORD")
    vector("v_pack_b32_f16", (32, 32), lambda a, b: a & 0xFFFF | b << 16 & M32)
    vector("v_pack_b32_f16", (32, 32), lambda a, b: a >> 16 | b & 0xFFFF0000,
           operands="v2, v4 op_sel:[1,1,0]")
    vector("v_cndmask_b32_e64", (32, 32), lambda a, b: b,
           operands="v2, v4, exec")


# Comparisons -------------------------------------------------------------------


def compare(name, bits, function):
    registers = "v2, v4" if bits <= 32 else "v[2:3], v[4:5]"
    VECTORS.append((f"v_cmp_{name} vcc, {registers}\n"
                    "  v_cndmask_b32 v8, 0, 1, vcc", (bits, bits), "", 32,
                    lambda a, b: int(function(a, b))))


def comparisons():
    relations = {"lt": lambda a, b: a < b, "eq": lambda a, b: a == b,
                 "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
                 "ge": lambda a, b: a >= b}
    for bits in (16, 32, 64):
        for name, relation in {**relations, "ne": lambda a, b: a != b}.items():
            compare(f"{name}_u{bits}", bits, relation)
            compare(f"{name}_i{bits}", bits, lambda a, b, r=relation, n=bits: r(
                signed(a, n), signed(b, n)))
        kind = f"f{bits}"
        for name, relation in relations.items():
            compare(f"{name}_{kind}", bits, lambda a, b, r=relation, k=kind: r(
                decode(a, k), decode(b, k)))
            negated = "neq" if name == "eq" else f"n{name}"
            compare(f"{negated}_{kind}", bits,
                    lambda a, b, r=relation, k=kind: not r(
                        decode(a, k), decode(b, k)))

        def is_unordered(a, b, k=kind):
            a, b = decode(a, k), decode(b, k)
            return a != a or b != b
        compare(f"u_{kind}", bits, is_unordered)
        compare(f"o_{kind}", bits, lambda a, b, u=is_unordered: not u(a, b))
        compare(f"lg_{kind}", bits,
                lambda a, b, u=is_unordered, k=kind: not u(a, b) and decode(
                    a, k) != decode(b, k))


# Floats ------------------------------------------------------------------------


def multiply_add(kind, a, b, c):
    return encode(*[fma(a, b, c)[0], kind, fma(a, b, c)[1]])


def add(kind, a, b):
    return multiply_add(kind, a, Fraction(1), b)


def negate(value):
    if isinstance(value, Fraction):
        return -value if value else -0.0
    return Fraction(0) if value == 0 else -value


def multiply(kind, a, b):
    # Plus a zero of the sign of the result.
    zero = -0.0 if is_negative(a) != is_negative(b) else Fraction(0)
    return multiply_add(kind, a, b, zero)


def pick(kind, a, b, larger):
    """The bits of the larger or smaller number; +0 is larger than -0."""
    x, y = decode(a, kind), decode(b, kind)
    if x != x:
        return None if y != y else b
    if y != y:
        return a
    if x == y:
        return a if is_negative(x) != larger else b
    return a if (x > y) == larger else b


def pick_three(kind, a, b, c):
    larger = pick(kind, a, b, True)
    # NaN if both are.
    return pick(kind, a if larger is None else larger, c, True)


def round_to(kind, value, how):
    x = decode(value, kind)
    if not is_finite(x) or number(x) == 0:
        return None if x != x else value
    return encode(Fraction(how(x)), kind, is_negative(x))


def fraction(kind, value):
    """The distance to the next lower integer, below 1; None for infinities."""
    x = decode(value, kind)
    if not is_finite(x):
        return None
    below_one = encode(Fraction(1), kind) - 1
    return min(encode(number(x) - math.floor(number(x)), kind), below_one)


def quiet(kind, function):
    """With decoded operands."""
    return lambda *operands: function(kind, *(decode(o, kind) for o in operands))


def reciprocal(kind, a):
    if a != a:
        return None
    if not is_finite(a):
        return encode(Fraction(0), kind, a < 0)
    if number(a) == 0:
        return encode(-math.inf if is_negative(a) else math.inf, kind)
    return encode(1 / a, kind)


def modified(kind, function):
    """The first source is negated, of the second the magnitude."""
    bits = int(kind[1:])
    top = 1 << bits - 1
    return lambda a, b: function(a ^ top, b & ~top)


def to_integer(kind, low, high):
    def function(a):
        value = decode(a, kind)
        if value != value:
            return 0
        if not is_finite(value):
            return (low if value < 0 else high) & M32
        return min(max(math.trunc(number(value)), low), high) & M32
    return function


def floats():
    for kind in ("f16", "f32", "f64"):
        bits = int(kind[1:])
        two, three = (bits,) * 2, (bits,) * 3

        def put(name, sources, function, kind=kind, bits=bits, **options):
            vector(f"v_{name}_{kind}", sources, function, bits, kind, **options)

        plus = quiet(kind, add)
        times = quiet(kind, multiply)
        put("add", two, plus)
        put("mul", two, times)
        registers = "-v2, |v4|" if bits <= 32 else "-v[2:3], |v[4:5]|"
        put("add", two, modified(kind, plus), operands=registers)
        put("fma", three, quiet(kind, multiply_add))
        if bits != 64:
            put("sub", two, quiet(kind, lambda k, a, b: add(k, a, negate(b))))
            put("max3", three, lambda a, b, c, k=kind: pick_three(k, a, b, c))
        put("max", two, lambda a, b, k=kind: pick(k, a, b, True))
        put("min", two, lambda a, b, k=kind: pick(k, a, b, False))
        one = (bits,)
        put("trunc", one, lambda a, k=kind: round_to(k, a, math.trunc))
        put("floor", one, lambda a, k=kind: round_to(k, a, math.floor))
        put("ceil", one, lambda a, k=kind: round_to(k, a, math.ceil))
        put("rndne", one, lambda a, k=kind: round_to(k, a, round))
        put("fract", one, lambda a, k=kind: fraction(k, a))
        put("rcp", one, quiet(kind, reciprocal))

    def convert(to, of):
        def function(a):
            value = decode(a, of)
            return encode(value, to)
        width, bits = int(to[1:]), int(of[1:])
        vector(f"v_cvt_{to}_{of}", (bits,), function, width, to)

    convert("f16", "f32")
    convert("f32", "f16")
    convert("f32", "f64")
    convert("f64", "f32")

    for kind in ("f32", "f64"):
        bits = int(kind[1:])
        vector(f"v_cvt_u32_{kind}", (bits,), to_integer(kind, 0, M32))
        vector(f"v_cvt_i32_{kind}", (bits,),
               to_integer(kind, -1 << 31, (1 << 31) - 1))
        vector(f"v_cvt_{kind}_u32", (32,),
               lambda a, k=kind: encode(Fraction(a), k), bits, kind)
        vector(f"v_cvt_{kind}_i32", (32,),
               lambda a, k=kind: encode(Fraction(signed(a)), k), bits, kind)
    for byte in range(4):
        vector(f"v_cvt_f32_ubyte{byte}", (32,), lambda a, n=byte: encode(
            Fraction(a >> 8 * n & 0xFF), "f32"), 32, "f32")


def clamped():
    """Sums and differences that do not wrap."""
    for bits in (16, 32):
        most = (1 << bits) - 1
        for operation, function in (
                ("add", lambda a, b, most=most: min(a + b, most)),
                ("sub", lambda a, b: max(a - b, 0)),
                ("subrev", lambda a, b: max(b - a, 0))):
            VECTORS.append((f"v_{operation}_u{bits} v8, v2, v4 clamp",
                            (bits, bits), "", bits, function))


def mixed():
    """f16 and f32 in one operation."""
    def both(kind):
        return lambda a, b, c: encode(*_mixed(a, b, c, kind))

    def _mixed(a, b, c, kind):
        value, negative = fma(decode(a >> 16, "f16"), decode(b, "f32"),
                              decode(c & 0xFFFF, "f16"))
        # The ISA rounds to f32 first.
        rounded = encode(value, "f32", negative)
        return (value if rounded is None else decode(rounded, "f32"), kind,
                False)
    three = (32, 32, 32)
    sources = "v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,0,1]"
    VECTORS.append((f"v_fma_mix_f32 v8, {sources}", three, "f32", 32,
                    both("f32")))
    VECTORS.append((f"v_fma_mixlo_f16 v8, {sources}", three, "f16", 16,
                    both("f16")))
    VECTORS.append((f"v_fma_mixhi_f16 v8, {sources}\n"
                    "  v_lshrrev_b32 v8, 16, v8", three, "f16", 16,
                    both("f16")))
    VECTORS.append((f"v_fma_mixhi_f16 v8, {sources}", three, "", 16,
                    lambda a, b, c: 0x3344))
    VECTORS.append((f"v_fma_mixlo_f16 v8, {sources}\n"
                    "  v_lshrrev_b32 v8, 16, v8", three, "", 16,
                    lambda a, b, c: 0x1122))


def halves():
    """Packed operations: a row for each half of the result."""
    def both(name, sources, function, kind, options=""):
        for half in (0, 1):
            def apply(*operands, half=half):
                return function(*(o >> 16 * half & 0xFFFF for o in operands))
            text = (f"{name} v8, {', '.join(['v2', 'v4', 'v6'][:sources])}"
                    f"{options}")
            if half:
                text += "\n  v_lshrrev_b32 v8, 16, v8"
            VECTORS.append((text, (32,) * sources, kind, 16, apply))

    both("v_pk_add_f16", 2, quiet("f16", add), "f16")
    both("v_pk_mul_f16", 2, quiet("f16", multiply), "f16")
    both("v_pk_fma_f16", 3, quiet("f16", multiply_add), "f16")
    both("v_pk_max_f16", 2, lambda a, b: pick("f16", a, b, True), "f16")
    both("v_pk_min_f16", 2, lambda a, b: pick("f16", a, b, False), "f16")
    both("v_pk_add_u16", 2, lambda a, b: (a + b) & 0xFFFF, "")
    for operation, sign in (("add", 1), ("sub", -1)):
        both(f"v_pk_{operation}_u16", 2, lambda a, b, sign=sign:
             min(max(a + sign * b, 0), 0xFFFF), "", " clamp")
        both(f"v_pk_{operation}_i16", 2, lambda a, b, sign=sign:
             min(max(signed(a, 16) + sign * signed(b, 16), -0x8000), 0x7FFF)
             & 0xFFFF, "", " clamp")
    both("v_pk_mul_lo_u16", 2, lambda a, b: a * b & 0xFFFF, "")
    both("v_pk_lshlrev_b16", 2, lambda a, b: b << (a & 15) & 0xFFFF, "")
    # The halves of one source are exchanged, one half of another negated.
    VECTORS.append(("v_pk_add_f16 v8, v2, v4 op_sel:[1,0] op_sel_hi:[0,1] "
                    "neg_lo:[0,1]", (32, 32), "f16", 16,
                    lambda a, b: quiet("f16", add)(a >> 16,
                                                   b & 0xFFFF ^ 0x8000)))
    for half in (0, 1):
        for name, function in (("add", add), ("mul", multiply)):
            VECTORS.append((f"v_pk_{name}_f32 v[8:9], v[2:3], v[4:5]"
                            + ("\n  v_mov_b32 v8, v9" if half else ""),
                            (64, 64), "f32", 32,
                            lambda a, b, f=function, n=half: quiet("f32", f)(
                                a >> 32 * n & M32, b >> 32 * n & M32)))


# Scalars -----------------------------------------------------------------------

SCALARS = []


def scalar(name, bits, width, function, kind=""):
    registers = ["s16", "s18"], ["s[16:17]", "s[18:19]"]
    sources = ", ".join(registers[size == 64][i] for i, size in enumerate(bits))
    result = "" if not width else "s[20:21], " if width == 64 else "s20, "
    SCALARS.append((f"{name} {result}{sources}", bits, width, function, kind))


def overflows(value):
    return int(signed(value) != value)


def scalars():
    two = (32, 32)
    scalar("s_add_u32", two, 32, lambda a, b, c: ((a + b) & M32, a + b >> 32))
    scalar("s_addc_u32", two, 32,
           lambda a, b, c: ((a + b + c) & M32, a + b + c >> 32))
    scalar("s_sub_u32", two, 32, lambda a, b, c: ((a - b) & M32, int(a < b)))
    scalar("s_subb_u32", two, 32,
           lambda a, b, c: ((a - b - c) & M32, int(a < b + c)))
    scalar("s_add_i32", two, 32, lambda a, b, c: (
        (a + b) & M32, overflows(signed(a) + signed(b))))
    scalar("s_sub_i32", two, 32, lambda a, b, c: (
        (a - b) & M32, overflows(signed(a) - signed(b))))
    scalar("s_mul_i32", two, 32, lambda a, b, c: (a * b & M32, None))
    scalar("s_mul_hi_u32", two, 32, lambda a, b, c: (a * b >> 32, None))
    scalar("s_mul_hi_i32", two, 32,
           lambda a, b, c: (signed(a) * signed(b) >> 32 & M32, None))
    scalar("s_min_u32", two, 32, lambda a, b, c: (min(a, b), int(a < b)))
    scalar("s_max_u32", two, 32, lambda a, b, c: (max(a, b), int(a >= b)))
    scalar("s_min_i32", two, 32, lambda a, b, c: (
        min(signed(a), signed(b)) & M32, int(signed(a) < signed(b))))
    scalar("s_max_i32", two, 32, lambda a, b, c: (
        max(signed(a), signed(b)) & M32, int(signed(a) >= signed(b))))
    for bits in (32, 64):
        mask = (1 << bits) - 1
        for name, function in {
                "and": lambda a, b: a & b, "or": lambda a, b: a | b,
                "xor": lambda a, b: a ^ b, "nand": lambda a, b: ~(a & b),
                "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b),
                "andn2": lambda a, b: a & ~b,
                "orn2": lambda a, b: a | ~b}.items():
            scalar(f"s_{name}_b{bits}", (bits, bits), bits,
                   lambda a, b, c, f=function, m=mask: (
                       f(a, b) & m, int(f(a, b) & m != 0)))
        scalar(f"s_not_b{bits}", (bits,), bits,
               lambda a, c, m=mask: (~a & m, int(~a & m != 0)))
        scalar(f"s_mov_b{bits}", (bits,), bits, lambda a, c: (a, None))
        scalar(f"s_cselect_b{bits}", (bits, bits), bits,
               lambda a, b, c: (a if c else b, None))
        scalar(f"s_brev_b{bits}", (bits,), bits, lambda a, c, n=bits: (
            int(f"{a:0{n}b}"[::-1], 2), None))
        scalar(f"s_bcnt1_i32_b{bits}", (bits,), 32,
               lambda a, c: (a.bit_count(), int(a != 0)))
        scalar(f"s_ff1_i32_b{bits}", (bits,), 32,
               lambda a, c, n=bits: (find_first(a, n, False), None))
        scalar(f"s_flbit_i32_b{bits}", (bits,), 32,
               lambda a, c, n=bits: (find_first(a, n, True), None))
        scalar(f"s_bitcmp1_b{bits}", (bits, 32), 0, lambda a, b, c, n=bits: (
            0, a >> (b & n - 1) & 1))
        scalar(f"s_bitcmp0_b{bits}", (bits, 32), 0, lambda a, b, c, n=bits: (
            0, 1 - (a >> (b & n - 1) & 1)))
        scalar(f"s_lshl_b{bits}", (bits, 32), bits,
               lambda a, b, c, n=bits, m=mask: (
                   a << (b & n - 1) & m, int(a << (b & n - 1) & m != 0)))
        scalar(f"s_lshr_b{bits}", (bits, 32), bits, lambda a, b, c, n=bits: (
            a >> (b & n - 1), int(a >> (b & n - 1) != 0)))
        scalar(f"s_ashr_i{bits}", (bits, 32), bits,
               lambda a, b, c, n=bits, m=mask: (
                   signed(a, n) >> (b & n - 1) & m,
                   int(signed(a, n) >> (b & n - 1) != 0)))

        def extract(a, b, c, n=bits):
            width = min(b >> 16 & 0x7F, n)
            value = a >> (b & n - 1) & (1 << width) - 1
            return value, int(value != 0)
        scalar(f"s_bfe_u{bits}", (bits, 32), bits, extract)

        def extract_signed(a, b, c, n=bits, m=mask):
            width = min(b >> 16 & 0x7F, n)
            value = signed(a, n) >> (b & n - 1)
            value = signed(value, width) if width else 0
            return value & m, int(value != 0)
        scalar(f"s_bfe_i{bits}", (bits, 32), bits, extract_signed)
    scalar("s_bfm_b32", two, 32,
           lambda a, b, c: ((1 << (a & 31)) - 1 << (b & 31) & M32, None))
    scalar("s_abs_i32", (32,), 32, lambda a, c: (
        abs(signed(a)) & M32, int(a != 0)))
    for shift in range(1, 5):
        scalar(f"s_lshl{shift}_add_u32", two, 32, lambda a, b, c, n=shift: (
            (a << n) + b & M32, int((a << n) + b > M32)))
    scalar("s_pack_ll_b32_b16", two, 32,
           lambda a, b, c: (a & 0xFFFF | b << 16 & M32, None))
    scalar("s_pack_lh_b32_b16", two, 32,
           lambda a, b, c: (a & 0xFFFF | b & 0xFFFF0000, None))
    scalar("s_pack_hh_b32_b16", two, 32,
           lambda a, b, c: (a >> 16 | b & 0xFFFF0000, None))
    scalar("s_sext_i32_i8", (32,), 32, lambda a, c: (signed(a, 8) & M32, None))
    scalar("s_sext_i32_i16", (32,), 32,
           lambda a, c: (signed(a, 16) & M32, None))
    relations = {"lt": lambda a, b: a < b, "eq": lambda a, b: a == b,
                 "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
                 "ge": lambda a, b: a >= b, "lg": lambda a, b: a != b}
    for name, relation in relations.items():
        scalar(f"s_cmp_{name}_u32", two, 0,
               lambda a, b, c, r=relation: (0, int(r(a, b))))
        scalar(f"s_cmp_{name}_i32", two, 0,
               lambda a, b, c, r=relation: (0, int(r(signed(a), signed(b)))))
    for name in ("eq", "lg"):
        scalar(f"s_cmp_{name}_u64", (64, 64), 0,
               lambda a, b, c, r=relations[name]: (0, int(r(a, b))))
    SCALARS.append(("s_movk_i32 s20, 0x8001", (32, 32), 32,
                    lambda a, b, c: (0xFFFF8001, None)))
    SCALARS.append(("s_mov_b32 s20, s16\n  s_addk_i32 s20, 0xfff0", (32, 32),
                    32, lambda a, b, c: ((a - 16) & M32,
                                         overflows(signed(a) - 16))))
    SCALARS.append(("s_mov_b32 s20, s16\n  s_mulk_i32 s20, 0xfff1", (32, 32),
                    32, lambda a, b, c: (a * -15 & M32, None)))
    SCALARS.append(("s_cmpk_gt_i32 s16, 0xfff0", (32, 32), 0,
                    lambda a, b, c: (0, int(signed(a) > -16))))
    SCALARS.append(("s_cmpk_lt_u32 s16, 0xfff0", (32, 32), 0,
                    lambda a, b, c: (0, int(a < 0xFFF0))))
    SCALARS.append(("s_mov_b32 s20, s16\n  s_bitset1_b32 s20, s18", (32, 32),
                    32, lambda a, b, c: (a | 1 << (b & 31), None)))
    SCALARS.append(("s_mov_b32 s20, s16\n  s_bitset0_b32 s20, s18", (32, 32),
                    32, lambda a, b, c: (a & ~(1 << (b & 31)), None)))


integers()
parts()
comparisons()
floats()
clamped()
mixed()
halves()
scalars()
