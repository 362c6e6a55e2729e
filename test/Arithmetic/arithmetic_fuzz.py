#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arithmetic with exact expected values, on any target.

    arithmetic_fuzz.py run --target=host --seed=1 --count=1000
    arithmetic_fuzz.py run --target=gfx942 --count=200 --disable-guards=carries
    arithmetic_fuzz.py run --target=cuda:sm_90a --count=3000 --jobs=16
    arithmetic_fuzz.py print --seed=1 --number=17
    arithmetic_fuzz.py reduce host 1 17 --output=reduced.mlir
    arithmetic_fuzz.py guards gfx942 --seed=1 --count=500

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

`reduce TARGET SEED NUMBER` removes from a kernel that fails all ops that it
fails without, and writes a program that iris-run executes and that checks
itself. `guards TARGET` runs kernels without any guard (docs/internals/guards.md)
and, of those that fail, tells for each guard how many fail without it alone.
"""
import argparse
import concurrent.futures
import copy
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "Emulated"))
import draw  # noqa: E402
import exact_floats as floats  # noqa: E402
from operations import INTEGERS, width  # noqa: E402
from program import COUNT  # noqa: E402
import reducer  # noqa: E402
import targets  # noqa: E402


def raw_bytes(kernel, value):
    """A buffer: the sets of an input, again and again."""
    size = width(kernel.stored(value)) // 8
    return b"".join(v.to_bytes(size, "little") for v in value.raw) * (
        kernel.elements // COUNT)


def inputs_of(kernel):
    needed = kernel.live()
    return [raw_bytes(kernel, v) for v in kernel.inputs if v in needed]


def output_sizes(kernel):
    return [width(kernel.stored(v)) // 8 * kernel.elements
            for v in kernel.outputs]


def differences(kernel, outputs):
    """(value, set of inputs, bits) of each wrong result, in the ops' order."""
    for value, raw in zip(kernel.outputs, outputs):
        t = value.t
        size = width(kernel.stored(value)) // 8
        # A scalar is stored for the first set of a group, that of a tile once.
        places = (range(kernel.elements) if value.shape == kernel.shape else
                  range(0, COUNT, kernel.group))
        for i in places:
            bits = int.from_bytes(raw[i * size:(i + 1) * size], "little")
            got = bits if t in INTEGERS else floats.canonical(t, bits)
            if got != value.results[i % COUNT]:
                yield value, i % COUNT, got
                break


def explain(kernel, value, i, got):
    """The op of a wrong result and its operands' values."""
    def show(bits):
        return bits if bits in (floats.NAN, None) else f"0x{bits:x}"
    kernel.text()  # it names the values
    op = next(op for op in kernel.body.ops if value in op.results)
    operands = ", ".join(f"{v.name} = {show(v.results[i])}"
                         for v in dict.fromkeys(op.operands))
    return (f"{kernel.form} of {'x'.join(map(str, kernel.shape)) or 1}: "
            f"{kernel.op_text(op)[0]}\n    with {operands}: "
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


def outcomes(options, kernels):
    """For each kernel the outputs, or a text that says why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            image, error = compile_kernels(options, kernels, folder)
        except subprocess.TimeoutExpired:
            error = f"not compiled in {options.timeout} s"
        if error and len(kernels) > 1:  # which one?
            half = len(kernels) // 2
            return (outcomes(options, kernels[:half])
                    + outcomes(options, kernels[half:]))
        if error:
            first = error.strip().splitlines()[0]
            return [f"not compiled: {first.removeprefix(folder + os.sep)}"]
        calls = [(k.name, inputs_of(k), output_sizes(k)) for k in kernels]
        return [f"not executed: {x}" if isinstance(x, str) else x
                for x in targets.execute(options.target, image, calls)]


def failure(kernel, outputs):
    """What is wrong with a kernel, or None."""
    if isinstance(outputs, str):
        return outputs
    found = list(differences(kernel, outputs))
    return found and f"{len(found)} wrong; {explain(kernel, *found[0])}" or None


def check(options, numbers):
    """(number, what is wrong) of these kernels, and the count of results."""
    kernels = [draw.Kernel(options.seed, n) for n in numbers]
    found = outcomes(options, kernels)
    failures = [(n, failure(k, x)) for n, k, x in zip(numbers, kernels, found)]
    return ([pair for pair in failures if pair[1]],
            sum(len(x) * COUNT for x in found if not isinstance(x, str)))


def in_batches(options, function, numbers):
    """(batch, result or exception) of the function for batches, as they end."""
    batches = [numbers[i:i + options.batch]
               for i in range(0, len(numbers), options.batch)]
    done = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(function, options, list(b)): b for b in batches}
        for future in concurrent.futures.as_completed(futures):
            batch = futures[future]
            done += len(batch)
            try:
                yield batch, future.result()
            except Exception as error:  # a crashed process takes its batch along
                yield batch, error
            if sys.stderr.isatty():
                print(f"\r{done} of {len(numbers)}", end="", file=sys.stderr)


def run_all(options):
    """(numbers of the kernels that fail, count of results); prints failures."""
    numbers = range(options.first, options.first + options.count)
    wrong, results = [], 0
    for batch, result in in_batches(options, check, numbers):
        if isinstance(result, Exception):
            print(f"{options.seed}/{batch[0]}-{batch[-1]}: {result!r}",
                  flush=True)
            wrong += batch
            continue
        for number, text in result[0]:
            print(f"{options.seed}/{number}: {text}", flush=True)
            wrong.append(number)
        results += result[1]
    return wrong, results


def run(options):
    wrong, results = run_all(options)
    print(f"{options.target}: seed {options.seed}, {options.count} kernels, "
          f"{results} results, {len(wrong)} kernels wrong")
    return bool(wrong) or results == 0


def print_kernel(options):
    print(draw.Kernel(options.seed, options.number).text())
    return 0


def reduce(options):
    """Keeps the kind of the failure."""
    kernel = draw.Kernel(options.seed, options.number)

    def kind(kernel, outputs):
        text = failure(kernel, outputs)
        return text and (text.split(" at ")[0] if isinstance(outputs, str)
                         else "wrong")

    def kinds(kernels):
        return [kind(*pair) for pair in zip(kernels, outcomes(options, kernels))]
    original = kinds([kernel])[0]
    if original is None:
        print(f"{options.target}: kernel {options.seed}/{options.number} does "
              "not fail")
        return 1
    best = reducer.Reducer(
        kernel, lambda kernels: [k == original for k in kinds(kernels)],
        print).run()
    print(best.text())
    guards = options.disable_guards
    note = (f"// Kernel {options.seed}/{options.number}, reduced on "
            f"{options.target}" + (f" with --disable-guards={guards}"
                                   if guards else "") + ".")
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(reducer.Checked(best).text(note))
    print(f"{options.output}: {reducer.cost(best)[0]} ops")
    return 0


def known_guards(compiler):
    """Their names, from the compiler's table."""
    table = subprocess.run([compiler, "--list-guards"], capture_output=True,
                           text=True, check=True).stdout
    return [line for line in table.splitlines() if line and line[0] != " "]


def numbers_that_fail(options, numbers):
    return [n for n, _ in check(options, numbers)[0]]


def guards(options):
    """The kernels that fail without all guards fail without which one?"""
    names = known_guards(options.compiler)
    options.disable_guards = ",".join(names)
    numbers = range(options.first, options.first + options.count)
    found, lost = [], []
    for batch, result in in_batches(options, numbers_that_fail, numbers):
        (lost if isinstance(result, Exception) else found).extend(
            batch if isinstance(result, Exception) else result)
    found.sort()
    print(f"{options.target}: seed {options.seed}, {options.count} kernels; "
          f"without all guards {len(found)} fail")
    if lost:
        print(f"not executed: {lost}")
    for name in names:
        alone = copy.copy(options)
        alone.disable_guards = name
        failing = sorted(n for _, result in in_batches(
            alone, numbers_that_fail, found) for n in result)
        example = f"  {' '.join(map(str, failing[:3]))}" if failing else ""
        print(f"{name:24}{len(failing):6}{example}", flush=True)
    return 0


def parse():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--target", default="host")
    common.add_argument("--seed", type=int, default=1)
    common.add_argument("--first", type=int, default=0,
                        help="the first kernel's number")
    common.add_argument("--count", type=int, default=100)
    common.add_argument("--number", type=int, default=0,
                        help="of the kernel to print")
    common.add_argument("--batch", type=int, default=25,
                        help="kernels in one image; default: 25")
    common.add_argument("--jobs", type=int, default=os.cpu_count())
    common.add_argument("--compiler", default="iris-compile")
    common.add_argument("--disable-guards", default="",
                        help="names (iris-compile --list-guards), by commas")
    common.add_argument("--timeout", type=int, default=300,
                        help="seconds for compiling an image; default: 300")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for name, action in (("run", run), ("print", print_kernel),
                         ("reduce", reduce), ("guards", guards)):
        sub = actions.add_parser(name, parents=[common])
        sub.set_defaults(action=action)
        if name in ("reduce", "guards"):
            sub.add_argument("target")
        if name == "reduce":
            sub.add_argument("seed", type=int)
            sub.add_argument("number", type=int)
            sub.add_argument("--output", default="reduced.mlir")
    return parser.parse_args()


def main():
    options = parse()
    if options.target != "host" and options.action is not print_kernel:
        import emulate  # noqa: F401  # it switches to an interpreter with NumPy
    return options.action(options)


if __name__ == "__main__":
    sys.exit(main())
