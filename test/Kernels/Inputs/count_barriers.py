# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the gpu.barriers of the kernels on standard input, a module in MLIR's
pretty form: a line "name: n0 n1 n2 ..." for each kernel, n1 of them in one loop,
n2 in two, and so on; then the kernels that have one in an innermost loop. The
region of a matmul is a loop."""
import re
import sys


class Loop:
    def __init__(self, indent):
        self.indent = indent
        self.has_barrier = self.has_loop = False


def main():
    counts, name, loops, barred = {}, None, [], []
    for line in sys.stdin:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if match := re.search(r"gpu\.func @(\w+)", line):
            name, loops = match[1], []
            counts[name] = [0]
        # `} do {` of a while loop stays in the loop.
        if text.startswith("}") and not text.startswith("} do"):
            while loops and loops[-1].indent >= indent:
                loop = loops.pop()
                if loop.has_barrier and not loop.has_loop:
                    barred.append(name)
        if text == "gpu.barrier" and name:
            depth = len(loops)
            counts[name] += [0] * (depth + 1 - len(counts[name]))
            counts[name][depth] += 1
            if loops:
                loops[-1].has_barrier = True
        if text.endswith("{") and re.search(r"scf\.(for|while)|tile\.matmul",
                                            text):
            if loops:
                loops[-1].has_loop = True
            loops.append(Loop(indent))
    for kernel, by_depth in counts.items():
        print(f"{kernel}:", *by_depth)
    print("in innermost loops:", *(sorted(set(barred)) or ["none"]))


if __name__ == "__main__":
    main()
