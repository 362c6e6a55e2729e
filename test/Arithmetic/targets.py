# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes kernels whose arguments are addresses of buffers.

`execute(target, image, calls)` returns, for each (name, inputs as bytes, sizes
of outputs in bytes), the outputs as bytes, or a text that says what went wrong.
"""
import ctypes
import multiprocessing
import re

LIMIT = 60  # seconds for a kernel, its compilation by the driver included
SPARE = 64  # bytes behind each buffer, which nothing may write
FILL = 0xA5


def execute(target, image, calls):
    if target == "host":
        return in_children(call_on_host, image, calls)
    if target.startswith("cuda:"):
        return in_children(call_on_cuda, image, calls)
    if target.startswith("ptx:"):
        return on_interpreter(image, calls)
    return on_emulator(image, calls)


def split(buffers, sizes):
    """The outputs, or a message if something behind them was written."""
    for raw, size in zip(buffers, sizes):
        if any(b != FILL for b in raw[size:]):
            return "wrote behind a buffer"
    return [raw[:size] for raw, size in zip(buffers, sizes)]


def in_children(call, image, calls):
    """In a process of their own: a kernel may crash, or run forever."""
    results = []
    while len(results) < len(calls):
        receiver, sender = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.Process(
            target=call, args=(image, calls[len(results):], sender.send))
        child.start()
        # Closed here, so that the end of the child is the end of the pipe.
        sender.close()
        reason = None
        try:
            while len(results) < len(calls):
                if not receiver.poll(LIMIT):
                    reason = f"no end after {LIMIT} s"
                    child.kill()
                    break
                results.append(receiver.recv())
        except EOFError:
            pass
        child.join()
        if len(results) < len(calls):
            results.append(reason or f"exit status {child.exitcode}")
    return results


# Host -----------------------------------------------------------------------


class Program:
    """IrisRtHostProgram of a single program."""

    def __init__(self):
        self.arena = (ctypes.c_uint8 * ((1 << 20) + 64))()
        aligned = (ctypes.addressof(self.arena) + 63) & ~63
        self.words = (ctypes.c_uint64 * 6)(0, 1 << 32, 1 << 32 | 1, aligned)


def call_on_host(image, calls, send):
    library = ctypes.CDLL(image)
    program = Program()
    for name, inputs, sizes in calls:
        buffers = [ctypes.create_string_buffer(raw, len(raw)) for raw in inputs]
        outputs = [ctypes.create_string_buffer(bytes([FILL]) * (size + SPARE),
                                               size + SPARE) for size in sizes]
        arguments = (ctypes.c_uint64 * (len(buffers) + len(outputs)))(
            *(ctypes.addressof(b) for b in buffers + outputs))
        # The symbol of a kernel in a bare image.
        library[f"iris.{name}"](arguments, program.words)
        send(split([o.raw for o in outputs], sizes))


# Emulator -------------------------------------------------------------------


def on_emulator(path, calls):
    import machine
    import numpy as np
    code = machine.CodeObject(path)
    results = []
    for name, inputs, sizes in calls:
        memory = machine.Memory(1 << 20)
        addresses = [memory.put(np.frombuffer(raw, np.uint8).copy())
                     for raw in inputs]
        outputs = [memory.put(np.full(size + SPARE, FILL, np.uint8))
                   for size in sizes]
        try:
            code.run(name, memory, addresses + outputs)
        except RuntimeError as error:
            results.append(str(error))
            continue
        results.append(split([memory.get(a, np.uint8, size + SPARE).tobytes()
                              for a, size in zip(outputs, sizes)], sizes))
    return results


# PTX interpreter ------------------------------------------------------------


def threads_of_kernels(path):
    """By name, from PTX: `.entry NAME(...) .maxntid THREADS, 1, 1`."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+)",
                           file.read())
    return {name: int(threads) for name, threads in found}


def on_interpreter(path, calls):
    import numpy as np
    import ptx
    code = ptx.CodeObject(path)
    threads = threads_of_kernels(path)
    results = []
    for name, inputs, sizes in calls:
        memory = ptx.Memory(1 << 20)
        addresses = [memory.put(np.frombuffer(raw, np.uint8))
                     for raw in inputs]
        outputs = [memory.put(np.full(size + SPARE, FILL, np.uint8))
                   for size in sizes]
        launch = ptx.Launch(code, name, grid=(1, 1, 1),
                            block=(threads[name], 1, 1),
                            args=addresses + outputs, mem=memory)
        try:
            ptx.Emu(memory).run([launch])
        except ptx.Error as error:
            results.append(str(error))
            continue
        results.append(split([memory.get(a, np.uint8, size + SPARE).tobytes()
                              for a, size in zip(outputs, sizes)], sizes))
    return results


# CUDA -----------------------------------------------------------------------


class Cuda:
    """The few calls of the driver that a launch needs."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} failed with status {status}")

    def allocate(self, raw):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address),
                  ctypes.c_size_t(len(raw)))
        self.call("cuMemcpyHtoD_v2", address, raw, ctypes.c_size_t(len(raw)))
        return address

    def read(self, address, size):
        raw = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", raw, address, ctypes.c_size_t(size))
        return raw.raw


def call_on_cuda(path, calls, send):
    cuda = Cuda()
    threads = threads_of_kernels(path)
    with open(path, "rb") as file:
        text = file.read() + b"\0"
    module = ctypes.c_void_p()
    cuda.call("cuModuleLoadData", ctypes.byref(module), text)
    for name, inputs, sizes in calls:
        function = ctypes.c_void_p()
        cuda.call("cuModuleGetFunction", ctypes.byref(function), module,
                  name.encode())
        addresses = [cuda.allocate(raw) for raw in inputs]
        outputs = [cuda.allocate(bytes([FILL]) * (size + SPARE))
                   for size in sizes]
        pointers = (ctypes.c_void_p * (len(addresses) + len(outputs)))(
            *(ctypes.addressof(a) for a in addresses + outputs))
        cuda.call("cuLaunchKernel", function, 1, 1, 1, threads[name], 1,
                  1, 0, None, pointers, None)
        cuda.call("cuCtxSynchronize")
        send(split([cuda.read(a, size + SPARE)
                    for a, size in zip(outputs, sizes)], sizes))
        for address in addresses + outputs:
            cuda.call("cuMemFree_v2", address)
