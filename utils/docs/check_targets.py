#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the table of what differs between targets with what the compiler does.

    check_targets.py IRIS_OPT PAGE.md [--targets=A,B]

The page has the table between `<!-- begin: targets -->` and `<!-- end -->`. A
column is one limit. Each number is tried: a kernel at the limit must compile up
to stage `abi`, and one beyond it must not. For "yes" and "no" there is one
kernel. Without --targets, every target must have a row.
"""
import argparse
import re
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- begin: targets -->\n", "<!-- end -->\n"


def kernel(body, arguments="", warps=4):
    return ("gpu.module @kernels {\n"
            f"  gpu.func @k({arguments}) kernel attributes "
            f"{{iris.num_warps = {warps} : i32}} {{\n"
            + "\n".join("    " + line for line in body)
            + "\n    gpu.return\n  }\n}\n")


def alloca(kib):
    return kernel([f"%a = memref.alloca() : memref<{int(kib * 1024)}xi8>",
                   "memref.store %x, %a[%i] : "
                   f"memref<{int(kib * 1024)}xi8>"], "%x: i8, %i: index")


def transpose(elements):
    rows = 1 << (elements.bit_length() - 1) // 2
    columns = elements // rows
    return kernel(
        [f"%t = tile.load %b[%i, %i] : memref<?x?xf32> -> tensor<{rows}x{columns}xf32>",
         f"%u = tile.transpose %t [1, 0] : tensor<{rows}x{columns}xf32> -> "
         f"tensor<{columns}x{rows}xf32>",
         f"tile.store %u, %b[%i, %i] : tensor<{columns}x{rows}xf32>, memref<?x?xf32>"],
        "%b: memref<?x?xf32>, %i: index", warps=8)


def matmul(element="f16", shape=(64, 64), block=64, warps=4, named=""):
    rows, columns = shape
    sum_ = "i32" if element == "i8" else "f32"
    result = f"tensor<{rows}x{columns}x{sum_}>"
    buffer = f"memref<?x?x{'i8' if named.startswith('as') else element}>"
    return kernel(
        [f"%t = tile.matmul %a[%i, %i], %a[%i, %i] k(%i) block({block}) {named}: "
         f"{buffer}, {buffer} -> {result}",
         f"tile.store %t, %c[%i, %i] : {result}, memref<?x?x{sum_}>"],
        f"%a: {buffer}, %c: memref<?x?x{sum_}>, %i: index", warps)


def square(elements):
    """Rows and columns of a tile of so many elements."""
    rows = 1 << (elements.bit_length() - 1) // 2
    return rows, elements // rows


# Heading: kernel at a limit, and the next limit; or kernels for "yes".
LIMITS = {
    "`memref.alloca`, KiB": (alloca, lambda n: n + 1 / 16),
    "`tile.transpose`, f32 elements": (transpose, lambda n: 2 * n),
    "most warps": (lambda n: kernel([], warps=n),
                   lambda n: 2 * n if n < 32 else None),
    "most elements of a matmul by 4 warps":
        (lambda n: matmul(shape=square(n), block=32), lambda n: 2 * n),
    "largest k-block of 64 x 64, f16": (lambda n: matmul(block=n),
                                        lambda n: 2 * n),
    "least k-block, f16": (lambda n: matmul(block=n), lambda n: n // 2),
    "i8": (lambda n: matmul("i8", block=n), lambda n: n // 2),
}
CHOICES = {
    "matmul of f32": [matmul("f32"), matmul("f32", named="precision(tf32) ")],
    "of f8E4M3FN, f8E5M2": [matmul(named=f"as({a}, {b}) ")
                            for a in ("f8E4M3FN", "f8E5M2")
                            for b in ("f8E4M3FN", "f8E5M2")],
    "of f8E4M3FNUZ, f8E5M2FNUZ": [matmul(named=f"as({a}, {b}) ")
                                  for a in ("f8E4M3FNUZ", "f8E5M2FNUZ")
                                  for b in ("f8E4M3FNUZ", "f8E5M2FNUZ")],
}


def read_tables(path):
    """{target: {heading: cell}}, from all tables between the comments."""
    with open(path, encoding="utf-8") as file:
        text = file.read().split(BEGIN)[1].split(END)[0]
    rows, headings = {}, []
    for line in text.splitlines():
        if not line.startswith("|"):
            headings = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not headings:
            headings = cells
        elif not set(line) <= set("|-: "):
            for target in cells[0].split(", "):
                rows.setdefault(target, {}).update(zip(headings[1:], cells[1:]))
    return rows


def probes(heading, cell):
    """Kernels, and whether they compile."""
    if heading in CHOICES:
        if cell not in ("yes", "no"):
            raise ValueError(f"{heading} is {cell}; expected yes or no")
        return [(text, cell == "yes") for text in CHOICES[heading]]
    make, beyond = LIMITS[heading]
    limit = int(cell.replace(",", ""))
    result = [(make(limit), True)]
    return result + ([(make(beyond(limit)), False)] if beyond(limit) else [])


def compiles(iris_opt, target, texts):
    """Whether each of `texts` compiles, and the messages."""
    separator = "\n// -----\n"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(separator.join(texts))
        file.flush()
        run = subprocess.run(
            [iris_opt, f"--iris-pipeline=target={target} until=abi",
             "--split-input-file", file.name, "-o", "/dev/null"],
            capture_output=True, text=True, check=False)
    starts = [1]
    for text in texts:
        starts.append(starts[-1] + text.count("\n") + 2)
    errors = {}
    for match in re.finditer(r"\.mlir:(\d+)(?: offset :\d+)?:\d+: error: (.*)",
                             run.stderr):
        part = max(i for i, start in enumerate(starts) if start <= int(match[1]))
        errors.setdefault(part, match[2])
    if bool(errors) != bool(run.returncode):
        raise RuntimeError(run.stderr)
    return [errors.get(i) for i in range(len(texts))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("iris_opt")
    parser.add_argument("page")
    parser.add_argument("--targets")
    options = parser.parse_args()
    rows = read_tables(options.page)
    message = subprocess.run([options.iris_opt, "--iris-pipeline=target=none",
                              "-"], input=kernel([]), capture_output=True,
                             text=True, check=False).stderr
    known = re.search(r"expected one of (.*)", message)[1].split(", ")
    wrong = [f"{target}: has no row" for target in known if target not in rows]
    wrong += [f"{target}: is no target" for target in rows if target not in known]
    tried = 0
    for target in options.targets.split(",") if options.targets else rows:
        missing = set(LIMITS) | set(CHOICES)
        missing -= set(rows[target])
        wrong += [f"{target}: has no cell '{heading}'" for heading in missing]
        cases = [(heading, cell, *probe) for heading, cell in rows[target].items()
                 for probe in probes(heading, cell)]
        results = compiles(options.iris_opt, target, [case[2] for case in cases])
        for (heading, cell, _, expected), error in zip(cases, results):
            tried += 1
            if expected and error:
                wrong.append(f"{target}: {heading} {cell} is refused: {error}")
            if not expected and not error:
                wrong.append(f"{target}: beyond {heading} {cell} is accepted")
    print("\n".join(wrong + [f"{tried} kernels, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
