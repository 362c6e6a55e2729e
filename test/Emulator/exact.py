# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats of any format in exact arithmetic."""
from fractions import Fraction
import math

# Bits of the exponent and of the fraction.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def decode(bits, kind):
    """A Fraction, or a float: an infinity, NaN, or a negative zero."""
    exponent_bits, fraction_bits = FORMATS[kind]
    sign = bits >> (exponent_bits + fraction_bits) & 1
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if fraction else (-math.inf if sign else math.inf)
    if not exponent and not fraction:
        return -0.0 if sign else Fraction(0)
    if exponent:
        value = Fraction((1 << fraction_bits) + fraction)
        scale = exponent - bias - fraction_bits
    else:
        value, scale = Fraction(fraction), 1 - bias - fraction_bits
    value = value * Fraction(2) ** scale
    return -value if sign else value


def is_finite(value):
    return isinstance(value, Fraction) or value == 0


def is_negative(value):
    return value < 0 or (value == 0 and not isinstance(value, Fraction))


def encode(value, kind, negative_zero=False):
    """The nearest number of the format, ties to even; None for NaN."""
    exponent_bits, fraction_bits = FORMATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    top = 1 << (exponent_bits + fraction_bits)
    if not isinstance(value, Fraction):
        if value != value:
            return None
        if value in (math.inf, -math.inf):
            return infinity | (top if value < 0 else 0)
        return top  # the negative zero
    if value == 0:
        return top if negative_zero else 0
    sign = top if value < 0 else 0
    value = abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    scaled = value / Fraction(2) ** (exponent - fraction_bits)
    number = scaled.numerator // scaled.denominator
    rest = scaled - number
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and number & 1):
        number += 1
    # A carry goes into the exponent; subnormal numbers have the exponent 0.
    bits = number + ((exponent + bias - 1) << fraction_bits)
    return sign | min(bits, infinity)


def number(value):
    """As a Fraction, or an infinity or NaN."""
    return Fraction(0) if is_finite(value) and value == 0 else value


def fma(a, b, c):
    """a * b + c of decoded numbers, and whether a zero is negative."""
    negative = is_negative(a) != is_negative(b)
    zero = (number(a) == 0 or number(b) == 0)
    if a != a or b != b or c != c:
        return math.nan, False
    if not is_finite(a) or not is_finite(b):
        if zero:
            return math.nan, False
        infinity = -math.inf if negative else math.inf
        if not is_finite(c) and c != infinity:
            return math.nan, False
        return infinity, False
    if not is_finite(c):
        return c, False
    result = number(a) * number(b) + number(c)
    # An exact zero is negative if both terms are.
    both = zero and negative and is_negative(c) and number(c) == 0
    if not zero and result == 0:
        both = False
    return result, both
