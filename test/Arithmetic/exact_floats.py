# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IEEE 754 arithmetic by exact fractions: no float of the host computes here.

A float is its bits. Results are rounded to nearest even, once, from the exact
value; denormals are kept. A NaN is NAN, whatever its bits.
"""
from fractions import Fraction
from functools import lru_cache
from math import isqrt

# Bits, and number of exponent and fraction bits.
FORMATS = {"f16": (16, 5, 10), "bf16": (16, 8, 7), "f32": (32, 8, 23),
           "f64": (64, 11, 52)}
# Exponent bits, fraction bits, bias, and the special codes: `ieee` has
# infinities, `fn` has a NaN of each sign, `fnuz` has the NaN 0x80 and no -0.
FORMATS8 = {"f8E4M3FN": (4, 3, 7, "fn"), "f8E5M2": (5, 2, 15, "ieee"),
            "f8E4M3FNUZ": (4, 3, 8, "fnuz"), "f8E5M2FNUZ": (5, 2, 16, "fnuz")}
NAN = "nan"


def infinity(t, negative=False):
    bits, exponent, fraction = FORMATS[t]
    return int(negative) << bits - 1 | ((1 << exponent) - 1) << fraction


def is_negative(t, bits):
    return bits >> FORMATS[t][0] - 1 == 1


def is_infinite(t, bits):
    if t in FORMATS8:
        return t == "f8E5M2" and bits != NAN and bits & 0x7F == 0x7C
    return bits != NAN and bits & ~(1 << FORMATS[t][0] - 1) == infinity(t)


def is_zero(t, bits):
    return bits != NAN and bits & ~(1 << FORMATS[t][0] - 1) == 0


def is_signaling(t, bits):
    """A signaling NaN. Whether minnumf and maxnumf of it count the NaN is not
    defined."""
    fraction = FORMATS[t][2]
    magnitude = bits & ~(1 << FORMATS[t][0] - 1)
    return magnitude > infinity(t) and not magnitude >> fraction - 1 & 1


def quiet(t, bits):
    """The bits; of a signaling NaN, those of the quiet one."""
    return bits | 1 << FORMATS[t][2] - 1 if is_signaling(t, bits) else bits


def canonical(t, bits):
    """The bits, or NAN."""
    if t in FORMATS8:
        special = FORMATS8[t][3]
        return NAN if (bits == 0x80 if special == "fnuz" else bits & 0x7F == 0x7F
                       if special == "fn" else bits & 0x7F > 0x7C) else bits
    magnitude = bits & ~(1 << FORMATS[t][0] - 1)
    return NAN if magnitude > infinity(t) else bits


@lru_cache(maxsize=1 << 16)
def value_of(t, bits):
    """The exact value of a finite float."""
    if t in FORMATS8:
        return value_of8(t, bits)
    width, exponent_bits, fraction_bits = FORMATS[t]
    bias = (1 << exponent_bits - 1) - 1
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    significand = bits & (1 << fraction_bits) - 1
    if exponent:
        significand |= 1 << fraction_bits
    else:
        exponent = 1
    scale = exponent - bias - fraction_bits
    value = (Fraction(significand << scale) if scale >= 0
             else Fraction(significand, 1 << -scale))
    return -value if bits >> width - 1 else value


def value_of8(t, bits):
    _, fraction_bits, bias, _ = FORMATS8[t]
    exponent = bits >> fraction_bits & (1 << 7 - fraction_bits) - 1
    significand = bits & (1 << fraction_bits) - 1
    if exponent:
        significand |= 1 << fraction_bits
    value = significand * Fraction(2) ** (max(exponent, 1) - bias
                                          - fraction_bits)
    return -value if bits & 0x80 else value


@lru_cache(maxsize=None)
def magnitudes8(t):
    """(value, code) of the finite numbers that are not negative."""
    return [(value_of8(t, code), code) for code in range(0x80)
            if canonical(t, code) != NAN and not is_infinite(t, code)]


def rounded8(t, value, is_negative_zero):
    """The nearest of all numbers, the greatest one for those beyond it; of two
    the even one."""
    _, code = min(magnitudes8(t), key=lambda number: (
        abs(number[0] - abs(value)), number[1] & 1))
    sign = 0x80 if value < 0 or (value == 0 and is_negative_zero) else 0
    return 0 if code == 0 and FORMATS8[t][3] == "fnuz" else sign | code


def rounded(t, value, negative_zero=False):
    """The float nearest to an exact value; ties to even."""
    if t in FORMATS8:
        return rounded8(t, value, negative_zero)
    width, exponent_bits, fraction_bits = FORMATS[t]
    bias = (1 << exponent_bits - 1) - 1
    if value == 0:
        return int(negative_zero) << width - 1
    negative, magnitude = value < 0, abs(value)
    exponent = (magnitude.numerator.bit_length()
                - magnitude.denominator.bit_length())
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - bias)  # denormals share the least exponent
    shift = fraction_bits - exponent
    scaled = (magnitude * (1 << shift) if shift >= 0
              else magnitude / (1 << -shift))
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1):
        whole += 1
    # A significand that became 2^(fraction bits + 1) carries into the exponent.
    bits = (exponent + bias - 1 << fraction_bits) + whole
    bits = min(bits, infinity(t))
    return int(negative) << width - 1 | bits


def add(t, a, b):
    if NAN in (a, b):
        return NAN
    if is_infinite(t, a) or is_infinite(t, b):
        if is_infinite(t, a) and is_infinite(t, b) and a != b:
            return NAN
        return a if is_infinite(t, a) else b
    both_negative = is_negative(t, a) and is_negative(t, b)
    exact = value_of(t, a) + value_of(t, b)
    # x + -x is +0; -0 + -0 is -0.
    return rounded(t, exact, both_negative)


def negate(t, a):
    return NAN if a == NAN else a ^ 1 << FORMATS[t][0] - 1


def absolute(t, a):
    return NAN if a == NAN else a & ~(1 << FORMATS[t][0] - 1)


def multiply(t, a, b):
    if NAN in (a, b):
        return NAN
    negative = is_negative(t, a) != is_negative(t, b)
    if is_infinite(t, a) or is_infinite(t, b):
        return (NAN if is_zero(t, a) or is_zero(t, b)
                else infinity(t, negative))
    return rounded(t, value_of(t, a) * value_of(t, b), negative)


def divide(t, a, b):
    if NAN in (a, b):
        return NAN
    negative = is_negative(t, a) != is_negative(t, b)
    if is_infinite(t, a):
        return NAN if is_infinite(t, b) else infinity(t, negative)
    if is_infinite(t, b):
        return rounded(t, Fraction(0), negative)
    if is_zero(t, b):
        return NAN if is_zero(t, a) else infinity(t, negative)
    return rounded(t, value_of(t, a) / value_of(t, b), negative)


def fused(t, a, b, c):
    """a * b + c, rounded once."""
    if NAN in (a, b, c):
        return NAN
    if any(is_infinite(t, x) for x in (a, b, c)):
        # Infinities and zeros of a * b are exact.
        return add(t, multiply(t, a, b), c) if (
            is_infinite(t, a) or is_infinite(t, b)) else c
    negative = is_negative(t, a) != is_negative(t, b)
    exact = value_of(t, a) * value_of(t, b)
    both_negative = negative and is_negative(t, c)
    return rounded(t, exact + value_of(t, c), both_negative)


def compare(t, a, b):
    """'u', '<', '=' or '>'."""
    if NAN in (a, b):
        return "u"

    def key(x):
        return (1, 0) if x == infinity(t) else (
            (-1, 0) if x == infinity(t, True) else (0, value_of(t, x)))
    x, y = key(a), key(b)
    return "<" if x < y else ">" if x > y else "="


def extremum(t, a, b, largest):
    """maximumf and minimumf: NaN if one is; -0 is below +0."""
    if NAN in (a, b):
        return NAN
    order = compare(t, a, b)
    if order == "=":
        return (a & b if largest else a | b) if is_zero(t, a) else a
    return a if (order == ">") == largest else b


def number_extremum(t, a, b, largest):
    """maxnumf and minnumf: a NaN does not count. Which zero -0 and +0 give is
    not defined."""
    if NAN in (a, b):
        return b if a == NAN else a
    if is_zero(t, a) and is_zero(t, b) and a != b:
        return None
    return extremum(t, a, b, largest)


def square_root(t, a):
    if a == NAN or is_zero(t, a):
        return a
    if is_negative(t, a):
        return NAN
    if is_infinite(t, a):
        return a
    value = value_of(t, a)
    # The root of n / d is that of n * d, by d; as many more bits as decide on
    # which side of a float it is.
    scale = 1 << 160
    square = value.numerator * value.denominator * scale * scale
    root = isqrt(square)
    exact = Fraction(2 * root + (root * root != square),
                     2 * scale * value.denominator)
    return rounded(t, exact)


def inverse_root(t, a):
    """1 / sqrt(a), each rounded; f16 and bf16 in f32, and rounded again."""
    wide = "f64" if t == "f64" else "f32"
    one = rounded(wide, Fraction(1))
    return convert(wide, t, divide(wide, one, square_root(
        wide, convert(t, wide, a))))


def to_whole(t, a, how):
    """ceil, floor, round (halves away from zero), roundeven and trunc."""
    if a == NAN or is_infinite(t, a):
        return a
    value, negative = value_of(t, a), is_negative(t, a)
    below = value.numerator // value.denominator
    rest = value - below
    half = Fraction(1, 2)
    up = {"floor": False, "ceil": rest > 0, "trunc": negative and rest > 0,
          "round": rest > half or (rest == half and not negative),
          "roundeven": rest > half or (rest == half and below & 1)}[how]
    return rounded(t, Fraction(below + bool(up)), negative)


def convert(source, target, a):
    """extf and truncf."""
    if a == NAN:
        return NAN
    negative = (a >> 7 == 1 if source in FORMATS8 else is_negative(source, a))
    if is_infinite(source, a):
        if target in FORMATS8:
            return magnitudes8(target)[-1][1] | negative << 7
        return infinity(target, negative)
    return rounded(target, value_of(source, a), negative)
