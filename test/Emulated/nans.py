# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`minimum` and `maximum` of f32 as the ISA says them: a NaN if one of them is.

The emulator gives the other number, as `min` and `max` do.
"""


def teach(emulator):
    """Does so in the module `emulator`."""
    functions = emulator.E._FUNCS

    def propagating(original):
        def compute(a, b):
            result = original(a, b)
            for number in (a, b):
                result = number.ne(number).where(number, result)
            return result
        return compute

    for name in ("v_minimum_f32", "v_maximum_f32"):
        functions[name] = propagating(functions[name])
