# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maps elements of a tile to threads, from the layout in its type."""
import re

import numpy as np

ELEMENTS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
            "i64": np.int64, "index": np.int64, "f16": np.float16,
            "f32": np.float32, "f64": np.float64}


def log2(number):
    return number.bit_length() - 1


def shape_and_element(type_):
    """The shape of `tensor<2x4xf32, ...>` or `memref<...>`; ? becomes None."""
    inside = type_[type_.index("<") + 1:]
    first = re.match(r"((?:\d+x|\?x)*)(\w+)", inside)
    return tuple(None if n == "?" else int(n)
                 for n in first[1].split("x")[:-1]), first[2]


def numbers(text, key):
    return [int(n) for n in re.search(key + r" = \[([-\d, ]*)\]", text)[1]
            .split(",") if n.strip()]


def lists(text, key):
    """Parses `key = [[1, 0], [2, 0]]`."""
    start = re.search(key + r" = \[", text).end()
    depth, end = 1, start
    while depth:
        depth += {"[": 1, "]": -1}.get(text[end], 0)
        end += 1
    return [[int(n) for n in row.split(",") if n.strip()]
            for row in re.findall(r"\[([-\d, ]*)\]", text[start:end - 1])]


def bases(layout, shape):
    """For each bit of a thread's number, the coordinates that it adds; none
    if it replicates elements. Lanes first, then warps."""
    if layout.startswith("#tile.slice"):
        inner = re.match(r"#tile\.slice<dim = (\d+), parent = (.*)>$", layout)
        dim = int(inner[1])
        parent = bases(inner[2], shape[:dim] + (1,) + shape[dim:])
        dropped = [tuple(b[:dim]) + tuple(b[dim + 1:]) for b in parent]
        return dropped
    if layout.startswith("#tile.linear"):
        found = lists(layout, "lanes?(?:_bases)?") + lists(layout,
                                                           "warps?(?:_bases)?")
        return [tuple(basis) for basis in found]
    used, result = [0] * len(shape), []
    for key in ("size_per_thread", "threads_per_warp", "warps_per_cta"):
        counts = numbers(layout, key)
        for dim in numbers(layout, "order"):
            for _ in range(log2(counts[dim])):
                basis = [0] * len(shape)
                if used[dim] < log2(shape[dim]):
                    basis[dim] = 1 << used[dim]
                    used[dim] += 1
                if key != "size_per_thread":
                    result.append(tuple(basis))
    return result


class Owners:
    """`thread[coordinates]`: the first thread that has the element; `free`:
    the bits of its number that do not matter."""

    def __init__(self, thread, free):
        self.thread, self.free = thread, free


CACHE = {}


def owners(type_):
    if type_ not in CACHE:
        shape, _ = shape_and_element(type_)
        layout = type_[type_.index("#tile"):-1]
        thread, free = np.zeros(shape, np.int64), 0
        grids = np.indices(shape)
        for bit, basis in enumerate(bases(layout, shape)):
            moved = [d for d, b in enumerate(basis) if b]
            if not moved:
                free |= 1 << bit
            else:  # blocked and linear bases use one bit each
                dim = moved[0]
                thread |= ((grids[dim] & basis[dim]) != 0).astype(np.int64) << bit
        CACHE[type_] = Owners(thread, free)
    return CACHE[type_]
