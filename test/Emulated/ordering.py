#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels in which only the order of accesses can go wrong.

    ordering.py generate [--seed N] [--first N] [--count N] [--ranks N] [--wave N]
    ordering.py compile FOLDER [--targets gfx942,...] [--compiler PATH] [-j N]
    ordering.py run FOLDER [--policies first,...] [-j N]
    ordering.py pack FOLDER [--target sm_90a] [--compiler PATH] [-j N]
    ordering.py launch FOLDER [--device cuda] [--runner PATH] [-j N]

`generate` prints a program: kernels, and a @main that compares the final
memory with that of a single-threaded execution (for `iris-run`). `compile`
makes the code objects of such kernels, in batches, and `run` executes them on
emulated devices whose waves run in the orders of POLICIES: it prints
one line of JSON per kernel and order that differs, and a summary. FOLDER
holds everything that `run` needs, so that it can run on another machine.
`pack` and `launch` do the same with packages and real devices. See also
`ordering_barriers.py`.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time

import machine  # first: it switches to an interpreter that has NumPy
import emulate
import numpy as np

import ordering_kernels as kernels
import ordering_ops as ops
import ordering_program

WAVES = {"gfx942": 64, "gfx950": 64, "gfx90a": 64, "gfx1100": 32, "gfx1201": 32,
         "sm_80": 32, "sm_90a": 32, "sm_100a": 32, "host": 32}
BUDGET = 4_000_000
# The worst orders of waves that the hardware allows: one wave runs until it
# reaches a barrier, polls or ends before another one runs, so that anything that
# it does not wait for has not happened (Schedule in Emulator.h).
POLICIES = ("first", "last", "leader-last", "leader-first", "shuffled", "starved",
            "bursts", "crossed")


class Batch:
    """Kernels of one seed that are compiled together."""

    def __init__(self, seed, first, count, ranks, options=()):
        self.seed, self.first, self.count = seed, first, count
        self.ranks, self.options = ranks, list(options)

    def kernels(self, wave):
        return [kernels.Kernel(self.seed, number, wave, self.ranks, self.options)
                for number in range(self.first, self.first + self.count)]

    def module(self, wave):
        return "gpu.module @kernels {\n%s}\n" % "".join(
            kernel.emit() for kernel in self.kernels(wave))

    def name(self, target):
        return "s%d-n%d-r%d.%s" % (self.seed, self.first, self.ranks, target)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Compiling --------------------------------------------------------------------


def compile_batch(arguments):
    batch, target, folder, compiler = arguments
    text = batch.module(WAVES[target])
    path = os.path.join(folder, batch.name(target))
    done = subprocess.run(
        [compiler, "-", "--target=" + target, "--emit=obj", "-o", path],
        input=text, capture_output=True, text=True)
    return (batch, target, digest(text),
            done.returncode and "status %d: %s" % (done.returncode, done.stderr))


def batches_of(options):
    return [Batch(options.seed, first,
                  min(options.batch, options.first + options.count - first), ranks,
                  options.with_)
            for ranks in options.ranks
            for first in range(options.first, options.first + options.count,
                               options.batch)]


def compile_all(options):
    os.makedirs(options.folder, exist_ok=True)
    tasks = [(batch, target, options.folder, options.compiler)
             for batch in batches_of(options) for target in options.targets]
    manifest, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for batch, target, text, error in pool.map(compile_batch, tasks):
            if error:
                failed += 1
                print("%s: %s" % (batch.name(target), error[:2000]))
                continue
            manifest.append(dict(vars(batch), target=target, text=text,
                                 file=batch.name(target)))
    path = os.path.join(options.folder, "manifest.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    print("%d batches compiled, %d not" % (len(manifest), failed))
    return failed != 0


# Packages, for real devices ------------------------------------------------------


def pack_batch(arguments):
    batch, options = arguments
    path = os.path.join(options.folder, batch.name(options.target) + ".iris")
    text = ordering_program.program(batch.kernels(WAVES[options.target]),
                                    options.rounds)
    done = subprocess.run(
        [options.compiler, "-", "--target=" + options.target,
         "--translation=both", "-o", path],
        input=text, capture_output=True, text=True)
    return batch, path, done


def pack_all(options):
    os.makedirs(options.folder, exist_ok=True)
    packages, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for batch, path, done in pool.map(
                pack_batch, [(batch, options) for batch in batches_of(options)]):
            if done.returncode:
                failed += 1
                print("%s: status %d: %s" % (path, done.returncode,
                                             done.stderr[:2000]))
            else:
                packages.append(dict(vars(batch), file=os.path.basename(path)))
    with open(os.path.join(options.folder, "packages.json"), "w",
              encoding="utf-8") as file:
        json.dump(packages, file, indent=1)
    print("%d packages, %d not compiled" % (len(packages), failed))
    return failed != 0


def launch_package(arguments):
    """Returns the package's record and iris-run's output, if it failed."""
    entry, options = arguments
    command = [options.runner, "-n", str(entry["ranks"])]
    if options.device:
        command.append("--device=" + options.device)
    try:
        done = subprocess.run(
            command + [os.path.join(options.folder, entry["file"])],
            capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return entry, "no end after %d s" % options.timeout
    return entry, done.returncode and done.stdout + done.stderr


def kernel_of(entry, said):
    """The kernel whose checksum iris-run reports as expected."""
    wanted = {int(n) for n in re.findall(r", want (-?\d+)", said)}
    batch = Batch(*(entry[key] for key in ("seed", "first", "count", "ranks",
                                           "options")))
    return sorted({"%s %s" % (kernel.name, name)
                   for kernel in batch.kernels(32)
                   for name, arrays in kernel.expected().items()
                   for array in arrays if ops.checksum(array)
                   in wanted})


def launch_all(options):
    with open(os.path.join(options.folder, "packages.json"),
              encoding="utf-8") as file:
        entries = [e for e in json.load(file) if e["ranks"] in options.ranks]
    start, kernels_run, failed = time.time(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for entry, error in pool.map(launch_package,
                                     [(e, options) for e in entries]):
            kernels_run += entry["count"]
            if error:
                failed += 1
                print("%s: %s\n  %s" % (entry["file"], kernel_of(entry, error),
                                        error[:1500]), flush=True)
    print("%d kernels in %d packages, %d packages differ, %.1f s" % (
        kernels_run, len(entries), failed, time.time() - start))
    return failed != 0 or not entries


# Running ----------------------------------------------------------------------


class Arena:
    """The memory of all ranks of one launch, and its expected contents."""

    GUARD = 0xA5

    def __init__(self, image, kernel):
        self.kernel = kernel
        self.offsets, top = {}, 4096
        for param in kernel.params:
            if not param.same:
                self.offsets[param.name] = top
                size = int(np.prod(param.shape)) * self.width(param)
                top += (size + 511) // 256 * 256
        for param in kernel.params:
            if param.same:
                row = int(np.prod(param.shape[1:])) * self.width(param)
                self.offsets[param.name] = (self.offsets[param.same.name]
                                            + param.shift * row)
        self.stride = (top + 4095) // 4096 * 4096
        size = self.stride * kernel.ranks + (1 << 16)
        self.memory = machine.Memory(size)
        self.memory.top = self.memory.base + self.stride * kernel.ranks
        self.controls = [self.memory.alloc(emulate.CONTROL_BYTES)
                         for _ in range(kernel.ranks)]
        self.image = image
        self.arguments = self.memory.top

    @staticmethod
    def width(param):
        return ops.TYPES[param.element]().itemsize

    def address(self, param, rank):
        return self.memory.base + rank * self.stride + self.offsets[param.name]

    def reset(self):
        memory = self.memory
        memory.top = self.arguments
        memory.allocs = []
        memory.real[:] = 0
        memory.real[:self.stride * self.kernel.ranks] = self.GUARD
        for rank in range(self.kernel.ranks):
            for param in self.kernel.params:
                if not param.same:
                    self.write(param, rank, self.kernel.start(param, rank))

    def byte_range(self, param, rank):
        start = self.address(param, rank) - self.memory.base
        return slice(start, start + int(np.prod(param.shape)) * self.width(param))

    def write(self, param, rank, data, into=None):
        memory = self.memory.real if into is None else into
        memory[self.byte_range(param, rank)] = np.ascontiguousarray(data).reshape(
            -1).view(np.uint8)

    def launches(self):
        kernel, result = self.kernel, []
        for rank in range(kernel.ranks):
            packed = [rank, kernel.ranks, self.memory.base + rank * self.stride,
                      self.stride, 0, self.stride, self.controls[rank], 0, 0,
                      emulate.members_of(kernel.ranks),
                      kernel.ranks, rank, 2, 1]
            for param in kernel.params:
                packed += [self.address(param, rank), *param.sizes()]
            threads = self.image.threads(kernel.name)
            result.append(machine.Launch(
                self.image, kernel.name, (kernel.programs, 1, 1), (threads, 1, 1),
                packed, self.memory, device=rank))
        return result

    def wanted(self):
        """The bytes of all heaps, except the barrier's state."""
        size = self.stride * self.kernel.ranks
        image = np.full(size, self.GUARD, np.uint8)
        for name, arrays in self.kernel.expected().items():
            param = next(p for p in self.kernel.params if p.name == name)
            if not param.same:
                for rank, array in enumerate(arrays):
                    self.write(param, rank, array, image)
        mask = np.ones(size, bool)
        for rank in range(self.kernel.ranks):
            mask[self.byte_range(self.kernel.state, rank)] = False
        return image, mask

    def differences(self, wanted):
        image, mask = wanted
        got = self.memory.real[:image.size]
        wrong = np.nonzero((got != image) & mask)[0]
        if not wrong.size:
            return None
        rank, offset = divmod(int(wrong[0]), self.stride)
        where = next((p for p in self.kernel.params if not p.same
                      and 0 <= offset - self.offsets[p.name]
                      < int(np.prod(p.shape)) * self.width(p)), None)
        if where is None:
            return "rank %d: a store outside the buffers at %#x" % (rank, offset)
        width = self.width(where)
        element = (offset - self.offsets[where.name]) // width
        start = self.byte_range(where, rank).start + element * width
        dtype = ops.TYPES[where.element]
        return "rank %d: %s[%d] is %s, not %s; %d bytes differ" % (
            rank, where.name, element,
            got[start:start + width].view(dtype)[0],
            image[start:start + width].view(dtype)[0], wrong.size)


def models_of(arch, ranks):
    """Kinds of memory to run on."""
    # Waves of a workgroup may be on two compute units.
    if arch.startswith(("gfx11", "gfx12")):
        return "wave"
    return "device" if ranks > 1 else None


class Result:
    """Of one launch: the difference, or nothing; instructions, and how often
    waves executed each barrier, by its position in words."""

    def __init__(self, difference, emulation):
        self.difference = difference
        self.instructions = emulation.bridge.Instructions()
        self.barriers = emulation.barriers()


def run_launch(arena, wanted, policy, seed, model):
    arena.reset()
    emulation = machine.Emu(arena.memory, seed=seed, weak=model, check=False,
                            budget=BUDGET, schedule=policy)
    try:
        emulation.run(arena.launches())
    except RuntimeError as error:
        return Result(str(error), emulation)
    return Result(arena.differences(wanted), emulation)


def run_policies(image, kernel, target, policies, seed, removes=False):
    """All orders of one kernel, with what came of them."""
    start, failures, instructions = time.time(), [], 0
    barriers, executed = set(), 0
    arena, model = Arena(image, kernel), models_of(target, kernel.ranks)
    wanted = arena.wanted()
    waves = kernel.ranks * kernel.programs * -(
        -image.threads(kernel.name) // WAVES[target])
    for number, policy in enumerate(policies):
        result = run_launch(arena, wanted, policy, seed + number, model)
        instructions += result.instructions
        barriers.update(result.barriers)
        executed = max(executed, sum(result.barriers.values()) // waves)
        if result.difference:
            failures.append({"policy": policy, "seed": seed + number,
                             "error": result.difference})
    necessary = 0
    for barrier in barriers if removes and not failures else ():
        image.remove(barrier)
        necessary += any(
            run_launch(arena, wanted, policy, seed + number, model).difference
            for number, policy in enumerate(policies))
        image.remove(())
    return {"runs": len(policies), "failures": failures,
            "barriers": len(barriers), "executed": executed,
            "necessary": necessary, "instructions": instructions,
            "seconds": round(time.time() - start, 2)}


def run_group(arguments):
    """Some batches of one target: a process decodes their instructions once."""
    entries, folder, policies, seed, verbose, removes = arguments
    total = dict(target=entries[0]["target"], kernels=0, differ=0, runs=0,
                 instructions=0, barriers=0, executed=0, necessary=0)
    for entry in entries:
        for record in run_batch(entry, folder, policies, seed, removes):
            total["kernels"] += 1
            total["differ"] += bool(record["failures"])
            for key in ("runs", "instructions", "barriers", "executed",
                        "necessary"):
                total[key] += record[key]
            if record["failures"] or verbose:
                os.write(1, (json.dumps(record) + "\n").encode())
    return total


def run_batch(entry, folder, policies, seed, removes):
    """Yields a record for each kernel."""
    batch = Batch(*(entry[key] for key in ("seed", "first", "count", "ranks",
                                           "options")))
    target = entry["target"]
    assert digest(batch.module(WAVES[target])) == entry["text"], \
        "this Python generates other random kernels than the one that compiled"
    image = machine.CodeObject(os.path.join(folder, entry["file"]))
    for kernel in batch.kernels(WAVES[target]):
        yield dict(run_policies(image, kernel, target, policies, seed, removes),
                   target=target, seed=batch.seed, kernel=kernel.name,
                   ranks=batch.ranks)


def run_all(options):
    with open(os.path.join(options.folder, "manifest.json"),
              encoding="utf-8") as file:
        manifest = json.load(file)
    by_target = {}
    for entry in manifest:
        if not options.targets or entry["target"] in options.targets:
            by_target.setdefault(entry["target"], []).append(entry)
    groups = max(1, options.jobs // max(1, len(by_target)))
    tasks = [(part, options.folder, options.policies, options.order_seed,
              options.verbose, options.remove)
             for entries in by_target.values()
             for part in (entries[n::groups] for n in range(groups)) if part]
    totals, start = {}, time.time()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for part in pool.map(run_group, tasks):
            total = totals.setdefault(part["target"], dict.fromkeys(part, 0))
            for key, value in part.items():
                if key != "target":
                    total[key] += value
    for target, total in sorted(totals.items()):
        print("%s: %d kernels, %d runs, %d differ, %d wave instructions, "
              "%d barriers, executed %.1f times per kernel%s" % (
                  target, total["kernels"], total["runs"], total["differ"],
                  total["instructions"], total["barriers"],
                  total["executed"] / total["kernels"],
                  ", %d of them necessary" % total["necessary"]
                  if options.remove else ""))
    print("%.1f s" % (time.time() - start))
    return any(total["differ"] for total in totals.values()) or not totals


def names(text):
    return text.split(",")


def numbers(text):
    return [int(number) for number in text.split(",")]


def add_choice(command):
    """Options that select the kernels."""
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--count", type=int, default=20)
    command.add_argument("--batch", type=int, default=20)
    command.add_argument("--ranks", default=[1, 2, 3], type=numbers)
    command.add_argument("--with", dest="with_", type=names, default=[],
                         help="overlap: arguments that are the same memory; "
                         "matmul: matmuls, and f16; warpgroups: 4 "
                         "warps or 8, as sm_90a multiplies")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    generate = commands.add_parser("generate")
    add_choice(generate)
    generate.add_argument("--wave", type=int, default=32)
    compile_, pack = commands.add_parser("compile"), commands.add_parser("pack")
    run, launch = commands.add_parser("run"), commands.add_parser("launch")
    for command in (compile_, pack, run, launch):
        command.add_argument("folder")
        command.add_argument("-j", dest="jobs", type=int, default=1)
    for command in (compile_, pack):
        add_choice(command)
        command.add_argument("--compiler", default="iris-compile")
    compile_.add_argument("--targets", type=names, default=[
        "gfx942", "gfx950", "gfx1100", "gfx1201"])
    pack.add_argument("--target", default="sm_90a")
    pack.add_argument("--rounds", type=int, default=3)
    run.add_argument("--targets", type=names, default=[])
    run.add_argument("--policies", type=names, default=list(POLICIES))
    run.add_argument("--order-seed", type=int, default=1)
    run.add_argument("--verbose", action="store_true")
    run.add_argument("--remove", action="store_true",
                     help="also without each barrier in turn: it is necessary "
                          "if some order then gives another result")
    launch.add_argument("--device", default="")
    launch.add_argument("--runner", default="iris-run")
    launch.add_argument("--ranks", default=[1, 2], type=numbers)
    launch.add_argument("--timeout", type=int, default=120)
    return parser.parse_args()


def main():
    options = parse()
    if options.command == "generate":
        print(ordering_program.program(Batch(
            options.seed, options.first, options.count, options.ranks[0],
            options.with_).kernels(options.wave)))
        return 0
    return {"compile": compile_all, "run": run_all, "pack": pack_all,
            "launch": launch_all}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
