# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single instructions, compared with exact arithmetic.

    opcodes.py LIBRARY [--chip CHIP] [--cases N] [--only TEXT] [--constants]
        [--vector-bytes N]

LIBRARY is IrisEmulatorBridge.so. Each instruction of the tables below gets
special and random values. NaN is equal to NaN. --constants: each source in turn
is an inline constant (constants.py). --vector-bytes: what hosts with vectors of
N bytes execute.
"""
import argparse
import ctypes
import random
import sys
import types

import bridge
import code_object
import exact
from constants import with_constants
from generations import choose, wave_size
from later_tables import GROUPS

SPECIAL_32 = [0, 1, 2, 3, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF,
              0x10000, 0x7FFFFF, 0x800000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE,
              0xFFFFFFFF,
              # Floats: 1, -1, 0.5, largest, infinities, NaN, subnormal numbers.
              0x3F800000, 0xBF800000, 0x3F000000, 0x40490FDB, 0x7F7FFFFF,
              0x7F800000, 0xFF800000, 0x7FC00000, 0x80000001, 0x00800000,
              0x3F7FFFFF, 0x4B000001, 0x4F000000, 0xCF000000, 0x4F800000,
              # Halves: 1 and -1, largest and infinity, NaN and smallest.
              0x3C00BC00, 0x7BFF7C00, 0x7E000001, 0x80000400, 0x38003555]


def wide(value):
    return [value, value << 32 & (1 << 64) - 1,
            (value ^ 0x9E3779B97F4A7C15) & (1 << 64) - 1]


SPECIAL_64 = [0x3FF0000000000000, 0xBFF0000000000000, 0x7FEFFFFFFFFFFFFF,
              0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
              0x8000000000000001, 0x0010000000000000, 0x41E0000000000000,
              *(each for value in SPECIAL_32 for each in wide(value))]


def inputs(bits, count, source):
    special = SPECIAL_32 if bits == 32 else SPECIAL_64
    values = [source.choice(special) if source.random() < 0.6
              else source.getrandbits(bits) for _ in range(count)]
    # Exponents that differ little.
    for i in range(0, count, 5):
        if bits == 32:
            values[i] = values[i] & 0x807FFFFF | source.randint(110, 140) << 23
        else:
            values[i] = (values[i] & 0x800FFFFFFFFFFFFF
                         | source.randint(1000, 1050) << 52)
    return values


def run(library, chip, source, buffers, programs, name):
    """Runs the instructions; buffers are arguments."""
    options = types.SimpleNamespace(
        lds=0, scratch=0, scratch_buffer=False, vectors=128,
        arguments=len(buffers), defect=None)
    image = code_object.build(chip, source, options)
    machine = bridge.Bridge(library)
    number = machine.Load(image, ctypes.c_uint64(len(image)), name.encode())
    machine.Start(0, 0, ctypes.c_uint64(1), ctypes.c_uint64(1 << 40))
    addresses = []
    for index, buffer in enumerate(buffers):
        address = ctypes.addressof(buffer)
        machine.AddMemory(ctypes.c_void_p(address),
                          ctypes.c_uint64(ctypes.sizeof(buffer)),
                          f"buffer {index}".encode())
        addresses.append(address)
    three = ctypes.c_uint32 * 3
    machine.Launch(number, b"k", 0, 0, three(programs, 1, 1),
                   three(wave_size(chip), 1, 1),
                   (ctypes.c_uint64 * len(addresses))(*addresses),
                   len(addresses))
    machine.Advance(ctypes.c_uint64((1 << 64) - 1))


# Sources in v[2:3], v[4:5], v[6:7] and s[20:21], s[22:23]; the result of an
# instruction in v[8:9], with v10 as what it was before.
VECTOR = """
  s_load_dwordx8 s[8:15], s[0:1], 0x0
  v_lshlrev_b32 v0, 3, v0
  s_mul_i32 s3, s2, {bytes}
  v_add_u32 v0, s3, v0
  s_mov_b32 s24, {size}
  s_waitcnt lgkmcnt(0)
  global_load_dwordx2 v[2:3], v0, s[8:9]
  global_load_dwordx2 v[4:5], v0, s[10:11]
  global_load_dwordx2 v[6:7], v0, s[12:13]
  s_waitcnt vmcnt(0)
"""
VECTOR_STEP = """
  v_mov_b32 v8, 0x11223344
  v_mov_b32 v9, 0
  {text}
  s_nop 4
  global_store_dwordx2 v0, v[8:9], s[14:15]
  s_add_u32 s14, s14, s24
  s_addc_u32 s15, s15, 0
"""
# Sources in s[16:17] and s[18:19]; the result in s[20:21] and SCC, which is 1
# before in every other program.
SCALAR = """
  s_load_dwordx8 s[8:15], s[0:1], 0x0
  s_lshl_b32 s3, s2, 3
  s_waitcnt lgkmcnt(0)
  s_add_u32 s8, s8, s3
  s_addc_u32 s9, s9, 0
  s_add_u32 s10, s10, s3
  s_addc_u32 s11, s11, 0
  s_load_dwordx2 s[16:17], s[8:9], 0x0
  s_load_dwordx2 s[18:19], s[10:11], 0x0
  s_lshl_b32 s3, s2, 4
  v_mov_b32 v0, s3
  s_mov_b32 exec_lo, 1
  s_mov_b32 exec_hi, 0
  s_mov_b32 s24, {size}
  s_waitcnt lgkmcnt(0)
"""
SCALAR_STEP = """
  s_mov_b64 s[20:21], 0
  s_bitcmp1_b32 s2, 0
  {text}
  s_cselect_b32 s22, 1, 0
  v_mov_b32 v2, s20
  v_mov_b32 v3, s21
  v_mov_b32 v4, s22
  global_store_dwordx3 v0, v[2:4], s[14:15]
  s_add_u32 s14, s14, s24
  s_addc_u32 s15, s15, 0
"""


def is_equal(got, want, kind=""):
    if want is None:
        exponent_bits, fraction_bits = exact.FORMATS[kind]
        infinity = ((1 << exponent_bits) - 1) << fraction_bits
        return (got & (infinity | ((1 << fraction_bits) - 1))) > infinity
    return got == want


def make_values(number, count, source):
    """Words of 64 bits; the lower halves are special words as often."""
    values = [inputs(64, count, source) for _ in range(number)]
    for each in values:
        for i in range(0, count, 2):
            each[i] = each[i] & ~0xFFFFFFFF | inputs(32, 1, source)[0]
    return values


def take_sources(values, bits, case):
    return [each[case] & (1 << size) - 1 for each, size in zip(values, bits)]


def execute_vectors(library, chip, rows, count, source):
    """The sources, and a function from a row's and a case's number to v[8:9]."""
    values = make_values(3, count, source)
    array = ctypes.c_uint64 * count
    buffers = [array(*each) for each in values]
    result = (ctypes.c_uint64 * (count * len(rows)))()
    text = VECTOR.format(size=8 * count, bytes=8 * wave_size(chip)) + "".join(
        VECTOR_STEP.format(text=row[0]) for row in rows) + "\n  s_endpgm\n"
    run(library, chip, text, [*buffers, result],
        count // wave_size(chip), "vectors")
    return values, lambda index, case: result[index * count + case]


def execute_scalars(library, chip, rows, count, source):
    """The sources, and a function from a row's and a case's number to s[20:21] and
    SCC, which was 1 before in every other case."""
    values = make_values(2, count, source)
    array = ctypes.c_uint64 * count
    buffers = [array(*each) for each in values]
    result = (ctypes.c_uint32 * (4 * count * len(rows)))()
    text = SCALAR.format(size=16 * count) + "".join(
        SCALAR_STEP.format(text=row[0]) for row in rows) + "\n  s_endpgm\n"
    run(library, chip, text, [*buffers, buffers[0], result], count, "scalars")

    def get(index, case):
        start = 4 * (index * count + case)
        return result[start] | result[start + 1] << 32, result[start + 2]
    return values, get


def check_vectors(library, chip, rows, count, source):
    """Rows: (text, bits of the sources, kind of the result, its bits, function
    of the sources)."""
    values, get = execute_vectors(library, chip, rows, count, source)
    failures = []
    for index, (text, bits, kind, width, function) in enumerate(rows):
        mask, wrong, first = (1 << width) - 1, 0, ""
        for case in range(count):
            sources = take_sources(values, bits, case)
            want = function(*sources)
            got = get(index, case) & mask
            if not is_equal(got, want, kind):
                wrong += 1
                first = first or (
                    f"{', '.join(f'{s:#x}' for s in sources)}: got {got:#x}, "
                    f"expected {'NaN' if want is None else hex(want)}")
        if wrong:
            failures.append(f"{text}: {wrong} of {count} cases, first {first}")
    return failures


def check_scalars(library, chip, rows, count, source):
    """Rows: (text, bits of the sources, bits of the result, function of the
    sources and SCC, which returns the result and SCC; None: as before; kind of
    the result)."""
    values, get = execute_scalars(library, chip, rows, count, source)
    failures = []
    for index, (text, bits, width, function, *kind) in enumerate(rows):
        wrong, first = 0, ""
        for case in range(count):
            sources = take_sources(values, bits, case)
            before = case & 1
            want, scc = function(*sources, before)
            scc = before if scc is None else scc
            got, got_scc = get(index, case)
            got &= (1 << width) - 1
            if not is_equal(got, want, *kind) or got_scc != scc:
                wrong += 1
                first = first or (
                    f"{', '.join(f'{s:#x}' for s in sources)}, SCC {before}: got "
                    f"{got:#x}, SCC {got_scc}; expected "
                    f"{'NaN' if want is None else hex(want)}, SCC {scc}")
        if wrong:
            failures.append(f"{text}: {wrong} of {count} cases, first {first}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--chip", default="gfx942")
    parser.add_argument("--cases", type=int, default=256)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--vector-bytes", type=int, default=64)
    options = parser.parse_args()
    library = bridge.load_library(options.library)
    library.emulatorLimitVectors(options.vector_bytes)
    source = random.Random(options.seed)
    count = (options.cases + 63) // 64 * 64
    checks = {"vector": check_vectors, "scalar": check_scalars}
    failures, total = [], 0
    for kind, rows in GROUPS:
        if options.constants:
            rows = with_constants(kind, rows)
        rows = [row for row in choose(rows, options.chip)
                if options.only in row[0]]
        if not rows:
            continue
        failures += checks[kind](library, options.chip, rows, count, source)
        total += len(rows)
    for failure in failures:
        print(failure)
    print(f"{total} instructions of {options.chip}, {count} cases each: "
          f"{len(failures)} differ")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
