# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the runtime's C API (iris/iris.h) that the benchmark needs."""
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, \
    c_int64, c_uint32, c_uint64, c_void_p

MAX_DIMS = 6
MEMREF = 1
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


def memref(element, tensor):
    """The argument for a tensor of two dimensions, wherever it lies."""
    arg = Arg(kind=MEMREF, element=ELEMENTS[element], rank=2,
              value=tensor.data_ptr())
    for dim in range(2):
        arg.sizes[dim] = tensor.size(dim)
        arg.strides[dim] = tensor.stride(dim)
    return arg


class World:
    """One rank on one CUDA device; kernels of one package."""

    def __init__(self, library, package):
        self.lib = ctypes.CDLL(library)
        self.lib.irisrtLastError.restype = c_char_p
        self.handle = c_void_p()
        options = Options(structBytes=ctypes.sizeof(Options), device=CUDA,
                          deviceIndexPlusOne=1, numRanks=1, job=b"matmul")
        self.call("WorldCreate", byref(options), byref(self.handle))
        opened = c_void_p()
        self.call("PackageOpen", package.encode(), byref(opened))
        self.call("Load", self.handle, opened)
        self.stream = c_uint64()
        self.call("StreamCreate", self.handle, byref(self.stream))

    def call(self, name, *args):
        if getattr(self.lib, "irisrt" + name)(*args) != 0:
            raise RuntimeError(self.lib.irisrtLastError().decode())

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
