# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of 24 bits, as specified by the ISA.

The emulator reads all 32 bits of a register where v_mul_u32_u24,
v_mad_i32_i24 and the like read the lower 24.
"""
import re

READS = {"u24": "({0}.u32 & 0xFFFFFFU)",
         "i24": "(((({0}.u32 & 0xFFFFFFU) ^ 0x800000U) - 0x800000U).i32)"}


def teach(emulator):
    """Patches the module `emulator`."""
    machine = emulator.E
    original_pcode = machine.get_pcode

    def get_pcode(operation):
        text = original_pcode(operation)
        if not operation.name.removesuffix("_E32").removesuffix(
                "_E64").endswith(("U24", "I24")):
            return text
        return re.sub(r"\b(S\d)\.([ui]24)",
                      lambda found: READS[found[2]].format(found[1]), text)
    machine.get_pcode = get_pcode
