#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what communicators and worlds cost before their first message.

    benchmarks/peers/creation.py -n 4 iris=build/lib/libiris_nccl.so \\
        nccl=/usr/lib/x86_64-linux-gnu/libnccl.so.2 \\
        world=build/lib/libiris_rt.so

An argument is NAME=LIBRARY. A library is measured through NCCL's API; one with
the name `world` through the C API of the runtime (worlds, then communicators).
Each round starts one process for each rank, on GPU 0 to N-1. Reported are the
slowest rank's times and the largest memory of a rank, the median of the rounds
and the most:

  create     ms of ncclCommInitRank, or of a world, its stream and communicator
  first      ms of the first all-reduce of 1 KiB, with synchronization
  later      us of the 21st of such calls, synchronized, the median of 20
  host       us that such a call occupies the calling thread, the median of 200
  second     ms of creating a second communicator
  destroy    ms of destroying both
  gpu, +1    MiB of the GPU that the first and the second communicator occupy,
             after all-reduces of 1 KiB, 1 MiB and 64 MiB
  kept       MiB that are still occupied after both are destroyed
  rss        MiB of host memory that the first communicator adds

With --host the ranks are CPU ranks, and the columns of the GPU are 0.
"""

import argparse
import ctypes
import json
import multiprocessing
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "matmul"))
import runtime  # noqa: E402, found by now

FLOAT32, SUM = 7, 0  # of NCCL's enumerations
IRISCCL_F32, IRISCCL_SUM = 2, 0
KIB, MIB = 1 << 10, 1 << 20
SIZES = [KIB, MIB, 64 * MIB]
COLUMNS = ["create", "first", "later", "host", "second", "destroy", "gpu", "+1",
           "kept", "rss"]


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


class Gpu:
    """The primary context of a CUDA device."""
    runtime_device = runtime.CUDA

    def __init__(self, index):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), index)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        if status := getattr(self.cuda, name)(*args):
            raise RuntimeError(f"{name} failed with status {status}")

    def occupied(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return (total.value - free.value) / MIB

    def alloc(self, size):
        address = ctypes.c_void_p()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def synchronize(self):
        self.call("cuCtxSynchronize")


class Cpu:
    """The same for CPU ranks, whose NCCL calls end before they return."""
    runtime_device = runtime.HOST

    def __init__(self, _):
        self.buffers = []

    def occupied(self):
        return 0

    def alloc(self, size):
        self.buffers.append(ctypes.create_string_buffer(size))
        return ctypes.cast(self.buffers[-1], ctypes.c_void_p)

    def synchronize(self):
        pass


class NcclApi:
    """Communicators through NCCL's API."""

    def __init__(self, library, gpu, rank, ranks, share):
        self.lib = ctypes.CDLL(library)
        self.lib.ncclGetErrorString.restype = ctypes.c_char_p
        self.gpu, self.rank, self.ranks, self.share = gpu, rank, ranks, share

    def call(self, name, *args):
        if status := getattr(self.lib, name)(*args):
            text = self.lib.ncclGetErrorString(status).decode()
            raise RuntimeError(f"{name}: {text}")

    def create(self):
        unique = UniqueId()
        if self.rank == 0:
            self.call("ncclGetUniqueId", ctypes.byref(unique))
        ctypes.memmove(ctypes.byref(unique), self.share(bytes(unique)), 128)
        start = time.perf_counter()
        comm = ctypes.c_void_p()
        self.call("ncclCommInitRank", ctypes.byref(comm), self.ranks, unique,
                  self.rank)
        return comm, time.perf_counter() - start

    def all_reduce(self, comm, buffer, count):
        self.call("ncclAllReduce", buffer, buffer, ctypes.c_size_t(count),
                  FLOAT32, SUM, comm, None)

    def synchronize(self, _):
        self.gpu.synchronize()

    def destroy(self, comm):
        self.call("ncclCommDestroy", comm)


class Worlds:
    """Worlds and their communicators through the runtime's C API."""

    def __init__(self, library, gpu, rank, ranks, share):
        ctypes.CDLL(library)  # its loading is no creation
        self.library, self.device = library, gpu.runtime_device
        self.rank, self.ranks, self.share = rank, ranks, share

    def create(self):
        job = f"creation-{int.from_bytes(self.share(os.urandom(8)), 'little')}"
        start = time.perf_counter()
        world = runtime.World(self.library, [], self.rank, self.ranks, job,
                              self.device)
        comm = ctypes.c_void_p()
        world.call("CommCreate", world.handle, None, ctypes.byref(comm),
                   library="irisccl")
        return (world, comm), time.perf_counter() - start

    def all_reduce(self, handle, buffer, count):
        world, comm = handle
        world.call("AllReduce", comm, buffer, buffer, ctypes.c_uint64(count),
                   IRISCCL_F32, IRISCCL_SUM, world.stream, None,
                   library="irisccl")

    def synchronize(self, handle):
        handle[0].synchronize()

    def destroy(self, handle):
        world, comm = handle
        world.call("CommDestroy", comm, library="irisccl")
        world.call("WorldDestroy", world.handle)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def measure(args, name, library, rank, share, wait):
    """One rank's figures, in the order of COLUMNS."""
    gpu = (Cpu if args.host else Gpu)(rank)
    buffer = gpu.alloc(max(SIZES))
    api = (Worlds if name == "world" else NcclApi)(
        library, gpu, rank, args.num_ranks, share)
    wait()
    occupied, rss = gpu.occupied(), resident()
    wait()

    def reduce(comm, size):
        start = time.perf_counter()
        api.all_reduce(comm, buffer, size // 4)
        enqueued = time.perf_counter()
        api.synchronize(comm)
        return time.perf_counter() - start, enqueued - start

    def use(comm):
        first = reduce(comm, SIZES[0])[0]
        for size in SIZES[1:]:
            reduce(comm, size)
        wait()
        return first

    comm, create = api.create()
    wait()
    first = use(comm)
    gpu_first, rss_first = gpu.occupied(), resident()
    wait()
    later = statistics.median([reduce(comm, KIB)[0] for _ in range(40)][20:])
    host = statistics.median(reduce(comm, KIB)[1] for _ in range(200))
    wait()
    other, second = api.create()
    wait()
    use(other)
    gpu_second = gpu.occupied()
    wait()
    start = time.perf_counter()
    api.destroy(other)
    api.destroy(comm)
    destroy = time.perf_counter() - start
    wait()
    return [create * 1e3, first * 1e3, later * 1e6, host * 1e6, second * 1e3,
            destroy * 1e3, gpu_first - occupied, gpu_second - gpu_first,
            gpu.occupied() - occupied, rss_first - rss]


def run_rank(args, name, library, rank, barrier, cell, results):
    def wait():
        barrier.wait(timeout=60)

    def share(data):
        if rank == 0:
            cell[:len(data)] = data
        wait()
        received = bytes(cell[:len(data)])
        wait()
        return received

    try:
        results.put((rank, measure(args, name, library, rank, share, wait)))
    except Exception as error:  # pylint: disable=broad-except
        barrier.abort()
        results.put((rank, f"rank {rank}: {error!r}"))


def run_round(args, name, library):
    """The slowest rank's times and the largest memory, or an error."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(args.num_ranks)
    cell = context.Array("B", 128)
    results = context.Queue()
    processes = [context.Process(target=run_rank, args=(
        args, name, library, rank, barrier, cell, results))
        for rank in range(args.num_ranks)]
    for process in processes:
        process.start()
    rows = [results.get(timeout=120)[1] for _ in processes]
    for process in processes:
        process.join()
    errors = [row for row in rows if isinstance(row, str)]
    if errors:
        return next((e for e in errors if "Broken" not in e), errors[0])
    return [max(column) for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", metavar="NAME=LIBRARY")
    parser.add_argument("-n", dest="num_ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="appends a line a round")
    args = parser.parse_args()
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # no multicast
    if args.host:
        os.environ["IRIS_NCCL_DEVICE"] = "host"
    print(f"{'':16}" + "".join(f"{column:>16}" for column in COLUMNS))
    failed = False
    for entry in args.libraries:
        name, _, library = entry.partition("=")
        rounds = []
        for number in range(args.rounds):
            row = run_round(args, name, library)
            if isinstance(row, str):
                print(f"{name}: {row}")
                failed = True
                break
            rounds.append(row)
            if args.json:
                with open(args.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(dict(
                        zip(COLUMNS, row), peer=name, ranks=args.num_ranks,
                        round=number)) + "\n")
        cells = [f"{statistics.median(c):.1f}, {max(c):.1f}"
                 for c in zip(*rounds)]
        print(f"{name:16}" + "".join(f"{cell:>16}" for cell in cells),
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
