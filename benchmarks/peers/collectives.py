#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the collectives of PyTorch and NCCL as iris-bench measures Iris'.

    benchmarks/peers/collectives.py -n 8 --json=peers.jsonl

Starts one process for each GPU of this machine. A sample is a number of calls
as one CUDA graph (individual calls with --mode=eager); its time is that of
the slowest rank, divided by the calls. Every case is checked, element by
element, on every rank. Times are in us, sizes in bytes of one chunk, as for
iris-bench: all_gather, reduce_scatter and all_to_all have a buffer with one
chunk per rank; for all other operations a chunk is the buffer.

peers:
  nccl                torch.distributed on ordinary memory
  nccl_symm           the same on memory registered as symmetric
  torch_one_shot      torch.ops.symm_mem.one_shot_all_reduce
  torch_two_shot      torch.ops.symm_mem.two_shot_all_reduce_
  torch_symm          torch.ops.symm_mem.reduce_scatter_out
  torch_low_contention
                      torch.ops.symm_mem._low_contention_all_gather
None of them may use NVLink multicast: it is switched off before PyTorch is
loaded.

With PyTorch for ROCm, `nccl` is RCCL; select it alone (--peers=nccl): the
other peers have not been tried on ROCm.

With --channels=N, NCCL or RCCL gets exactly N channels if it respects
NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS. A channel is a block, so it
occupies an SM or CU. The lines then have `programs` N and the variant
"channels".

When a rank fails or hangs, all processes of the set are killed, the peer is
skipped for that operation, and a new set continues with the remaining cases.

exit status: 0 if everything was correct and within the budget, 1 if something
failed, 2 for a wrong command line, 3 if the budget ended the sweep.
"""

import argparse
import contextlib
import ctypes
import json
import mmap
import os
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from measurements import MANY_CHUNKS, format_size  # noqa: E402, found by now

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
OPS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
       "reduce"]
REDUCING = {"all_reduce", "reduce_scatter", "reduce"}
PEERS = ["nccl", "nccl_symm", "torch_one_shot", "torch_two_shot", "torch_symm",
         "torch_low_contention"]

# Bytes of the larger buffer; the quick ones come first, so that they are
# measured even if the budget ends early.
SMALL_SWEEP = ([16 * KIB, MIB, 64 * MIB],
               [256 * KIB, 4 * MIB, 16 * MIB, 256 * MIB, GIB])
DEFAULT_SIZES = {
    "all_reduce": (
        [KIB, 8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB, 32 * MIB, 256 * MIB],
        [2 * KIB, 4 * KIB, 16 * KIB, 32 * KIB, 128 * KIB, 256 * KIB, MIB,
         2 * MIB, 8 * MIB, 16 * MIB, 64 * MIB, 128 * MIB, GIB]),
    "all_gather": (
        [64 * KIB, 512 * KIB, 8 * MIB, 256 * MIB],
        [128 * KIB, 256 * KIB, MIB, 2 * MIB, 16 * MIB, 64 * MIB, 512 * MIB,
         GIB]),
    "reduce_scatter": SMALL_SWEEP,
    "all_to_all": SMALL_SWEEP,
    "broadcast": SMALL_SWEEP,
    "reduce": SMALL_SWEEP,
}

# The peers of each operation, and the largest chunk for which they are
# measured.
NO_LIMIT = 1 << 62
PEERS_OF = {
    "all_reduce": {"nccl": NO_LIMIT, "nccl_symm": NO_LIMIT,
                   "torch_one_shot": 4 * MIB, "torch_two_shot": NO_LIMIT},
    "all_gather": {"nccl": NO_LIMIT, "nccl_symm": NO_LIMIT,
                   "torch_low_contention": NO_LIMIT},
    "reduce_scatter": {"nccl": NO_LIMIT, "nccl_symm": NO_LIMIT,
                       "torch_symm": NO_LIMIT},
    "all_to_all": {"nccl": NO_LIMIT, "nccl_symm": NO_LIMIT},
    "broadcast": {"nccl": NO_LIMIT, "nccl_symm": NO_LIMIT},
    "reduce": {"nccl": NO_LIMIT, "nccl_symm": NO_LIMIT},
}

WARMUPS = 3
MOST_SAMPLE_US = 20e3
PERIOD = 4093  # of the data: a prime, so that no two chunks are equal
STUCK_SECONDS = 25  # without progress: counts as a hang
WATCHDOG_SECONDS = 0.3  # three of its periods, in PyTorch 2.2 and later
START_SECONDS = 60  # until the first case: PyTorch and NCCL load slowly

SWITCHES = {
    "NCCL_NVLS_ENABLE": "0",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
    "NVSHMEM_DISABLE_NVLS": "1",
}


# ===----------------------------------------------------------------------===#
# Command line
# ===----------------------------------------------------------------------===#


def parse_size(text):
    units = {"K": KIB, "M": MIB, "G": GIB}
    try:
        size = int(text[:-1]) * units[text[-1]] if text[-1:] in units \
            else int(text)
    except ValueError:
        size = 0
    if size <= 0 or size % KIB:
        raise argparse.ArgumentTypeError(
            f"size '{text}'; expected a multiple of 1K")
    return size


def parse_sizes(text):
    """A list, or FROM:TO by powers of 4, as in iris-bench."""
    if ":" in text:
        first, last = map(parse_size, text.split(":", 1))
        sizes = []
        while first <= last:
            sizes.append(first)
            first *= 4
        return sizes
    return [parse_size(word) for word in text.split(",")]


def word_list(allowed):
    def parse(text):
        words = allowed if text == "all" else text.split(",")
        for word in words:
            if word not in allowed:
                raise argparse.ArgumentTypeError(
                    f"'{word}'; expected some of {', '.join(allowed)}")
        return words
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=0, metavar="N",
                        help="ranks (default: all GPUs, at most 8)")
    parser.add_argument("--json", metavar="FILE",
                        help="appends a line for each measurement")
    parser.add_argument("--ops", type=word_list(OPS), default=OPS[:-1],
                        metavar="LIST", help="all, or some of %s (default: "
                        "all but reduce)" % ", ".join(OPS))
    parser.add_argument("--peers", type=word_list(PEERS), default=PEERS,
                        metavar="LIST", help="default: all")
    parser.add_argument("--sizes", type=parse_sizes, metavar="LIST",
                        help="bytes of one chunk: a list, or FROM:TO by powers "
                        "of 4 (default: a list for each operation)")
    parser.add_argument("--dtype", default="bf16",
                        choices=["bf16", "f16", "f32"])
    parser.add_argument("--mode", default="graph", choices=["graph", "eager"],
                        help="default graph")
    parser.add_argument("--channels", type=int, default=0, metavar="N",
                        help="of NCCL or RCCL (default: its default)")
    parser.add_argument("--quick", action="store_true",
                        help="about a third of the default sizes")
    parser.add_argument("--budget", type=float, default=100, metavar="SECONDS",
                        help="no case begins later (default 100); all is over "
                        "15 s after it")
    parser.add_argument("--calls", type=int, default=20,
                        help="most calls in a sample (default 20; fewer where "
                        "it would take over 20 ms)")
    parser.add_argument("--samples", type=int, default=15,
                        help=f"default 15, after {WARMUPS} warm-ups")
    parser.add_argument("--machine", default="", help="noted in the lines")
    parser.add_argument("--commit", default="", help="likewise")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.n < 0 or arguments.n > 8 or arguments.n == 1:
        parser.error("-n; expected 2 to 8")
    if arguments.calls < 1 or arguments.samples < 1:
        parser.error("--calls and --samples must be at least 1")
    if arguments.channels < 0 or arguments.channels > 128:
        parser.error("--channels; expected 1 to 128")
    return arguments


def list_cases(arguments):
    """(op, peer, bytes of a chunk), the most important first."""
    cases = []
    for level in range(1 if arguments.quick or arguments.sizes else 2):
        for op in arguments.ops:
            if arguments.sizes:
                sizes = arguments.sizes
            else:
                parts = arguments.n if op in MANY_CHUNKS else 1
                # Whole 128-byte lines, also for numbers of ranks that do not
                # divide the size.
                sizes = [max(size // parts // 128, 1) * 128
                         for size in DEFAULT_SIZES[op][level]]
            for size in sizes:
                for peer, most in PEERS_OF[op].items():
                    if peer in arguments.peers and size <= most:
                        cases.append((op, peer, size))
    # Peers with their own streams come last: they are the most likely to fail.
    return sorted(cases, key=lambda case: case[1] == "torch_low_contention")


def bus_bandwidth(op, size, ranks, us):
    """GB/s that the busiest link carries at least, as in nccl-tests."""
    carried = size
    if op == "all_reduce":
        carried = 2 * (ranks - 1) / ranks * size
    elif op in MANY_CHUNKS:
        carried = (ranks - 1) * size
    return carried / us / 1e3


def quantile(values, fraction):
    position = fraction * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    weight = position - below
    return values[below] * (1 - weight) + values[above] * weight


# ===----------------------------------------------------------------------===#
# State shared by the processes
# ===----------------------------------------------------------------------===#


class Board:
    """A page that all ranks and their parent map: a spinning barrier, and
    numbers that ranks exchange. Ranks synchronize through it without the
    collectives under test. One rank writes each word."""

    RANKS, SLOTS = 8, 8

    def __init__(self, path, rank=None, ranks=0):
        size = 4096
        with open(path, "r+b") as file:
            file.truncate(size)
            self.map = mmap.mmap(file.fileno(), size)
        count = self.RANKS * self.SLOTS  # a cache line for each rank
        self.counts = (ctypes.c_int64 * count).from_buffer(self.map, 0)
        self.values = (ctypes.c_double * count).from_buffer(self.map, 8 * count)
        # Written by rank 0: the number of cases started.
        self.case = (ctypes.c_int64 * 1).from_buffer(self.map, 16 * count)
        self.rank, self.ranks = rank, ranks

    def barrier(self, seconds=STUCK_SECONDS):
        mine = self.counts[self.rank * self.SLOTS] + 1
        self.counts[self.rank * self.SLOTS] = mine
        end = time.monotonic() + seconds
        for rank in range(self.ranks):
            spins = 0
            while self.counts[rank * self.SLOTS] < mine:
                spins += 1
                if spins % 1000 == 0 and time.monotonic() > end:
                    raise RuntimeError(f"rank {rank} did not reach a barrier")

    def all_values(self, value):
        """The values of all ranks."""
        self.values[self.rank * self.SLOTS] = value
        self.barrier()
        values = [self.values[rank * self.SLOTS] for rank in range(self.ranks)]
        self.barrier()  # before any rank writes another value
        return values

    def progress(self):
        return self.case[0], sum(self.counts[rank * self.SLOTS]
                                 for rank in range(self.RANKS))


# ===----------------------------------------------------------------------===#
# A rank
# ===----------------------------------------------------------------------===#


class NotAvailable(Exception):
    """This peer does not support this case; not an error."""


class Rank:
    """One process: its buffers, and the calls of all peers."""

    def __init__(self, arguments, job, rank):
        import torch
        import torch.distributed as dist
        self.torch, self.dist = torch, dist
        self.arguments, self.rank, self.ranks = arguments, rank, arguments.n
        self.board = Board(job["board"], rank, arguments.n)
        self.dtype = {"bf16": torch.bfloat16, "f16": torch.float16,
                      "f32": torch.float32}[arguments.dtype]
        self.device = torch.device("cuda", rank)
        torch.cuda.set_device(self.device)
        dist.init_process_group(
            "nccl", init_method=f"tcp://127.0.0.1:{job['port']}", rank=rank,
            world_size=self.ranks, device_id=self.device)
        self.group = dist.group.WORLD
        self.stream = torch.cuda.Stream()
        self.buffers = {}
        self.patterns = [self.pattern(other) for other in range(self.ranks)]
        self.pattern_sum = sum(self.patterns[1:], self.patterns[0])
        # One size for all cases: each registration takes time.
        cases = [tuple(case) for case in job["cases"]]
        self.bytes = max(
            size * (self.ranks if op in MANY_CHUNKS else 1)
            for op, _, size in cases)
        # The first collective creates NCCL's communicator.
        warm = torch.ones(1024, dtype=self.dtype, device=self.device)
        dist.all_reduce(warm)
        torch.cuda.synchronize()

    # --- buffers ---------------------------------------------------------- #

    def memory(self, kind):
        """(input, output) of one kind, with the largest size of all cases."""
        if kind not in self.buffers:
            self.buffers[kind] = getattr(self, "make_" + kind)()
        return self.buffers[kind]

    def elements(self):
        return self.bytes // self.dtype.itemsize

    def make_plain(self):
        return tuple(self.torch.zeros(self.elements(), dtype=self.dtype,
                                      device=self.device) for _ in range(2))

    def make_nccl_symm(self):
        """Allocates first, then registers: memory allocated in a registered
        pool would be registered while ranks are not in step."""
        torch = self.torch
        backend = self.group._get_backend(self.device)
        if not hasattr(backend, "register_mem_pool"):
            raise NotAvailable("this PyTorch registers no memory pools")
        pool = torch.cuda.MemPool(backend.mem_allocator)
        # One allocation: with two, their order in the pool would have to be the
        # same on all ranks.
        with torch.cuda.use_mem_pool(pool):
            both = torch.zeros(2 * self.elements(), dtype=self.dtype,
                               device=self.device)
        torch.cuda.synchronize()
        try:
            backend.register_mem_pool(pool, symm=True)
        except TypeError as error:
            raise NotAvailable("this PyTorch registers no symmetric memory") \
                from error
        self.pool = pool  # lives as long as the process
        return both[:self.elements()], both[self.elements():]

    def make_torch_symm(self):
        import torch.distributed._symmetric_memory as symm_mem
        buffers = tuple(symm_mem.empty(self.elements(), dtype=self.dtype,
                                       device=self.device) for _ in range(2))
        self.handles = [symm_mem.rendezvous(buffer, self.group.group_name)
                        for buffer in buffers]
        return buffers

    # --- data ------------------------------------------------------------- #

    def pattern(self, rank):
        """PERIOD integers from 0 to 7, whose sums are exact: the same hash of
        (rank, index) as in iris-bench."""
        mask = (1 << 32) - 1
        numbers = []
        for index in range(PERIOD):
            h = (index * 0x9e3779b1 + (rank + 1) * 0x85ebca6b) & mask
            h ^= h >> 15
            h = h * 0x2c1b3c6d & mask
            h ^= h >> 12
            numbers.append(h >> 29)
        return self.torch.tensor(numbers, dtype=self.dtype, device=self.device)

    def segment(self, pattern, first, count):
        """Elements first ... first + count - 1 of an infinite pattern."""
        shift = first % PERIOD
        repeats = (shift + count + PERIOD - 1) // PERIOD
        return pattern.repeat(repeats)[shift:shift + count]

    def input(self, op, count):
        chunks = self.ranks if op in ("reduce_scatter", "all_to_all") else 1
        return self.segment(self.patterns[self.rank], 0, count * chunks)

    def is_right(self, op, got, count):
        """Compares chunk by chunk, to avoid a second large buffer."""
        if op == "reduce" and self.rank != 0:
            return True
        if op in REDUCING:
            first = self.rank * count if op == "reduce_scatter" else 0
            return self.torch.equal(
                got, self.segment(self.pattern_sum, first, count))
        if op == "broadcast":
            return self.torch.equal(got,
                                    self.segment(self.patterns[0], 0, count))
        first = self.rank * count if op == "all_to_all" else 0
        return all(self.torch.equal(
            got[source * count:(source + 1) * count],
            self.segment(self.patterns[source], first, count))
            for source in range(self.ranks))

    # --- calls ------------------------------------------------------------ #

    def kind_of(self, peer):
        return {"nccl": "plain", "nccl_symm": "nccl_symm"}.get(peer,
                                                               "torch_symm")

    def prepare(self, op, peer, count):
        """(call, input, output): a call without arguments that returns the
        result; input and output are the same if it works in place."""
        source, target = self.memory(self.kind_of(peer))
        larger = count * self.ranks
        if op in ("reduce_scatter", "all_to_all"):
            source, target = source[:larger], target[:larger]
            if op == "reduce_scatter":
                target = target[:count]
        elif op == "all_gather":
            source, target = source[:count], target[:larger]
        else:
            source = target = source[:count]
        maker = self.nccl_call if peer.startswith("nccl") else self.torch_call
        return maker(op, peer, source, target), source, target

    def nccl_call(self, op, _, source, target):
        dist = self.dist
        calls = {
            "all_reduce": lambda: dist.all_reduce(source),
            "all_gather": lambda: dist.all_gather_into_tensor(target, source),
            "reduce_scatter":
                lambda: dist.reduce_scatter_tensor(target, source),
            "all_to_all": lambda: dist.all_to_all_single(target, source),
            "broadcast": lambda: dist.broadcast(source, 0),
            "reduce": lambda: dist.reduce(source, 0),
        }

        def call():
            calls[op]()
            return target
        return call

    def torch_call(self, _, peer, source, target):
        ops, name = self.torch.ops.symm_mem, self.group.group_name
        wanted = {"torch_one_shot": "one_shot_all_reduce",
                  "torch_two_shot": "two_shot_all_reduce_",
                  "torch_symm": "reduce_scatter_out",
                  "torch_low_contention": "_low_contention_all_gather"}[peer]
        if not hasattr(ops, wanted):
            raise NotAvailable(f"this PyTorch has no {wanted}")
        if peer == "torch_symm":
            return lambda: ops.reduce_scatter_out(source, name, False, target)
        if peer == "torch_low_contention":
            def gather():
                result = ops._low_contention_all_gather(source, name)
                return self.torch.ops._c10d_functional.wait_tensor(result)
            return gather
        return lambda: getattr(ops, wanted)(source, "sum", name)

    # --- measuring -------------------------------------------------------- #

    def agree(self, work):
        """Runs something that may fail; fails on all ranks if it fails on
        one, so that all stay in step."""
        error = result = None
        try:
            result = work()
            self.torch.cuda.synchronize()
        except Exception as caught:  # any error of a peer
            error = caught
            traceback.print_exc(limit=-3)
        if any(self.board.all_values(0 if error is None else 1)):
            raise NotAvailable(f"{type(error).__name__}: {error}" if error
                               else "another rank failed")
        return result

    def event_us(self, work, before):
        """Time of `work` on the slowest rank; ranks start together."""
        torch = self.torch
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before()
        self.stream.synchronize()
        self.board.barrier()
        start.record(self.stream)
        work()
        end.record(self.stream)
        end.synchronize()
        return max(self.board.all_values(1000 * start.elapsed_time(end)))

    def measure(self, op, peer, size):
        """Samples in us for a call, and the calls of a sample."""
        torch = self.torch
        count = size // self.dtype.itemsize
        with torch.cuda.stream(self.stream):
            call, source, target = self.agree(
                lambda: self.prepare(op, peer, count))
            data = self.input(op, count)

            def reset():
                # Some peers work in place: values would grow from call to call.
                source.copy_(data)

            def clear():
                reset()
                if target is not source:
                    target.fill_(-1)

            def check():
                if not self.is_right(op, call(), count):
                    raise RuntimeError("wrong output")
            self.agree(clear)  # on all ranks, before the next call
            self.agree(check)

            once = min(self.event_us(call, reset) for _ in range(2))
            calls = int(MOST_SAMPLE_US / max(once, 1))
            calls = min(max(calls, 2), self.arguments.calls)

            if self.arguments.mode == "eager":
                def run():
                    for _ in range(calls):
                        call()
                return self.sample(run, reset, calls), calls

            graph = torch.cuda.CUDAGraph()

            def capture():
                # After a call, PyTorch's watchdog thread queries its event; in
                # HIP that ends any capture. Wait until it has nothing to query:
                # captured calls are not watched.
                if torch.version.hip:
                    time.sleep(WATCHDOG_SECONDS)
                # NCCL's own threads may call CUDA in the meantime. Not
                # `with torch.cuda.graph`: it collects garbage each time.
                graph.capture_begin(capture_error_mode="thread_local")
                try:
                    for _ in range(calls):
                        call()
                finally:
                    graph.capture_end()
            self.agree(capture)
            samples = self.sample(graph.replay, reset, calls)
            graph.reset()
        return samples, calls

    def sample(self, run, reset, calls):
        """Sorted times of a call in us; no rank returns before all are done."""
        samples = [self.event_us(run, reset) / calls
                   for _ in range(WARMUPS + self.arguments.samples)]
        self.torch.cuda.synchronize()
        self.board.barrier()
        return sorted(samples[WARMUPS:])

    def describe(self):
        torch = self.torch
        version = torch.cuda.nccl.version()
        return (torch.cuda.get_device_name(self.device),
                f"torch {torch.__version__}, "
                + ("RCCL " if torch.version.hip else "NCCL ")
                + ".".join(map(str, version)))


def work(arguments):
    """Runs the cases; rank 0 writes a line for each to stdout."""
    with open(arguments.worker, encoding="utf-8") as file:
        job = json.load(file)
    number = int(os.environ["RANK"])
    rank = Rank(arguments, job, number)
    device, version = rank.describe()

    def tell(**line):
        if number == 0:
            print(json.dumps(line), flush=True)

    failed = set()
    for index, (op, peer, size) in enumerate(job["cases"]):
        if number == 0:
            rank.board.case[0] = index + 1
        # Rank 0's clock is decisive.
        late = time.time() > job["end"]
        if rank.board.all_values(late)[0]:
            break
        if (op, peer) in failed:
            tell(index=index)
            continue
        try:
            samples, calls = rank.measure(op, peer, size)
        except NotAvailable as error:
            failed.add((op, peer))
            tell(index=index, failed=str(error))
            continue
        us = quantile(samples, 0.5)
        tell(index=index, result={
            "op": op, "peer": peer, "dtype": arguments.dtype, "bytes": size,
            "us": round(us, 3), "q1": round(quantile(samples, 0.25), 3),
            "q3": round(quantile(samples, 0.75), 3),
            "min": round(samples[0], 3), "max": round(samples[-1], 3),
            "busbw_GBs": round(bus_bandwidth(op, size, rank.ranks, us), 3),
            "ranks": rank.ranks, "mode": arguments.mode,
            "variant": "channels" if arguments.channels else "",
            "programs": arguments.channels or None,
            "device": device, "machine": arguments.machine,
            "commit": arguments.commit, "calls": calls, "version": version})
    rank.board.barrier()


def worker(arguments):
    status = 0
    try:
        work(arguments)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # destroying communicators takes long, and may hang


# ===----------------------------------------------------------------------===#
# The parent
# ===----------------------------------------------------------------------===#


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Crew:
    """One set of processes, which runs a list of cases."""

    def __init__(self, arguments, cases, end):
        self.folder = tempfile.TemporaryDirectory(prefix="peers-")
        board = os.path.join(self.folder.name, "board")
        plan = os.path.join(self.folder.name, "plan")
        self.out = os.path.join(self.folder.name, "out")
        with open(board, "wb") as file:
            file.write(bytes(4096))
        with open(plan, "w", encoding="utf-8") as file:
            json.dump({"board": board, "port": free_port(), "cases": cases,
                       "end": end}, file)
        self.board = Board(board)
        command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:],
                   "-n", str(arguments.n), "--worker", plan]
        self.children = []
        for rank in range(arguments.n):
            environment = dict(os.environ, RANK=str(rank),
                               LOCAL_RANK=str(rank),
                               WORLD_SIZE=str(arguments.n), **SWITCHES)
            if arguments.channels:
                for bound in ("NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"):
                    environment[bound] = str(arguments.channels)
            with open(self.out if rank == 0 else os.devnull, "wb") as file:
                self.children.append(subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL,
                    stdout=file))
        self.read = 0

    def lines(self):
        """Rank 0's output since the last call."""
        with open(self.out, "rb") as file:
            file.seek(self.read)
            data = file.read()
        data = data[:data.rfind(b"\n") + 1]
        self.read += len(data)
        for line in data.splitlines():
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    yield message

    def kill(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
        for child in self.children:
            child.wait()

    def watch(self, take, hard_end):
        """Forwards lines until all processes are done: returns None, or the
        error."""
        seen, since = None, time.time()
        while True:
            for message in self.lines():
                take(message)
            codes = [child.poll() for child in self.children]
            if all(code == 0 for code in codes):
                for message in self.lines():
                    take(message)
                return None
            for rank, code in enumerate(codes):
                if code not in (None, 0):
                    return f"rank {rank} ended with status {code}"
            now, progress = time.time(), self.board.progress()
            if progress != seen:
                seen, since = progress, now
            patience = STUCK_SECONDS if progress[0] else START_SECONDS
            if now - since > patience:
                return f"no progress for {patience} s"
            if now > hard_end:
                return "still at work after the budget"
            time.sleep(0.05)


def run_crews(arguments, cases, take_result):
    """(whether no case is left, the failure)."""
    end = time.time() + arguments.budget
    failures, working = [], set()
    while cases and time.time() < end:
        done = set()

        def take(message, cases=cases, done=done):
            index = message.get("index", -1)
            if not 0 <= index < len(cases):
                return
            done.add(index)
            if "failed" in message:
                op, peer, size = cases[index]
                failures.append(f"{op} {peer} {size}: {message['failed']}")
                print("FAILED " + failures[-1], flush=True)
            if "result" in message:
                working.add(message["result"]["peer"])
                take_result(message["result"])
        crew = Crew(arguments, cases, end)
        try:
            trouble = crew.watch(take, end + 15)
            for message in crew.lines():
                take(message)
        finally:
            crew.kill()
        culprit = crew.board.case[0] - 1
        rest = [case for index, case in enumerate(cases) if index not in done]
        if trouble is None or time.time() > end:
            if trouble:
                failures.append(trouble)
            return not rest, failures
        if culprit < 0 or culprit in done:
            # No culprit: without progress, a retry would fail again.
            failures.append(f"before any case: {trouble}" if culprit < 0
                            else trouble)
            if not done:
                return False, failures
            cases = rest
            continue
        op, peer, size = cases[culprit]
        failures.append(f"{op} {peer} {size}: {trouble}")
        print("FAILED " + failures[-1], flush=True)
        # A peer that never worked would take the same time in every set.
        cases = [case for case in rest if case[1] != peer
                 or case[0] != op and peer in working]
    return not cases, failures


def print_table(results):
    print(f"\n{'operation':15} {'chunk':>9} " + " ".join(
        f"{peer:>20}" for peer in PEERS) + "   (us)")
    times = {(r["op"], r["bytes"], r["peer"]): r["us"] for r in results}
    keys = {key[:2] for key in times}
    for op, size in sorted(keys, key=lambda key: (OPS.index(key[0]), key[1])):
        row = [times.get((op, size, peer)) for peer in PEERS]
        print(f"{op:15} {format_size(size):>9} " + " ".join(
            f"{us:20.2f}" if us else f"{'':>20}" for us in row))


def count_gpus():
    """Queried in another process: this one never initializes CUDA."""
    code = "import torch; print(torch.cuda.device_count())"
    try:
        result = subprocess.run([sys.executable, "-c", code], timeout=120,
                                capture_output=True, text=True, check=True)
        return int(result.stdout.split()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        sys.exit(f"collectives.py: cannot ask PyTorch for the GPUs: "
                 f"{detail.strip().splitlines()[-1]}")


def main():
    arguments = parse_arguments()
    if arguments.worker:
        worker(arguments)
    if arguments.n == 0:
        arguments.n = min(count_gpus(), 8)
        if arguments.n < 2:
            sys.exit("collectives.py: found fewer than 2 GPUs")
    start = time.time()
    cases = list_cases(arguments)
    results = []
    with open(arguments.json or os.devnull, "a", encoding="utf-8") as file:
        def take_result(result):
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            print(f"{result['op']:15} {format_size(result['bytes']):>9} "
                  f"{result['peer']:20} {result['us']:10.2f} "
                  f"{result['q1']:10.2f}-{result['q3']:<10.2f} "
                  f"{result['busbw_GBs']:8.2f} GB/s bus", flush=True)
        complete, failures = run_crews(arguments, cases, take_result)
    print_table(results)
    print(f"\n{len(results)} of {len(cases)} cases in {time.time() - start:.0f}"
          f" s" + ("" if complete else "; the budget is spent, or a crew "
                   "failed: some are missing"))
    for failure in failures:
        print("failed: " + failure)
    return 1 if failures else 0 if complete else 3


if __name__ == "__main__":
    sys.exit(main())
