#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks fused kernels and times them against a matmul and a collective, on
CUDA.

    benchmarks/fused/fused_kernels.py -n 8 SPEC... > fused.mlir
    iris-compile fused.mlir --target=sm_90a -o fused.iris
    benchmarks/fused/fused.py -n 8 --package=fused.iris SPEC... --shapes ...

Without iris-compile on the machine, variants of more than one kernel (unfused,
copy_engine), and the library's default, need a second --package, compiled from
the output of `iris-bench --requests`.

Starts a process for each GPU. A shape is M x N x K: each rank gets or
computes M x N, over the full K; a rank holds 1/ranks of the dimension that is
sharded. Random data; a result is compared with torch's, computed in f64, on
every rank before its time counts.

The peers, in the same job, each a CUDA graph like Iris' calls:

    gemm        torch.matmul alone, on matrices that are already local
    collective  NCCL's alone
    pair        one after the other
    pair_symm   the same, with the collective on memory registered with NCCL
                as symmetric; omitted if that is more than 1.5 GiB
    torch_fused PyTorch's fused op, if there is one: calls in sequence instead
                of a graph

For `all_gather_matmul` with shard k, the pair multiplies a matrix in
row-major order, although the gathered one is not: its time excludes the
reordering that a program would need.

Times are medians over replays of the slowest rank, in us.
"""
import argparse
import json
import math
import os
import socket
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "matmul"))
# No multicast, neither in NCCL nor in PyTorch's symmetric memory.
os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory  # registers the fused ops
import torch.multiprocessing as multiprocessing

import runtime
from fused_kernels import Spec

GRAPH_MS = 20
# Size registered with NCCL: the largest input and output of a collective.
SYMMETRIC_BYTES = 3 << 29
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
ROUNDING = {"f16": 2**-11, "bf16": 2**-8}


def ceil_div(a, b):
    return -(-a // b)


class Problem:
    """The matrices of one rank, and the sizes of staging buffer and
    workspace."""

    def __init__(self, spec, shape, ranks):
        m, n, k = shape
        kind = spec.kind
        self.spec, self.shape, self.ranks = spec, shape, ranks
        self.shard = spec.get("shard", {"all_gather_matmul": "k",
                                        "matmul_all_gather": "m"}.get(kind))
        self.c = (m, n)
        if kind == "all_gather_matmul":
            self.a = (m, k // ranks) if self.shard == "k" else (m // ranks, k)
            self.b = (k, n)
        elif kind == "matmul_all_gather":
            self.a = (m // ranks, k) if self.shard == "m" else (m, k)
            self.b = (k, n) if self.shard == "m" else (k, n // ranks)
        elif kind == "matmul_reduce_scatter":
            self.a, self.b, self.c = (m, k // ranks), (k // ranks, n), \
                (m // ranks, n)
        elif kind == "matmul_all_reduce":
            self.a, self.b = (m, k // ranks), (k // ranks, n)
        else:
            self.a, self.b = (m, k), (k, n)

    def own(self):
        """m, n and k as in MatmulProblem."""
        m = self.c[0] if self.spec.kind == "matmul_reduce_scatter" \
            else self.a[0]
        return m, self.b[1], self.a[1]


class Rank:
    """One process: its device, its world, NCCL."""

    def __init__(self, rank, options):
        self.rank, self.ranks = rank, options.n
        torch.cuda.set_device(rank)
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
        dist.init_process_group("nccl", rank=rank, world_size=self.ranks,
                                device_id=torch.device("cuda", rank))
        self.world = runtime.World(options.library, options.packages, rank,
                                   self.ranks, f"fused-{options.port}")
        self.registered = None

    def symmetric(self, dtype, *counts):
        """Tensors of this many elements in memory registered with NCCL, which
        all calls share."""
        if self.registered is None:
            backend = dist.group.WORLD._get_backend(torch.device("cuda"))
            self.pool = torch.cuda.MemPool(backend.mem_allocator)
            with torch.cuda.use_mem_pool(self.pool):
                self.registered = torch.zeros(SYMMETRIC_BYTES, device="cuda",
                                              dtype=torch.uint8)
            torch.cuda.synchronize()
            backend.register_mem_pool(self.pool, symm=True)
        tensors, at = [], 0
        for count in counts:
            size = count * dtype.itemsize
            tensors.append(self.registered[at:at + size].view(dtype))
            at += ceil_div(size, 1 << 21) << 21
        return tensors

    def close(self):
        """Deregisters memory before its pool is destroyed."""
        if self.registered is not None:
            backend = dist.group.WORLD._get_backend(torch.device("cuda"))
            backend.deregister_mem_pool(self.pool)

    def worst(self, value):
        """The largest of all ranks' values."""
        tensor = torch.tensor([float(value)], device="cuda")
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        return tensor.item()


class Case:
    """One kernel at one shape on this rank."""

    def __init__(self, me, spec, shape):
        self.me, self.spec = me, spec
        self.problem = Problem(spec, shape, me.ranks)
        world, self.owned = me.world, []
        dtype = spec.element

        def alloc(element, rows, columns):
            tensor, address = world.tensor(element, rows, columns)
            self.owned.append(address)
            return tensor

        self.a = alloc(dtype, *self.problem.a)
        self.b = alloc(dtype, *self.problem.b)
        self.c = alloc(dtype, *self.problem.c)
        def create():
            start = time.perf_counter()
            matmul = runtime.Matmul(world, spec.kind, self.problem.own(),
                                    dtype, dtype, spec.config)
            return matmul, round((time.perf_counter() - start) * 1e3, 2)

        # The first one may compile and measure; the second one finds both.
        self.matmul, first = create()
        self.create_ms = {"first": first}
        if spec.is_chosen:
            again, self.create_ms["second"] = create()
            again.destroy()
            world.sync()

    def close(self):
        torch.cuda.synchronize()
        self.me.world.synchronize()
        self.matmul.destroy()
        for address in self.owned:
            self.me.world.free(address)
        self.me.world.sync()

    def fill(self, iteration):
        same = {"m": self.b, "n": self.a}.get(self.problem.shard) \
            if self.spec.kind == "matmul_all_gather" else None
        for number, tensor in enumerate((self.a, self.b)):
            who = self.me.ranks if tensor is same else self.me.rank
            generator = torch.Generator("cuda").manual_seed(
                1000 * iteration + 10 * who + number)
            tensor.copy_(torch.randn(tensor.shape, device="cuda",
                                     generator=generator).to(tensor.dtype))
        self.c.fill_(7)
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()

    def launch(self):
        self.matmul.run(self.a, self.b, self.c)

    def gathered(self, tensor, dim):
        parts = [torch.empty_like(tensor) for _ in range(self.me.ranks)]
        dist.all_gather(parts, tensor.contiguous())
        return torch.cat(parts, dim=dim)

    def check(self):
        """Largest difference on any rank, in units of the bound; 1 or more is
        wrong."""
        worst = 0.0
        kind, shard = self.spec.kind, self.problem.shard
        for iteration in range(2):
            self.fill(iteration)
            self.launch()
            self.me.world.synchronize()
            a, b = self.a, self.b
            if kind == "all_gather_matmul":
                a = self.gathered(a, 1 if shard == "k" else 0)
            elif kind == "matmul_all_gather":
                a = self.gathered(a, 0) if shard == "m" else a
                b = self.gathered(b, 1) if shard == "n" else b
            elif kind in ("matmul_reduce_scatter", "matmul_all_reduce"):
                a, b = self.gathered(a, 1), self.gathered(b, 0)
            first = 0
            if kind == "matmul_reduce_scatter":
                first = self.me.rank * self.c.shape[0]
            step = 1024
            for row in range(0, self.c.shape[0], step):
                rows = a[first + row:first + min(row + step, self.c.shape[0])]
                want = rows.double() @ b.double()
                size = rows.double().abs() @ b.double().abs()
                got = self.c[row:row + step].double()
                bound = (ROUNDING[self.spec.element] * want.abs()
                         + a.shape[1] * 2**-24 * size + 1e-30)
                if self.spec.get("partial_type", "sum") == "result":
                    bound += ROUNDING[self.spec.element] * size
                worst = max(worst, ((got - want).abs() / bound).max().item())
                if not math.isfinite(worst):
                    worst = 1e9
            del a, b
        return self.me.worst(worst)

    def collective(self, inputs, whole):
        """NCCL's collective and its buffers: from `inputs` elements to
        `whole`, both one-dimensional tensors; an all-reduce uses only the
        first."""
        kind = self.spec.kind
        if kind in ("all_gather_matmul", "matmul_all_gather"):
            return lambda: dist.all_gather_into_tensor(whole, inputs)
        if kind == "matmul_reduce_scatter":
            return lambda: dist.reduce_scatter_tensor(whole, inputs)
        return lambda: dist.all_reduce(inputs)

    def peers(self):
        """The peers: steps by name, each a graph."""
        kind, problem, ranks = self.spec.kind, self.problem, self.me.ranks
        dtype = DTYPES[self.spec.element]

        def random(*shape):
            return torch.randn(shape, device="cuda").to(dtype)

        m, n, k = problem.shape
        first = kind == "all_gather_matmul"
        a, b = random(*((m, k) if first else problem.a)), random(*problem.b)
        shape = (m, n) if first else (problem.a[0], problem.b[1])
        moved = math.prod(problem.a) if first else math.prod(shape)
        count = {"matmul_reduce_scatter": moved // ranks,
                 "matmul_all_reduce": 0}.get(kind, moved * ranks)

        def pair(inputs, whole):
            c = torch.empty(shape, device="cuda", dtype=dtype) if first else \
                inputs.view(shape)
            matmul = lambda: torch.matmul(a, b, out=c)
            collective = self.collective(inputs, whole)
            steps = (collective, matmul) if first else (matmul, collective)
            return matmul, collective, steps

        matmul, collective, steps = pair(random(moved), random(count))
        runs = {"gemm": (matmul,), "collective": (collective,), "pair": steps}
        if (moved + count) * dtype.itemsize < SYMMETRIC_BYTES - (1 << 22):
            runs["pair_symm"] = pair(*self.me.symmetric(dtype, moved, count))[2]
        return runs

    def torch_fused(self):
        """PyTorch's own fused op on random data; None if there is none."""
        dtype, group = DTYPES[self.spec.element], dist.group.WORLD.group_name
        a, b = (torch.randn(size, device="cuda").to(dtype)
                for size in (self.problem.a, self.problem.b))
        if self.spec.kind == "matmul_reduce_scatter":
            return lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(
                a, b, "sum", 0, group)
        if self.spec.kind == "all_gather_matmul" and self.problem.shard == "m":
            return lambda: torch.ops.symm_mem.fused_all_gather_matmul(
                a, [b], 0, group)
        return None

    def time(self, replays):
        """Medians in us: Iris', and the peers' by name."""
        flop = 2.0 * math.prod(self.problem.a) * self.problem.b[1]
        if self.spec.kind == "all_gather_matmul":
            flop = 2.0 * math.prod(self.problem.shape)
        calls = max(2, min(20, int(GRAPH_MS * 5e11 / flop)))
        world = self.me.world
        graph = world.capture(lambda: [self.launch() for _ in range(calls)])
        stream = torch.cuda.Stream()
        runs, graphs, eager = self.peers(), {}, self.torch_fused()
        for name, work in runs.items():
            with torch.cuda.stream(stream):
                for step in work:
                    step()
                stream.synchronize()
                graphs[name] = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graphs[name], stream=stream):
                    for _ in range(calls):
                        for step in work:
                            step()
        times = {name: [] for name in ("ours", *runs)}
        if eager:
            times["torch_fused"] = []
        for iteration in range(replays + 1):
            for name in times:
                torch.cuda.synchronize()
                dist.barrier()
                torch.cuda.synchronize()
                if name == "ours":
                    ms = world.time_graph(graph)
                else:
                    start, end = (torch.cuda.Event(enable_timing=True)
                                  for _ in range(2))
                    with torch.cuda.stream(stream):
                        start.record(stream)
                        if name in graphs:
                            graphs[name].replay()
                        else:
                            for _ in range(calls):
                                eager()
                        end.record(stream)
                    end.synchronize()
                    ms = start.elapsed_time(end)
                if iteration:  # the first one warms up
                    times[name].append(self.me.worst(ms) * 1e3 / calls)
        world.free_graph(graph)
        return {name: statistics.median(values)
                for name, values in times.items()}


def work(rank, options):
    me = Rank(rank, options)
    wrong = 0
    for text in options.specs:
        spec = Spec(text, options.n)
        for shape in map(parse_shape, spec.shapes or options.shapes):
            line = {"op": spec.kind, "spec": spec.text, "shape": shape,
                    "ranks": options.n, "commit": options.commit}
            try:
                case = Case(me, spec, shape)
            except RuntimeError as error:
                if rank == 0:
                    print(f"{spec.text} {shape}: {error}", flush=True)
                raise
            line["how"] = case.matmul.explain()
            line["create_ms"] = case.create_ms
            error = case.check()
            line["error"] = round(error, 4)
            if error >= 1:
                wrong += 1
                if rank == 0:
                    print(f"{spec.text} {shape}: WRONG by {error:.3g} bounds",
                          flush=True)
            elif not options.check_only:
                times = case.time(options.replays)
                line.update({name: round(us, 2) for name, us in times.items()})
                line["ratio"] = round(times["ours"] / times["pair"], 4)
                line["to_longer"] = round(
                    times["ours"] / max(times["gemm"], times["collective"]), 4)
            case.close()
            if rank == 0:
                print(json.dumps(line), flush=True)
                if options.json:
                    with open(options.json, "a", encoding="utf-8") as out:
                        out.write(json.dumps(line) + "\n")
    dist.barrier()
    me.close()
    dist.destroy_process_group()
    if wrong:
        raise SystemExit(1)


def parse_shape(text):
    return tuple(int(part) for part in text.split("x"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, required=True, help="ranks")
    parser.add_argument("--package", dest="packages", action="append",
                        default=[], help="may be given several times; kernels "
                        "in none of them are compiled by iris-compile")
    parser.add_argument("--library", default="libiris_rt.so")
    parser.add_argument("specs", nargs="+", help="as for fused_kernels.py")
    parser.add_argument("--shapes", nargs="+", default=[],
                        help="MxNxK ..., of specs that name none")
    parser.add_argument("--replays", type=int, default=7)
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    options.port = free_port()
    multiprocessing.spawn(work, (options,), options.n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
