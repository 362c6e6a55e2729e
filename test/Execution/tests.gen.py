# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated programs on host ranks: one test for each row and element.

Inputs/gen.py writes the program of a suite. It checks itself: iris-run exits
with status 0 only if every check passes on every rank. ../README.md says how to
add a row.

Elements differ in how ops are lowered. So in the short forms some elements are
compiled as users do it, and the others at -O0, which takes a quarter of the time
and shows that kernels are right at that level too. --full is at -O3 throughout.
"""

USUAL = "1 2 3 4 8"
TO_FOUR = "1 2 3 4"
TO_EIGHT = "1 2 3 4 5 6 7 8"
BASIC = "i8 i16 i32 i64 f16 bf16 f32 f64"
OPERANDS = "i8 f16 bf16 f32 f8E4M3FN"



def at_levels(elements, ranks, optimized):
    """A row for the elements that are compiled at -O3, and one for the others."""
    others = [e for e in elements.split() if e not in optimized.split()]
    return (optimized, ranks, ""), (" ".join(others), ranks, "-O0")


# Suite; what it checks; (elements, numbers of ranks, options)... The options are
# gen.py's, and iris-compile's -O0.
# Tests with --full need `--param full=1`.
TABLE = [
    ("accesses",
     "load, store, get, put and copy: tile sizes 1 to 2048 in one and two "
     "dimensions, tiles past every edge (windows.py)",
     *at_levels(BASIC, USUAL, "i16 f32"),
     (BASIC, USUAL, "--full")),
    ("atomics",
     "every atomic, ordering and scope, with and without contention",
     *at_levels(BASIC, USUAL, "i64 f16"),
     (BASIC, USUAL, "--full")),
    ("barriers",
     "ten thousand barriers, a thousand of them (--full: all) with data",
     ("", USUAL, ""),
     ("", USUAL, "--full")),
    ("casts",
     "conversions between all element types, and how they round",
     ("", "1", "")),
    ("collectives",
     "every collective, variant and reduction; --full: all sizes",
     ("f8E4M3FNUZ", "5", "-O0"),
     ("f8E5M2FNUZ", "3", "-O0"),
     ("i16", "2", "-O0"),
     ("f64 i64", "2 3", "-O0"),
     ("f32", "2 5", ""),
     ("f8E5M2 ui8", "2 8", "-O0"),
     ("f8E4M3FN", "1 2 3", "-O0"),
     ("i32", "1 2 5", "-O0"),
     ("bf16", "2 3 8", ""),
     ("i8", "1 2 3 8", "-O0"),
     ("f16", "1 2 3 5 8", ""),
     (BASIC + " ui8 f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ", "1 2 3 4 5 8",
      "--full")),
    ("collectives-rounds",
     "messages in several rounds through a small workspace, for groups of any "
     "size and of five; alternating tile sizes",
     ("f32", "2 3 5 7 8", ""),
     ("f16", "5", "--group 4,0,3,1,2 -O0")),
    ("elements",
     "gather and scatter, and transfers with mask and else",
     *at_levels(BASIC, "1 3 4", "i8 f64"),
     (BASIC, USUAL, "--full")),
    ("epilogues",
     "row and column statistics of matmuls; --full: larger tiles, all kinds "
     "(epilogues.py)",
     *at_levels(OPERANDS, "1 2", "f16 i8"),
     ("f16", TO_FOUR, "--full")),
    *((suite,
       "fused matmuls: variants, ragged shapes, calls back to back; --full: all "
       "shapes (fused.py)",
       ("f16", USUAL, ""),
       ("f16", TO_EIGHT, "--full"),
       *at_levels("bf16 f32 i8", "3", "bf16"),
       ("f8E5M2", "2", "-O0"),
       ("f16", "4", "--group 3,0,2 -O0"))
      for suite in ("fused-all-gather-matmul", "fused-matmul-all-gather",
                    "fused-matmul-all-reduce", "fused-matmul-reduce-scatter")),
    # The "element" seeds the order.
    ("heap",
     "hundreds (--full: thousands) of allocations and frees in random order",
     ("", USUAL, ""),
     ("a", "1 4", "--full"),
     ("b", "2 4", "--full"),
     ("c", "3 4", "--full"),
     ("d", "4", "--full"),
     ("e", "4 8", "--full")),
    ("matmul",
     "tile.matmul: layouts, ragged sizes, regions; --full: all shapes (matmul.py)",
     *at_levels("bf16 f8E4M3FN", "2", "bf16"),
     ("f32", "3", "-O0"),
     ("i8", "4", ""),
     ("f16", TO_FOUR, ""),
     (OPERANDS + " f8E4M3FNUZ f8E5M2 f8E5M2FNUZ", TO_FOUR, "--full")),
    ("matmul_ops",
     "iris.matmul: results, layouts, epilogues; --full: all epilogues, whole and "
     "partial tiles (fused.py)",
     ("f8E4M3FN", "1", ""),
     ("bf16 f32 i8", "2", "-O0"),
     ("f16", "1 2", ""),
     (OPERANDS, "3", "--full")),
    ("matmul-parts",
     "tile.matmul of subviews of buffers; --full: all regions (matmul.py)",
     *at_levels(OPERANDS, "1 2 3", "bf16 f8E4M3FN"),
     ("f16", TO_FOUR, "--full")),
    ("matmul-small",
     "tile.matmul with 16 and 32 rows; --full: more layouts and waves (matmul.py)",
     *at_levels(OPERANDS, "1 2", "f32 i8"),
     ("f16", TO_FOUR, "--full")),
    ("memory",
     "scratch buffers (memory.py)",
     *at_levels(BASIC, USUAL, "f16 i64")),
    ("modifiers",
     "every cache modifier of every access, with and without `volatile`",
     *at_levels("f16 f32", "1 2 4", "f16"),
     ("i8 i16 i32 i64 bf16 f64", "2 4", "--full")),
    ("packets",
     "packets: rings and all-to-all over wrapping epochs, buffer edges",
     *at_levels(BASIC, USUAL, "i32 bf16"),
     (BASIC, USUAL, "--full")),
    ("signals",
     "signal and wait: every comparison, and across a wrap of the epoch",
     ("i32 i64", USUAL, "")),
    ("values",
     "reductions, shapes, loops and strided views",
     *at_levels(BASIC, "1 3", "bf16 f32")),
    ("views",
     "every view op through every access, and what stores change (views.py)",
     *at_levels("i32 f32", "1 3", "f32")),
]


def script(what, arguments, level, ranks):
    requires = "# REQUIRES: full\n" if "--full" in arguments else ""
    runs = "".join(f"# RUN: iris-run -n {n} %t.iris\n" for n in ranks.split())
    return (f"# {what}\n{requires}"
            "# RUN: %python %iris_src_root/test/Execution/Inputs/gen.py "
            f"{' '.join(arguments)} > %t.mlir\n"
            f"# RUN: iris-compile %t.mlir --target=host{level} -o %t.iris\n{runs}")


def tests():
    for suite, what, *rows in TABLE:
        for elements, ranks, options in rows:
            words = options.split()
            level = " -O0" if "-O0" in words else ""
            words = [word for word in words if word != "-O0"]
            for element in elements.split() or [""]:
                arguments = [suite, *element.split(), *words]
                name = [suite.replace("_", "-"), *element.lower().split(),
                        *(word[2:] for word in words if word.startswith("--"))]
                yield "-".join(name), script(what, arguments, level, ranks)
