# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the instructions of ptx.py compute: moves, integers, floats and their
conversions, of one warp's lanes at a time.

Floats are rounded once, to nearest even, with denormals. A sum, difference or
quotient of f16 and bf16 may be computed in f32 first: it has more than twice
their digits, so that rounding twice changes nothing. A fused multiply-add is
exact arithmetic, rounded once.
"""
from fractions import Fraction

import numpy as np

WARP = 32
U64 = np.uint64
WIDTHS = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2,
          "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "b64": 8,
          "u64": 8, "s64": 8, "f64": 8, "pred": 1, "f16x2": 4, "bf16x2": 4,
          "s16x2": 4, "u16x2": 4}
SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
FLOATS = {"f16": np.float16, "bf16": np.float32, "f32": np.float32,
          "f64": np.float64}
REGISTER_WIDTHS = {"%rs": 2, "%r": 4, "%rd": 8}


class Error(RuntimeError):
    pass


def as_type(bits, width, signed):
    """Registers are 64 bits; what is above the width does not count."""
    value = bits.astype(UNSIGNED[width])
    return value.view(SIGNED[width]) if signed else value


def as_floats(bits, kind="f32"):
    """bf16 as f32, the others as they are."""
    if kind == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return as_type(bits, WIDTHS[kind], False).view(FLOATS[kind])


def from_floats(values, kind="f32"):
    """Bits of values, rounded to the type."""
    if kind == "bf16":
        bits = to_odd(values).view(np.uint32).astype(U64)
        rounded = (bits + U64(0x7FFF) + (bits >> U64(16) & U64(1))) >> U64(16)
        return np.where(np.isnan(values), U64(0x7FFF), rounded)
    bits = values.astype(FLOATS[kind]).view(UNSIGNED[WIDTHS[kind]])
    return bits.astype(U64)


def to_odd(values):
    """f32 of f64, inexact ones with an odd last bit: rounding them again is as
    good as rounding once."""
    if values.dtype != np.float64:
        return values.astype(np.float32)
    nearest = values.astype(np.float32)
    bits = nearest.view(np.uint32)
    back = nearest.astype(np.float64)
    step = np.where(np.abs(back) > np.abs(values), -1, 1).astype(np.int32)
    is_even = (bits & np.uint32(1)) == 0
    inexact = (back != values) & ~np.isnan(values)
    odd = (bits.view(np.int32) + step).view(np.float32)
    return np.where(inexact & is_even, odd, nearest)


def fused_f64(x, y, z):
    """x * y + z of one lane of f64, rounded once."""
    x, y, z = float(x), float(y), float(z)
    if not np.isfinite([x, y, z]).all():
        return x * y + z if np.isfinite(z) or not np.isfinite([x, y]).all() \
            else z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z  # for the sign
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def fused(x, y, z):
    """x * y + z of types of at most 32 bits: f64 that round to the results.

    x * y is exact in f64. A sum that is not has an odd last bit."""
    xy, z = x.astype(np.float64) * y, z.astype(np.float64)
    nearest = xy + z
    # Knuth's TwoSum: what `nearest` leaves out, exactly.
    added = nearest - xy
    rest = (xy - (nearest - added)) + (z - added)
    bits = nearest.view(np.int64)
    step = np.where((rest < 0) == (nearest < 0), 1, -1)
    moves = np.isfinite(rest) & (rest != 0) & (bits & 1 == 0)
    return np.where(moves, bits + step, bits).view(np.float64)


def extremum(x, y, is_max, propagates):
    """Of a number and a NaN the number, unless the NaN `propagates`."""
    is_first = (x > y) if is_max else (x < y)
    is_first |= (x == y) & (np.signbit(x) != is_max)
    chosen = np.where(is_first, x, y)
    if propagates:
        return np.where(np.isnan(x) | np.isnan(y), x + y, chosen)
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, chosen))


COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less,
               "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def compare(name, x, y):
    """Of floats: `equ` and the like hold for NaN too, and `ne` does not."""
    unordered = (np.isnan(x) | np.isnan(y) if x.dtype.kind == "f"
                 else np.zeros(len(x), bool))
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    result = COMPARISONS[name[:2]](x, y)
    return result | unordered if name.endswith("u") else result & ~unordered


def truncated(x, y):
    """Quotient and remainder of a division towards zero."""
    if y == 0:
        return 0, 0
    quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
    return quotient, x - quotient * y


# Roundings to a whole number of the same type.
WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def integers_as_f64(values, kind):
    """f64 that round to the same float of the type as the integers do."""
    if kind in ("f32", "f64"):
        return values.astype(FLOATS[kind])
    result = []
    for value in map(int, values):  # the digits below are worth one bit
        shift = max(abs(value).bit_length() - 40, 0)
        upper = abs(value) >> shift << shift
        upper |= (upper != abs(value)) << shift
        result.append(float(-upper if value < 0 else upper))
    return np.array(result)


def convert(bits, source, to, name):
    """Bits of a conversion of bits, with the modifiers in `name`."""
    if "sat" in name or "ftz" in name:
        raise Error("unknown instruction")
    if source in FLOATS:
        values = as_floats(bits, source)
        whole = next((WHOLE[part] for part in name if part in WHOLE), None)
        if to in FLOATS:
            return from_floats(whole(values) if whole else values, to)
        if "rzi" not in name:
            raise Error("unknown instruction")
        width = 8 * WIDTHS[to]
        low, high = ((-1 << width - 1, (1 << width - 1) - 1)
                     if to[0] == "s" else (0, (1 << width) - 1))
        return np.array([0 if np.isnan(v) else int(
            max(min(v, high), low)) & 2 ** 64 - 1 if np.isinf(v) else max(
                min(int(v), high), low) & 2 ** 64 - 1 for v in map(
                    float, values)], U64)
    value = as_type(bits, WIDTHS[source], source[0] == "s")
    if to in FLOATS:
        return from_floats(integers_as_f64(value, to), to)
    return as_type(value.astype(U64), WIDTHS[to], to[0] == "s").astype(U64)


class Arithmetic:
    """Reads and writes registers by Warp's `read` and `write`."""

    # Moves -------------------------------------------------------------------

    def op_mov(self, i, mask):
        target, source = i.operands
        if isinstance(source, list):  # pack
            part = i.width // len(source)
            value = np.zeros(WARP, U64)
            for k, name in enumerate(source):
                value |= as_type(self.read(name), part, False).astype(
                    U64) << U64(8 * part * k)
            return self.write(target, value, mask)
        value = self.read(source)
        if isinstance(target, list):  # unpack
            part = i.width // len(target)
            for k, name in enumerate(target):
                self.write(name, value >> U64(8 * part * k), mask, part)
            return None
        if i.type == "pred":
            value = value & U64(1)
        return self.write(target, value, mask, i.width)

    op_cvta = op_mov

    def op_selp(self, i, mask):
        x, y, condition = (self.read(o) for o in i.operands[1:4])
        self.write(i.operands[0], np.where(condition.astype(bool), x, y), mask,
                   i.width)

    # Integers and floats -----------------------------------------------------

    def elementwise(self, i, mask, function):
        """The result of `function` on the operands, of integers or floats, or
        of each half of a pair."""
        if any(part in ("ftz", "sat", "approx", "full", "xorsign")
               for part in i.name) or ("relu" in i.name
                                       and not i.is_signed):
            raise Error("unknown instruction")
        operands = [self.read(o) for o in i.operands[1:]]
        kind, is_pair = i.type.removesuffix("x2"), i.type.endswith("x2")
        width = WIDTHS[kind]

        def compute(shift):
            values = [o >> U64(shift) for o in operands]
            if kind in FLOATS:
                return from_floats(function(*(as_floats(v, kind)
                                              for v in values)), kind)
            return as_type(function(*(as_type(v, width, i.is_signed)
                                      for v in values)).astype(U64),
                           width, False).astype(U64)
        with np.errstate(all="ignore"):
            value = compute(0)
            if is_pair:
                value |= compute(16) << U64(16)
        self.write(i.operands[0], value, mask, i.width)

    def op_add(self, i, mask):
        if "cc" in i.name:
            return self.with_carry(i, mask, 1)
        return self.elementwise(i, mask, lambda x, y: x + y)

    def op_sub(self, i, mask):
        if "cc" in i.name:
            return self.with_carry(i, mask, -1)
        return self.elementwise(i, mask, lambda x, y: x - y)

    def with_carry(self, i, mask, sign):
        """Sums and differences that read the carry (addc, subc), write it (cc),
        or both."""
        bits = 8 * i.width
        x, y = (as_type(self.read(o), i.width, False)
                for o in i.operands[1:3])
        carry = (self.read("%carry") if i.name[0].endswith("c")
                 else np.zeros(WARP, U64))
        exact = [int(a) + sign * (int(b) + int(c) % 2)
                 for a, b, c in zip(x, y, carry)]
        self.write(i.operands[0], np.array(
            [v % (1 << bits) for v in exact], U64), mask, i.width)
        if "cc" in i.name:
            self.write("%carry", np.array(
                [not 0 <= v < 1 << bits for v in exact], U64), mask)

    def op_addc(self, i, mask):
        self.with_carry(i, mask, 1)

    def op_subc(self, i, mask):
        self.with_carry(i, mask, -1)

    def op_fma(self, i, mask):
        def function(*operands):
            if i.type != "f64":
                return fused(*operands)
            return np.array([fused_f64(*lane) for lane in zip(*operands)])
        self.elementwise(i, mask, function)

    def product(self, i):
        x, y = (as_type(self.read(o), i.width, i.is_signed)
                for o in i.operands[1:3])
        if "wide" in i.name:
            wide = SIGNED if i.is_signed else UNSIGNED
            kind = wide[2 * i.width]
            return (x.astype(kind) * y.astype(kind)).astype(U64), 2 * i.width
        if "hi" in i.name:
            full = [int(a) * int(b) >> 8 * i.width for a, b in zip(x, y)]
            return np.array([v & (2 ** 64 - 1) for v in full], U64), i.width
        with np.errstate(over="ignore"):
            return (x * y).astype(U64), i.width

    def op_mul(self, i, mask):
        if i.type.removesuffix("x2") in FLOATS:
            return self.elementwise(i, mask, lambda x, y: x * y)
        value, width = self.product(i)
        return self.write(i.operands[0], value, mask, width)

    def op_mad(self, i, mask):
        value, width = self.product(i)
        with np.errstate(over="ignore"):
            self.write(i.operands[0], value + self.read(i.operands[3]), mask,
                       width)

    def op_div(self, i, mask):
        """Towards zero; division by zero gives any value."""
        def function(x, y):
            if x.dtype.kind == "f":
                return x / y
            return np.array([truncated(int(a), int(b))[0] & 2 ** 64 - 1
                             for a, b in zip(x, y)], U64)
        self.elementwise(i, mask, function)

    def op_rem(self, i, mask):
        self.elementwise(i, mask, lambda x, y: np.array(
            [truncated(int(a), int(b))[1] & 2 ** 64 - 1
             for a, b in zip(x, y)], U64))

    def extremum(self, i, mask, is_max):
        def function(x, y):
            if x.dtype.kind == "f":
                return extremum(x, y, is_max, "NaN" in i.name)
            chosen = np.maximum(x, y) if is_max else np.minimum(x, y)
            return np.maximum(chosen, 0) if "relu" in i.name else chosen
        self.elementwise(i, mask, function)

    def op_min(self, i, mask):
        self.extremum(i, mask, False)

    def op_max(self, i, mask):
        self.extremum(i, mask, True)

    def op_neg(self, i, mask):
        self.elementwise(i, mask, lambda x: -x)

    def op_abs(self, i, mask):
        self.elementwise(i, mask, np.abs)

    def op_sqrt(self, i, mask):
        if "rn" not in i.name:
            raise Error("unknown instruction")
        self.elementwise(i, mask, np.sqrt)

    def op_rcp(self, i, mask):
        if "rn" not in i.name:
            raise Error("unknown instruction")
        self.elementwise(i, mask, lambda x: x.dtype.type(1) / x)

    def op_copysign(self, i, mask):
        """The second operand with the first one's sign."""
        self.elementwise(i, mask, lambda x, y: np.copysign(y, x))

    def op_setp(self, i, mask):
        kind = i.type.removesuffix("x2")
        targets = i.operands[0].split("|")
        for k, target in enumerate(targets):
            x, y = (self.read(o) >> U64(16 * k) for o in i.operands[1:3])
            if kind in FLOATS:
                x, y = as_floats(x, kind), as_floats(y, kind)
            else:
                x, y = (as_type(v, i.width, i.is_signed) for v in (x, y))
            self.write(target, compare(i.name[1], x, y).astype(U64), mask)

    # Conversions -------------------------------------------------------------

    def op_cvt(self, i, mask):
        to, source = [p for p in i.name if p in WIDTHS]
        if to in ("f16x2", "bf16x2"):  # the second operand is the lower half
            with np.errstate(all="ignore"):
                upper, lower = (
                    from_floats(as_floats(self.read(o), source), to[:-2])
                    for o in i.operands[1:3])
            return self.write(i.operands[0], upper << U64(16) | lower, mask, 4)
        with np.errstate(all="ignore"):
            value = convert(self.read(i.operands[1]), source, to, i.name)
        # A narrow integer fills its register.
        target = i.operands[0].rstrip("0123456789")
        return self.write(i.operands[0], value, mask, max(
            WIDTHS[to], REGISTER_WIDTHS[target]))

    # Bits --------------------------------------------------------------------

    def bitwise(self, i, mask, function):
        value = function(*(self.read(o) for o in i.operands[1:]))
        if i.type == "pred":
            value = value & U64(1)
        self.write(i.operands[0], value, mask, i.width)

    def op_and(self, i, mask):
        self.bitwise(i, mask, np.bitwise_and)

    def op_or(self, i, mask):
        self.bitwise(i, mask, np.bitwise_or)

    def op_xor(self, i, mask):
        self.bitwise(i, mask, np.bitwise_xor)

    def op_not(self, i, mask):
        self.bitwise(i, mask, np.bitwise_not)

    def shift(self, i, mask, function):
        """Counts of at least the width shift all bits out; NumPy's shift by
        them is undefined."""
        x = as_type(self.read(i.operands[1]), i.width, i.is_signed)
        y = as_type(self.read(i.operands[2]), 4, False).astype(U64)
        last = U64(8 * i.width - 1)
        value = function(x, np.minimum(y, last).astype(x.dtype))
        if not (i.is_signed and function is np.right_shift):
            value = np.where(y > last, 0, value)
        self.write(i.operands[0], value.astype(U64), mask, i.width)

    def op_shl(self, i, mask):
        self.shift(i, mask, np.left_shift)

    def op_shr(self, i, mask):
        self.shift(i, mask, np.right_shift)

    def op_shf(self, i, mask):
        if i.name[2] != "wrap":
            raise Error("unknown instruction")
        low, high, count = (as_type(self.read(o), 4, False).astype(U64)
                            for o in i.operands[1:4])
        count, both = count & U64(31), low | high << U64(32)
        value = (both >> count if i.name[1] == "r"
                 else both << count >> U64(32))
        self.write(i.operands[0], value, mask, 4)

    def op_bfe(self, i, mask):
        """A field of bits; a signed one is extended by its highest bit that the
        source has."""
        x = as_type(self.read(i.operands[1]), i.width, False)
        start, length = (as_type(self.read(o), 1, False)
                         for o in i.operands[2:4])
        bits, result = 8 * i.width, []
        for value, s, n in zip(map(int, x), map(int, start), map(int, length)):
            field = value >> s & (1 << n) - 1
            top = min(s + n - 1, bits - 1)
            if i.is_signed and n and value >> top & 1:
                field |= -1 << min(n, max(bits - s, 0))
            result.append(field & 2 ** 64 - 1)
        self.write(i.operands[0], np.array(result, U64), mask, i.width)

    def op_bfi(self, i, mask):
        """Bits of the first operand in place of a field of the second one."""
        x, y = (as_type(self.read(o), i.width, False)
                for o in i.operands[1:3])
        start, length = (as_type(self.read(o), 1, False)
                         for o in i.operands[3:5])
        ones, result = (1 << 8 * i.width) - 1, []
        for a, b, s, n in zip(*(map(int, v) for v in (x, y, start, length))):
            field = ((1 << n) - 1 << s) & ones
            result.append(b & ~field | a << s & field)
        self.write(i.operands[0], np.array(result, U64), mask, i.width)

    def op_clz(self, i, mask):
        bits = 8 * i.width
        self.write(i.operands[0], np.array(
            [bits - int(v).bit_length() for v in as_type(
                self.read(i.operands[1]), i.width, False)], U64), mask, 4)

    def op_popc(self, i, mask):
        self.write(i.operands[0], np.array(
            [int(v).bit_count() for v in as_type(
                self.read(i.operands[1]), i.width, False)], U64), mask, 4)

    def op_lop3(self, i, mask):
        a, b, c, table = (self.read(o) for o in i.operands[1:5])
        result = np.zeros(WARP, U64)
        for k in range(8):
            if int(table[0]) >> k & 1:
                result |= ((a if k & 4 else ~a) & (b if k & 2 else ~b)
                           & (c if k & 1 else ~c))
        self.write(i.operands[0], result, mask, 4)

    def op_prmt(self, i, mask):
        """Four of eight bytes, or of their signs."""
        a, b, selector = (self.read(o) for o in i.operands[1:4])
        both = (a & U64(0xFFFFFFFF)) | b << U64(32)
        result = np.zeros(WARP, U64)
        for k in range(4):
            which = selector >> U64(4 * k) & U64(15)
            byte = both >> (which & U64(7)) * U64(8) & U64(255)
            sign = (byte >> U64(7)) * U64(255)
            result |= np.where(which & U64(8), sign, byte) << U64(8 * k)
        self.write(i.operands[0], result, mask, 4)
