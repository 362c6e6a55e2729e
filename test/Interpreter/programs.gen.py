# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that check themselves, in the interpreter: those of ../Execution and
of the examples, and short generated suites.

They run through no pass, so a program that fails here but not on a device has
another meaning than its author thinks, or the interpreter is wrong.
"""

# Folder: programs that check themselves on any number of ranks.
PROGRAMS = {
    "test/Execution":
        "carried-tiles ceil-divisions copied-signs dims expanded-shapes "
        "f16-of-bf16 float8-casts float8-constants guarded-arithmetic "
        "guarded-bits guarded-loops guarded-words host-divisions "
        "host-integers-to-bf16 host-views infinite-fractions infinities-f8 "
        "integer-ranges integers-to-bf16 library-names loop-bounds "
        "masked-transfers math negated-roundings negated-vectors "
        "number-extrema offset-arguments overflow-flags "
        "overlapping-arguments packed-sums polled-counters "
        "scalar-conditions selected-zeros short-limits short-negation "
        "traces traces-collective transposed-views trip-counts "
        "truncated-comparisons unsigned-conversions vector-positions "
        "vector-slices views-of-bytes wide-cases",
    "examples/01-message-passing": "store_signal put_signal atomic_handshake",
    "examples/02-all-gather": "all_gather",
    "examples/08-wrong-sum": "second_barrier two_halves",
    "docs/tutorial": "all_gather remote_store signal_wait",
}
# Programs with large matmuls; they take long.
LONG = {
    "test/Execution": "matmul-starts",
    "examples/04-matmul": "matmul",
    "examples/05-all-gather-matmul": "all_gather_matmul",
    "examples/06-matmul-all-scatter": "matmul_all_scatter",
    "docs/tutorial": "fused_matmul",
}
# Suites of ../Execution/Inputs/gen.py and their elements.
SUITES = {
    "atomics": "i32 f32",
    "barriers-few": "",
    "casts": "",
    "collectives-few-rounds": "f32",
    "memory": "f16",
    "packets-short": "f16",
    "signals": "i32",
    "values": "i8 f16",
    "views": "f32",
}
LONG_SUITES = {
    "counted": "f32",
    "accesses": "f16 i8",
    "collectives": "f16 i8 f8E4M3FN",
    "elements": "f16",
    "epilogues": "f16",
    "heap": "",
    "matmul": "f16 i8 f8E4M3FN",
    "matmul_ops": "f16",
    "modifiers": "f32",
}


# Suites whose roots need several ranks.
FEWEST_RANKS = {"collectives-few-rounds": 2}


def runs(program, ranks):
    return "".join(f"# RUN: iris-run --device=reference --schedule-seed={n} -n {n} "
                   f"{program}\n" for n in ranks)


def text(what, before, program, isLong, fewest=1):
    requires = "# REQUIRES: full\n" if isLong else ""
    ranks = (1, 2, 3, 4, 8) if isLong else (1, 2, 3)
    return (f"# {what}\n{requires}{before}"
            + runs(program, [n for n in ranks if n >= fewest]))


def tests():
    for table, always in ((PROGRAMS, False), (PROGRAMS, True), (LONG, True)):
        for folder, names in table.items():
            for name in names.split():
                title = "-".join((folder.split("/")[-1], name))
                yield (title.replace("_", "-") + ("-full" if always else ""),
                       text(f"{folder}/{name}.mlir", "",
                            f"%iris_src_root/{folder}/{name}.mlir", always))
    for table, isLong in ((SUITES, False), (SUITES, True), (LONG_SUITES, True)):
        for suite, elements in table.items():
            for element in elements.split() or [""]:
                words = [suite, *element.split()]
                before = ("# RUN: %python %iris_src_root/test/Execution/Inputs/"
                          f"gen.py {' '.join(words)} > %t.mlir\n")
                yield ("-".join(words).replace("_", "-").lower()
                       + ("-full" if isLong else ""),
                       text(" ".join(words), before, "%t.mlir", isLong,
                            FEWEST_RANKS.get(suite, 1)))
