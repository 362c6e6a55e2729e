# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the runtime's C API (iris/iris.h) that benchmarks need."""
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, \
    c_int64, c_uint32, c_uint64, c_void_p

MAX_DIMS = 6
CONTEXT, MEMREF = 0, 1
CUDA = 2
ELEMENTS = {"i8": 1, "i32": 3, "f16": 5, "bf16": 6, "f32": 7}


class Arg(Structure):
    _fields_ = [("kind", c_uint32), ("element", c_uint32), ("rank", c_uint32),
                ("symmetric", c_uint32), ("value", c_uint64),
                ("sizes", c_int64 * MAX_DIMS), ("strides", c_int64 * MAX_DIMS)]


class Options(Structure):
    _fields_ = [("structBytes", c_uint64), ("device", c_int32),
                ("deviceIndexPlusOne", c_int32), ("rank", c_uint32),
                ("numRanks", c_uint32), ("job", c_char_p), ("token", c_uint64),
                ("name", c_char_p), ("heapBytes", c_uint64),
                ("waitLimit", c_double), ("joinLimit", c_double),
                ("collectiveLimit", c_double)]


def memref(element, tensor, symmetric=False):
    """The argument for a tensor of two dimensions, wherever it lies."""
    arg = Arg(kind=MEMREF, element=ELEMENTS[element], rank=2,
              symmetric=symmetric, value=tensor.data_ptr())
    for dim in range(2):
        arg.sizes[dim] = tensor.size(dim)
        arg.strides[dim] = tensor.stride(dim)
    return arg


def vector(element, address, size):
    """The argument for `size` elements of the heap."""
    arg = Arg(kind=MEMREF, element=ELEMENTS[element], rank=1, symmetric=True,
              value=address)
    arg.sizes[0], arg.strides[0] = size, 1
    return arg


class Memory:
    """Device memory, as torch.as_tensor takes it."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|i1", "data": (address, False),
            "version": 3}


class World:
    """One rank on one CUDA device; the kernels of some packages."""

    def __init__(self, library, packages, rank=0, ranks=1, job="matmul"):
        self.lib = ctypes.CDLL(library)
        self.lib.irisrtLastError.restype = c_char_p
        self.handle = c_void_p()
        options = Options(structBytes=ctypes.sizeof(Options), device=CUDA,
                          deviceIndexPlusOne=rank + 1, rank=rank,
                          numRanks=ranks, job=job.encode(), waitLimit=10)
        self.call("WorldCreate", byref(options), byref(self.handle))
        for package in packages:
            opened = c_void_p()
            self.call("PackageOpen", package.encode(), byref(opened))
            self.call("Load", self.handle, opened)
        self.stream = c_uint64()
        self.call("StreamCreate", self.handle, byref(self.stream))

    def call(self, name, *args):
        if getattr(self.lib, "irisrt" + name)(*args) != 0:
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
        """All streams of all ranks; what was freed becomes available."""
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
