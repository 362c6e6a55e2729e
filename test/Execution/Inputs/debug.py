#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong ranks, indices and sizes in debug runs, one op after the other.

    debug.py IRIS_COMPILE IRIS_RUN [--ranks=1,2,4,8] [--only=CASE]

Each op has two programs. In the first, program 1 of the last rank uses a
wrong rank, index or size; the run must end with exit status 1 on every rank,
and the message must name the op, its source location, the program and the
number. All programs then enter a barrier, so that the other programs wait for
the wrong one. In the second, the number is the largest valid one, and nothing
is reported.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

S, N = "memref<?xf32, #iris.symmetric>", "memref<?xi32, #iris.symmetric>"
T = "tensor<16xf32>"
TILE = f"%t = tile.load %b[%c0] : {S} -> {T}\n"
RANK = r"names rank {n}; expected 0 to {m}, the ranks of the world"
INDEX = (r"accesses index 64 of dimension 0 of argument {arg}; expected 0 to 63")

# Name: the op as the message spells it, the wrong and the right value of %x
# (expressions of n, the number of ranks), the code, the message.
CASES = {
    "translate": ("iris.translate", "n", "n - 1",
                  f"%p = iris.translate %ctx, %b to %x : {S} -> "
                  "memref<?xf32, #iris.peer>\n"
                  "%w = memref.load %p[%c0] : memref<?xf32, #iris.peer>\n"
                  f"memref.store %w, %b[%c0] : {S}", RANK),
    "load": ("iris.load", "n", "n - 1",
             f"%w = iris.load %ctx, %b[%c0] from %x : {S} -> {T}\n"
             f"tile.store %w, %b[%c0] : {T}, {S}", RANK),
    "store": ("iris.store", "n", "n - 1",
              TILE + f"iris.store %ctx, %t, %b[%c0] to %x : {T}, {S}", RANK),
    "load-negative": ("iris.load", "0 - 1", "0",
                      f"%w = iris.load %ctx, %b[%c0] from %x : {S} -> {T}\n"
                      f"tile.store %w, %b[%c0] : {T}, {S}",
                      r"names rank -1; expected 0 to {m}"),
    "gather": ("iris.gather", "n", "n - 1",
               "%g = tile.range : tensor<16xindex>\n"
               f"%w = iris.gather %ctx, %b[%g] from %x : {S}, tensor<16xindex> "
               f"-> {T}\ntile.store %w, %b[%c0] : {T}, {S}", RANK),
    "scatter": ("iris.scatter", "n", "n - 1",
                TILE + "%g = tile.range : tensor<16xindex>\n"
                f"iris.scatter %ctx, %t, %b[%g] to %x : {T}, {S}, "
                "tensor<16xindex>", RANK),
    "get": ("iris.get", "n", "n - 1",
            f"iris.get %ctx, %b[%c0], %b[%c0] from %x shape [16] : {S}, {S}",
            RANK),
    "put": ("iris.put", "n", "n - 1",
            f"iris.put %ctx, %b[%c0], %b[%c0] to %x shape [16] : {S}, {S}",
            RANK),
    "copy-from": ("iris.copy", "n", "n - 1",
                  "iris.copy %ctx, %b[%c0], %b[%c0] from %x to %c0 shape [16] : "
                  f"{S}, {S}", RANK),
    "copy-to": ("iris.copy", "n", "n - 1",
                "iris.copy %ctx, %b[%c0], %b[%c0] from %c0 to %x shape [16] : "
                f"{S}, {S}", RANK),
    "atomic-rank": ("iris.atomic_rmw", "n", "n - 1",
                    f"%w = iris.atomic_rmw add %ctx, %v, %f[%c0] to %x : i32, {N}",
                    RANK),
    "atomic-tile-rank": ("iris.atomic_rmw", "n", "n - 1",
                         TILE + f"%w = iris.atomic_rmw add %ctx, %t, %b[%c0] to "
                         f"%x : {T}, {S}", RANK),
    "atomic-index": ("iris.atomic_rmw", "64", "63",
                     f"%w = iris.atomic_rmw add %ctx, %v, %f[%x] : i32, {N}",
                     INDEX),
    "cas-rank": ("iris.atomic_cas", "n", "n - 1",
                 f"%w = iris.atomic_cas %ctx, %v, %v, %f[%c0] to %x : i32, {N}",
                 RANK),
    "cas-index": ("iris.atomic_cas", "64", "63",
                  f"%w = iris.atomic_cas %ctx, %v, %v, %f[%x] : i32, {N}", INDEX),
    "signal-rank": ("iris.signal", "n", "n - 1",
                    f"iris.signal set %ctx, %v, %f[%c0] to %x : i32, {N}", RANK),
    "signal-index": ("iris.signal", "64", "63",
                     f"iris.signal add %ctx, %v, %f[%x] to %c0 : i32, {N}", INDEX),
    "wait-rank": ("iris.wait", "n", "n - 1",
                  f"%w = iris.wait %ctx, %f[%c0] ge %z from %x : i32, {N}", RANK),
    "wait-index": ("iris.wait", "64", "63",
                   f"%w = iris.wait %ctx, %f[%x] ge %z : i32, {N}", INDEX),
    "wait-negative": ("iris.wait", "0 - 3", "0",
                      f"%w = iris.wait %ctx, %f[%x] ge %z : i32, {N}",
                      "accesses index -3 of dimension 0 of argument {arg}"),
    "packet-rank": ("iris.packet_store", "n", "n - 1",
                    TILE + "iris.packet_store %ctx, %t, %f[%c0] to %x flag(%v) : "
                    f"{T}, {N}", RANK),
    "packet-size": ("iris.packet_store", "36", "32",
                    TILE + f"iris.packet_store %ctx, %t, %f[%x] flag(%v) : {T}, "
                    f"{N}", "needs 68 elements in dimension 0 of argument {arg}, "
                    "which has 64"),
    "packet-load": ("iris.packet_load", "36", "32",
                    f"%w = iris.packet_load %ctx, %f[%x] flag(%z) : {N} -> {T}\n"
                    f"tile.store %w, %b[%c0] : {T}, {S}",
                    "needs 68 elements in dimension 0 of argument {arg}, "
                    "which has 64"),
    "member": ("iris.group_member", "n", "n - 1",
               "%w = iris.group_member %ctx, %x : index\n"
               f"%u = iris.load %ctx, %b[%w] from %c0 : {S} -> {T}\n"
               f"tile.store %u, %b[%c0] : {T}, {S}",
               "names member {n}; expected 0 to {m}, the members of the group"),
    "memref-load": ("memref.load", "64", "63",
                    f"%w = memref.load %f[%x] : {N}\n"
                    f"memref.store %w, %f[%c0] : {N}", INDEX),
    "memref-store": ("memref.store", "64", "63",
                     f"memref.store %v, %f[%x] : {N}", INDEX),
    "affine-store": ("memref.store", "64", "63",
                     f"affine.store %v, %f[%x] : {N}", INDEX),
    "vector-load": ("vector.load", "61", "60",
                    f"%w = vector.load %f[%x] : {N}, vector<4xi32>\n"
                    f"vector.store %w, %f[%c0] : {N}, vector<4xi32>",
                    "needs 65 elements in dimension 0 of argument {arg}, which "
                    "has 64"),
    "view": ("memref.subview", "49", "48",
             "%w = memref.subview %f[%x] [16] [1] : " + N + " to memref<16xi32, "
             "strided<[1], offset: ?>, #iris.symmetric>\n"
             "memref.store %v, %w[%c0] : memref<16xi32, strided<[1], offset: ?>, "
             "#iris.symmetric>",
             "ends with index 64 of dimension 0 of argument {arg}; expected 0 "
             "to 63"),
    "view-index": ("memref.store", "16", "15",
                   "%w = memref.subview %f[%c0] [16] [1] : " + N + " to "
                   "memref<16xi32, strided<[1], offset: ?>, #iris.symmetric>\n"
                   "memref.store %v, %w[%x] : memref<16xi32, strided<[1], "
                   "offset: ?>, #iris.symmetric>",
                   "accesses index 16 of dimension 0 of a view of argument "
                   "{arg}; expected 0 to 15"),
    # Only the buffer's real size counts, whatever a cast claims.
    "cast": ("memref.store", "64", "63",
             f"%w = memref.cast %f : {N} to memref<65xi32, #iris.symmetric>\n"
             "memref.store %v, %w[%x] : memref<65xi32, #iris.symmetric>", INDEX),
    "barrier": ("iris.barrier", None, None,
                "%w = memref.subview %s[0] [%x] [1] : " + N + " to "
                "memref<?xi32, strided<[1]>, #iris.symmetric>\n"
                "iris.barrier %ctx, %w : memref<?xi32, strided<[1]>, "
                "#iris.symmetric>",
                "needs {state} elements of state, 32 for each program and rank; "
                "a view of argument 3 has {short}"),
}


def program(name, wrong):
    op, bad, good, code, _ = CASES[name]
    value = bad if wrong else good
    if name == "barrier":
        value = "64 * n - 1" if wrong else "64 * n"
    # Only program 1 of the last rank, except for a barrier, which every program
    # enters.
    all_programs = name == "barrier"
    tokens = value.split()
    lines, last = [], None
    for i, token in enumerate(tokens):
        if token in "+-*" and i:
            continue
        if token == "n":
            now = "%n"
        else:
            now = f"%k{i}"
            lines.append(f"{now} = arith.constant {token} : index")
        if last is not None:
            operation = {"-": "subi", "*": "muli", "+": "addi"}[tokens[i - 1]]
            lines.append(f"%m{i} = arith.{operation} {last}, {now} : index")
            now = f"%m{i}"
        last = now
    body = "\n".join(lines) + "\n" + code.replace("%x", last)
    condition = "%true" if all_programs else "%mine"
    return f"""gpu.module @kernels {{
  gpu.func @k(%ctx: !iris.ctx, %b: {S}, %f: {N}, %s: {N}) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %z = arith.constant 0 : i32
    %v = arith.constant 1 : i32
    %n = iris.num_ranks %ctx : index
    %rank = iris.rank %ctx : index
    %pid = gpu.block_id x
    %next = arith.addi %rank, %c1 : index
    %isLast = arith.cmpi eq, %next, %n : index
    %isOne = arith.cmpi eq, %pid, %c1 : index
    %mine = arith.andi %isLast, %isOne : i1
    scf.if {condition} {{
{body}
    }}
    iris.barrier %ctx, %s : {N}
    iris.expect_eq %v, %v, "came through" : i32
    gpu.return
  }}
}}
func.func @main(%ctx: !iris.ctx) {{
  %c64 = arith.constant 64 : index
  %p = arith.constant 2 : index
  %n = iris.num_ranks %ctx : index
  %size = arith.muli %n, %c64 : index
  %b = iris.alloc(%c64) : {S}
  %f = iris.alloc(%c64) : {N}
  %s = iris.alloc(%size) : {N}
  iris.launch @kernels::@k programs(%p) args(%ctx, %b, %f, %s
      : !iris.ctx, {S}, {N}, {N})
  iris.sync %ctx
  return
}}
"""


def check_wrong(name, done, ranks, path):
    """What is wrong with the report; nothing if it is right."""
    op, _, _, _, message = CASES[name]
    if done.returncode != 1:
        return f"exit status {done.returncode}"
    message = message.format(n=ranks, m=ranks - 1, arg=2,
                             state=64 * ranks, short=64 * ranks - 1)
    text = re.escape(f"{op} at {path}:") + r"\d+:\d+" + re.escape(
        " in kernels::k, program (") + r"[01]" + re.escape(f", 0, 0), {message}")
    if not re.search(r"iris-run: rank \d: " + text, done.stderr):
        return "the report is missing"
    reporting = set(re.findall(r"^iris-run: rank (\d+): ", done.stderr, re.M))
    if reporting != {str(r) for r in range(ranks)}:
        return f"only ranks {sorted(reporting)} report"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("compiler")
    parser.add_argument("runner")
    parser.add_argument("--ranks", default="1,2,4,8")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = runs = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in [options.only] if options.only else CASES:
            for wrong in (True, False):
                path = os.path.join(directory, f"{name}.mlir")
                package = os.path.join(directory, "program.iris")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(program(name, wrong))
                built = subprocess.run(
                    [options.compiler, path, "--debug", "--target=host", "-O1",
                     "-o", package], capture_output=True, text=True)
                if built.returncode != 0:
                    failed += 1
                    print(f"WRONG: {name}: {built.stderr}")
                    continue
                for ranks in map(int, options.ranks.split(",")):
                    runs += 1
                    done = subprocess.run(
                        [options.runner, "--debug", "--timeout=300", "-n",
                         str(ranks), package], capture_output=True, text=True,
                        timeout=240)
                    problem = (check_wrong(name, done, ranks, path) if wrong else
                               None if done.returncode == 0 else "not right")
                    if problem:
                        failed += 1
                        print(f"WRONG: {name} on {ranks} ranks, "
                              f"{'wrong' if wrong else 'right'}: {problem}\n"
                              f"{done.stdout}{done.stderr}")
    print(f"{len(CASES)} cases, {runs} runs: {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
