# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of opcodes.py with an inline constant in place of a source.

An instruction gets the bits that its operand's type gives the constant: integers
are extended by their sign to the operand's size, floats have the operand's format
(the ISA documents, "Inline constants"). In which half a packed operation reads it
is written out as op_sel_hi, as compilers do.
"""
import re
import struct

INTEGERS = [0, 1, 5, 31, 37, 64, -1, -7, -16]
FLOATS = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"]
FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
# Operands with a meaning of their own: constants that are no values, sources of
# which some select parts, pairs of instructions and of words, registers that are
# others than they are written.
SKIPPED = re.compile(r"sdwa|dpp|op_sel|_mix|_dual_|v_pk_\w+_f32|v_pk_mov|dot\d|"
                     r"s_load|lane|perm|scale|bf16|fp8|bf8|fp4|fp6|\bneg_|-v|\|v|"
                     r"gpr_idx|movrel")
# Sources that are integers, of operations on floats.
EXPONENTS = re.compile(r"ldexp|cmpx?_class|trig_preop")


def float_bits(text, kind):
    return int.from_bytes(struct.pack(FORMATS[kind], float(text)), "little")


def source_kind(mnemonic):
    """The type of the sources: the last one of the name."""
    return (re.findall(r"_([a-z]+\d+)", mnemonic) or [""])[-1]


def replaced(row, register, source, text, value):
    """The row with this text in place of the source's register."""
    first, *rest = row[0].split("\n")
    mnemonic, operands = first.strip().split(" ", 1)
    before, found, after = operands.partition(register)
    packed = mnemonic.startswith("v_pk_")
    if packed:
        highs = ["0" if i == source else "1" for i in range(len(row[1]))]
        after += f" op_sel_hi:[{','.join(highs)}]"
    if not found or register in after:
        return None
    # A scalar's result comes before its kind, a vector's after.
    position = next(i for i, each in enumerate(row) if callable(each))
    size = 16 if packed else row[1][source]
    value &= (1 << size) - 1
    if packed:
        value |= value << 16

    def function(*sources):
        return row[position](*sources[:source], value, *sources[source + 1:])

    text = "\n".join([f"{mnemonic} {before}{text}{after}", *rest])
    return (text, *row[1:position], function, *row[position + 1:])


def with_constants(kind, rows):
    """Rows with an integer, and one with a float where the sources are floats, for
    each source of each row."""
    found = []
    for number, row in enumerate(rows):
        mnemonic = row[0].split()[0]
        if SKIPPED.search(row[0]):
            continue
        floats = source_kind(mnemonic)
        for source, bits in enumerate(row[1]):
            first = {"vector": 2, "scalar": 16}[kind] + 2 * source
            letter = kind[0]
            register = (f"{letter}[{first}:{first + 1}]" if bits == 64
                        else f"{letter}{first}")
            choice = 3 * number + source
            integer = INTEGERS[choice % len(INTEGERS)]
            constants = [(str(integer), integer)]
            if floats in FORMATS and not (source and EXPONENTS.search(mnemonic)):
                text = FLOATS[choice % len(FLOATS)]
                constants.append((text, float_bits(text, floats)))
            found += [replaced(row, register, source, *each)
                      for each in constants]
    return [row for row in found if row]
