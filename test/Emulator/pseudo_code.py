# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An interpreter of the pseudo-code that AMD's ISA documents give for instructions.

    program = parse(text)
    program(state)

`state` has what the pseudo-code names: operands (S0, D0, SIMM16), VCC, SCC and
others, which it changes. A value is (kind, bits, pattern): kinds u, i, b are
integers, f and bf floats, whose patterns are kept so that NaN is not changed; r
is a real number that no format holds (`2.0F ** n`). Arithmetic on floats is exact
and then rounded to nearest even. What is not understood is an Unsupported.
"""
from fractions import Fraction
import functools
import math
import operator
import re

from exact import FORMATS, decode, encode, is_finite, number
from later_tables import divide, root
from tables import add, multiply, multiply_add, negate, round_to, to_integer


class Unsupported(Exception):
    """Pseudo-code that this interpreter does not understand."""


TYPE = re.compile(r"(u|i|f|b|bf)(\d+)$")
TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*)
  | (?P<sized>\d+'(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)U?)
  | (?P<cast>\d+'[UIFB])
  | (?P<number>0x[0-9a-fA-F]+(?:U?LL|U)?|\d+\.\d+F?|\d+(?:U?LL|U)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<symbol>\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||\+=|-=
              |[-+*/%&|^~!<>=?:;,.(){}\[\]])
""", re.VERBOSE)
FLOATS = ("f", "bf")
TRUE, FALSE = ("u", 1, 1), ("u", 1, 0)
# Registers that keep their size; other names get that of what they are assigned.
REGISTERS = {"D0", "D1", "VCC", "EXEC", "SCC", "M0", "SDATA"}
STOP = {"endif", "else", "elsif", "endfor", ")", ""}


def tokenize(text):
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Unsupported(f"character {text[at]!r}")
        if match.lastgroup != "skip":
            tokens.append((match.lastgroup, match[0]))
        at = match.end()
    return [*tokens, ("end", "")]


# Values ------------------------------------------------------------------------


def mask(size):
    return (1 << size) - 1


def is_float(value):
    return value[0] in FLOATS


def style(value):
    """The name of a float's format in exact.py."""
    return f"{value[0]}{value[1]}"


def integer(value):
    kind, size, bits = value
    if kind == "r":
        raise Unsupported("a real number as an integer")
    return bits - (1 << size) if kind == "i" and bits >> size - 1 else bits


def is_true(value):
    return bool(value[2])


def boolean(value):
    return TRUE if value else FALSE


def float_number(value):
    return value[2] if value[0] == "r" else decode(value[2], style(value))


def float_value(kind, size, bits):
    """Of what encode() returns: None is a NaN."""
    if bits is None:
        bits = quiet_nan(kind, size)
    return kind, size, bits


def quiet_nan(kind, size):
    exponent, fraction = FORMATS[f"{kind}{size}"]
    return mask(exponent + 1) << fraction - 1


def is_nan(value):
    exponent, fraction = FORMATS[style(value)]
    return value[2] & mask(exponent + fraction) > mask(exponent) << fraction


def is_quiet(value):
    return is_nan(value) and value[2] >> FORMATS[style(value)][1] - 1 & 1


def convert_float(value, kind, size):
    """To another format; a NaN stays quiet or signaling."""
    if value[:2] == (kind, size):
        return value
    if value[0] == "r":
        return float_value(kind, size, encode(value[2], f"{kind}{size}"))
    if is_nan(value):
        nan = quiet_nan(kind, size)
        # A signaling one: some other bit of the fraction instead.
        top = 1 << FORMATS[f"{kind}{size}"][1] - 1
        return kind, size, nan if is_quiet(value) else nan ^ top ^ top >> 1
    negative = value[2] >> value[1] - 1
    return float_value(kind, size, encode(float_number(value), f"{kind}{size}",
                                          negative))


def cast(value, kind, size):
    """32'U(...): integers keep their number, a float gets another format; an
    integer becomes the float of these bits."""
    if kind in FLOATS:
        if value[0] == "r" or is_float(value):
            return convert_float(value, kind, size)
        return kind, size, value[2] & mask(size)
    bits = value[2] if is_float(value) else integer(value)
    return kind, size, bits & mask(size)


def join(values):
    """{ a, b }"""
    bits = size = 0
    for _, each, pattern in values:
        bits, size = bits << each | pattern, size + each
    return "b", size, bits


# Operators ---------------------------------------------------------------------


def common(a, b):
    """The type of both, as C has it."""
    if is_float(a) or is_float(b):
        first, second = (a, b) if is_float(a) else (b, a)
        larger = second if is_float(second) and second[1] > first[1] else first
        return larger[:2]
    if a[1] == b[1]:
        return ("i" if a[0] == b[0] == "i" else "u"), a[1]
    return max(a, b, key=operator.itemgetter(1))[:2]


def float_operation(symbol, a, b, kind, size):
    name = f"{kind}{size}"
    x, y = (float_number(v if v[0] == "r" else convert_float(v, kind, size))
            for v in (a, b))
    if symbol == "+":
        bits = add(name, x, y)
    elif symbol == "-":
        bits = add(name, x, negate(y))
    elif symbol == "*":
        bits = multiply(name, x, y)
    elif symbol == "/":
        bits = divide(name, x, y)
    else:
        raise Unsupported(f"{symbol} of floats")
    return float_value(kind, size, bits)


def power(a, b):
    """A real number. No exponent beyond these changes a result."""
    exponent = max(-5000, min(5000, integer(b)))
    return "r", 0, Fraction(float_number(a)) ** exponent


INTEGERS = {"+": operator.add, "-": operator.sub, "*": operator.mul,
            "&": operator.and_, "|": operator.or_, "^": operator.xor}
RELATIONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le,
             ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
             "<>": lambda a, b: a < b or a > b}


def arithmetic(symbol, a, b):
    if symbol == "**":
        return power(a, b)
    kind, size = common(a, b)
    if kind in FLOATS:
        return float_operation(symbol, a, b, kind, size)
    if symbol not in INTEGERS:
        raise Unsupported(f"{symbol} of integers")
    return kind, size, INTEGERS[symbol](integer(a), integer(b)) & mask(size)


def shift(symbol, a, b):
    count = integer(b)
    if symbol == ">>":
        return a[0], a[1], integer(a) >> count & mask(a[1])
    return a[0], a[1], a[2] << count & mask(a[1])


def compare(symbol, a, b):
    read = float_number if is_float(a) and is_float(b) else integer
    return boolean(RELATIONS[symbol](read(a), read(b)))


def negated(value):
    kind, size, bits = value
    if is_float(value):
        return kind, size, bits ^ 1 << size - 1
    return kind, size, -bits & mask(size)


UNARY = {"-": negated, "+": lambda v: v, "!": lambda v: boolean(not is_true(v)),
         "~": lambda v: (v[0], v[1], v[2] ^ mask(v[1]))}
LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!=", "<>"],
          ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"],
          ["**"]]


# Functions ---------------------------------------------------------------------


def rounded(how):
    return lambda v: float_value(v[0], v[1], round_to(style(v), v[2], how))


def exponent(value):
    bits, fraction = FORMATS[style(value)]
    return "i", 32, value[2] >> fraction & mask(bits)


def is_even(value):
    x = float_number(value)
    return boolean(is_finite(x) and number(x) % 2 == 0)


def make_quiet(value):
    return value[0], value[1], value[2] | 1 << FORMATS[style(value)][1] - 1


def absolute(value):
    if is_float(value):
        return value[0], value[1], value[2] & mask(value[1] - 1)
    return value[0], value[1], abs(integer(value)) & mask(value[1])


def fused(a, b, c):
    bits = multiply_add(style(a), *map(float_number, (a, b, c)))
    return float_value(a[0], a[1], bits)


def square_root(value):
    return float_value(value[0], value[1], root(style(value), float_number(value)))


def extend_from_bit(value, count):
    size, count = value[1], integer(count)
    bits = value[2] & mask(count)
    if 0 < count < size and bits >> count - 1:
        bits |= mask(size) ^ mask(count)
    return value[0], size, bits


def to_type(value, kind, size):
    """The functions f32_to_i32 and the like: floats to integers are limited, and
    NaN is 0."""
    if kind in FLOATS:
        if is_float(value):
            return convert_float(value, kind, size)
        return float_value(kind, size, encode(Fraction(integer(value)),
                                              f"{kind}{size}"))
    if is_float(value):
        low, high = (0, mask(size)) if kind == "u" else (
            -1 << size - 1, mask(size - 1))
        bits = to_integer(style(value), low, high)(value[2])
        return kind, size, bits & mask(size)
    return kind, size, integer(value) & mask(size)


FUNCTIONS = {
    "trunc": rounded(math.trunc), "floor": rounded(math.floor),
    "fract": lambda v: arithmetic("-", v, rounded(math.floor)(v)),
    "exponent": exponent, "isEven": is_even, "abs": absolute, "fma": fused,
    "sqrt": square_root, "sign": lambda v: ("u", 1, v[2] >> v[1] - 1),
    "isNAN": lambda v: boolean(is_nan(v)),
    "isQuietNAN": lambda v: boolean(is_quiet(v)),
    "isSignalNAN": lambda v: boolean(is_nan(v) and not is_quiet(v)),
    "cvtToQuietNAN": make_quiet,
    "signext": lambda v: ("i", 64, integer(("i", *v[1:])) & mask(64)),
    "signext_from_bit": extend_from_bit,
    # Named in the pseudo-code of packed conversions; no instructions.
    "v_cvt_i16_f32": lambda v: to_type(v, "i", 16),
    "v_cvt_u16_f32": lambda v: to_type(v, "u", 16)}
CONVERSION = re.compile(r"(?:u|i|f|bf)\d+_to_(u|i|f|bf)(\d+)$")
CONSTANTS = {"INF": ("f", 64, 0x7FF << 52), "ROUND_NEAREST_EVEN": ("u", 2, 0),
             "UNDERFLOW_F32": ("f", 32, 0), "UNDERFLOW_F64": ("f", 64, 0),
             "OVERFLOW_F32": ("f", 32, 0xFF << 23),
             "OVERFLOW_F64": ("f", 64, 0x7FF << 52)}


def instruction(name, state, arguments):
    """v_max_f32(a, b): the pseudo-code of that instruction."""
    inner = {**state, "D0": ("b", 64, 0)}
    inner.update((f"S{i}", value) for i, value in enumerate(arguments))
    state["PROGRAMS"](name)(inner)
    kind, size = TYPE.match(name.rsplit("_", 1)[1]).groups()
    return kind, int(size), inner["D0"][2] & mask(int(size))


def call(name, state, arguments):
    if name in state:
        return state[name](state, arguments)
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments)
    match = CONVERSION.match(name)
    if match:
        return to_type(arguments[0], match[1], int(match[2]))
    if name.startswith("v_"):
        return instruction(name, state, arguments)
    raise Unsupported(f"function {name}")


# What can be assigned ----------------------------------------------------------


class Name:
    def __init__(self, name):
        self.name = name

    def get(self, state):
        if self.name in state:
            return state[self.name]
        if self.name in CONSTANTS:
            return CONSTANTS[self.name]
        raise Unsupported(f"name {self.name}")

    def raw(self, state):
        return state.get(self.name, ("b", 0, 0))

    def set(self, state, value):
        """Fewer bits than a register has: the others become zero on chips of
        which `ZEROES` says so, and stay on others."""
        old = state.get(self.name)
        if self.name in REGISTERS and old:
            size, bits = old[1], value[2] & mask(old[1])
            if value[1] < size and not state.get("ZEROES"):
                bits |= old[2] & ~mask(value[1])
            value = ("b", size, bits)
        state[self.name] = value

    def set_bits(self, state, low, size, bits):
        old = self.raw(state)
        total = old[1] if self.name in REGISTERS else max(old[1], low + size)
        field = mask(size) << low
        state[self.name] = (old[0], total, (old[2] & ~field | bits << low)
                            & mask(total))


class Typed:
    """.u32"""

    def __init__(self, base, kind, size):
        self.base, self.kind, self.size = base, kind, size
        self.is_infinity = isinstance(base, Name) and base.name == "INF"

    def get(self, state):
        value = self.base.get(state)
        if self.is_infinity:
            return convert_float(value, self.kind, self.size)
        return self.kind, self.size, value[2] & mask(self.size)

    def set(self, state, value):
        self.base.set(state, cast(value, self.kind, self.size))


class Slice:
    """[7 : 0], or one bit; elements of arrays, registers and memory. A type in
    front says nothing: bits are those of the whole register."""

    def __init__(self, base, high, low):
        while isinstance(base, Typed):
            base = base.base
        self.base, self.high, self.low = base, high, low

    def bounds(self, state):
        high = integer(self.high.get(state))
        return high, high if self.low is None else integer(self.low.get(state))

    def get(self, state):
        base = self.base.get(state)
        high, low = self.bounds(state)
        if isinstance(base, (list, dict)):
            return base[high]
        if callable(base):
            return base(high)
        if high >= low:
            size = high - low + 1
            return "b", size, base[2] >> low & mask(size)
        size = low - high + 1
        return "b", size, int(f"{base[2] >> high & mask(size):0{size}b}"[::-1], 2)

    def set(self, state, value):
        base = self.base.raw(state)
        high, low = self.bounds(state)
        if isinstance(base, (list, dict)):
            base[high] = value
            return
        size = high - low + 1
        self.base.set_bits(state, low, size, value[2] & mask(size))

    def raw(self, state):
        return self.get(state)


class Field:
    """WAVE_MODE.IEEE"""

    def __init__(self, base, name):
        self.base, self.name = base, name

    def get(self, state):
        try:
            return self.base.get(state)[self.name]
        except (KeyError, TypeError):
            raise Unsupported(f"field {self.name}") from None

    def set(self, state, value):
        self.base.get(state)[self.name] = value


class Parts:
    """{ a, b }"""

    def __init__(self, parts):
        self.parts = parts

    def get(self, state):
        return join(part.get(state) for part in self.parts)

    def set(self, state, value):
        bits = value[2]
        for part in reversed(self.parts):
            size = part.size
            part.set(state, (part.kind, size, bits & mask(size)))
            bits >>= size


class Expression:
    """What can only be read."""

    def __init__(self, get):
        self.get = get


def constant(value):
    return Expression(lambda state: value)


# Parser ------------------------------------------------------------------------


def parse_number(text):
    digits = text.rstrip("ULF") if not text.startswith("0x") else text.rstrip("UL")
    if "." in digits:
        size = 32 if text.endswith("F") else 64
        return "f", size, encode(Fraction(digits), f"f{size}")
    suffix = text[len(digits):]
    size = 64 if "LL" in suffix else 32
    kind = "u" if "U" in suffix else "i"
    value = int(digits, 0)
    return kind, max(size, value.bit_length()), value


def parse_sized(text):
    size, digits = text.rstrip("U").split("'")
    size = int(size)
    if "." in digits:
        return "f", size, encode(Fraction(digits), f"f{size}")
    return "u", size, int(digits, 0) & mask(size)


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokenize(text), 0

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def next(self):
        token = self.tokens[self.at]
        self.at += 1
        return token

    def accept(self, text):
        if self.peek() != text or self.tokens[self.at][0] == "end":
            return False
        self.at += 1
        return True

    def expect(self, text):
        if not self.accept(text):
            raise Unsupported(f"{self.peek()!r} in place of {text!r}")

    # Expressions.

    def expression(self):
        condition = self.binary(0)
        if not self.accept("?"):
            return condition
        yes = self.expression()
        self.expect(":")
        no = self.expression()
        return Expression(lambda s: (yes if is_true(condition.get(s))
                                     else no).get(s))

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            left = self.combine(self.next()[1], left, self.binary(level + 1))
        return left

    def combine(self, symbol, a, b):
        if symbol == "&&":
            return Expression(lambda s: boolean(is_true(a.get(s))
                                                and is_true(b.get(s))))
        if symbol == "||":
            return Expression(lambda s: boolean(is_true(a.get(s))
                                                or is_true(b.get(s))))
        function = (compare if symbol in RELATIONS else shift
                    if symbol in ("<<", ">>") else arithmetic)
        return Expression(lambda s: function(symbol, a.get(s), b.get(s)))

    def unary(self):
        if self.peek() in UNARY:
            function = UNARY[self.next()[1]]
            operand = self.unary()
            return Expression(lambda s: function(operand.get(s)))
        return self.postfix(self.primary())

    def primary(self):
        group, text = self.next()
        if group == "number":
            return constant(parse_number(text))
        if group == "sized":
            return constant(parse_sized(text))
        if group == "cast":
            return self.cast(text)
        if text == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if text == "{":
            return Parts(self.list("}"))
        if group == "name":
            # "D" stands for D0 in some texts.
            return Name("D0" if text == "D" else text)
        raise Unsupported(f"{text!r} in an expression")

    def cast(self, text):
        size, kind = text.split("'")
        kind, size = kind.lower(), int(size)
        self.expect("(")
        inner = self.expression()
        self.expect(")")
        return Expression(lambda s: cast(inner.get(s), kind, size))

    def list(self, end):
        found = []
        while not self.accept(end):
            found.append(self.expression())
            self.accept(",")
        return found

    def postfix(self, node):
        while self.peek() in (".", "[", "("):
            symbol = self.next()[1]
            if symbol == "[":
                high = self.expression()
                low = self.expression() if self.accept(":") else None
                self.expect("]")
                node = Slice(node, high, low)
            elif symbol == ".":
                name = self.next()[1]
                match = TYPE.match(name)
                node = (Typed(node, match[1], int(match[2])) if match
                        else Field(node, name))
            else:
                node = self.call(node)
        return node

    def call(self, node):
        if not isinstance(node, Name):
            raise Unsupported("a call of no name")
        name, arguments = node.name, self.list(")")
        return Expression(lambda s: call(name, s, [a.get(s) for a in arguments]))

    # Statements return None, "break", or a value that is returned.

    def block(self):
        statements = []
        while self.peek() not in STOP:
            if not self.accept(";"):
                statements.append(self.statement())

        def run(state):
            for statement in statements:
                result = statement(state)
                if result is not None:
                    return result
            return None
        return run

    def statement(self):
        word = self.peek()
        if word == "if":
            return self.condition()
        if word == "for":
            return self.loop()
        if word == "declare":
            return self.declaration()
        if self.accept("break"):
            return lambda state: "break"
        if self.accept("return"):
            value = self.expression()
            return value.get
        return self.assignment()

    def condition(self):
        branches, otherwise = [], None
        while self.peek() in ("if", "elsif"):
            self.next()
            test = self.expression()
            self.expect("then")
            branches.append((test, self.block()))
        if self.accept("else"):
            otherwise = self.block()
        self.expect("endif")

        def run(state):
            for test, body in branches:
                if is_true(test.get(state)):
                    return body(state)
            return otherwise(state) if otherwise else None
        return run

    def loop(self):
        self.expect("for")
        name = self.next()[1]
        self.expect("in")
        first = self.expression()
        self.expect(":")
        last = self.expression()
        self.expect("do")
        body = self.block()
        self.expect("endfor")

        def run(state):
            for i in range(integer(first.get(state)), integer(last.get(state)) + 1):
                state[name] = "i", 32, i
                result = body(state)
                if result == "break":
                    break
                if result is not None:
                    return result
            return None
        return run

    def declaration(self):
        """Of a name that has no value yet: `S` are all operands."""
        self.expect("declare")
        name = self.next()[1]
        self.expect(":")
        size, kind = self.next()[1].split("'")
        zero = kind.lower(), int(size), 0
        count = None
        if self.accept("["):
            count = integer(parse_number(self.next()[1]))
            self.expect("]")

        def run(state):
            if name not in state:
                state[name] = zero if count is None else [zero] * count
        return run

    def assignment(self):
        target = self.postfix(self.primary())
        if self.peek() in ("+=", "-="):
            symbol = self.next()[1][0]
            value = self.combine(symbol, target, self.expression())
            return lambda s: target.set(s, value.get(s))
        self.expect("=")
        if self.peek() == "lambda":
            return self.function(target.name)
        targets = [target]
        value = self.expression()
        while self.accept("="):
            targets.append(value)
            value = self.expression()
        if not all(hasattr(each, "set") for each in targets):
            raise Unsupported("an assignment to an expression")

        def run(state):
            result = value.get(state)
            for each in targets:
                each.set(state, result)
        return run

    def function(self, name):
        self.expect("lambda")
        self.expect("(")
        names = [each.name for each in self.list(")")]
        self.expect("(")
        if self.peek() in ("declare", "if", "for"):
            body = self.block()
        else:
            body = self.expression().get
        self.expect(")")

        def run(state):
            state[name] = lambda caller, arguments: body(
                {**caller, **dict(zip(names, arguments))})
        return run


@functools.cache
def parse(text):
    parser = Parser(text)
    program = parser.block()
    if parser.peek():
        raise Unsupported(f"{parser.peek()!r} after the end")
    return program
