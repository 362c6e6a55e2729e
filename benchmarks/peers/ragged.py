#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times collectives whose chunks are not multiples of 16 bytes, or begin
anywhere, through PyTorch.

    benchmarks/peers/ragged.py > nccl.txt
    LD_PRELOAD=<prefix>/lib/iris-nccl/libnccl.so.2 benchmarks/peers/ragged.py > iris.txt
    benchmarks/peers/ragged.py --compare iris.txt nccl.txt

Each line is an operation, a type, the bytes of a chunk without its extra
elements, the extra elements, the element at which each buffer begins, and
microseconds: the median of 5 replays of a graph of 8 calls. Results of
all-gather, all-to-all, send and receive are checked before.
"""
import argparse
import math
import os
import re
import statistics
import sys

LINE = re.compile(r"(\w+ \w+ \d+ extra \d+ offset \d+): ([\d.]+)$")
CALLS, SAMPLES = 8, 5


def compare(ours, theirs):
    """Prints the ratios of the points of both files, the largest first."""
    def read(path):
        with open(path, encoding="utf-8") as lines:
            found = (LINE.match(line) for line in lines)
            return {m[1]: float(m[2]) for m in found if m}
    ours, theirs = read(ours), read(theirs)
    ratios = sorted(((ours[k] / theirs[k], k) for k in ours if k in theirs),
                    reverse=True)
    if not ratios:
        sys.exit("no point is in both files")
    mean = math.exp(statistics.fmean(math.log(r) for r, _ in ratios))
    print(f"{len(ratios)} points: geometric mean {mean:.3f}, "
          f"worst {ratios[0][0]:.2f}")
    for ratio, key in ratios:
        print(f"{ratio:.2f} {key}: {ours[key]} {theirs[key]}")


def time_graph(torch, dist, call):
    """Microseconds of a call."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    graph.replay()
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    times = []
    for _ in range(SAMPLES):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1000 / CALLS)
    return statistics.median(times)


def measure(rank, options):
    # pylint: disable=import-outside-toplevel
    import torch
    import torch.distributed as dist
    size = options.ranks
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=size,
                            device_id=torch.device("cuda", rank))
    after, before = (rank + 1) % size, (rank - 1) % size

    def point(dtype, bytes_, extra, offset):
        count = bytes_ // dtype.itemsize + extra

        def values(of, length):
            numbers = torch.arange(length, device="cuda") + 5 * of
            return (numbers % 101).to(dtype)

        def buffer(length):
            whole = torch.zeros(length + 16, dtype=dtype, device="cuda")
            return whole[offset:offset + length]
        one, other = buffer(count), buffer(count)
        all_in, all_out = buffer(size * count), buffer(size * count)
        one.copy_(values(rank, count))
        all_in.copy_(values(rank, size * count))
        calls = {
            "all_gather": lambda: dist.all_gather_into_tensor(all_out, one),
            "all_to_all": lambda: dist.all_to_all_single(all_out, all_in),
            "sendrecv": lambda: [work.wait() for work in
                                 dist.batch_isend_irecv(
                                     [dist.P2POp(dist.isend, one, after),
                                      dist.P2POp(dist.irecv, other, before)])],
            "broadcast": lambda: dist.broadcast(one, 0),
        }
        if dtype != torch.uint8:
            calls["all_reduce"] = lambda: dist.all_reduce(one)
            calls["reduce_scatter"] = (
                lambda: dist.reduce_scatter_tensor(other, all_in))

        def check(name, got, want):
            calls[name]()
            if not torch.equal(got, want):
                sys.exit(f"rank {rank}: {name} of {count} {dtype} is wrong")
        check("all_gather", all_out,
              torch.cat([values(r, count) for r in range(size)]))
        chunk = slice(rank * count, (rank + 1) * count)
        check("all_to_all", all_out,
              torch.cat([values(r, size * count)[chunk] for r in range(size)]))
        check("sendrecv", other, values(before, count))
        one.zero_()
        for name, call in calls.items():
            us = time_graph(torch, dist, call)
            if rank == 0:
                print(f"{name} {str(dtype)[6:]} {bytes_} extra {extra} "
                      f"offset {offset}: {us:.1f}", flush=True)

    for dtype in (torch.float32, torch.bfloat16, torch.uint8):
        for bytes_ in options.sizes:
            for extra, offset in ((0, 0), (1, 0), (0, 1), (1, 1)):
                point(dtype, bytes_, extra, offset)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-n", dest="ranks", type=int, default=2,
                        help="ranks, a GPU each (default 2)")
    parser.add_argument("--sizes", type=lambda s: [int(x) for x in s.split(",")],
                        default=[2**16, 2**18, 2**20, 2**22, 2**24, 2**26],
                        help="bytes of a chunk (default 64 KiB to 64 MiB)")
    parser.add_argument("--port", type=int, default=29577)
    parser.add_argument("--compare", nargs=2, metavar=("OURS", "THEIRS"),
                        help="compare two outputs; nothing is measured")
    options = parser.parse_args()
    if options.compare:
        compare(*options.compare)
        return
    import torch.multiprocessing  # pylint: disable=import-outside-toplevel
    torch.multiprocessing.spawn(measure, (options,), options.ranks)


if __name__ == "__main__":
    main()
