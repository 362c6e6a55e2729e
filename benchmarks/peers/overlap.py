#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what collectives and sends leave of a GPU to matmuls beside them.

    torchrun --standalone --nproc-per-node=2 overlap.py > nccl.txt
    LD_PRELOAD=<prefix>/lib/libiris_nccl.so \\
      torchrun --standalone --nproc-per-node=2 overlap.py > iris.txt

Programs overlap communication with computation on another stream: gradients
with the backward pass, parameters with the layer before. Two figures for each
operation and size, of rank 0:

  waiting   the time of a matmul while the operation waits for the last rank,
            which has not called it yet, over the matmul's time alone
  running   the time of as many operations and matmuls as take about the same
            time, on two streams, over the longer one of both alone: 1 is a
            perfect overlap, 2 none

Each is the median of --rounds. Matmuls are bf16, 8192 x 8192 x 8192, on random
data. NCCL_MAX_CTAS bounds the programs of both libraries. --one-gpu has all
ranks on GPU 0, for `waiting` alone; of NCCL's versions 2.32 allows that, with
NCCL_MULTI_RANK_GPU_ENABLE=1.
"""
import argparse
import os
import statistics
import time

import torch
import torch.distributed as dist

MATMULS = 5


class Job:
    def __init__(self, args):
        self.rank = int(os.environ["RANK"])
        self.size = int(os.environ["WORLD_SIZE"])
        torch.cuda.set_device(0 if args.one_gpu else
                              int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
        self.store = dist.distributed_c10d._get_default_store()
        most = max(args.sizes) << 10
        self.chunk = torch.randn(most // 4, device="cuda")
        self.whole = torch.randn(self.size * most // 4, device="cuda")
        self.other = torch.randn_like(self.whole)
        self.a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        self.b = torch.randn_like(self.a)
        self.stream = torch.cuda.Stream()
        self.turn = 0

    def enqueue(self, op, count):
        """One operation on `count` elements, of a chunk if there are chunks."""
        chunk, whole = self.chunk[:count], self.whole[:self.size * count]
        last = self.size - 1
        if op == "recv":
            if self.rank not in (0, last):
                return None
            return (dist.irecv(chunk, last) if self.rank == 0 else
                    dist.isend(chunk, 0))
        if op == "all_reduce":
            return dist.all_reduce(chunk, async_op=True)
        if op == "all_gather":
            return dist.all_gather_into_tensor(whole, chunk, async_op=True)
        if op == "reduce_scatter":
            return dist.reduce_scatter_tensor(chunk, whole, async_op=True)
        return dist.all_to_all_single(whole, self.other[:self.size * count],
                                      async_op=True)

    def matmuls(self, number):
        """Milliseconds of a matmul."""
        with torch.cuda.stream(self.stream):
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            start.record()
            for _ in range(number):
                torch.mm(self.a, self.b)
            end.record()
        end.synchronize()
        return start.elapsed_time(end) / number

    def waiting(self, op, count):
        """Milliseconds of a matmul while the last rank lets the others wait."""
        self.turn += 1
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        if self.rank == self.size - 1:
            self.store.get(f"go{self.turn}")
        work = self.enqueue(op, count)
        ms = 0.0
        if self.rank == 0:
            time.sleep(0.02)  # the operation has started
            ms = self.matmuls(MATMULS)
            self.store.set(f"go{self.turn}", "1")
        if work:
            work.wait()
        torch.cuda.synchronize()
        return ms

    def both(self, op, count, operations, matmuls):
        """Milliseconds of the operations and matmuls together."""
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.cuda.stream(self.stream):
            for _ in range(matmuls):
                torch.mm(self.a, self.b)
        for _ in range(operations):
            self.enqueue(op, count)
        torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ops", default="recv,all_reduce,all_gather,"
                        "reduce_scatter,all_to_all")
    parser.add_argument("--sizes", default="64,4096,262144",
                        type=lambda text: [int(s) for s in text.split(",")],
                        help="KiB of a chunk, f32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one-gpu", action="store_true")
    args = parser.parse_args()
    job = Job(args)
    median = lambda measure: statistics.median(  # noqa: E731
        measure() for _ in range(args.rounds))
    alone = 0.0
    if job.rank == 0:
        job.matmuls(MATMULS)
        alone = median(lambda: job.matmuls(MATMULS))
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
              f"{job.size} ranks, NCCL_MAX_CTAS="
              f"{os.environ.get('NCCL_MAX_CTAS', '-')}: a matmul alone takes "
              f"{alone:.3f} ms\n{'op':16}{'KiB':>8} {'waiting':>8} "
              f"{'running':>8}", flush=True)
    for op in args.ops.split(","):
        for kib in args.sizes:
            count = kib << 8
            for _ in range(3):
                job.both(op, count, 1, 0)
            waits = median(lambda: job.waiting(op, count))
            overlap = "-"
            if not args.one_gpu:
                # All ranks take as many as rank 0 finds.
                few = median(lambda: job.both(op, count, 20, 0)) / 20
                times = torch.tensor([few, alone], device="cuda")
                dist.broadcast(times, 0)
                few, matmul = times.tolist()
                operations = max(1, min(2000, round(10 * matmul / few)))
                matmuls = max(1, round(operations * few / matmul))
                longer = max(
                    median(lambda: job.both(op, count, operations, 0)),
                    median(lambda: job.both(op, count, 0, matmuls)))
                together = median(
                    lambda: job.both(op, count, operations, matmuls))
                overlap = f"{together / longer:.2f}"
            if job.rank == 0:
                print(f"{op:16}{kib:8} {waits / alone:8.2f} {overlap:>8}",
                      flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
