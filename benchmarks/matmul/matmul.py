#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks `tile.matmul` and times it against torch.matmul, on one CUDA device.

    benchmarks/matmul/kernels.py f16_tn_128x256x64_8 > m.mlir
    iris-compile m.mlir --target=sm_90a -o m.iris
    benchmarks/matmul/matmul.py m.iris f16_tn_128x256x64_8 --library=libiris_rt.so

Random data; every result is compared with torch's, in f64, before its time
counts. Both are graphs with 30 ms of calls, which cycle through several sets
of buffers and are replayed alternately; the time is the median of the
replays. With --json=FILE each shape is a line there.

With --seconds=S the two are replayed alternately for S seconds at a time:
this measures a device at its power limit. Graphs of 30 ms are less meaningful
for this, as the limit follows with a delay that depends on earlier work.
Clock and power are the medians of nvidia-smi's values in the second half.
"""
import argparse
import json
import math
import statistics
import subprocess
import time

import torch

import kernels
import runtime

SHAPES = [(4096, 4096, 4096), (8192, 8192, 8192), (4096, 11008, 4096),
          (4096, 14336, 4096), (1024, 3584, 8192), (4096, 3584, 8192),
          (16384, 3584, 8192)]
GRAPH_MS = 30
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
          "i8": torch.int8, "i32": torch.int32}
# Rounding error of the result, and of the sum of products, relative to one.
ROUNDING = {"f16": 2**-11, "bf16": 2**-8, "f32": 2**-24, "i32": 0}
INPUTS = {"f16": 0, "bf16": 0, "tf32": 2**-10, "f32": 0, "i8": 0}


def make(rows, columns, in_rows, dtype):
    first, second = (rows, columns) if in_rows else (columns, rows)
    if dtype == torch.int8:
        data = torch.randint(-128, 128, (first, second), device="cuda",
                             dtype=dtype)
    else:
        data = torch.randn(first, second, device="cuda").to(dtype)
    return data if in_rows else data.t()


class Case:
    """One kernel at one shape (m, n, k)."""

    def __init__(self, world, spec, shape, programs):
        self.world, self.spec, self.shape = world, spec, shape
        self.kernel = world.find(spec["name"])
        self.programs = programs
        m, n, k = shape
        dtype, result = DTYPES[spec["element"]], DTYPES[spec["result"]]
        sets = 3 if m * k + k * n < 2**28 else 1
        self.sets = [(make(m, k, spec["a_rows"], dtype),
                      make(k, n, spec["b_rows"], dtype),
                      torch.empty(m, n, device="cuda", dtype=result))
                     for _ in range(sets)]
        torch.cuda.synchronize()

    def ours(self, buffers):
        a, b, c = buffers
        spec = self.spec
        self.world.launch(self.kernel, self.programs,
                          [runtime.memref(spec["element"], a),
                           runtime.memref(spec["element"], b),
                           runtime.memref(spec["result"], c)])

    def check(self):
        """Largest difference, in units of the bound; 1 or more is wrong."""
        a, b, c = self.sets[0]
        k = self.shape[2]
        c.fill_(7)
        torch.cuda.synchronize()
        self.ours(self.sets[0])
        self.world.synchronize()
        worst = 0.0
        for rows in range(0, self.shape[0], 2048):
            want = a[rows:rows + 2048].double() @ b.double()
            got = c[rows:rows + 2048].double()
            size = a[rows:rows + 2048].double().abs() @ b.double().abs()
            bound = (ROUNDING[self.spec["result"]] * want.abs() +
                     (k * 2**-24 + 2 * INPUTS[self.spec["kind"]]) * size +
                     1e-30)
            worst = max(worst, ((got - want).abs() / bound).max().item())
        return worst

    def graphs(self):
        """Graphs of this many calls, Iris' and torch's: functions that replay
        one and return its milliseconds; and one that frees them."""
        m, n, k = self.shape
        calls = max(3, min(100, int(GRAPH_MS * 7e11 / (2.0 * m * n * k))))
        order = [self.sets[i % len(self.sets)] for i in range(calls)]
        graph = self.world.capture(lambda: [self.ours(s) for s in order])
        stream = torch.cuda.Stream()
        torch_graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            torch.matmul(*order[0][:2], out=order[0][2])
            with torch.cuda.graph(torch_graph, stream=stream):
                for a, b, c in order:
                    torch.matmul(a, b, out=c)

        def replay_torch():
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            start.record(stream)
            with torch.cuda.stream(stream):
                torch_graph.replay()
            end.record(stream)
            torch.cuda.synchronize()
            return start.elapsed_time(end)

        return (calls, (lambda: self.world.time_graph(graph), replay_torch),
                lambda: self.world.free_graph(graph))

    def time(self, replays):
        """Milliseconds of a call: Iris', torch's."""
        calls, runs, free = self.graphs()
        times = [[], []]
        for iteration in range(replays + 1):
            for run, of in zip(runs, times):
                ms = run() / calls
                if iteration:  # the first one warms up
                    of.append(ms)
        free()
        return [{"ms": statistics.median(of)} for of in times]

    def sustain(self, seconds, rounds=2):
        """The same, with clock and power, after half of `seconds` each."""
        calls, runs, free = self.graphs()
        samples = [[], []]
        for _ in range(rounds):
            for run, of in zip(runs, samples):
                with Sensors() as sensors:
                    begin = time.monotonic()
                    while time.monotonic() - begin < seconds / 2:
                        run()
                    sensors.start()
                    while True:
                        of.append({"ms": run() / calls})
                        if time.monotonic() - begin >= seconds:
                            break
                of[-1].update(sensors.medians())
        free()
        keys = {key for of in samples for sample in of for key in sample}
        return [{key: statistics.median(s[key] for s in of if key in s)
                 for key in keys} for of in samples]


class Sensors:
    """Clock and power of the device from nvidia-smi, during the measurement."""

    def __enter__(self):
        self.process = subprocess.Popen(
            ["nvidia-smi", "-lms", "50",
             f"--id=GPU-{torch.cuda.get_device_properties(0).uuid}",
             "--query-gpu=clocks.sm,power.draw.instant",
             "--format=csv,noheader,nounits"],
            stdout=subprocess.PIPE, text=True)
        self.begin, self.skipped = time.monotonic(), 0
        return self

    def start(self):
        """Discards earlier values."""
        self.skipped = time.monotonic() - self.begin

    def __exit__(self, *_):
        self.process.terminate()
        lines = self.process.communicate()[0].splitlines()
        total = time.monotonic() - self.begin
        lines = lines[int(len(lines) * self.skipped / total):]
        self.values = [tuple(map(float, line.split(","))) for line in lines
                       if line.count(",") == 1 and line[-1].isdigit()]

    def medians(self):
        if not self.values:
            return {}
        mhz, watts = zip(*self.values)
        return {"mhz": statistics.median(mhz),
                "watts": statistics.median(watts)}


def parse_shape(text):
    return tuple(int(part) for part in text.split("x"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package")
    parser.add_argument("kernels", nargs="+")
    parser.add_argument("--library", default="libiris_rt.so")
    parser.add_argument("--shapes", nargs="*", type=parse_shape, default=SHAPES)
    parser.add_argument("--replays", type=int, default=7)
    parser.add_argument("--seconds", type=float,
                        help="how long each is replayed at a time")
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    torch.zeros(1, device="cuda")
    world = runtime.World(options.library, [options.package])
    wrong = 0
    for name in options.kernels:
        spec = kernels.parse(name)
        ratios = []
        for shape in options.shapes:
            case = Case(world, spec, shape, programs)
            error = case.check()
            line = {"kernel": name, "shape": shape, "error": round(error, 4)}
            if error >= 1:
                wrong += 1
                print(f"{name} {shape}: WRONG by {error:.3g} bounds", flush=True)
                continue
            if not options.check_only:
                ours, theirs = case.sustain(options.seconds) \
                    if options.seconds else case.time(options.replays)
                flop = 2.0 * math.prod(shape)
                ratios.append(theirs["ms"] / ours["ms"])
                line.update(us=round(ours["ms"] * 1e3, 2),
                            torch_us=round(theirs["ms"] * 1e3, 2),
                            tflops=round(flop / ours["ms"] / 1e9, 1),
                            ratio=round(ratios[-1], 4))
                for key in ("mhz", "watts"):
                    if key in ours and key in theirs:
                        line.update({key: ours[key],
                                     f"torch_{key}": theirs[key]})
            print(json.dumps(line), flush=True)
            if options.json:
                with open(options.json, "a") as out:
                    out.write(json.dumps(line) + "\n")
        if ratios:
            print(f"{name}: geometric mean {statistics.geometric_mean(ratios):.3f}, "
                  f"least {min(ratios):.3f} of torch's speed", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
