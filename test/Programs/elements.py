# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of random programs, and their special values."""

INTS = ["i32", "i8", "i16", "i64"]
FLOATS = ["f32", "f16", "bf16", "f64"]
FLOAT8 = ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"]
# Bits of the mantissa, and of the whole number.
MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def width(element):
    return BITS.get(element) or (64 if element == "index" else int(element[1:]))


def is_float(element):
    return element in FLOATS


def tile(shape, element):
    return "tensor<%s%s>" % ("".join(f"{n}x" for n in shape), element) if shape \
        else element


def hexadecimal(element, bits):
    return f"0x{bits:0{BITS[element] // 4}X}"


def float_bits(element, exponent, mantissa, negative=False):
    """`exponent` has its bias."""
    return (negative << (BITS[element] - 1)) | exponent << MANTISSA[element] | mantissa


def largest_below(element, power):
    """The largest float below 2^power, or the largest finite one, as a literal."""
    bits = MANTISSA[element]
    bias = (1 << (BITS[element] - bits - 2)) - 1
    exponent = min(power - 1, bias) + bias
    return hexadecimal(element, float_bits(element, exponent, (1 << bits) - 1))


def power_of_two(element, power, negative):
    """Or the largest finite float, if that is less."""
    bits = MANTISSA[element]
    bias = (1 << (BITS[element] - bits - 2)) - 1
    if power > bias:
        return hexadecimal(element, float_bits(element, 2 * bias, (1 << bits) - 1,
                                               negative))
    return hexadecimal(element, float_bits(element, power + bias, 0, negative))


def specials(element):
    """Literals at which operations have faults."""
    if element == "i1":
        return ["true", "false"]
    if not is_float(element):
        bits = width(element)
        least = -(1 << (bits - 1))
        values = [1, 0, -1, least, -least - 1, least + 1, 2, -2, bits - 1, 7, -7, 85]
        if bits > 32:
            values += [32, (1 << 32) - 1, 1 << 31, 1 << 32, -(1 << 31), 31, 40]
        if bits == 32:
            # Ties and their neighbours in f16 and bf16.
            values += [(1 << 24) + (1 << 16) + 1, (1 << 24) + (1 << 16), -65520]
        return [str(value) for value in values]
    bits = MANTISSA[element]
    most = (1 << (BITS[element] - bits - 1)) - 1  # exponent of infinity
    bias = most >> 1
    codes = [(bias, 0), (0, 0), (bias, 1), (most, 0), (most, 1 << (bits - 1)), (0, 1),
             (0, (1 << bits) - 1), (1, 0), (most - 1, (1 << bits) - 1),
             (bias - 1, 0), (bias, 1 << (bits - 1)), (bias + 6, 1 << (bits - 2)),
             (bias - 3, (1 << bits) - 3)]
    if element == "f64":
        # Next to a tie of f32, f16 and bf16, and of f8.
        codes += [(bias, (1 << (bits - 8)) | 1), (bias, (1 << (bits - 11)) | 1),
                  (bias, (1 << (bits - 24)) | 1), (bias, (1 << (bits - 4)) | 1),
                  (bias, (1 << (bits - 3)) | 1), (bias, (3 << (bits - 8)) - 1),
                  (bias, (3 << (bits - 11)) - 1)]
    if element == "f32":
        codes += [(bias, 1 << (bits - 8)), (bias, 1 << (bits - 11)),
                  (bias, 1 << (bits - 4)), (bias, 3 << (bits - 4)),
                  (bias + 15, (1 << bits) - 1), (bias - 9, 3 << (bits - 4))]
    return [hexadecimal(element, float_bits(element, e, m, negative))
            for e, m in codes for negative in (False, True)]


def quiet_nan(element):
    return specials(element)[8]


def near_ties(element, mantissa):
    """Literals in the middle of two numbers with so many bits of mantissa, or next to
    one."""
    bits = MANTISSA[element]
    bias = (1 << (BITS[element] - bits - 2)) - 1
    tie = 1 << (bits - mantissa - 1)
    codes = [tie, 3 * tie]
    if tie > 1:
        codes += [tie + 1, tie - 1, 3 * tie - 1, 3 * tie + 1]
    return [hexadecimal(element, float_bits(element, bias, code, negative))
            for code in codes for negative in (False, True)]


def whole_ties(element, mantissa):
    """Integers like these: large ones, of which f32 does not hold all bits either, and
    some that f16 holds."""
    values = []
    for power in (15, 27, width(element) - 3, width(element) - 2):
        tie = (1 << power) + (1 << max(power - mantissa - 1, 0))
        values += [tie, tie + 1, tie - 1]
    return [str(sign * value) for value in values for sign in (1, -1)]
