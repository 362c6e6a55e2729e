# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of ../Emulator in the assembly of each chip.

They are written for gfx9. From gfx11 on, waves have 32 lanes and some
instructions other names; gfx12 has other waits and another place for the
program's index.
"""
import re
import subprocess
import sys

RENAMED = {
    "v_add_u32": "v_add_nc_u32", "v_sub_u32": "v_sub_nc_u32",
    "v_subrev_u32": "v_subrev_nc_u32", "v_ffbh_u32": "v_clz_i32_u32",
    "v_ffbl_b32": "v_ctz_i32_b32", "v_ffbh_i32": "v_cls_i32",
    "v_addc_co_u32": "v_add_co_ci_u32", "v_subb_co_u32": "v_sub_co_ci_u32",
    "v_add_u16": "v_add_nc_u16", "v_sub_u16": "v_sub_nc_u16",
    "s_ff1_i32_b32": "s_ctz_i32_b32", "s_ff1_i32_b64": "s_ctz_i32_b64",
    "s_flbit_i32_b32": "s_clz_i32_u32", "s_flbit_i32_b64": "s_clz_i32_u64",
    "s_flbit_i32": "s_cls_i32"}
# The waits that one counter became.
WAITS = {"lgkmcnt": ["s_wait_kmcnt", "s_wait_dscnt"], "vmcnt": ["s_wait_loadcnt"]}
RETURNS = {"gfx90a": "glc", "gfx1100": "glc", "gfx1201": "th:TH_ATOMIC_RETURN"}


def wave_size(chip):
    return 32 if chip.startswith("gfx1") else 64


def has_own_waits(chip):
    return chip.startswith("gfx12")


def split_waits(match):
    return "\n  ".join(f"{wait} {count}" for name, count in re.findall(
        r"(\w+)\((\d+)\)", match[0]) for wait in WAITS[name])


def translate(text, chip):
    """Instructions of gfx9, for this chip."""
    text = re.sub(r"\bsc0\b", RETURNS.get(chip, "sc0"), text)
    if wave_size(chip) == 64:
        return text
    text = re.sub(r"\b[sv]_\w+", lambda m: RENAMED.get(m[0], m[0]), text)
    text = re.sub(r"saveexec_b64 s\[(\d+):\d+\]", r"saveexec_b32 s\1", text)
    text = re.sub(r"\b(vcc|exec)\b", r"\1_lo", text)
    text = text.replace("s_mov_b64 exec_lo", "s_mov_b32 exec_lo")
    if has_own_waits(chip):
        text = re.sub(r"s_waitcnt (\w+\(\d+\) ?)+", split_waits, text)
        text = re.sub(r"\bs_barrier\b",
                      "s_barrier_signal -1\n  s_barrier_wait -1", text)
        text = text.replace(", 0 offen", ", null offen")
    return text


def disassemble(chip, code):
    """The instructions of machine code, as the disassembler names them."""
    run = subprocess.run(
        ["llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}", "-disassemble"],
        input=" ".join(map(hex, code)), capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit(run.stderr)
    return [line.strip() for line in run.stdout.splitlines()
            if re.match(r"\t[a-z]\w+", line)]


def keep_upper_half(row):
    """The row of an operation on 16 bits, where it keeps the other half of its
    result's register: rows for gfx9 expect that it is cleared."""
    if not re.match(r"v_(?!cmp)\w+_[uib]16 ", row[0]) or row[3] != 32:
        return row
    return (*row[:4], lambda *operands: 0x11220000 | row[4](*operands))


def choose(rows, chip):
    """The rows, translated, that the chip has: the assembler knows them."""
    rows = [(translate(row[0], chip), *row[1:]) for row in rows]
    if wave_size(chip) == 32:
        rows = [keep_upper_half(row) for row in rows]
    owners, lines = [], []
    for number, row in enumerate(rows):
        for line in row[0].split("\n"):
            owners.append(number)
            lines.append(line)
    run = subprocess.run(
        ["llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}"],
        input="\n".join(lines) + "\n", capture_output=True, text=True)
    errors = re.findall(r"^<stdin>:(\d+):\d+: error:", run.stderr, re.MULTILINE)
    if run.returncode and not errors:
        sys.exit(run.stderr)
    absent = {owners[int(line) - 1] for line in errors}
    return [row for number, row in enumerate(rows) if number not in absent]
