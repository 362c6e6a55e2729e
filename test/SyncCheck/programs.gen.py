# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Right programs, of which iris-check-sync must warn in no way: all sources of the
examples, the tutorial and the tests that execute programs, generated suites, as
they are written and with the library's kernels expanded, calls of each variant of
the library, and the kernels of all its requests.

Programs with a known error are in WRONG, with what is found in them.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "docs/tutorial", "test/Execution", "test/Interpreter")
WRONG = {
    "docs/tutorial/hang.mlir": "'iris.wait' op never ends: no signal of the module",
    "docs/tutorial/overwritten.mlir": "'iris.store' op writes what another rank reads",
    "examples/08-wrong-sum/all_reduce.mlir": "'tile.store' op writes what another rank reads",
    "test/Execution/packets-missing.mlir": "'iris.packet_load' op never ends: not all of the packets",
    "test/Execution/wait-missing.mlir": "'iris.wait' op never ends: no signal makes",
    "test/Execution/wait-outside.mlir": "'iris.wait' op never ends: no signal of the",
}
# Suites of ../Execution/Inputs/gen.py and their elements.
SUITES = {
    "atomics": "i32",
    "barriers-few": "",
    "collectives-few": "f32",
    "collectives-few-rounds": "f32",
    "packets-short": "f16",
    "signals": "i32",
}
LONG_SUITES = {
    "accesses": "f16",
    "collectives": "f16 i8 f8E4M3FN",
    "counted": "f32",
    "elements": "f16",
    "epilogues": "f16",
    "heap": "",
    "matmul": "f16",
    "matmul_ops": "f16",
    "matmul-small": "f16",
    "memory": "f16",
    "modifiers": "f32",
    "values": "i8",
    "views": "f32",
}
# What the library's default kernels are requested for.
TARGETS = ("gfx942", "sm_90a")

# Warnings and errors go to standard error. The programs of suites are long.
CHECK = "iris-opt --iris-check-sync={} %t.mlir -o /dev/null 2>&1 | count 0"
USUAL, DEEP = "max-ops=100000", "max-ops=5000000"


def suite_text(suite, element, isLong):
    depth = DEEP if isLong else USUAL
    return (("# REQUIRES: full\n" if isLong else "")
            + "# RUN: %python %iris_src_root/test/Execution/Inputs/gen.py "
              f"{suite} {element} > %t.mlir\n"
            + f"# RUN: {CHECK.format(depth)}\n"
            + "# RUN: iris-compile %t.mlir -Wno-sync --until=expand -o %t.expanded.mlir\n"
            + f"# RUN: {CHECK.format(depth).replace('%t.mlir', '%t.expanded.mlir')}\n")


def tests():
    for folder in FOLDERS:
        runs = ""
        for path in sorted((ROOT / folder).rglob("*.mlir")):
            if path.stem.endswith("-invalid"): # the verifier refuses it
                continue
            name = str(path.relative_to(ROOT))
            run = f"# RUN: iris-opt --iris-check-sync %iris_src_root/{name} -o /dev/null 2>&1"
            if name in WRONG:
                prefix = path.stem.upper()
                runs += (f"{run} \\\n# RUN:   | FileCheck %s --check-prefix={prefix}\n"
                         f"# {prefix}: warning: {WRONG[name]}\n"
                         f"# {prefix}-NOT: warning:\n")
            else:
                runs += f"{run} | count 0\n"
        yield folder.split("/")[-1].lower() + "-sources", runs
    for table, isLong in ((SUITES, False), (SUITES, True), (LONG_SUITES, True)):
        for suite, elements in table.items():
            for element in elements.split() or [""]:
                words = [suite, *element.split()]
                yield ("-".join(words).replace("_", "-").lower()
                       + ("-full" if isLong else ""),
                       suite_text(suite, element, isLong))
    # Without their barriers, most of the calls leave accesses that nothing orders:
    # they are followed.
    expand = "iris-opt --split-input-file --iris-expand-pipeline"
    yield ("library-calls",
           "# RUN: %python %iris_src_root/test/SyncCheck/Inputs/calls.py > %t.mlir\n"
           f"# RUN: {expand} %t.mlir -o %t.expanded.mlir\n"
           "# RUN: iris-opt --split-input-file --iris-check-sync=max-ops=1000000 "
           "%t.expanded.mlir -o /dev/null 2>&1 | count 0\n"
           "# RUN: sed '/iris.barrier/d' %t.expanded.mlir > %t.broken.mlir\n"
           "# RUN: iris-opt --split-input-file --iris-check-sync=max-ops=1000000 "
           "%t.broken.mlir -o /dev/null 2>&1 | FileCheck %s\n"
           "# CHECK-COUNT-10: nothing orders them\n")
    for name in ("barriers", "matmuls"):
        yield (f"kernels-{name}",
               f"# RUN: iris-opt %iris_src_root/test/Kernels/{name}.mlir "
               "--iris-expand-pipeline --iris-check-sync -o /dev/null 2>&1 | count 0\n")
    for target in TARGETS:
        yield (f"library-{target}".replace("_", "-") + "-full",
               "# REQUIRES: full\n"
               f"# RUN: iris-bench --nccl --requests=%t.mlir --target={target}\n"
               "# RUN: iris-opt --split-input-file --iris-expand-pipeline "
               "--iris-check-sync %t.mlir -o /dev/null 2>&1 | count 0\n")
