# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why results of instructions differ from their pseudo-code (pcode.py): for names
and documents a reason, and which cases it explains. Other cases are errors."""
from fractions import Fraction
import re

from exact import decode, encode, is_finite, number
from later_tables import divide
from tables import signed


def kind_of(name):
    return name.rsplit("_", 1)[1]


def are_zeros(name, sources, got, want):
    """Zeros of different signs."""
    return {got, want} == {0, 1 << int(kind_of(name)[1:]) - 1}


def is_sum_of_half(name, sources, got, want):
    """A zero's sign, or x + 0.5 is no number of the format."""
    if are_zeros(name, sources, got, want):
        return True
    x = decode(sources[0], kind_of(name))
    if not is_finite(x):
        return False
    total = number(x) + Fraction(1, 2)
    return decode(encode(total, kind_of(name)), kind_of(name)) != total


def is_one(name, sources, got, want):
    one = encode(Fraction(1), kind_of(name))
    return (got, want) == (one - 1, one)


def is_no_factor(name, sources, got, want):
    """2^n that f16 does not have."""
    return not -24 <= signed(sources[1], 16) <= 15


def is_quotient(name, sources, got, want):
    kind = kind_of(name)
    return got == divide(kind, decode(sources[2], kind), decode(sources[1], kind))


def is_fused(name, sources, got, want):
    """What the fused operation gives, and at most what rounding twice does."""
    a, b, c = (decode(sources[0] >> 16, "f16"), decode(sources[1], "f32"),
               decode(sources[2] & 0xFFFF, "f16"))
    if not all(map(is_finite, (a, b, c))):
        return False
    return got == encode(number(a) * number(b) + number(c), "f32")


# (names, document or "", reason, which cases)
EXPLAINED = [
    (r"[vs]_rndne_f\d+", "",
     "the pseudo-code adds one half, rounds that sum and loses the sign of a zero; "
     "the instruction rounds to the nearest even integer once and keeps the sign, "
     "which LLVM's roundeven needs", is_sum_of_half),
    (r"v_fract_f\d+", "",
     "the pseudo-code's difference rounds to 1; the instruction gives the largest "
     "number below 1, for which LLVM selects it", is_one),
    (r"v_(pk_)?(max|min|max3|min3)_f\d+", "cdna",
     "the pseudo-code finds the sign of a zero by comparing with +0.0 and -0.0, "
     "which are equal; its cases show that +0 is larger than -0", are_zeros),
    (r"v_fma_mix_f32", "cdna",
     "the document has the older unfused v_mad_mix under this opcode", is_fused),
    (r"v_ldexp_f16", "",
     "the pseudo-code's factor 2^n is converted to f16, which has none so large or "
     "small; LLVM's ldexp scales by any n", is_no_factor),
    (r"v_div_fixup_f\d+", "",
     "the pseudo-code returns the magnitude of source 0, a quotient that steps "
     "before it approximate; the emulator gives the rounded quotient of sources 2 "
     "and 1, whatever source 0 is", is_quotient)]


def explain(name, document, sources, got, want):
    """The reason, or None."""
    for names, of, reason, applies in EXPLAINED:
        if (re.fullmatch(names, name) and of in ("", document)
                and applies(name, sources, got, want)):
            return reason
    return None
