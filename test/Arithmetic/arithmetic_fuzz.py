#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arithmetic with exact expected values, on any target.

    arithmetic_fuzz.py run --target=host --seed=1 --count=1000
    arithmetic_fuzz.py run --target=gfx942 --count=200 --disable-guards=carries
    arithmetic_fuzz.py run --target=cuda:sm_90a --count=3000 --jobs=16
    arithmetic_fuzz.py print --seed=1 --number=17

A kernel (draw.py) computes on special values; the generator knows each result
from the definitions of the ops (operations.py, exact_floats.py), and no target
is asked. `run` compiles kernels, executes them and compares all results, bit by
bit except for NaN. Targets:

  host          the shared object, called in a process of its own
  CHIP          an AMD chip, on the instruction emulator (test/README.md)
  ptx:CHIP      PTX, by the interpreter test/Emulated/ptx.py
  cuda:CHIP     PTX, on the CUDA driver's GPU 0

A seed and a number name a kernel. Of a kernel with wrong results the first
wrong op is printed, with its inputs: what follows from it is not its fault.
The last line is the summary; the exit status is 1 if a result was wrong or a
kernel was not compiled or executed.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "Emulated"))
import draw  # noqa: E402
import exact_floats as floats  # noqa: E402
from operations import FLOATS, width  # noqa: E402
import targets  # noqa: E402


def raw_bytes(t, values, elements):
    """A buffer of `elements`: the sets of inputs, again and again."""
    size = width(t) // 8
    return b"".join(v.to_bytes(size, "little") for v in values) * (
        elements // draw.COUNT)


def differences(kernel, outputs):
    """(value, set of inputs, bits) of each wrong result, in the ops' order."""
    for value, raw in zip(kernel.outputs(), outputs):
        t = kernel.stored(value)
        size = width(t) // 8
        for i in range(kernel.elements):
            bits = int.from_bytes(raw[i * size:(i + 1) * size], "little")
            got = floats.canonical(t, bits) if t in FLOATS else bits
            want = value.results[i % draw.COUNT]
            if got != want:
                yield value, i % draw.COUNT, got
                break


def explain(kernel, value, i, got):
    """The op of a wrong result and its operands' values."""
    def show(bits):
        return bits if bits == floats.NAN else f"0x{bits:x}"
    name = value.name.split("#")[0]
    line = next(x for x in kernel.lines
                if re.match(re.escape(name) + r"(:2)? = ", x))
    known = {v.name: v for v in kernel.values}
    operands = ", ".join(
        f"{n} = {show(known[n].results[i])}"
        for n in dict.fromkeys(re.findall(r"%\w+(?:#\d)?", line.split("=", 1)[1]))
        if n in known)
    return (f"{kernel.form} of {kernel.elements}: {line}\n    with {operands}: "
            f"got {show(got)}, expected {show(value.results[i])}")


def compile_kernels(options, kernels, folder):
    """The image's path, or the compiler's message."""
    source = os.path.join(folder, "kernels.mlir")
    with open(source, "w", encoding="utf-8") as file:
        file.write("gpu.module @kernels {\n"
                   + "\n".join(k.text() for k in kernels) + "\n}\n")
    image = os.path.join(folder, "kernels.image")
    command = [options.compiler, source, "-o", image, "--emit=obj",
               f"--target={options.target.split(':')[-1]}"]
    if ":" in options.target:
        command.append("--ptxas=none")  # it is executed as PTX
    if options.disable_guards:
        command.append(f"--disable-guards={options.disable_guards}")
    result = subprocess.run(command, capture_output=True, text=True,
                            timeout=options.timeout)
    return image, result.stderr if result.returncode else None


def check(options, numbers):
    """Lines about what is wrong with these kernels, and counts."""
    kernels = [draw.Kernel(options.seed, n) for n in numbers]
    with tempfile.TemporaryDirectory() as folder:
        try:
            image, error = compile_kernels(options, kernels, folder)
        except subprocess.TimeoutExpired:
            error = f"not compiled in {options.timeout} s"
        if error and len(numbers) > 1:  # which one?
            half = len(numbers) // 2
            first = check(options, numbers[:half])
            second = check(options, numbers[half:])
            return first[0] + second[0], first[1] + second[1], \
                first[2] + second[2]
        if error:
            return [f"{options.seed}/{numbers[0]}: not compiled: "
                    f"{error.strip().splitlines()[0]}"], 1, 0
        lines, wrong, results = [], 0, 0
        inputs = [[raw_bytes(t, v, k.elements) for t, v in k.inputs]
                  for k in kernels]
        sizes = [[width(k.stored(v)) // 8 * k.elements for v in k.outputs()]
                 for k in kernels]
        calls = [(k.name, a, b) for k, a, b in zip(kernels, inputs, sizes)]
        executed = targets.execute(options.target, image, calls)
        for number, kernel, outputs in zip(numbers, kernels, executed):
            if isinstance(outputs, str):
                lines.append(f"{options.seed}/{number}: not executed: {outputs}")
                wrong += 1
                continue
            results += len(outputs) * draw.COUNT
            found = list(differences(kernel, outputs))
            if found:
                wrong += 1
                lines.append(f"{options.seed}/{number}: {len(found)} wrong; "
                             + explain(kernel, *found[0]))
        return lines, wrong, results


def run(options):
    batches = [range(start, min(start + options.batch,
                                options.first + options.count))
               for start in range(options.first, options.first + options.count,
                                  options.batch)]
    wrong = results = done = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(check, options, list(b)): b for b in batches}
        for future in concurrent.futures.as_completed(futures):
            batch = futures[future]
            try:
                lines, batch_wrong, batch_results = future.result()
            except Exception as error:  # a crashed process takes its batch along
                lines = [f"{options.seed}/{batch[0]}-{batch[-1]}: {error!r}"]
                batch_wrong, batch_results = len(batch), 0
            for line in lines:
                print(line, flush=True)
            wrong, results = wrong + batch_wrong, results + batch_results
            done += len(batch)
            if sys.stderr.isatty():
                print(f"\r{done} of {options.count}", end="", file=sys.stderr)
    print(f"{options.target}: seed {options.seed}, {options.count} kernels, "
          f"{results} results, {wrong} kernels wrong")
    return wrong != 0 or results == 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("action", choices=["run", "print"])
    parser.add_argument("--target", default="host")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0,
                        help="the first kernel's number")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--number", type=int, default=0,
                        help="of the kernel to print")
    parser.add_argument("--batch", type=int, default=25,
                        help="kernels in one image; default: 25")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--compiler", default="iris-compile")
    parser.add_argument("--disable-guards", default="",
                        help="names (iris-compile --list-guards), by commas")
    parser.add_argument("--timeout", type=int, default=300,
                        help="seconds for compiling an image; default: 300")
    options = parser.parse_args()
    if options.action == "print":
        print(draw.Kernel(options.seed, options.number).text())
        return 0
    if options.target != "host":
        import emulate  # noqa: F401  # it switches to an interpreter with NumPy
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
