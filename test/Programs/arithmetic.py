# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of random kernels: every op of `arith` and `math` on every type that it
has, with a defined result."""
from elements import (FLOAT8, FLOATS, INTS, MANTISSA, is_float, largest_below, near_ties,
                      power_of_two, quiet_nan, specials, tile, whole_ties, width)
from values import Value, Values

WORDS = INTS + ["index"]
LOGIC = ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui",
         "maxui"]
SHIFTS = ["shli", "shrui", "shrsi"]
UNSIGNED_DIVISIONS = ["divui", "remui", "ceildivui"]
SIGNED_DIVISIONS = ["divsi", "remsi", "floordivsi", "ceildivsi"]
COUNTS = ["ctpop", "ctlz", "cttz", "absi"]
FLOAT_BINARY = ["addf", "subf", "mulf", "divf", "minimumf", "maximumf"]
NUMBER_EXTREMA = ["minnumf", "maxnumf"]
FLOAT_UNARY = ["absf", "floor", "ceil", "trunc", "round", "roundeven", "sqrt"]
CLASSES = ["isnan", "isfinite"]
CMPI = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
CMPF = ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
        "ule", "une", "uno"]
EXTENDED = ["addui_extended", "mulsi_extended", "mului_extended"]
CONVERSIONS = ["extsi", "extui", "trunci", "index_cast", "index_castui", "extf", "truncf",
               "fptosi", "fptoui", "sitofp", "uitofp", "bitcast", "float8"]
# Each kind with its elements.
KINDS = ([(op, WORDS + ["i1"], "logic") for op in LOGIC] +
         [(op, WORDS, "shifted") for op in SHIFTS] +
         [(op, WORDS, "unsigned_division") for op in UNSIGNED_DIVISIONS] +
         [(op, WORDS, "signed_division") for op in SIGNED_DIVISIONS] +
         [(op, WORDS, "of_one") for op in COUNTS] +
         [(op, FLOATS, "of_two_floats") for op in FLOAT_BINARY + ["copysign"]] +
         [(op, FLOATS, "extremum") for op in NUMBER_EXTREMA] +
         [(op, FLOATS, "of_one") for op in FLOAT_UNARY + ["negf"]] +
         [(op, FLOATS, "class_of") for op in CLASSES] +
         [("fma", FLOATS, "fma")] +
         [(op, WORDS + ["i1"], "cmpi") for op in CMPI] +
         [(op, FLOATS, "cmpf") for op in CMPF] +
         [(op, INTS, "extended") for op in EXTENDED] +
         [("select", WORDS + FLOATS + ["i1"], "choice")] +
         [(op, [op], "conversion") for op in CONVERSIONS] +
         [(op, ["i64", "index"], "of_words") for op in ["small", "small comparison"]])
# Two factors whose product is in the middle of two numbers.
FACTORS = {"f16": [("0x3C10", "0x3C20"), ("0xBC10", "0x3C20")],
            "bf16": [("0x3F88", "0x3F88"), ("0x3F88", "0xBF88")]}
# Of i32: signed and unsigned ones are far from each other.
LIMITS = [str(-(1 << 31)), "-1", str((1 << 31) - 1)]
DIALECT = {op: "math" for op in COUNTS + FLOAT_UNARY + CLASSES + ["copysign"]}


def name_of(op):
    return f"{DIALECT.get(op, 'arith')}.{op}"


class Arithmetic(Values):
    # Conversions ----------------------------------------------------------------

    def cast(self, value, element, keep=False):
        """The value in another type, with a defined result."""
        source = value.element
        if source == element:
            return value
        if source == "i1":
            value = self.convert("arith.extui", value, "i32")
        elif source == "index":
            value = self.convert("arith.index_cast", value, "i32")
        if element == "i1":
            value = self.cast(value, "i32") if is_float(value.element) else value
            return self.convert("arith.trunci", value, "i1", keep)
        if element == "index":
            value = self.cast(value, "i32") if is_float(value.element) else value
            return self.convert("arith.index_cast", value, "index", keep)
        source = value.element
        if source == element:
            return value
        if not is_float(source) and not is_float(element):
            op = "arith.trunci" if width(element) < width(source) else \
                self.choices.pick(["arith.extsi", "arith.extui"])
            return self.convert(op, value, element, keep)
        if not is_float(source):
            op = self.choices.pick(["arith.sitofp", "arith.uitofp"])
            return self.convert(op, value, element, keep)
        if is_float(element):
            if width(element) == width(source):
                value = self.convert("arith.extf", value, "f32")
                source = "f32"
            op = "arith.extf" if width(element) > width(source) else \
                "arith.truncf"
            return self.convert(op, value, element, keep)
        return self.to_integer("fptosi", value, element, keep)

    def to_integer(self, op, value, element, keep):
        """Of a float that the integer holds."""
        source, shape = value.element, value.shape
        power = width(element) - (op == "fptosi")
        value = self.without_nan(value, "0.0")
        most = largest_below(source, power)
        if power <= MANTISSA[source]:
            most = f"{(1 << power) - 1}.0"
        least = power_of_two(source, power, True) if op == "fptosi" else "0.0"
        value = self.binary("arith.minimumf", value,
                            self.constant(most, source, shape), False)
        value = self.binary("arith.maximumf", value,
                            self.constant(least, source, shape), False)
        return self.convert(f"arith.{op}", value, element, keep)

    def conversion(self, op, shape):
        if op in ("extsi", "extui", "trunci"):
            wide = self.choices.pick(["i32", "i64", "i16"])
            narrow = self.choices.pick(
                [e for e in ["i8", "i16", "i32", "i1"] if width(e) < width(wide)])
            source, result = (wide, narrow) if op == "trunci" else (narrow, wide)
            return self.convert(f"arith.{op}", self.operand(source, shape), result,
                                True)
        if op in ("index_cast", "index_castui"):
            other = self.choices.pick(INTS)
            source, result = (other, "index") if self.choices.chance(60) else (
                "index", other)
            return self.convert(f"arith.{op}", self.operand(source, shape), result,
                                True)
        if op in ("extf", "truncf"):
            wide = self.balanced(["f64", "f32"], op)
            narrow = self.balanced(["f16", "bf16"] + (["f32"] if wide == "f64" else []),
                                   op + wide)
            source, result = (narrow, wide) if op == "extf" else (wide, narrow)
            value = self.spiced(self.operand(source, shape))
            if op == "truncf" and self.choices.chance(60):
                value = self.mixed(value, near_ties(wide, MANTISSA[narrow]))
            return self.convert(f"arith.{op}", value, result, True)
        if op in ("fptosi", "fptoui"):
            return self.to_integer(op, self.operand(self.balanced(FLOATS, op), shape),
                                   self.balanced(INTS, op), True)
        if op in ("sitofp", "uitofp"):
            pair = self.balanced([(i, f) for i in INTS for f in FLOATS], op)
            value = self.spiced(self.operand(pair[0], shape))
            if width(pair[0]) > 16 and self.choices.chance(50):
                value = self.mixed(value, whole_ties(pair[0], MANTISSA[pair[1]]))
            return self.convert(f"arith.{op}", value, pair[1], True)
        if op == "float8":
            return self.float8(shape)
        element = self.choices.pick(FLOATS)
        bits = f"i{width(element)}"
        if self.choices.chance(50):
            value = self.convert("arith.bitcast", self.operand(bits, shape), element)
            # A signaling NaN is no operand of other ops.
            return self.quiet(value)
        value = self.without_nan(self.operand(element, shape), "3.0")
        return self.convert("arith.bitcast", value, bits, True)

    def quiet(self, value):
        """A quiet NaN for every NaN."""
        quiet = quiet_nan(value.element)
        test = self.define(f"math.isnan {self.use(value)} : {value.type}", value.shape,
                           "i1", False)
        return self.select(test, self.constant(quiet, value.element, value.shape), value,
                           True)

    def float8(self, shape):
        """Narrowed to f8 and widened again, or widened from any code."""
        small = self.balanced(FLOAT8, "float8")
        source = self.balanced(FLOATS, "float8 " + small)
        type_ = tile(shape, small)
        name = self.new()
        if self.choices.chance(50):
            value = self.spiced(self.operand(source, shape))
            if self.choices.chance(50):
                bits = 2 if "E5" in small else 3
                value = self.mixed(value, near_ties(source, bits))
            self.add(f"{name} = arith.truncf {self.use(value)} : {value.type} to {type_}")
        else:
            value = self.operand("i8", shape)
            self.add(f"{name} = arith.bitcast {self.use(value)} : {value.type} to "
                     f"{type_}")
        if self.choices.chance(30):
            test = self.operand("i1", shape)
            other, chosen = self.new(), self.new()
            codes = self.operand("i8", shape)
            self.add(f"{other} = arith.bitcast {self.use(codes)} : {codes.type} to "
                     f"{type_}")
            types = f"{test.type}, {type_}" if shape else type_
            self.add(f"{chosen} = arith.select {self.use(test)}, {name}, {other} : "
                     f"{types}")
            name = chosen
        result = self.choices.pick(FLOATS + ["i8"])
        if result != "i8":
            return self.define(f"arith.extf {name} : {type_} to {tile(shape, result)}",
                               shape, result)
        # NaN has several codes in some types, and one in others.
        wide = self.define(f"arith.extf {name} : {type_} to {tile(shape, 'f32')}", shape,
                           "f32", False)
        test = self.define(f"math.isnan {wide.name} : {wide.type}", shape, "i1", False)
        code = self.define(f"arith.bitcast {name} : {type_} to {tile(shape, 'i8')}",
                           shape, "i8", False)
        return self.select(test, self.constant(0, "i8", shape), code, True)

    # Operations -----------------------------------------------------------------

    def operand(self, element, shape):
        """A value to compute with."""
        found = self.visible(lambda v: (v.shape, v.element) == (shape, element))
        kind = self.choices.number(8)
        if found and kind < 5:
            return self.choices.pick(found[:10])
        if kind < 7:
            other = self.visible(lambda v: v.shape == shape)
            if other:
                return self.cast(self.choices.pick(other[:10]), element)
        return self.fresh(element, shape)

    def fresh(self, element, shape):
        """One that no other op made; accesses.py loads one."""
        return self.constant(self.choices.pick(specials(element)), element, shape)

    def arithmetic(self):
        """A few ops, of which each may use the ones before."""
        for _ in range(3 + self.choices.number(8)):
            self.operation()

    def operation(self, shape=None):
        if shape is None:
            shape = () if self.choices.chance(15) else self.shape
        op = self.balanced([kind[0] for kind in KINDS], "op")
        _, elements, group = next(kind for kind in KINDS if kind[0] == op)
        if group == "conversion":
            return self.conversion(op, shape)
        if group == "extended" or group == "of_words" and self.choices.chance(60):
            shape = ()
        element = self.balanced(elements, op)
        left = self.spiced(self.operand(element, shape))
        return getattr(self, group)(op, left)

    def spiced(self, value):
        """With a special value in some elements."""
        if value.element == "i1" or not self.choices.chance(30):
            return value
        return self.mixed(value, specials(value.element))

    def mixed(self, value, literals):
        """With one of the literals in some elements."""
        special = self.constant(self.choices.pick(literals), value.element, value.shape)
        return self.select(self.operand("i1", value.shape), special, value)

    def with_nan(self, value, percent):
        if not is_float(value.element) or not self.choices.chance(percent):
            return value
        return self.mixed(value, [quiet_nan(value.element)])

    def right(self, left):
        return self.value(left.shape, left.element) if self.choices.chance(60) \
            else self.spiced(self.operand(left.element, left.shape))

    def logic(self, op, left):
        return self.binary(name_of(op), left, self.right(left))

    def shifted(self, op, left, right=None):
        most = self.constant(width(left.element) - 1, left.element, left.shape)
        amount = self.binary("arith.andi", right or self.right(left), most, False)
        return self.binary(name_of(op), left, amount)

    def unsigned_division(self, op, left, right=None):
        one = self.constant(1, left.element, left.shape)
        divisor = self.binary("arith.maxui", right or self.right(left), one, False)
        return self.binary(name_of(op), left, divisor)

    def signed_division(self, op, left, right=None):
        """Not by 0, nor of the least number by -1."""
        shape, element = left.shape, left.element
        divisor = right or self.right(left)
        zero, one = self.constant(0, element, shape), self.constant(1, element, shape)
        test = self.comparison("cmpi eq", divisor, zero)
        divisor = self.select(test, one, divisor)
        least = self.constant(-(1 << (width(element) - 1)), element, shape)
        test = self.comparison("cmpi eq", left, least)
        left = self.select(test, one, left)
        return self.binary(name_of(op), left, divisor)

    def of_one(self, op, left):
        return self.unary(name_of(op), left)

    def of_two_floats(self, op, left):
        right = self.right(left)
        if op == "copysign":
            right = self.without_nan(right, "-1.0")
        return self.binary(name_of(op), left, right)

    def extremum(self, op, left):
        """Which zero of two it gives is not specified."""
        left, right = self.with_nan(left, 30), self.with_nan(self.right(left), 30)
        value = self.binary(name_of(op), left, right, False)
        zero = self.constant("0.0", left.element, left.shape)
        return self.binary("arith.addf", value, zero)

    def class_of(self, op, left):
        return self.define(f"{name_of(op)} {self.use(left)} : {left.type}", left.shape,
                           "i1")

    def fma(self, op, left):
        right, third = self.right(left), self.right(left)
        if left.element in FACTORS and self.choices.chance(60):
            # A product in the middle of two numbers, and what decides between them.
            test = self.operand("i1", left.shape)
            literals = self.choices.pick(FACTORS[left.element]) + (
                self.choices.pick(["0x0001", "0x8001"]),)
            left, right, third = (
                self.select(test, self.constant(literal, left.element, left.shape), value)
                for literal, value in zip(literals, (left, right, third)))
        return self.define(f"math.{op} {self.use(left)}, {self.use(right)}, "
                           f"{self.use(third)} : {left.type}", left.shape, left.element)

    def comparison(self, op, left, right, keep=False):
        return self.define(f"arith.{op}, {self.use(left)}, {self.use(right)} : "
                           f"{left.type}", left.shape, "i1", keep)

    def compare(self, left, right, keep=False):
        kind, names = ("cmpf", CMPF) if is_float(left.element) else ("cmpi", CMPI)
        return self.comparison(f"{kind} {self.balanced(names, kind)}", left, right, keep)

    def cmpi(self, op, left):
        return self.comparison(f"cmpi {op}", left, self.right(left), True)

    def cmpf(self, op, left):
        return self.comparison(f"cmpf {op}", left, self.right(left), True)

    def of_words(self, op, left):
        """An op of 64 bits on numbers of 32, which a pass may compute with 32 bits."""
        is_signed = self.choices.chance(50)
        words = [self.extension(left, op, is_signed) for _ in range(2)]
        if self.choices.chance(50):
            words[1] = self.constant(self.choices.pick(specials("i32")), left.element,
                                     left.shape)
        if op != "small":
            return self.comparison(f"cmpi {self.balanced(CMPI, op)}", *words, True)
        for _ in range(4):
            result = self.of_two_words(op, left, words)
        return result

    def of_two_words(self, op, left, words):
        op = self.balanced(LOGIC + SHIFTS + UNSIGNED_DIVISIONS + SIGNED_DIVISIONS, op)
        if op in SHIFTS:
            return self.shifted(op, words[0], words[1])
        if op in UNSIGNED_DIVISIONS:
            return self.unsigned_division(op, words[0], words[1])
        if op in SIGNED_DIVISIONS:
            if self.choices.chance(50):
                # A quotient with more bits: the divisor is not 0, but may be -1.
                minus = self.constant(-1, left.element, left.shape)
                words = [self.mixed(words[0], LIMITS[:1]),
                         self.binary("arith.minsi", words[1], minus, False)]
            return self.signed_division(op, words[0], words[1])
        return self.binary(name_of(op), *words)

    def extension(self, like, op, is_signed):
        word = self.operand("i32", like.shape)
        if op == "small" and self.choices.chance(60):
            word = self.mixed(word, LIMITS)
        if self.choices.chance(20):
            is_signed = not is_signed
        names = ["index_cast", "index_castui"] if like.element == "index" else [
            "extsi", "extui"]
        return self.convert(f"arith.{names[0] if is_signed else names[1]}", word,
                            like.element)

    def extended(self, op, left):
        right, low, high = self.right(left), self.new(), self.new()
        second = "i1" if op == "addui_extended" else left.element
        types = f"{left.type}, {second}" if second == "i1" else left.type
        self.add(f"{low}, {high} = arith.{op} {self.use(left)}, {self.use(right)} : "
                 f"{types}")
        self.scopes[-1] += [Value(low, (), left.element), Value(high, (), second)]
        return self.scopes[-1][-1]

    def choice(self, _, left):
        return self.select(self.operand("i1", left.shape), left, self.right(left), True)
