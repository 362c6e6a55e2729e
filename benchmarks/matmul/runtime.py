# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The subset of the runtime's C API (iris/iris.h) that benchmarks need."""
import ctypes
from ctypes import Structure, byref, c_char_p, c_double, c_int32, \
    c_int64, c_uint32, c_uint64, c_void_p

MAX_DIMS = 6
CONTEXT, MEMREF = 0, 1
HOST, CUDA = 0, 2
KINDS = ("matmul", "all_gather_matmul", "matmul_all_gather",
         "matmul_reduce_scatter", "matmul_all_reduce")
TYPES = {"f16": 0, "bf16": 1, "f32": 2, "i8": 4, "i32": 6}
NAMES = ("variant", "shard", "staged_layout", "partial_type")
NUMBERS = ("tile_m", "tile_n", "tile_k", "group_m", "xcds", "warps", "programs",
           "k_per_flag", "num_fetch_programs", "num_fetch_stages",
           "first_stage_fetch_programs", "tiles_per_comm_program", "split_k")
ELEMENTS = {"i8": 1, "i32": 3, "f16": 5, "bf16": 6, "f32": 7}


class Arg(Structure):
    _fields_ = [("kind", c_uint32), ("element", c_uint32), ("rank", c_uint32),
                ("symmetric", c_uint32), ("value", c_uint64),
                ("sizes", c_int64 * MAX_DIMS), ("strides", c_int64 * MAX_DIMS)]


class Options(Structure):
    """IrisRtWorldOptions of iris/iris.h."""
    _fields_ = [("structBytes", c_uint64), ("device", c_int32),
                ("deviceIndexPlusOne", c_int32), ("rank", c_uint32),
                ("numRanks", c_uint32), ("job", c_char_p), ("token", c_uint64),
                ("name", c_char_p), ("heapBytes", c_uint64),
                ("waitLimit", c_double), ("joinLimit", c_double),
                ("collectiveLimit", c_double), ("refuseHostCode", c_uint32),
                ("reserved", c_uint32), ("emulatedChip", c_char_p)]


class Problem(Structure):
    """IrisCclMatmulProblem of iris/ccl.h."""
    _fields_ = [("structBytes", c_uint64), ("kind", c_int32), ("m", c_uint64),
                ("n", c_uint64), ("k", c_uint64), ("element", c_int32),
                ("result", c_int32), ("aIsColumnMajor", c_int32),
                ("bIsColumnMajor", c_int32), ("bias", c_int32),
                ("hasScale", c_int32), ("activation", c_int32),
                *((name, c_char_p) for name in NAMES),
                *((name, c_int64) for name in NUMBERS),
                ("cacheDirectory", c_char_p), ("compiler", c_char_p),
                ("tuning", c_int32), ("tuningLimitMs", c_double),
                ("library", c_char_p)]


def memref(element, tensor):
    """The argument for a two-dimensional tensor, on the heap or off it."""
    arg = Arg(kind=MEMREF, element=ELEMENTS[element], rank=2,
              value=tensor.data_ptr())
    for dim in range(2):
        arg.sizes[dim] = tensor.size(dim)
        arg.strides[dim] = tensor.stride(dim)
    return arg


class Memory:
    """Device memory, in the form that torch.as_tensor accepts."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|i1", "data": (address, False),
            "version": 3}


class World:
    """One rank on a CUDA device or the host; the kernels of some packages."""

    def __init__(self, library, packages, rank=0, ranks=1, job="matmul",
                 device=CUDA):
        self.lib = ctypes.CDLL(library)
        self.lib.irisrtLastError.restype = c_char_p
        self.handle = c_void_p()
        options = Options(structBytes=ctypes.sizeof(Options), device=device,
                          deviceIndexPlusOne=0 if device == HOST else rank + 1,
                          rank=rank,
                          numRanks=ranks, job=job.encode(), waitLimit=10)
        self.call("WorldCreate", byref(options), byref(self.handle))
        for package in packages:
            opened = c_void_p()
            self.call("PackageOpen", package.encode(), byref(opened))
            self.call("AddPackage", opened, library="irisccl")
            self.call("Load", self.handle, opened)
        self.stream = c_uint64()
        self.call("StreamCreate", self.handle, byref(self.stream))

    def call(self, name, *args, library="irisrt"):
        if getattr(self.lib, library + name)(*args) != 0:
            raise RuntimeError(self.lib.irisrtLastError().decode())

    def alloc(self, size):
        """Address of `size` bytes of the heap, zero at first. Collective."""
        address = c_uint64()
        self.call("Alloc", self.handle, c_uint64(size), byref(address))
        return address.value

    def tensor(self, element, rows, columns):
        """A matrix on the heap, and its address. Collective."""
        import torch
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16,
                 "f32": torch.float32, "i8": torch.int8,
                 "i32": torch.int32}[element]
        size = rows * columns * dtype.itemsize
        address = self.alloc(size)
        flat = torch.as_tensor(Memory(address, size), device="cuda")
        return flat.view(dtype).view(rows, columns), address

    def free(self, address):
        self.call("Free", self.handle, c_uint64(address))

    def sync(self):
        """Waits for all streams of all ranks; freed memory becomes available."""
        self.call("Sync", self.handle)

    @staticmethod
    def context():
        return Arg(kind=CONTEXT)

    def find(self, name):
        kernel = c_void_p()
        self.call("KernelFind", self.handle, name.encode(), byref(kernel))
        return kernel

    def launch(self, kernel, programs, args):
        self.call("Launch", self.handle, kernel, (c_uint64 * 3)(programs, 1, 1),
                  (Arg * len(args))(*args), c_uint32(len(args)), self.stream)

    def synchronize(self):
        self.call("Synchronize", self.handle, self.stream)

    def capture(self, enqueue):
        graph = c_uint64()
        self.call("CaptureBegin", self.handle, self.stream)
        enqueue()
        self.call("CaptureEnd", self.handle, self.stream, byref(graph))
        return graph

    def time_graph(self, graph):
        """Milliseconds of one replay."""
        events = [c_uint64(), c_uint64()]
        for event in events:
            self.call("EventCreate", self.handle, byref(event))
        self.call("EventRecord", self.handle, events[0], self.stream)
        self.call("GraphLaunch", self.handle, graph, self.stream)
        self.call("EventRecord", self.handle, events[1], self.stream)
        self.synchronize()
        result = c_double()
        self.call("EventElapsedMs", self.handle, *events, byref(result))
        for event in events:
            self.call("EventDestroy", self.handle, event)
        return result.value

    def free_graph(self, graph):
        self.call("GraphDestroy", self.handle, graph)


class Matmul:
    """A matmul of iris/ccl.h. Collective, and so is destroy()."""

    def __init__(self, world, kind, shape, element, result, config):
        self.world, self.handle = world, c_void_p()
        m, n, k = shape
        problem = Problem(structBytes=ctypes.sizeof(Problem),
                          kind=KINDS.index(kind), m=m, n=n, k=k,
                          element=TYPES[element], result=TYPES[result])
        for key, value in config.items():
            setattr(problem, key,
                    value.encode() if key in NAMES else value)
        self.call("Create", world.handle, byref(problem), byref(self.handle))
        world.lib.iriscclMatmulExplain.restype = c_char_p

    def call(self, name, *args):
        self.world.call("Matmul" + name, *args, library="irisccl")

    def explain(self):
        return self.world.lib.iriscclMatmulExplain(self.handle).decode()

    def run(self, a, b, c):
        self.call("Run", self.handle, *(c_void_p(x.data_ptr())
                                        for x in (a, b, c)),
                  c_void_p(), ctypes.c_float(1), self.world.stream)

    def destroy(self):
        self.call("Destroy", self.handle)
