# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of operations on registers whose numbers M0 is added to: the mode of gfx9
and the moves of later chips."""
from tables import M32, VECTORS


def indexed():
    two, three = (32, 32), (32, 32, 32)

    def row(text, bits, function, width=32):
        VECTORS.append((text.replace("; ", "\n  "), bits, "", width, function))

    def mode(index, operands, text, *rest):
        row(f"s_set_gpr_idx_on {index}, gpr_idx({operands}); {text}; "
            "s_set_gpr_idx_off", *rest)

    mode(2, "SRC0", "v_mov_b32 v8, v2", two, lambda a, b: b)
    mode(3, "DST", "v_mov_b32 v5, v2", (32,), lambda a: a)
    mode(2, "SRC0,DST", "v_add_u32 v6, v2, v4", two, lambda a, b: 2 * b & M32)
    mode(2, "SRC0,SRC1", "v_sub_u32 v8, v2, v4", three,
         lambda a, b, c: b - c & M32)
    mode(2, "SRC1", "v_sub_u32 v8, v2, v4", three, lambda a, b, c: a - c & M32)
    mode(4, "SRC2", "v_add3_u32 v8, v2, v4, v2", three,
         lambda a, b, c: a + b + c & M32)
    mode(2, "SRC1", "v_mov_b32 v8, v2", two, lambda a, b: a)
    mode(2, "SRC0", "v_mov_b64 v[8:9], v[2:3]", (64, 64), lambda a, b: b, 64)
    mode(2, "SRC0,DST", "v_mov_b64 v[6:7], v[2:3]", (64, 64), lambda a, b: b,
         64)
    # Neither other sources, nor scalar instructions and accesses, nor what
    # comes after the mode.
    mode(2, "SRC0,SRC1,SRC2,DST", "s_mov_b32 s25, 7; v_add_u32 v6, s25, v2",
         two, lambda a, b: b + 7 & M32)
    mode(2, "SRC0,SRC1", "v_cmp_lt_u32 vcc, v2, v4; s_set_gpr_idx_off; "
         "v_cndmask_b32 v8, v2, v4, vcc", three,
         lambda a, b, c: b if b < c else a)
    mode(2, "SRC0,DST", "s_set_gpr_idx_off; v_mov_b32 v8, v2", (32,),
         lambda a: a)
    # A change of the index, and of the operands; the other bits of M0.
    row("s_set_gpr_idx_on 1, gpr_idx(DST); v_mov_b32 v7, v2; "
        "s_set_gpr_idx_idx 2; v_mov_b32 v7, v4; s_set_gpr_idx_mode gpr_idx(SRC0)"
        "; v_add_u32 v8, v4, v8; s_set_gpr_idx_off", three,
        lambda a, b, c: a + c & M32)
    row("s_mov_b32 m0, 0x12345678; s_set_gpr_idx_on 0x1ff, gpr_idx(SRC1); "
        "s_set_gpr_idx_off; v_mov_b32 v8, m0", (32,), lambda a: 0x123426FF)
    # A loop: each iteration has another index.
    row("v_mov_b32 v8, 0; s_mov_b32 s25, 0; 1:; "
        "s_set_gpr_idx_on s25, gpr_idx(SRC0); v_add_u32 v8, v2, v8; "
        "s_set_gpr_idx_off; s_add_u32 s25, s25, 2; s_cmp_lt_u32 s25, 6; "
        "s_cbranch_scc1 1b", three, lambda a, b, c: a + b + c & M32)
    # No active lane: nothing is written, whatever the index.
    row("s_mov_b64 exec, 0; s_set_gpr_idx_on 255, gpr_idx(SRC0,DST); "
        "v_mov_b32 v8, v2; s_set_gpr_idx_off; s_mov_b64 exec, -1", (32,),
        lambda a: 0x11223344)

    def move(name, operands, m0, bits, function):
        row(f"s_mov_b32 m0, {m0}; {name} {operands}", bits, function)

    move("v_movrels_b32", "v8, v2", 4, three, lambda a, b, c: c)
    move("v_movrels_b32", "v8, v4", 0, two, lambda a, b: b)
    move("v_movreld_b32", "v5, v2", 3, (32,), lambda a: a)
    move("v_movreld_b32", "v5, 77", 3, (32,), lambda a: 77)
    move("v_movrelsd_b32", "v6, v2", 2, two, lambda a, b: b)
    move("v_movrelsd_2_b32", "v5, v2", 0x30004, three, lambda a, b, c: c)
    row("v_mov_b32 v8, 0; s_mov_b32 s25, 0; 1:; s_mov_b32 m0, s25; "
        "v_movrels_b32 v9, v2; v_add_u32 v8, v9, v8; s_add_u32 s25, s25, 2; "
        "s_cmp_lt_u32 s25, 6; s_cbranch_scc1 1b", three,
        lambda a, b, c: a + b + c & M32)
