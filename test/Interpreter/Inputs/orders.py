# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program whose errors depend on the order of its programs.

    orders.py KIND    one of PROGRAMS
"""
import sys

# By kind: ranks that launch (None: all), programs of a launch, and what each
# program does; "%flags" and "%other" are flags of this rank and of the next.
PROGRAMS = {
    # Program 0 waits for the last one of its launch.
    "last-signals": (None, 4, {
        0: ["%s = iris.wait %ctx, %flags[%c0] ge %i1 : i32, !words"],
        3: ["iris.signal set %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
    }),
    # Both ranks wait before they signal.
    "cycle": (None, 1, {
        0: ["%s = iris.wait %ctx, %flags[%c0] ge %i1 owed_by(%next) : i32, !words",
            "iris.signal set %ctx, %i1, %flags[%c0] to %next : i32, !words"],
    }),
    # Only rank 0 launches, and waits for its peer programs.
    "no-launch": (0, 1, {
        0: ["iris.barrier %ctx, %state : !words"],
    }),
    # The wait misses the value 1 if both have added before it.
    "missed": (None, 3, {
        0: ["%s = iris.wait %ctx, %flags[%c0] eq %i1 : i32, !words"],
        1: ["iris.signal add %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
        2: ["iris.signal add %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
    }),
    # Program 1 waits forever if program 0 has not begun after 60 steps.
    "late": (None, 2, {
        0: ["iris.signal set %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
        1: ["scf.for %i = %c0 to %c60 step %c1 {",
            "  iris.signal add %ctx, %i1, %flags[%c1] to %rank : i32, !words",
            "}",
            "%v = iris.atomic_rmw add %ctx, %i0, %flags[%c0] : i32, !words",
            "%early = arith.cmpi eq, %v, %i0 : i32",
            "scf.if %early {",
            "  %s = iris.wait %ctx, %flags[%c2] ge %i1 : i32, !words",
            "}"],
    }),
    # A wait by hand.
    "spin": (None, 2, {
        0: ["scf.while : () -> () {",
            "  %v = iris.atomic_rmw add %ctx, %i0, %flags[%c0] : i32, !words",
            "  %again = arith.cmpi eq, %v, %i0 : i32",
            "  scf.condition(%again)",
            "} do {",
            "  scf.yield",
            "}"],
        1: ["iris.signal set %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
    }),
    # The same, and it counts: its iterations differ.
    "counted-spin": (None, 2, {
        0: ["%n = scf.while (%m = %i0) : (i32) -> i32 {",
            "  %v = iris.atomic_rmw add %ctx, %i0, %flags[%c0] : i32, !words",
            "  %again = arith.cmpi eq, %v, %i0 : i32",
            "  scf.condition(%again) %m : i32",
            "} do {",
            "^bb0(%m: i32):",
            "  %more = arith.addi %m, %i1 : i32",
            "  scf.yield %more : i32",
            "}"],
        1: ["iris.signal set %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
    }),
    # Both programs poll by hand before they signal.
    "poll-cycle": (None, 2, {
        n: ["scf.while : () -> () {",
            f"  %v = iris.atomic_rmw add %ctx, %i0, %flags[%c{n}] : i32, !words",
            "  %again = arith.cmpi eq, %v, %i0 : i32",
            "  scf.condition(%again)",
            "} do {",
            "  scf.yield",
            "}",
            f"iris.signal set %ctx, %i1, %flags[%c{1 - n}] to %rank : i32, !words"]
        for n in range(2)
    }),
    # The same with a wait, which needs no bound.
    "wait": (None, 2, {
        0: ["%s = iris.wait %ctx, %flags[%c0] ne %i0 : i32, !words"],
        1: ["iris.signal set %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
    }),
    # Each program adds to one flag: n! orders.
    "adds": (None, 4, {
        n: ["%v = iris.atomic_rmw add %ctx, %i1, %flags[%c0] : i32, !words"]
        for n in range(4)
    }),
    # Each to its own: they do not conflict.
    "apart": (None, 4, {
        n: [f"%v = iris.atomic_rmw add %ctx, %i1, %flags[%c{n}] : i32, !words"]
        for n in range(4)
    }),
    # A race in few orders: program 1 reads if program 0 was late.
    "rare-race": (None, 2, {
        0: ["iris.store %ctx, %t, %data[%c0] to %rank : tensor<1xi32>, !words",
            "iris.signal set %ctx, %i1, %flags[%c0] to %rank : i32, !words"],
        1: ["%v = iris.atomic_rmw add %ctx, %i0, %flags[%c0] sem(acq_rel) : i32, !words",
            "%early = arith.cmpi eq, %v, %i0 : i32",
            "scf.if %early {",
            "  %d = iris.load %ctx, %data[%c0] from %rank : !words -> tensor<1xi32>",
            "}"],
    }),
}


def program(kind):
    only, programs, cases = PROGRAMS[kind]
    body = "".join(
        f"    case {n} {{\n" + "".join(f"      {line}\n" for line in lines) +
        "      scf.yield\n    }\n" for n, lines in cases.items())
    group = "" if only is None else f" group([{only}])"
    return f"""!words = memref<?xi32, #iris.symmetric>
gpu.module @kernels {{
  gpu.func @k(%ctx: !iris.ctx, %flags: !words, %data: !words, %state: !words) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c60 = arith.constant 60 : index
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %t = tensor.splat %i1 : tensor<1xi32>
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %program = gpu.block_id x
    scf.index_switch %program
{body}    default {{
      scf.yield
    }}
    gpu.return
  }}
}}
func.func @main(%ctx: !iris.ctx) {{
  %programs = arith.constant {programs} : index
  %c4 = arith.constant 4 : index
  %c2048 = arith.constant 2048 : index
  %flags = iris.alloc(%c4) : !words
  %data = iris.alloc(%c4) : !words
  %state = iris.alloc(%c2048) : !words
  iris.launch @kernels::@k programs(%programs){group}
      args(%ctx, %flags, %data, %state : !iris.ctx, !words, !words, !words)
  iris.sync %ctx
  return
}}
"""


if len(sys.argv) != 2 or sys.argv[1] not in PROGRAMS:
    sys.exit("usage: orders.py " + "|".join(PROGRAMS))
print(program(sys.argv[1]))
