# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks for races and deadlocks in the library's kernels.

    library.py [-n RANKS] [--exhaust] [--schedules=N] [--only=TEXT] [--every=K]
               [--max-executions=N] [--seed=S]

Every variant of every collective and fused matmul runs three times, by two
programs on each rank and with inputs that change; ranks synchronize in the
kernels alone. A replay of a graph is such a call as well: a kernel that is
launched again, with the same arguments. Buffers are on the symmetric heap (`heap`), the
same or one in the other (`in place`), anywhere (`staged`), or both; `size` is
a kernel for this number of ranks, whose loops over ranks are unrolled, and
`rounds` a message of several rounds. Sends and receives go around a `ring`, or
`one way`, from rank 0 to rank 1.

--exhaust executes each in all orders, up to equivalence. --schedules=N tries
random ones, from seed S on; with --exhaust only of kernels that have more
orders than --max-executions.

Prints a row for each: how many executions there are, up to equivalence, and
how many orders were tried, the synchronizing ops of the longest execution, and
seconds. Exit status 1 if any has an error.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__),
                                "../../Execution/Inputs"))

import collectives
import counted
import fused
from variants import COLLECTIVES

ELEMENT = "i32"
WORKSPACE = 512 << 10
TILE = 4  # elements: as few as there can be
# For several rounds: elements of a tile, which have to fit the packets of that many
# ranks, and of a message. Packets have smaller slots.
LARGE_TILE = {2: 256, 3: 256, 4: 256, 8: 128}
LONG = {"packet": 3013, "other": 15013}
CALLS = 3  # two halves of a buffer are used again in the third one
MEMORY = collectives.buffer(ELEMENT)


class Case:
    """One row: a program, kernels that it launches in place of others (a
    pattern and what replaces it), and the arguments of nest."""

    def __init__(self, name, variant, buffers, text, kernels="", swap=None,
                 nested=None):
        self.name, self.variant, self.buffers = name, variant, buffers
        self.text, self.kernels = text, kernels
        self.swap, self.nested = swap, nested

    @property
    def title(self):
        return f"{self.name} {self.variant} {self.buffers}"

    def expanded(self):
        """The program with its kernels written out."""
        text = run(["iris-compile", "-", "--target=host", "--emit=mlir",
                    "--until=expand"], self.text + self.kernels)
        if self.swap:
            pattern, kernel = self.swap
            text, calls = re.subn(f"iris.launch {pattern}",
                                  f"iris.launch {kernel}", text)
            assert calls, f"{self.title}: its kernel is not launched"
        return nest(text, *self.nested) if self.nested else text


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


#===------------------------------------------------------------------------===#
# One buffer inside of the other
#===------------------------------------------------------------------------===#

def nest(text, inner, is_rooted):
    """Kernels use a chunk of the larger buffer in place of the smaller one,
    argument `inner`: 1 or 2. With a root, the root alone does."""
    outer = 3 - inner
    lines, inside = [], False
    for line in text.splitlines():
        if "gpu.func" in line:
            inside = "iris.config = {collective" in line
            lines.append(line)
            if inside:
                lines += nest_ops(inner, outer, is_rooted)
            continue
        if inside:
            # The chunk is a view of the workspace, from which the compiler
            # takes distances to other buffers as well.
            line = re.sub(rf"%arg{inner}\b", "%nested", line)
        lines.append(line)
    text = "\n".join(lines)
    return re.sub(rf"memref<([?0-9x]+x){ELEMENT}(, strided<[^>]*>)?>",
                  rf"memref<\1{ELEMENT}\2, #iris.symmetric>", text)


def nest_ops(inner, outer, is_rooted):
    bytes_ = "memref<?xi8, #iris.symmetric>"
    size = collectives.BITS[ELEMENT] // 8
    pointer = "memref.extract_aligned_pointer_as_index"
    lines = f"""
%nest_me = iris.group_index %arg0 : index
%nest_bytes = arith.constant {size} : index
%nest_chunk = arith.muli %arg4, %nest_bytes : index
%nest_skipped = arith.muli %nest_me, %nest_chunk : index
%nest_outer = {pointer} %arg{outer} : {MEMORY} -> index
%nest_inner = {pointer} %arg{inner} : {MEMORY} -> index
%nest_base = {pointer} %arg3 : {bytes_} -> index
%nest = arith.addi %nest_outer, %nest_skipped : index
%nest_low = arith.constant 256 : index
%nest_root = arith.remui %arg5, %nest_low : index
%nest_is_root = arith.cmpi eq, %nest_me, %nest_root : index
%nest_apart = arith.constant {int(not is_rooted)} : i1
%nest_chosen = arith.ori %nest_is_root, %nest_apart : i1
%nest_at = arith.select %nest_chosen, %nest, %nest_inner : index
%nest_offset = arith.subi %nest_at, %nest_base : index
%nest_count = arith.constant 0 : index
%nest_size = memref.dim %arg{inner}, %nest_count : {MEMORY}
%nested = memref.view %arg3[%nest_offset][%nest_size] : {bytes_} to {MEMORY}
"""
    return ["      " + line for line in lines.strip().splitlines()]


def copy_kernel(to_chunk, is_rooted):
    """Copies this rank's buffer to its chunk of the other, or back."""
    def body(k):
        size, me = collectives.members(k)
        if is_rooted:
            k.when(k.compare("eq", (), "index", me, "%root"))
        start = k.mul(me, "%count")
        type_ = (f"memref<?x{ELEMENT}, strided<[1], offset: ?>, "
                 "#iris.symmetric>")
        chunk = k.value(f"memref.subview %large[{start}] [%count] [1] : "
                        f"{MEMORY} to {type_}")
        k.types[chunk] = type_
        from_, to = ("%small", chunk) if to_chunk else (chunk, "%small")
        collectives.for_elements(k, "%count", lambda offset: k.store(
            k.load(from_, [offset], collectives.SHAPE, ELEMENT), to, [offset],
            collectives.SHAPE, ELEMENT))
        if is_rooted:
            k.close()
    return body


#===------------------------------------------------------------------------===#
# Programs
#===------------------------------------------------------------------------===#

def kernel_text(symbol, each, variant, ranks, tile, staged):
    entries = {"variant": f'"{variant}"', "tile": tile, "programs": 2,
               "workspace": WORKSPACE}
    if staged:
        entries["staged"] = "true"
    text = ", ".join(f"{key} = {value}" for key, value in entries.items())
    words = f"{each['name']} sum" if each["reduces"] else each["name"]
    return (f"iris.collective @{symbol} {words} {ELEMENT} size {ranks} {{{text}}}\n")


def config_of(tile):
    return {"tile": tile, "programs": 2, "workspace": WORKSPACE}


def call(each, variant, in_place, count, tile, ranks):
    """The program, and what nest does to it."""
    name = each["op"]
    larger = [each[buffer]["chunks"] == "all" for buffer in ("input", "output")]
    nested = in_place and larger[0] != larger[1]
    cases = Nested(larger[1], each["root"]) if nested else Plain()
    cases.case(name, variant, "sum" if each["reduces"] else None, count,
               in_place=in_place and not nested, config=config_of(tile),
               iterations=CALLS, root=1 % ranks)
    return cases.p.text(), (1 if larger[1] else 2, each["root"]) if nested \
        else None


class Plain(collectives.Cases):
    def __init__(self):
        super().__init__(ELEMENT, None, 0)


class Nested(Plain):
    """Copies to the chunk before the call, or out of it after it."""

    def __init__(self, is_output_larger, is_rooted):
        super().__init__()
        self.is_output_larger, self.is_rooted = is_output_larger, is_rooted

    def call(self, operation, variant, reduction, config, source, result, root):
        memory = [("small", MEMORY), ("large", MEMORY), ("count", "index"),
                  ("root", "index")]
        copy = self.p.kernel("copy", memory,
                             copy_kernel(self.is_output_larger, self.is_rooted))
        small, large = ((source, result) if self.is_output_larger else
                        (result, source))
        count = self.p.value(
            f"memref.dim {small[0]}, {self.p.index(0)} : {MEMORY}")
        arguments = small, large, (count, "index"), (root, "index")
        if self.is_output_larger:
            self.launch(copy, *arguments)
        super().call(operation, variant, reduction, config, source, result, root)
        if not self.is_output_larger:
            self.launch(copy, *arguments)


def called(ranks):
    """Collectives without counts."""
    for each in COLLECTIVES:
        if not each["op"] or each["output"]["counts"]:
            continue
        for variant in each["variants"]:
            if not variant["kernel"]:
                continue
            name = variant["name"]

            def case(buffers, in_place, staged, sized, tile, count):
                # A variant whose call is replaced, and may be in place.
                shown = name if not in_place or variant["in_place"] else next(
                    other["name"] for other in each["variants"]
                    if other["kernel"] and other["in_place"])
                text, nested = call(each, shown, in_place, count, tile, ranks)
                if not staged and not sized:
                    return Case(each["name"], name, buffers, text, nested=nested)
                kernel = kernel_text("ours", each, name, ranks, tile, staged)
                return Case(each["name"], name, buffers, text, kernel,
                            (rf"@{each['name']}\w*::@\w+", "@ours::@ours"), nested)

            # Each addition in any order doubles the orders.
            few = 2 if name == "atomic" else 2 * ranks * TILE + 3
            many = LONG["packet" if "packet" in name else "other"]
            large = LARGE_TILE[min(n for n in LARGE_TILE if n >= ranks)]
            yield case("heap", False, False, False, TILE, few)
            yield case("size", False, False, True, TILE, few)
            if variant["in_place"]:
                yield case("in place", True, False, False, TILE, few)
            if variant["staged"]:
                yield case("staged", False, True, False, TILE, few)
                yield case("staged, in place", True, True, False, TILE, few)
                yield case("staged, rounds", False, True, False, large, many)
            if variant["anywhere"]:
                yield case("rounds", False, False, False, large, many)


def with_counts():
    for name, each in counted.OPERATIONS.items():
        for variant in each["variants"]:
            cases = Plain()
            counted.case(cases, name, variant["name"], 2 * TILE + 3,
                         config_of(TILE), CALLS)
            yield Case(name, variant["name"], "heap", cases.p.text())


class Exchange(Plain):
    """Sends and receives, and what their program needs."""

    def __init__(self):
        super().__init__()
        p = self.p
        self.number = p.index(2 * TILE + 3)
        memory = [("in", MEMORY), ("out", MEMORY), ("count", "index"),
                  ("root", "index"), ("iteration", "index")]
        bytes_ = collectives.buffer("i8")
        self.signature = [*memory[:2], ("work", bytes_), *memory[2:4]]
        self.checker = p.kernel("check", memory, collectives.check_kernel(
            "broadcast", ELEMENT, None))
        self.filler = p.kernel("fill", [memory[0], memory[-1]],
                               collectives.fill_kernel(ELEMENT, None))
        self.source, self.result = (p.alloc(ELEMENT, [self.number])
                                    for _ in range(2))
        size = p.index(WORKSPACE)
        self.work = p.value(f"iris.alloc({size}) workspace : {bytes_}"), bytes_
        self.me = p.value("iris.rank %ctx : index")

    def start(self, kernel, peer):
        """A kernel without ops stands for the library's."""
        stand_in = self.p.kernel(kernel, self.signature, lambda k: None)
        self.p.launch(stand_in, 2, self.source, self.result, self.work,
                      (self.number, "index"), (peer, "index"))

    def fill(self, iteration):
        self.launch(self.filler, self.source, iteration)

    def check(self, sender, iteration):
        self.launch(self.checker, self.source, self.result,
                    (self.number, "index"), (sender, "index"), iteration)

    def case(self, name, variant, ranks):
        kernels = "".join(
            kernel_text(kernel, {"name": kernel, "reduces": False}, variant,
                        ranks, TILE, False) for kernel in ("send", "recv"))
        return Case("send, recv", variant, name, self.p.text(), kernels,
                    (r"@kernels::@(send|recv)", r"@\1::@\1"))


def ring(variant, ranks):
    """Every rank sends to the next one. Every other rank receives first: a
    message that the slots cannot hold waits for its receiver."""
    exchange = Exchange()
    p, me, size = exchange.p, exchange.me, exchange.size
    one = p.index(1)
    next_ = p.rem(p.add(me, one), size)
    last = p.rem(p.sub(p.add(me, size), one), size)
    is_even = p.value(f"arith.cmpi eq, {p.rem(me, p.index(2))}, {p.index(0)} : "
                      "index")
    for iteration in range(CALLS):
        exchange.fill(iteration)
        p.open(f"scf.if {is_even} {{")
        exchange.start("send", next_)
        exchange.start("recv", last)
        p.close("} else {")
        p.indent += 1
        exchange.start("recv", last)
        exchange.start("send", next_)
        p.close()
        exchange.check(last, iteration)
    return exchange.case("ring", variant, ranks)


def one_way(variant, ranks):
    """Rank 0 sends to rank 1, and may be as many calls ahead as slots let it."""
    exchange = Exchange()
    p = exchange.p
    ends = [p.index(0), p.index(1)]
    is_end = [p.value(f"arith.cmpi eq, {exchange.me}, {end} : index")
              for end in ends]
    for iteration in range(CALLS):
        p.open(f"scf.if {is_end[0]} {{")
        exchange.fill(iteration)
        exchange.start("send", ends[1])
        p.close()
        p.open(f"scf.if {is_end[1]} {{")
        exchange.start("recv", ends[0])
        exchange.check(ends[0], iteration)
        p.close()
    return exchange.case("one way", variant, ranks)


def exchanges(ranks):
    sends = next(each for each in COLLECTIVES if each["name"] == "send")
    return [exchange(variant["name"], ranks) for variant in sends["variants"]
            if not variant["grouped"] for exchange in (ring, one_way)]


def matmuls():
    for kind, variants in fused.VARIANTS.items():
        for variant in variants:
            for shard in fused.SHARDS[kind]:
                config = {"tile_m": 16, "tile_n": 16, "tile_k": 16,
                          "programs": 2}
                if variant in ("specialized", "hbm_buffer"):
                    config.update(programs=2, num_fetch_programs=1)
                cases = fused.Cases()
                cases.run(fused.Case(kind, variant, shard, "f16", "f32"
                                     if variant == "atomic" else "f16",
                                     config=config), 32, 16, 32,
                          # A third call would have 729 orders of additions.
                          iterations=2 if variant == "atomic" else CALLS)
                yield Case(kind, f"{variant} {shard}", "heap", cases.p.text())


def cases(ranks):
    return [*called(ranks), *with_counts(), *exchanges(ranks), *matmuls()]


#===------------------------------------------------------------------------===#
# Checks
#===------------------------------------------------------------------------===#

def run_check(file, options, how):
    """What `iris-run --check` prints, or '' and the error."""
    done = subprocess.run(
        ["iris-run", "--check", "-n", str(options.n), *how, file],
        capture_output=True, text=True, check=False)
    return ("", done.stderr) if done.returncode else (done.stdout, "")


def check(case, options):
    """All orders, random ones, synchronizing ops, and the error; '' for what
    there is not."""
    random = [f"--schedules={options.schedules}",
              f"--schedule-seed={options.seed}"]
    orders, ops = "", ""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(case.expanded())
        file.flush()
        if options.exhaust:
            printed, error = run_check(
                file.name, options,
                ["--exhaust", f"--max-executions={options.max_executions}"])
            if error:
                return "", "", "", error
            orders, ops = re.search(r"(\d+) executions? of up to (\d+)",
                                    printed).groups()
            if "bounded" not in printed:
                return orders, "", ops, ""
            orders += ", bounded"
        if not options.schedules:
            return orders, "", ops, ""
        _, error = run_check(file.name, options, random)
    return orders, "" if error else str(options.schedules), ops, error


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=2)
    parser.add_argument("--exhaust", action="store_true")
    parser.add_argument("--max-executions", type=int, default=100000)
    parser.add_argument("--schedules", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    if options.schedules is None:
        options.schedules = 0 if options.exhaust else 10
    chosen = [case for case in cases(options.n)
              if options.only in case.title][::options.every]
    failed, bounded = 0, 0
    print("| kernel | variant | buffers | all orders | random | "
          "synchronizing ops | s |\n|---|---|---|---|---|---|---|")
    for case in chosen:
        start = time.monotonic()
        orders, random, ops, error = check(case, options)
        failed += bool(error)
        bounded += "bounded" in orders
        print(f"| {case.name} | {case.variant} | {case.buffers} | "
              f"{'FAILED' if error else orders} | {random} | {ops} | "
              f"{time.monotonic() - start:.1f} |\n{error}", end="", flush=True)
    print(f"{len(chosen)} kernels, {failed} with an error" +
          (f", {bounded} bounded" if bounded else ""))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
