# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops of generated kernels: their text and their effect.

Every statement is a line of MLIR and a function that has the same effect on
an environment (name -> value) of one program, as executed by one thread. A
function that has to wait is a generator that yields until the wait is over.

Values: index and i32 are Python integers (i32 signed), tiles are NumPy
arrays, buffers are `Ref`s: the same window of every rank's memory.
"""
import numpy as np

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32}


def wrap32(value):
    return (int(value) + 2**31) % 2**32 - 2**31


class Ref:
    """A buffer on every rank: `arrays[rank]` are views of its memory."""

    def __init__(self, arrays):
        self.arrays = arrays

    def view(self, slices):
        return Ref([array[slices] for array in self.arrays])


def window(array, offsets, shape):
    """The intersection of the buffer and the window: a slice of each."""
    inside, outside = [], []
    for offset, extent, size in zip(offsets, shape, array.shape):
        first, last = max(offset, 0), min(offset + extent, size)
        last = max(first, last)
        inside.append(slice(first, last))
        outside.append(slice(first - offset, last - offset))
    return tuple(inside), tuple(outside)


def load(array, offsets, shape, other=0):
    tile = np.full(shape, other, array.dtype)
    inside, outside = window(array, offsets, shape)
    tile[outside] = array[inside]
    return tile


def store(array, offsets, tile, mask=None):
    inside, outside = window(array, offsets, tile.shape)
    if mask is None:
        array[inside] = tile[outside]
    else:
        chosen = mask[outside]
        array[inside] = np.where(chosen, tile[outside], array[inside])


def combine(kind, old, value):
    """The result of an atomic operation; arrays of one integer type."""
    unsigned = old.dtype.str.replace("i", "u")
    with np.errstate(all="ignore"):
        if kind == "umin":
            return np.minimum(old.view(unsigned), value.view(unsigned)).view(old.dtype)
        if kind == "umax":
            return np.maximum(old.view(unsigned), value.view(unsigned)).view(old.dtype)
        return {"add": lambda: old + value, "sub": lambda: old - value,
                "xchg": lambda: value, "and": lambda: old & value,
                "or": lambda: old | value, "xor": lambda: old ^ value,
                "min": lambda: np.minimum(old, value),
                "max": lambda: np.maximum(old, value)}[kind]().astype(old.dtype)


def atomic(kind, array, offsets, value, mask=None):
    """An atomic on a window; returns the old values, 0 where masked out."""
    old = load(array, offsets, value.shape)
    store(array, offsets, combine(kind, old, value), mask)
    return old if mask is None else np.where(mask, old, 0).astype(old.dtype)


def compare_and_swap(array, offsets, compare, value):
    old = load(array, offsets, value.shape)
    store(array, offsets, np.where(old == compare, value, old))
    return old


def hashed(salt, count):
    """i32 words: the initial contents of buffers, before narrowing."""
    with np.errstate(over="ignore"):
        h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1)
        h = h + np.uint32(salt % 2**32)
        h = h ^ (h >> np.uint32(15))
        h = h * np.uint32(0x2C1B3C6D)
        h = h ^ (h >> np.uint32(12))
    return h.view(np.int32)


def initial(element, salt, count):
    """Elements of a buffer: any integers, or small integers for floats."""
    words = hashed(salt, count)
    return (words & 7 if element.startswith("f") else words).astype(TYPES[element])


def checksum(array):
    """A hash of a buffer's elements and their indices; floats hold integers."""
    values = array.reshape(-1)
    values = values.astype(np.int64).astype(np.uint64) & np.uint64(0xFFFFFFFF)
    weights = hashed(-1, values.size).view(np.uint32).astype(np.uint64) | np.uint64(1)
    with np.errstate(over="ignore"):
        return wrap32(int((values * weights).sum() & np.uint64(0xFFFFFFFF)))


class Line:
    """One op."""

    def __init__(self, text, run=None):
        self.text, self.run = text, run

    def emit(self, indent):
        return [indent + part for part in self.text.split("\n")]

    def execute(self, env):
        return self.run(env) if self.run else None


class Nest:
    """An op with regions: lines around blocks, and its effect."""

    def __init__(self, parts, run):
        """parts: text, block, text, block, ..., text."""
        self.parts, self.run = parts, run

    def emit(self, indent):
        lines = []
        for part in self.parts:
            if isinstance(part, str):
                lines += [indent + line for line in part.split("\n")]
            else:
                for statement in part:
                    lines += statement.emit(indent + "  ")
        return lines

    def execute(self, env):
        return self.run(env)


def execute(block, env):
    for statement in block:
        waiting = statement.execute(env)
        if waiting is not None:
            yield from waiting


def run_together(programs, limit=100_000):
    """Executes programs, each until it waits. Their order does not affect the
    result, since every shared access is ordered."""
    for _ in range(limit):
        programs = [program for program in programs
                    if next(program, None) is not None]
        if not programs:
            return
    raise AssertionError("the generated programs wait for each other")
