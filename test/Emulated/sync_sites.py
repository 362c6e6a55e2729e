# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of AMD chips without one of its barriers, waits, cache operations
or cache bits: what sync_mutants.py executes.

A mutant changes one instruction of a code object to another one of the same
size, or to s_nop. llvm-mc encodes it, so that nothing here knows encodings.
"""
import dataclasses
import re
import struct
import subprocess

S_NOP = bytes([0, 0, 0x80, 0xBF])  # on all chips
KINDS = ("barrier", "no wait", "later wait", "write-back", "invalidation",
         "cache bit")
COUNTERS = ("load", "store", "LDS", "scalar")
WRITE_BACKS = ("buffer_wbl2", "global_wb")
INVALIDATIONS = ("buffer_inv", "buffer_wbinvl1", "buffer_gl0_inv",
                 "buffer_gl1_inv", "global_inv")
# Counts that nothing Iris compiles waits for: images, exports, hazards.
UNCOUNTED = ("s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_expcnt",
             "s_wait_alu", "s_wait_idle", "s_waitcnt_depctr")
SCOPES = ("SCOPE_CU", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS")
# Of a wait for both: the bits of the first and of the second count.
PAIRS = {"s_wait_loadcnt_dscnt": ((8, "load"), (0, "LDS")),
         "s_wait_storecnt_dscnt": ((8, "store"), (0, "LDS"))}
SINGLES = {"s_wait_loadcnt": "load", "s_wait_storecnt": "store",
           "s_wait_dscnt": "LDS", "s_wait_kmcnt": "scalar",
           "s_waitcnt_vscnt": "store"}
LEGACY = {"vmcnt": "load", "lgkmcnt": "LDS"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A changed instruction. `text` is None for s_nop; `others` are positions of
    instructions that become s_nop as well."""
    kind: str
    position: int
    before: str
    text: str | None
    counter: str = ""  # of a wait: what it waits for
    others: tuple = ()

    def __str__(self):
        change = f" -> '{self.text}'" if self.text else " removed"
        return f"'{self.before}' at {4 * self.position:x}{change}"


def changed_waits(text):
    """(kind, counter, new text or None) for each count of a wait."""
    name = text.split()[0]
    if name == "s_waitcnt":
        counts = re.findall(r"(\w+)\((\d+)\)", text)
        for field, count in counts:
            if field not in LEGACY:
                continue
            rest = [f"{f}({c})" for f, c in counts if f != field]
            yield "no wait", LEGACY[field], (
                " ".join([name, *rest]) if rest else None)
            yield "later wait", LEGACY[field], text.replace(
                f"{field}({count})", f"{field}({int(count) + 1})")
    elif name in PAIRS:
        value = int(text.split()[1], 0)
        for shift, counter in PAIRS[name]:
            yield "no wait", counter, f"{name} {value | 0x3F << shift:#x}"
            yield "later wait", counter, f"{name} {value + (1 << shift):#x}"
    elif name in SINGLES:
        value = int(re.split(r"[ ,]+", text)[-1], 0)
        start = text[:text.rindex(" ")]
        yield "no wait", SINGLES[name], None
        yield "later wait", SINGLES[name], f"{start} {value + 1:#x}"


def changed_bits(text):
    """Texts without one of the bits that say which caches to pass, or with a
    smaller scope."""
    name, *words = text.split(" ")
    if scope := re.search(r" scope:(SCOPE_\w+)", text):
        number = SCOPES.index(scope[1])
        for lower in range(number):
            yield text.replace(scope[0], f" scope:{SCOPES[lower]}" if lower
                               else "")
    # These bits of an atomic say that it returns the value before.
    returns = {"sc0", "glc"} if "_atomic_" in name else set()
    bits = [word for word in words
            if word in ("sc0", "sc1", "glc", "dlc", "slc", "nt")
            and word not in returns]
    for bit in bits:
        yield " ".join([name, *(word for word in words if word != bit)])
    if len(bits) > 1:
        yield " ".join([name, *(word for word in words if word not in bits)])


def enumerate_mutants(executed):
    """All mutants of a kernel, whose executed instructions are (position, text)."""
    signal = None
    for position, text in sorted(executed):
        name = text.split()[0]
        if name == "s_barrier_signal":
            signal = position, text
        elif name == "s_barrier_wait":
            yield Mutant("barrier", *signal, None, others=(position,))
        elif name == "s_barrier":
            yield Mutant("barrier", position, text, None)
        elif name.startswith("s_wait") and name not in UNCOUNTED:
            for kind, counter, new in changed_waits(text):
                yield Mutant(kind, position, text, new, counter)
        elif name.startswith(WRITE_BACKS + INVALIDATIONS):
            yield Mutant("write-back" if name.startswith(WRITE_BACKS)
                         else "invalidation", position, text, None)
        if name.startswith(("global_", "flat_", "buffer_", "scratch_")):
            for new in changed_bits(text):
                yield Mutant("cache bit", position, text, new)


def encode(chip, texts):
    """The bytes of instructions."""
    run = subprocess.run(
        ["llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}",
         "-show-encoding"], input="\n".join(texts).encode(),
        capture_output=True, check=True)
    encodings = re.findall(r"encoding: \[(.*?)\]", run.stdout.decode())
    assert len(encodings) == len(texts), "not one encoding for each instruction"
    return [bytes(int(byte, 0) for byte in each.split(","))
            for each in encodings]


class Patcher:
    """Code objects with a changed instruction."""

    def __init__(self, chip, image, mutants):
        self.image = image
        texts = sorted({text for mutant in mutants
                        for text in (mutant.before, mutant.text) if text})
        self.codes = dict(zip(texts, encode(chip, texts)))
        start, = struct.unpack_from("<Q", image, 32)
        size, count = struct.unpack_from("<HH", image, 54)
        self.segments = [struct.unpack_from("<IIQQQQ", image, start + i * size)
                         for i in range(count)]

    def offset(self, position):
        """Of an instruction in the file."""
        address = 4 * position
        return next(offset + address - first
                    for kind, _, offset, first, _, size in self.segments
                    if kind == 1 and first <= address < first + size)

    def apply(self, mutant):
        patched = bytearray(self.image)
        before = self.codes[mutant.before]
        after = self.codes[mutant.text] if mutant.text else b""
        start = self.offset(mutant.position)
        # Some have bits that are not in their text.
        assert not after or patched[start:start + len(before)] == before, \
            str(mutant)
        assert len(after) <= len(before), str(mutant)
        padding = S_NOP * ((len(before) - len(after)) // 4)
        patched[start:start + len(before)] = after + padding
        for position in mutant.others:
            other = self.offset(position)
            patched[other:other + 4] = S_NOP
        return bytes(patched)
