#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions of the PTX interpreter (ptx.py) that LLVM emits rarely: one warp
executes a few lines of PTX, and thread t stores what they leave in %r1 for it.
"""
import os
import sys
import tempfile

import machine  # noqa: F401  # first: it switches to an interpreter with NumPy
import numpy as np
import ptx

KERNEL = """\
.visible .entry kernel(
	.param .u64 .ptr .global .align 1 kernel_param_0,
	.param .u64 kernel_param_1,
	.param .u64 kernel_param_2
)
{
	mov.u32 	%%r0, %%tid.x;
%s
	ld.param.b64 	%%rd0, [kernel_param_0];
	mad.wide.u32 	%%rd1, %%r0, 4, %%rd0;
	st.global.b32 	[%%rd1], %%r1;
	ret;
}
"""
JUMPS = """\
	and.b32 	%r2, %r0, 3;
	$L_brx_0: .branchtargets
		$L_one,
		$L_two,
		$L_two,
		$L_three;
	brx.idx 	%r2, $L_brx_0;
$L_one:
	mov.b32 	%r1, 10;
	bra.uni 	$L_end;
$L_two:
	mov.b32 	%r1, 20;
	bra.uni 	$L_end;
$L_three:
	mov.b32 	%r1, 30;
$L_end:
"""
PARAMETERS = """\
	mov.b64 	%rd2, kernel_param_1;
	mov.b64 	%rd3, kernel_param_2;
	and.b32 	%r2, %r0, 1;
	setp.eq.b32 	%p1, %r2, 0;
	selp.b64 	%rd4, %rd2, %rd3, %p1;
	ld.param.b32 	%r1, [%rd4+4];
"""
UNDEFINED = """\
	cvt.u16.u32 	%rs1, %r0;
	mov.b32 	%r2, {%rs1, %rs2};
	and.b32 	%r1, %r2, 65535;
"""
# The upper halves are those of a register that was not written.
USED = """\
	mov.b32 	%r1, {%rs1, %rs2};
"""
SOME_LANES = """\
	setp.lt.u32 	%p1, %r0, 16;
	@%p1 mov.b32 	%r1, 7;
"""
THREADS = np.arange(32)
# Upper halves of 2^32 * 7 + t + 2^33 - 16 and 2^32 * 7 + t - 2^32 - 16.
CARRY = """\
	add.cc.u32 	%r2, %r0, 4294967280;
	addc.u32 	%r1, 7, 1;
"""
BORROW = """\
	sub.cc.u32 	%r2, %r0, 16;
	subc.cc.u32 	%r1, 7, 1;
"""


def relu(text, name, function):
    """x = t - 16 against y = 3 - t."""
    return (name, "add.s32 %r2, %r0, -16; sub.s32 %r3, 3, %r0;" + text,
            function(THREADS - 16, 3 - THREADS))


PAIRS = """
	mov.b32 	{%rs1, %rs3}, %r2;
	mov.b32 	{%rs2, %rs4}, %r3;
	mov.b32 	%r4, {%rs1, %rs2};
	mov.b32 	%r5, {%rs2, %rs1};
	max.relu.s16x2 	%r6, %r4, %r5;
	and.b32 	%r1, %r6, 65535;
"""
FIELDS = """\
	mov.b32 	%r2, 305419896;
	bfi.b32 	%r1, %r0, %r2, 8, 4;
"""
# As far as the register goes.
HIGH_FIELDS = """\
	add.s32 	%r3, %r0, 16;
	mov.b32 	%r2, 5;
	bfi.b32 	%r1, %r0, %r2, %r3, 40;
"""


def insert_above(t):
    """t in place of the bits of 5 from t + 16 on."""
    at = t + 16
    return (5 | t << at) & 0xFFFFFFFF if at < 32 else 5


CASES = [
    ("brx.idx", JUMPS, np.array([10, 20, 20, 30] * 8)),
    ("parameters by address", PARAMETERS, np.array([1, 2] * 16)),
    ("add.cc, addc", CARRY, 8 + (THREADS >= 16)),
    ("sub.cc, subc", BORROW, 6 - (THREADS < 16)),
    ("undefined half", UNDEFINED, THREADS),
    relu("max.relu.s32 %r1, %r2, %r3;", "max.relu.s32",
         lambda x, y: np.maximum(np.maximum(x, y), 0)),
    relu("min.relu.s32 %r1, %r2, %r3;", "min.relu.s32",
         lambda x, y: np.maximum(np.minimum(x, y), 0)),
    ("bfi", FIELDS, 0x12345078 | THREADS % 16 << 8),
    ("bfi, high", HIGH_FIELDS,
     np.array([insert_above(t) for t in range(32)], np.uint32).view(np.int32)),
    relu(PAIRS, "max.relu.s16x2", lambda x, y: np.maximum(np.maximum(x, y), 0)),
]


def run(text, seed=1):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(KERNEL % text)
        code = ptx.CodeObject(path)
    memory = ptx.Memory(1 << 12)
    out = memory.put(np.zeros(32, np.int32))
    ptx.Emu(memory, seed).run([ptx.Launch(
        code, "kernel", (1, 1, 1), (32, 1, 1), [out, 1 << 32, 2 << 32], memory)])
    return memory.get(out, np.int32, 32)


def main():
    failed = False
    for name, text, wanted in CASES:
        got = run(text)
        if (got != wanted).any():
            failed = True
            print(f"{name}: got {got}, expected {wanted}")
    # Values that were not written differ from lane to lane and from seed to seed.
    for name, text, lanes in (("undefined", USED, slice(0, 32)),
                              ("lanes that write nothing", SOME_LANES,
                               slice(16, 32))):
        first, second = (run(text, seed)[lanes] for seed in (1, 2))
        if len(set(first)) < 2 or (first == second).any():
            failed = True
            print(f"{name}: got {first} and {second}")
    print(f"{len(CASES) + 2} cases")
    return failed


if __name__ == "__main__":
    sys.exit(main())
