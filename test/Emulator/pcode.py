# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single instructions, compared with the pseudo-code of AMD's ISA documents.

    pcode.py LIBRARY [--chip CHIP] [--cases N] [--only TEXT] [--verbose]

LIBRARY is IrisEmulatorBridge.so. The instructions and their sources are those of
opcodes.py; each is executed, and so is the pseudo-code that the package tinygrad
has of each (pseudo_code.py). NaN is equal to NaN. --verbose: what differs where,
and which instructions have no pseudo-code that can be executed, and why.
"""
import argparse
import collections
import functools
import importlib
import random
import re
import sys

import bridge
from code_object import assemble
from generations import choose, disassemble, wave_size
from later_tables import GROUPS
from opcodes import execute_scalars, execute_vectors, is_equal, take_sources
from pseudo_code import Unsupported, is_nan, parse
from pseudo_code_reasons import explain

DOCUMENTS = {"gfx90a": "cdna", "gfx942": "cdna", "gfx950": "cdna",
             "gfx1100": "rdna3", "gfx1201": "rdna4"}
# The document for CDNA has these under the names of gfx9's first chips.
OLD_NAMES = {"V_FMA_MIX_F32": "V_MAD_MIX_F32",
             "V_FMA_MIXLO_F16": "V_MAD_MIXLO_F16",
             "V_FMA_MIXHI_F16": "V_MAD_MIXHI_F16"}
WORD, M64 = (1 << 32) - 1, (1 << 64) - 1
MODIFIER = re.compile(r"\s(op_sel_hi|op_sel|neg_lo|neg_hi|bitop3|dst_sel|"
                      r"dst_unused|src0_sel|src1_sel):(\[[^\]]*\]|\S+)")
FIRST_RESULT = 0x11223344  # of VECTOR_STEP


def load(document):
    module = importlib.import_module(
        f"tinygrad.runtime.autogen.amd.{document}.str_pcode")
    return {re.sub(r"_E(32|64)$", "", member.name): text
            for member, text in module.PCODE.items()}


class Library:
    """The pseudo-code of one document, by the names of instructions."""

    def __init__(self, document):
        self.texts = load(document)
        self.later = load("rdna4")

    def find(self, name):
        """Of a mnemonic, without its encoding."""
        name = name.upper()
        single = name.replace("V_DUAL_", "V_")
        for each in (name, OLD_NAMES.get(name), single):
            if each in self.texts:
                return parse(self.texts[each])
        raise Unsupported("no pseudo-code")

    def find_called(self, name):
        """Of a function that pseudo-code calls: that for CDNA calls some that are
        only in a later document."""
        texts = self.texts if name.upper() in self.texts else self.later
        if name.upper() not in texts:
            raise Unsupported(f"function {name}")
        return parse(texts[name.upper()])


# Operands ----------------------------------------------------------------------


class Register(collections.namedtuple("Register", "file first size low")):
    """So many bits from this one on, of registers of 32 bits."""

    def read(self, registers):
        count = (self.low + self.size + 31) // 32
        bits = sum(registers[self.file, self.first + i] << 32 * i
                   for i in range(count))
        return "b", self.size, bits >> self.low & (1 << self.size) - 1

    def write(self, registers, bits):
        if self.size == 16:
            kept = registers[self.file, self.first] & ~(0xFFFF << self.low)
            registers[self.file, self.first] = kept | (bits & 0xFFFF) << self.low
            return
        for i in range(self.size // 32):
            registers[self.file, self.first + i] = bits >> 32 * i & WORD


SPECIAL = {"vcc": Register("s", 106, 64, 0), "vcc_lo": Register("s", 106, 32, 0),
           "exec": Register("s", 126, 64, 0), "exec_lo": Register("s", 126, 32, 0),
           "exec_hi": Register("s", 127, 32, 0), "m0": Register("s", 124, 32, 0)}
RESULTS = Register("v", 8, 64, 0), Register("s", 20, 64, 0)


def parse_register(text):
    """None for numbers."""
    if text in SPECIAL:
        return SPECIAL[text]
    match = re.fullmatch(r"([vs])(\d+)(?:\.([lh]))?|([vs])\[(\d+):(\d+)\]", text)
    if not match:
        return None
    if match[1]:
        size = 16 if match[3] else 32
        return Register(match[1], int(match[2]), size, 16 * (match[3] == "h"))
    count = int(match[6]) - int(match[5]) + 1
    return Register(match[4], int(match[5]), 32 * count, 0)


def part(value, selection, is_signed):
    """BYTE_1 or WORD_1 of a source."""
    match = re.fullmatch(r"(BYTE|WORD)_(\d)", selection)
    if not match:
        return value
    size = 8 if match[1] == "BYTE" else 16
    value = value >> size * int(match[2]) & (1 << size) - 1
    if is_signed and value >> size - 1:
        value |= WORD ^ (1 << size) - 1
    return value


class Source:
    """How an operand is read: its register or number, and what is done to it."""

    def __init__(self, text):
        match = re.fullmatch(r"(-?)(\|?)(?:sext\()?([^|()]+)(\)?)\|?", text)
        if not match:
            raise Unsupported(f"operand {text}")
        self.register = parse_register(match[3])
        self.negate, self.magnitude = bool(match[1]), bool(match[2])
        self.is_signed, self.selection = bool(match[4]), ""
        if not self.register:
            self.negate = False
            try:
                self.number = int(text, 0)
            except ValueError:
                raise Unsupported(f"operand {text}") from None

    def read(self, registers, sign):
        if not self.register:
            return "b", 64, self.number & M64
        _, size, bits = self.register.read(registers)
        if self.selection:
            bits = part(bits, self.selection, self.is_signed)
        if self.magnitude:
            bits &= ~sign
        return "b", size, bits ^ (sign if self.negate else 0)


def operand_names(name, count):
    """What the pseudo-code calls the operands, in the order of assembly."""
    if re.match(r"s_(movk|addk|mulk)", name):
        return ["D0", "SIMM16"]
    if name.startswith("s_cmpk"):
        return ["S0", "SIMM16"]
    if re.match(r"s_(cmp|bitcmp)|v_cmpx", name) and count == 2:
        return ["S0", "S1"]
    if re.match(r"v_mad(_co)?_[ui]64", name):
        return ["D0", "D1", "S0", "S1", "S2"]
    if "_co_" in name and name.startswith("v_"):
        return ["D0", "OUT", "S0", "S1", "VCC"]
    if "cndmask" in name:
        return ["D0", "S0", "S1", "VCC"]
    if "fmaak" in name:
        return ["D0", "S0", "S1", "SIMM32"]
    if "fmamk" in name:
        return ["D0", "S0", "SIMM32", "S1"]
    if name.startswith("s_load"):
        return ["SDATA", "BASE", "OFFSET"]
    return ["D0", "S0", "S1", "S2"]


def sign_of(name):
    """The sign's bit of a source, which is what the name ends with."""
    kind = re.search(r"_f(16|32|64)$", name)
    return 1 << int(kind[1]) - 1 if kind else 1 << 31


def bits_of(text, count):
    """[1,0], of which the first one is the lowest bit."""
    found = [int(each) for each in re.findall(r"\d", text)][:count]
    return sum(bit << i for i, bit in enumerate(found))


# Instructions ------------------------------------------------------------------


class Instruction:
    """One operation of assembly, with its pseudo-code."""

    def __init__(self, text, library, document):
        self.library, self.document = library, document
        text, self.modifiers = self.take_modifiers(text)
        mnemonic, _, operands = text.partition(" ")
        self.name = re.sub(r"_(e32|e64|sdwa|dpp|e64_dpp)$", "", mnemonic)
        self.is_vector = mnemonic.startswith("v_")
        self.check()
        self.program = library.find(self.name)
        texts = [each.strip() for each in operands.split(",")] if operands else []
        self.results, self.sources = {}, {}
        for operand, each in zip(operand_names(self.name, len(texts)), texts):
            target = self.results if operand in (
                "D0", "D1", "OUT", "SDATA") else self.sources
            target[operand] = (parse_register(each) if target is self.results
                            else Source(each))
        for i in range(2):
            selection = self.modifiers.get(f"src{i}_sel", "")
            if selection:
                self.sources[f"S{i}"].selection = selection
        self.sign = sign_of(self.name)

    @staticmethod
    def take_modifiers(text):
        modifiers = dict(MODIFIER.findall(text))
        text = MODIFIER.sub("", text)
        if text.endswith(" clamp"):
            raise Unsupported("clamp, which no pseudo-code has")
        return text, modifiers

    def check(self):
        if self.name.startswith("s_set_gpr_idx"):
            raise Unsupported("a mode that other pseudo-code does not have")
        if self.name.startswith("s_cbranch"):
            raise Unsupported("a loop")

    def select(self, state):
        """The halves of the sources that op_sel names."""
        count = sum(operand in self.sources for operand in ("S0", "S1", "S2"))
        low = bits_of(self.modifiers.get("op_sel", ""), 4)
        default = "0" if "_mix" in self.name else "1"
        high = bits_of(self.modifiers.get("op_sel_hi", default * 3), 3)
        negated = [bits_of(self.modifiers.get(f"neg_{half}", ""), 3)
                   for half in ("lo", "hi")]
        state.update(OPSEL=("u", 4, low), OPSEL_HI=("u", 3, high),
                     NEG=("u", 3, negated[0]))
        if re.match(r"v_(pk_mov|fma_mix|dot|mad_legacy)", self.name):
            return
        if self.name.startswith("v_pk_"):
            size = 32 if self.name.endswith("_f32") else 16
            for i in range(count):
                state[f"S{i}"] = pack(state[f"S{i}"][2], size,
                                      [n >> i & 1 for n in (low, high)],
                                      [n >> i & 1 for n in negated])
            return
        if low >> count:
            raise Unsupported("op_sel of the result")
        for i in range(count):
            if low >> i & 1 and state[f"S{i}"][1] != 16:
                state[f"S{i}"] = "b", 16, state[f"S{i}"][2] >> 16

    def prepare(self, wave):
        """What the pseudo-code names."""
        state = {"laneId": ("u", 6, 0), "ZEROES": self.document == "cdna",
                 "VCC": wave.read("vcc"), "EXEC": wave.read("exec"),
                 "M0": wave.read("m0"), "SCC": ("u", 1, wave.scc),
                 "WAVE_MODE": {"IEEE": ("u", 1, 0)}, "TRAPSTS": {},
                 "ROUND_MODE": ("u", 2, 0), "VGPR": [wave.vectors],
                 "MEM": wave.load, "PROGRAMS": self.library.find_called}
        for operand, source in self.sources.items():
            state[operand] = source.read(wave.registers, self.sign)
        for operand, register in self.results.items():
            state[operand] = register.read(wave.registers)
        if "SIMM16" in state:
            state["S1" if "S0" in state else "S0"] = state["SIMM16"]
        if "BASE" in state:
            state["ADDR"] = "u", 64, state["BASE"][2] + state["OFFSET"][2]
        self.number_registers(state)
        if self.is_vector:
            self.select(state)
        state["S"] = [state.get(f"S{i}") for i in range(3)]
        # The fields of the encoding that have the table of v_bitop3.
        table = int(self.modifiers.get("bitop3", "0"), 0)
        state["INST"] = {"OMOD": ("u", 2, table >> 6),
                         "ABS": ("u", 3, table >> 3 & 7),
                         "NEG": ("u", 3, table & 7)}
        return state

    def number_registers(self, state):
        """The numbers of registers, of moves between registers by index."""
        source = self.sources.get("S0")
        if "movrel" in self.name:
            state["DST"] = "u", 32, self.results["D0"].first
            if source.register:
                state["SRC0"] = "u", 32, source.register.first

    def finish(self, state, before, wave):
        """The registers that the pseudo-code changed."""
        if "OUT" in self.results:
            self.results["OUT"].write(wave.registers, state["VCC"][2])
        elif state["VCC"] != before["VCC"]:
            wave.write("vcc", state["VCC"][2])
        for operand, register in self.results.items():
            # Moves by an index may not assign D0, but its register by number.
            if operand != "OUT" and not (
                    "movrel" in self.name and state[operand] == before[operand]):
                bits = self.unused(state[operand][2], before[operand][2])
                register.write(wave.registers, bits)
        if state["EXEC"] != before["EXEC"]:
            wave.write("exec", state["EXEC"][2])
        wave.scc = state["SCC"][2] & 1

    def unused(self, bits, before):
        """The result in the part of its register that SDWA names."""
        match = re.fullmatch(r"(BYTE|WORD)_(\d)", self.modifiers.get("dst_sel", ""))
        if not match:
            return bits
        size = 8 if match[1] == "BYTE" else 16
        at, field = size * int(match[2]), (1 << size) - 1
        kept = before if self.modifiers["dst_unused"] == "UNUSED_PRESERVE" else 0
        return kept & ~(field << at) | (bits & field) << at

    def run(self, wave):
        """Reads; the result writes."""
        if self.is_vector and not wave.read("exec")[2] & 1:
            return lambda: None
        state = self.prepare(wave)
        before = dict(state)
        self.program(state)
        return lambda: self.finish(state, before, wave)


def pack(bits, size, halves, negated):
    """Of a packed operation: the half that each half of the result reads."""
    result, field = 0, (1 << size) - 1
    for i, (half, sign) in enumerate(zip(halves, negated)):
        value = bits >> size * half & field ^ sign << size - 1
        result |= value << size * i
    return "b", 2 * size, result


class Vectors(dict):
    """The vector registers of the lane, by number."""

    def __init__(self, registers):
        super().__init__()
        self.registers = registers

    def __getitem__(self, number):
        return "b", 32, self.registers["v", number]

    def __setitem__(self, number, value):
        self.registers["v", number] = value[2]


class Wave:
    """The state of one lane."""

    def __init__(self, wave):
        self.registers = collections.defaultdict(int)
        self.vectors = Vectors(self.registers)
        self.scc, self.memory = 0, 0
        self.write("exec", (1 << wave) - 1)

    def read(self, name):
        return SPECIAL[name].read(self.registers)

    def write(self, name, bits):
        SPECIAL[name].write(self.registers, bits)

    def load(self, address):
        return "b", 64, self.memory >> 8 * address


class Program:
    """The instructions of a row: pairs are executed as one."""

    def __init__(self, lines, library, chip):
        self.wave_size = wave_size(chip)
        self.steps = [[Instruction(text, library, DOCUMENTS[chip])
                       for text in line.split(" :: ")]
                      for line in lines if not re.match(r"s_(wait|nop)", line)]

    def execute(self, file, first, sources, scc):
        """The result's registers and SCC, of sources from register `first` on."""
        wave = Wave(self.wave_size)
        for i, value in enumerate(sources):
            Register(file, first + 2 * i, 64, 0).write(wave.registers, value)
        wave.registers["v", 8] = FIRST_RESULT
        wave.scc, wave.memory = scc, sources[-1]
        for step in self.steps:
            for write in [instruction.run(wave) for instruction in step]:
                write()
        result = RESULTS[file == "s"].read(wave.registers)
        return result[2], wave.scc

    def name(self):
        """Of the instruction that is tested: the first that is no help."""
        names = [each.name for step in self.steps for each in step]
        helpers = re.compile(r"[vs]_(dual_)?(mov_b32|cndmask|lshrrev_b32)|s_mov|"
                             r"v_cmp_gt_i32")
        return next((each for each in names if not helpers.match(each)), names[0])


# Comparison --------------------------------------------------------------------


def split_rows(chip, rows):
    """The instructions of each row, as the disassembler names them."""
    mark = "s_nop 7"
    text = "\n".join(f"{row[0]}\n{mark}" for row in rows) + "\n"
    lines, found = [], []
    for line in disassemble(chip, assemble(chip, text)):
        if line == mark:
            found.append(lines)
            lines = []
        else:
            lines.append(line)
    return found


def want_of(bits, kind):
    """None for NaN, as is_equal has it."""
    if kind:
        value = kind.rstrip("0123456789"), int(re.search(r"\d+", kind)[0]), bits
        return None if is_nan(value) else bits
    return bits


class Report:
    def __init__(self, chip, count, verbose):
        self.chip, self.count, self.verbose = chip, count, verbose
        self.total = self.executed = self.differ = self.explained = 0
        self.left_out = collections.Counter()
        self.unexplained = []

    def leave_out(self, text, reason):
        self.left_out[str(reason)] += 1
        if self.verbose:
            print(f"{text!r} is left out: {reason}")

    def add(self, text, wrong, first):
        """Of one instruction: how many cases differ by reason."""
        self.executed += 1
        if not wrong:
            return
        self.differ += 1
        self.explained += None not in wrong
        for reason, number in wrong.items():
            line = (f"{text!r}: {number} of {self.count} cases, first "
                    f"{first[reason]}")
            if reason is None:
                self.unexplained.append(line)
            elif self.verbose:
                print(f"{line}\n  {reason}")

    def print(self):
        for line in self.unexplained:
            print(line)
        print(f"{self.total} instructions of {self.chip}: {self.executed} have "
              f"pseudo-code, {self.count} cases each: {self.explained} differ "
              f"for known reasons, {self.differ - self.explained} for others; "
              f"{self.total - self.executed} are left out")
        if self.verbose:
            for reason, number in self.left_out.most_common():
                print(f"  {number}: {reason}")


def describe(sources, got, want):
    words = [f"{', '.join(f'{s:#x}' for s in sources)}: got"]
    for bits, scc in (got, want):
        words.append(f"{bits:#x}" + ("" if scc is None else f", SCC {scc}"))
    return " ".join(words[:2]) + f"; pseudo-code {words[2]}"


class Row:
    """One row of the tables, of either kind."""

    def __init__(self, kind, row):
        self.text, self.bits = row[0].replace("\n  ", "; "), row[1]
        self.is_vector = kind == "vector"
        self.width = row[3] if self.is_vector else row[2]
        self.float_kind = row[2] if self.is_vector else (*row[4:], "")[0]

    def got(self, results, case):
        return (results(case), None) if self.is_vector else results(case)

    def want(self, program, sources, case):
        if self.is_vector:
            return program.execute("v", 2, sources, 0)[0], None
        return program.execute("s", 16, sources, case & 1)

    def is_same(self, got, want):
        return got[1] == want[1] and is_equal(
            got[0], want_of(want[0], self.float_kind), self.float_kind)


def check(report, row, lines, library, values, results):
    wrong, first = collections.Counter(), {}
    mask = (1 << row.width) - 1
    try:
        program = Program(lines, library, report.chip)
        for case in range(report.count):
            sources = take_sources(values, row.bits, case)
            got, want = ((bits & mask, scc) for bits, scc in (
                row.got(results, case), row.want(program, sources, case)))
            if row.is_same(got, want):
                continue
            reason = explain(program.name(), DOCUMENTS[report.chip], sources,
                             got[0], want[0])
            wrong[reason] += 1
            first.setdefault(reason, describe(sources, got, want))
    except Unsupported as error:
        report.leave_out(row.text, error)
        return
    report.add(row.text, wrong, first)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--chip", default="gfx942", choices=DOCUMENTS)
    parser.add_argument("--cases", type=int, default=256)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    library = bridge.load_library(options.library)
    texts = Library(DOCUMENTS[options.chip])
    source = random.Random(options.seed)
    wave = wave_size(options.chip)
    # Whole waves are executed.
    count = (options.cases + wave - 1) // wave * wave
    report = Report(options.chip, options.cases, options.verbose)
    execute = {"vector": execute_vectors, "scalar": execute_scalars}
    for kind, rows in GROUPS:
        rows = [row for row in choose(rows, options.chip)
                if options.only in row[0]]
        if not rows:
            continue
        values, get = execute[kind](library, options.chip, rows, count, source)
        report.total += len(rows)
        lines = split_rows(options.chip, rows)
        for index, row in enumerate(rows):
            check(report, Row(kind, row), lines[index], texts, values,
                  functools.partial(get, index))
    report.print()
    return bool(report.unexplained)


if __name__ == "__main__":
    sys.exit(main())
