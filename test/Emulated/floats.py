# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floating-point arithmetic, bit-exact as specified by the ISA.

The emulator translates instructions to C without regard for rounding, the
sign of zeros and NaN: the C compiler may contract multiplications and
additions, powers of two are computed, minima of -0 and +0 depend on the
order. Here each instruction is one expression that the C compiler must not
change.

A division of f32 or f64 ends with v_div_fixup, which here returns the rounded
quotient of its third and second operand: on a device, the preceding steps
always produce this value.
"""

NAMES = {"f16": "half", "f32": "float32", "f64": "float64"}
C_TYPES = {"f16": "__fp16", "f32": "float", "f64": "double"}

# A sum in f64, in which the product of two f16 is exact, converted to f32 with
# rounding to odd: rounding it again gives the correctly rounded result.
FMA_F16 = """({{
  double d = __builtin_fma((double){0}, (double){1}, (double){2});
  float f = (float)d; unsigned u; __builtin_memcpy(&u, &f, 4);
  if (d == d && (double)f != d && !(u & 1))
    u += __builtin_fabs((double)f) > __builtin_fabs(d) ? -1 : 1;
  __builtin_memcpy(&f, &u, 4); (__fp16)f; }})"""

LARGER = """({{ TYPE a = {0}, b = {1};
  a != a ? IF_A_NAN : b != b ? IF_B_NAN :
  a == b ? (__builtin_signbit((double)a) ? IF_NEGATIVE : IF_POSITIVE) :
  a COMPARE b ? a : b; }})"""

# The product with a power of two, in f64: exact for f16 and f32.
LDEXP = """({{ int e = (int){1}; e = e > 400 ? 400 : e < -400 ? -400 : e;
  unsigned long long u = (unsigned long long)(1023 + e) << 52; double p;
  __builtin_memcpy(&p, &u, 8); (float)((double){0} * p); }})"""
# For f64, only the last multiplication may round.
LDEXP_F64 = """({{ int e = (int){1}; double x = {0};
  for (int i = 0; i < 2; ++i) {{
    if (e > 1023) {{ x *= 0x1p1023; e -= 1023; }}
    if (e < -1022) {{ x *= 0x1p-969; e += 969; }} }}
  e = e > 1023 ? 1023 : e < -1022 ? -1022 : e;
  unsigned long long u = (unsigned long long)(1023 + e) << 52; double p;
  __builtin_memcpy(&p, &u, 8); x * p; }})"""

# The quotient {0} of {2} by {1} comes from the preceding steps, except for
# operands without a finite quotient.
DIV_FIXUP_F16 = """({{ float q = {0}, d = {1}, n = {2}, i = __builtin_inff();
  float s = __builtin_signbit(d) == __builtin_signbit(n) ? 1.0f : -1.0f;
  d = __builtin_fabsf(d); n = __builtin_fabsf(n);
  float r = n != n ? n : d != d ? d : (d == 0 && n == 0) || (d == i && n == i) ?
    __builtin_nanf("") : d == 0 || n == i ? i : d == i || n == 0 ? 0.0f :
    __builtin_fabsf(q); (__fp16)(s * r); }})"""

# NaN must stay NaN: adding half an ulp could turn it into infinity.
TO_BF16 = """({{ float f = {0}; unsigned u; __builtin_memcpy(&u, &f, 4);
  (unsigned short)(f != f ? u >> 16 | 0x40
                          : (u + 0x7FFF + (u >> 16 & 1)) >> 16); }})"""


def larger(element, is_max, propagates):
    """C expression of the larger or smaller of two numbers: +0 is larger than
    -0. For a number and a NaN: the NaN if it `propagates`."""
    # Equal numbers: if the first one is negative, the second is at least as
    # large.
    text = LARGER
    for word, value in {"TYPE": C_TYPES[element],
                        "COMPARE": ">" if is_max else "<",
                        "IF_A_NAN": "a" if propagates else "b",
                        "IF_B_NAN": "b" if propagates else "a",
                        "IF_NEGATIVE": "b" if is_max else "a",
                        "IF_POSITIVE": "a" if is_max else "b"}.items():
        text = text.replace(word, value)
    return text


def exact_pcode(name):
    """The expression for an instruction, in terms of the functions below;
    None if the ISA's pseudocode is sufficient."""
    for suffix in ("_E32", "_E64"):
        name = name.removesuffix(suffix)
    # Scalar instructions (S_) round as those of vectors (V_) do.
    name = name.removeprefix("V_").removeprefix("S_")
    operation, _, element = name.lower().rpartition("_")
    if element not in NAMES:
        return None
    result, first, second = (f"{v}.{element}" for v in ("D0", "S0", "S1"))
    if operation in ("max", "min", "max_num", "min_num", "maximum", "minimum"):
        return f"{result} = v_{operation}_{element}({first}, {second})"
    if operation in ("rndne", "floor", "ceil", "trunc"):
        return f"{result} = exact_{operation}({first})"
    if operation == "rcp":
        return f"{result} = exact_rcp({first})"
    if operation == "ldexp":
        exponent = "S1.i16" if element == "f16" else "S1.i32"
        return f"{result} = exact_ldexp({first}, {exponent})"
    if operation == "div_fixup":
        return (f"{result} = div_fixup({first}, {second}, S2.f16)"
                if element == "f16" else
                f"{result} = exact_div(S2.{element}, {second})")
    return None


def teach(emulator):
    """Patches the module `emulator`."""
    machine = emulator.E
    types, functions = machine.dtypes, machine._FUNCS
    UOp, Ops = machine.UOp, machine.Ops
    float_types = {getattr(types, name): element
                   for element, name in NAMES.items()}

    def expression(text, *operands, result=None):
        return UOp(Ops.CUSTOMI, result or operands[0].dtype, operands, text)

    def by_type(texts):
        """A function whose C code depends on the type of its first operand."""
        return lambda *operands: expression(
            texts[float_types[operands[0].dtype]], *operands)

    def rounding(name):
        return by_type({"f16": f"((__fp16)__builtin_{name}f((float){{0}}))",
                        "f32": f"__builtin_{name}f({{0}})",
                        "f64": f"__builtin_{name}({{0}})"})

    functions["fma"] = by_type({"f16": FMA_F16,
                                "f32": "__builtin_fmaf({0}, {1}, {2})",
                                "f64": "__builtin_fma({0}, {1}, {2})"})
    functions["exact_rcp"] = by_type({"f16": "((__fp16)(1.0f / (float){0}))",
                                      "f32": "(1.0f / {0})",
                                      "f64": "(1.0 / {0})"})
    functions["exact_div"] = by_type({"f32": "({0} / {1})",
                                      "f64": "({0} / {1})"})
    functions["div_fixup"] = by_type({"f16": DIV_FIXUP_F16})
    functions["exact_ldexp"] = by_type({"f16": f"((__fp16){LDEXP})",
                                        "f32": LDEXP, "f64": LDEXP_F64})
    functions["f32_to_bf16"] = lambda a: expression(
        TO_BF16, a.bitcast(types.float32) if a.dtype != types.float32 else a,
        result=types.uint16)
    for operation, name in {"rndne": "rint", "floor": "floor",
                            "ceil": "ceil", "trunc": "trunc"}.items():
        functions[f"exact_{operation}"] = rounding(name)

    def fold(text, element):
        """A function of two or three operands, which may be passed as bits."""
        kind = getattr(types, NAMES[element])
        bits = {"f16": types.uint16, "f32": types.uint32,
                "f64": types.uint64}[element]

        def typed(operand):
            return (operand if operand.dtype == kind
                    else operand.cast(bits).bitcast(kind))

        def compute(*operands):
            result = typed(operands[0])
            for operand in operands[1:]:
                result = expression(text, result, typed(operand))
            return result
        return compute

    for element in NAMES:
        for word, is_max in (("max", True), ("min", False)):
            for count in ("", "3"):
                for name in (f"v_{word}{count}_{element}",
                             f"v_{word}{count}_num_{element}"):
                    functions[name] = fold(larger(element, is_max, False),
                                           element)
                functions[f"v_{word}imum{count}_{element}"] = fold(
                    larger(element, is_max, True), element)

    original_pcode = machine.get_pcode
    machine.get_pcode = lambda op: exact_pcode(op.name) or original_pcode(op)
